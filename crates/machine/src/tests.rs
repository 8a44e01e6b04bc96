use crate::file::read;
use crate::{Costs, FigureGroup, Machine, Sheet, Time, names, open};

/// A machine file of plain figures.
const PLAIN: &str = r#"
about = "for tests"
[node]
cores = { count = 2, origin = "assumed: small" }
[near]
latency = { ns = 100, origin = "measured" }
overhead = { ns = 10, origin = "measured" }
bandwidth = { gb_per_s = 1, origin = "measured" }
[far]
latency = { us = 1, origin = "measured" }
overhead = { ns = 200, origin = "measured" }
gap = { ns = 50, origin = "measured" }
bandwidth = { mb_per_s = 500, origin = "measured" }
[network]
topology = "torus"
dimensions = [2, 3]
hop = { ns = 30, origin = "published: a book" }
[costs]
event = { us = 1, origin = "measured" }
send = { ns = 1, origin = "measured" }
receive = { ns = 2, origin = "measured" }
undo = { ns = 3, origin = "measured" }
copy = { ns = 4, origin = "measured" }
commit = { ns = 5, origin = "measured" }
gvt_step = { ns = 6, origin = "measured" }
turn = { ns = 7, origin = "measured" }
remote_write = { ns = 8, origin = "measured" }
register_read = { ns = 9, origin = "measured" }
"#;

fn plain() -> Machine {
    read("plain", "plain.toml", PLAIN).unwrap()
}

#[test]
fn every_profile_is_a_machine() {
    for name in names() {
        let machine = open(name).unwrap();
        assert_eq!(machine.name, name);
        assert!(machine.costs.event > Time::ZERO && !machine.about.is_empty(), "{name}");
    }
}

#[test]
fn latency_counts_hops_between_nodes() {
    let machine = plain();
    let far = |nanoseconds: u64| Time::nanoseconds(1000 + nanoseconds);
    assert_eq!(machine.latency(0, 1), Time::nanoseconds(100));
    assert_eq!(machine.latency(0, 2), far(30));
    // Node 5 of 2 × 3: one step along the first dimension, and one back along the second.
    assert_eq!(machine.latency(0, 10), far(60));
    assert_eq!(machine.latency_most(12), far(60));
    assert_eq!(machine.far.bytes(100), Time::nanoseconds(200));
}

#[test]
fn messages_between_domains_of_a_node_take_longer() {
    let two = "count = 4, origin = \"measured: by counting\" }\n\
               domains = { count = 2, origin = \"measured\" }\n\
               domain_latency = { ns = 60, origin = \"measured\" }\n";
    let text = PLAIN.replacen("count = 2, origin = \"assumed: small\" }\n", two, 1);
    let machine = read("plain", "plain.toml", &text).unwrap();
    let taken =
        [(0, 1), (1, 2), (0, 3), (4, 5), (5, 6)].map(|(from, to)| machine.latency(from, to));
    assert_eq!(taken, [100, 160, 160, 100, 160].map(Time::nanoseconds));
    assert_eq!(machine.latency(3, 4), Time::nanoseconds(1030));
    assert_eq!([2, 3].map(|cores| machine.latency_most(cores)), [100, 160].map(Time::nanoseconds));
    let far_apart = machine.scaled(FigureGroup::Latency, 2.0);
    assert_eq!(far_apart.latency(0, 2), Time::nanoseconds(320));
    assert_eq!(plain().latency(0, 1), Time::nanoseconds(100), "a node has one domain by default");
}

