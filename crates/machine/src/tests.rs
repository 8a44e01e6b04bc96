use crate::file::read;
use crate::{Machine, Time, names, open};

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
            "plain.toml: `network.topology` cannot be \"ring\": it takes one of flat, torus, fat-tree",
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
            "plain.toml: `far.latency` needs an origin, which is \"measured\", or begins with \"assumed: \" or \"published: \"",
        ),
        (
            "\"assumed: small\"",
            "\"assumed: \"",
            "plain.toml: `node.cores` needs an origin, which is \"measured\", or begins with \"assumed: \" or \"published: \"",
        ),
        (
            "count = 2",
            "count = 0",
            "plain.toml: `node.cores` cannot be 0: it takes a whole number, 1 or more",
        ),
        (
            "{ ns = 30,",
            "{ hours = 30,",
            "plain.toml: `network.hop` cannot be { hours = 30, origin = \"published: a book\" }: it takes a number under its unit, { ps = … } or { ns = … } or { us = … } or { ms = … } or { s = … }",
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
        "there is no machine `cray-xt4`: it is neither a file nor one of loggops-default, cray-xt5, infiniband, knl-10gbe; did you mean `cray-xt5`?"
    );
}

#[test]
fn noise_is_drawn_from_a_seed() {
    let noisy = PLAIN.to_owned()
        + "[noise]\nevery = { ms = 1, origin = \"measured\" }\nlasts = { us = 5, origin = \"measured\" }\n\
           stragglers = { share = 0.25, origin = \"measured\" }\nslowdown = { factor = 2, origin = \"measured\" }\n";
    let noise = read("noisy", "noisy.toml", &noisy).unwrap().noise;
    let slow = (0..1000).filter(|core| noise.slowdown_of(1, *core) > 1.0).count();
    assert!((200..300).contains(&slow), "{slow}");
    let first = noise.interruption(1, 0, 3).unwrap();
    assert_eq!(noise.interruption(1, 0, 3), Some(first));
    let period = Time::nanoseconds(1_000_000);
    assert!((period * 3..period * 4).contains(&first));
    assert_eq!(plain().noise.interruption(1, 0, 3), None);
}