#[test]
fn every_figure_belongs_to_one_group() {
    let noisy = PLAIN.to_owned()
        + "[noise]\nevery = { us = 100, origin = \"measured\" }\nlasts = { us = 5, origin = \
           \"measured\" }\n\
           stragglers = { share = 0.25, origin = \"measured\" }\nslowdown = { factor = 2, origin = \
           \"measured\" }\n";
    let machine = read("noisy", "noisy.toml", &noisy).unwrap();
    let all = |factor| {
        FigureGroup::ALL
            .iter()
            .fold(machine.clone(), |machine, group| machine.scaled(*group, factor))
    };
    assert_eq!(all(2.0).scaled(FigureGroup::Event, 0.5).costs.event, machine.costs.event);
    assert_eq!(all(1.0), machine);
    let figures = |machine: &Machine| {
        let Costs {
            event,
            send,
            receive,
            undo,
            copy,
            commit,
            gvt_step,
            turn,
            remote_write,
            register_read,
        } = machine.costs;
        let Machine { near, far, hop, noise, .. } = machine;
        [
            vec![
                event,
                send,
                receive,
                undo,
                copy,
                commit,
                gvt_step,
                turn,
                remote_write,
                register_read,
            ],
            vec![near.latency, near.overhead, far.latency, far.overhead, *hop, noise.lasts],
        ]
        .concat()
    };
    let twice: Vec<Time> = figures(&machine).iter().map(|time| *time * 2).collect();
    assert_eq!(figures(&all(2.0)), twice);
    let wide = all(2.0);
    assert_eq!(wide.far.gap * 2, machine.far.gap);
    assert_eq!([wide.near, wide.far].map(|level| level.per_byte), [500.0, 1000.0]);
    assert_eq!(wide.noise.slowdown, 3.0);
    // Interruptions take half of the time at most.
    let noise = machine.scaled(FigureGroup::Noise, 1000.0).noise;
    assert_eq!(noise.lasts * 2, noise.every);
}

#[test]
fn a_sheet_is_written_and_read() {
    let mut sheet = Sheet::new("a \"test\" machine, C:\\");
    sheet.table("node");
    sheet.count("cores", 2, "measured: median of 3");
    for (table, far) in [("near", false), ("far", true)] {
        sheet.table(table);
        sheet.time("latency", 123.456e-9, "measured: median of 3");
        sheet.time("overhead", 1e-8, "measured: median of 3");
        sheet.bandwidth("bandwidth", 2e9, "measured: median of 3");
        if far {
            sheet.time("gap", 0.0, "assumed: none");
        }
    }
    sheet.table("network");
    sheet.word("topology", "flat");
    sheet.time("hop", 0.0, "assumed: none");
    sheet.table("costs");
    let costs = ["event", "send", "receive", "undo", "copy", "commit", "gvt_step", "turn"];
    for name in costs.into_iter().chain(["remote_write", "register_read"]) {
        sheet.time(name, 2e-6, "measured: median of 3");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/this.toml");
    sheet.save(&path).unwrap();
    let machine = open(path.to_str().unwrap()).unwrap();
    assert_eq!(machine, sheet.machine("this").unwrap());
    assert_eq!(machine.about, "a \"test\" machine, C:\\");
    assert_eq!(machine.near.latency, Time::picoseconds(123_500));
    assert_eq!((machine.near.per_byte, machine.costs.undo), (500.0, Time::nanoseconds(2000)));
    let left: Vec<_> = path.parent().unwrap().read_dir().unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let whole = sheet.clone();
    // What does not describe a machine is not written.
    sheet.time("frequency", 1.0, "measured: median of 3");
    assert!(sheet.save(&path).unwrap_err().to_string().contains("`costs.frequency`"));
    let folder = directory.path();
    let error = whole.save(folder).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the machine "), "{error}");
}

#[test]
fn wrong_files_are_refused_in_a_sentence() {
    for (from, to, expected) in [
        (
            "latency = { ns = 100",
            "latency = { ns = -100",
            "plain.toml: `near.latency` cannot be -100: it takes no negative number",
        ),
        (
            "topology = \"torus\"",
            "topology = \"ring\"",
            "plain.toml: `network.topology` cannot be \"ring\": it takes one of flat, torus, \
             fat-tree",
        ),
        (
            "undo =",
            "undoo =",
            "plain.toml: `costs.undo` is missing; give it as { us = 1.0, origin = \"assumed: …\" }",
        ),
        (
            "[costs]",
            "[costs]\nevnt = { us = 1, origin = \"measured\" }",
            "plain.toml: there is no `costs.evnt` in a machine; did you mean `costs.event`?",
        ),
        (
            "{ us = 1, origin = \"measured\" }\noverhead",
            "{ us = 1 }\noverhead",
            "plain.toml: `far.latency` needs an origin, which is \"measured\", or begins with \
             \"measured: \", \"assumed: \" or \"published: \"",
        ),
        (
            "\"assumed: small\"",
            "\"assumed: \"",
            "plain.toml: `node.cores` needs an origin, which is \"measured\", or begins with \
             \"measured: \", \"assumed: \" or \"published: \"",
        ),
        (
            "count = 2",
            "count = 0",
            "plain.toml: `node.cores` cannot be 0: it takes a whole number, 1 or more",
        ),
        (
            "origin = \"assumed: small\" }",
            "origin = \"measured: \" }",
            "plain.toml: `node.cores` needs an origin, which is \"measured\", or begins with \
             \"measured: \", \"assumed: \" or \"published: \"",
        ),
        (
            "[near]",
            "domains = { count = 3, origin = \"measured\" }\n[near]",
            "plain.toml: `node.domains` cannot be 3: each has as many of the 2 cores; it takes a \
             divisor of that",
        ),
        (
            "[near]",
            "domain_latency = { us = -1, origin = \"measured\" }\n[near]",
            "plain.toml: `node.domain_latency` cannot be -1: it takes no negative number",
        ),
        (
            "[near]",
            "domain = { count = 2, origin = \"measured\" }\n[near]",
            "plain.toml: there is no `node.domain` in a machine; did you mean `node.domains`?",
        ),
        (
            "{ ns = 30,",
            "{ hours = 30,",
            "plain.toml: `network.hop` cannot be { hours = 30, origin = \"published: a book\" }: \
             it takes a number under its unit, { ps = … } or { ns = … } or { us = … } or { ms = … \
             } or { s = … }",
        ),
    ] {
        assert!(PLAIN.contains(from), "{from}");
        let error = read("plain", "plain.toml", &PLAIN.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let syntax = read("plain", "plain.toml", "about = \"x\"\n[node").unwrap_err().to_string();
    assert!(syntax.starts_with("plain.toml: ") && syntax.contains("line 2"), "{syntax}");
}

#[test]
fn an_unknown_machine_names_those_that_there_are() {
    let error = open("cray-xt4").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no machine `cray-xt4`: it is neither a file nor one of loggops-default, \
         cray-xt5, cray-xt5-interrupted, cray-xt5-stragglers, infiniband, knl-10gbe, multicore, \
         multicore-copies, multicore-gsu, multicore-gsu-mailboxes, this; did you mean `cray-xt5`?"
    );
}

#[test]
fn noise_is_drawn_from_a_seed() {
    let noisy = PLAIN.to_owned()
        + "[noise]\nevery = { ms = 1, origin = \"measured\" }\nlasts = { us = 5, origin = \
           \"measured\" }\n\
           stragglers = { share = 0.25, origin = \"measured\" }\nslowdown = { factor = 2, origin = \
           \"measured\" }\n";
    let noise = read("noisy", "noisy.toml", &noisy).unwrap().noise;
    let slow = (0..1000).filter(|core| noise.slowdown_of(1, *core) > 1.0).count();
    assert!((200..300).contains(&slow), "{slow}");
    let first = noise.interruption(1, 0, 3).unwrap();
    assert_eq!(noise.interruption(1, 0, 3), Some(first));
    let period = Time::nanoseconds(1_000_000);
    assert!((period * 3..period * 4).contains(&first));
    assert_eq!(plain().noise.interruption(1, 0, 3), None);
}

const UNITS: &str = r#"
[registers]
clock = { ghz = 2, origin = "measured" }
write = { cycles = 4, origin = "measured" }
read = { cycles = 3, origin = "measured" }
rank = { cycles = 1, origin = "measured" }
[mailboxes]
clock = { mhz = 500, origin = "measured" }
slots = { count = 2, origin = "measured" }
wait = { cycles = 100, origin = "measured" }
send = { cycles = 1, origin = "measured" }
receive = { cycles = 2, origin = "measured" }
allocate = { cycles = 3, origin = "measured" }
count = { cycles = 4, origin = "measured" }
"#;

#[test]
fn hardware_is_given_in_cycles_of_its_clock() {
    let machine = read("units", "units.toml", &(PLAIN.to_owned() + UNITS)).unwrap();
    let ps = Time::picoseconds;
    assert_eq!((machine.register_write(), machine.lbts_read(64)), (ps(2000), ps(1500)));
    let takes = |pes| machine.lbts_takes(pes).as_picoseconds();
    // 1, 2, 2, 3 and 10 ranks.
    assert_eq!([2, 3, 4, 8, 1024].map(takes), [500, 1000, 1000, 1500, 5000]);
    let mailboxes = machine.mailboxes(false).unwrap();
    assert_eq!((mailboxes.slots, mailboxes.wait), (2, Time::nanoseconds(200)));
    // Cycles of 2 ns: 3 + 4 + 1 to send, and 2 + 4 to receive.
    let takes = [mailboxes.sending(), mailboxes.receiving()];
    assert_eq!(takes, [16, 12].map(Time::nanoseconds));
    assert_eq!(machine.mailboxes(true), None, "they serve a node");
}

#[test]
fn without_hardware_registers_are_words_of_all_pes() {
    let machine = plain();
    assert_eq!(machine.register_write(), Time::nanoseconds(8));
    assert_eq!(machine.lbts_read(4), Time::nanoseconds(2 * 4 * 9));
    assert_eq!(machine.lbts_takes(2), Time::nanoseconds(100 + 9));
    assert_eq!(machine.mailboxes(false), None);
}

#[test]
fn chips_differ_in_their_hardware_alone() {
    let [plain, registers, both] =
        ["multicore", "multicore-gsu", "multicore-gsu-mailboxes"].map(|name| open(name).unwrap());
    assert!(plain.registers.is_none() && registers.mailboxes.is_none());
    assert!(both.mailboxes.is_some() && both.registers == registers.registers);
    for chip in [registers, both] {
        let without =
            Machine { registers: None, mailboxes: None, name: plain.name.clone(), ..chip };
        assert_eq!(without, plain);
    }
}

#[test]
fn wrong_hardware_is_refused_in_a_sentence() {
    for (from, to, expected) in [
        (
            "clock = { mhz = 500,",
            "clock = { mhz = 0.5,",
            "units.toml: `mailboxes.clock` cannot be 500000: it takes 1 MHz or more",
        ),
        (
            "clock = { ghz = 2, origin = \"measured\" }\n",
            "",
            "units.toml: `registers.clock` is missing; give it as { ghz = 2.0, origin = \"assumed: \
             …\" }",
        ),
        (
            "rank = { cycles = 1",
            "rank = { ns = 1",
            "units.toml: `registers.rank` cannot be { ns = 1, origin = \"measured\" }: it takes a \
             number under its unit, { cycles = … }",
        ),
        (
            "slots = { count = 2",
            "slots = { count = 0",
            "units.toml: `mailboxes.slots` cannot be 0: it takes a whole number, 1 or more",
        ),
        (
            "wait = {",
            "waits = {",
            "units.toml: `mailboxes.wait` is missing; give it as { cycles = 4, origin = \"assumed: \
             …\" }",
        ),
    ] {
        assert!(UNITS.contains(from), "{from}");
        let text = PLAIN.to_owned() + &UNITS.replacen(from, to, 1);
        assert_eq!(read("units", "units.toml", &text).unwrap_err().to_string(), expected);
    }
}
