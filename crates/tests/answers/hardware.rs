//! Modelled machines with registers and mailboxes in hardware: what these cost, in cases worked out
//! by hand, and that the answer is that of any run.

use std::fs;

use warpline::prelude::*;
use warpline::record::{MachineRecord, ParallelRecord};
use warpline::{GvtAlgorithm, Synchronisation};
use warpline_testkit::Story;
use warpline_testkit::matrix::ALGORITHMS;

use crate::modelled::{hops, machine_file};

/// Tables of hardware whose clock has cycles of a nanosecond.
fn units(registers: [u32; 3], mailboxes: Option<[u32; 6]>) -> String {
    let of = |table: &str, names: &[&str], figures: &[u32]| {
        let mut text = format!("[{table}]\nclock = {{ ghz = 1, origin = \"measured\" }}\n");
        for (name, figure) in names.iter().zip(figures) {
            let unit = if *name == "slots" { "count" } else { "cycles" };
            text += &format!("{name} = {{ {unit} = {figure}, origin = \"measured\" }}\n");
        }
        text
    };
    let mailboxes = mailboxes.map(|figures| {
        of("mailboxes", &["slots", "wait", "send", "receive", "allocate", "count"], &figures)
    });
    of("registers", &["write", "read", "rank"], &registers) + &mailboxes.unwrap_or_default()
}

/// A run on a chip of 64 cores with these figures and tables.
fn on_chip<M: Model>(
    simulation: Simulation<'_, M>,
    given: &[(&str, &str)],
    tables: &str,
) -> ParallelRecord {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("chip.toml");
    let given: Vec<_> = given.iter().copied().chain([("node.cores", "count = 64")]).collect();
    fs::write(&path, machine_file(&given) + tables).expect("a file");
    let run = simulation.machine(path).run().expect("it runs");
    run.record.parallel.expect("it is parallel")
}

fn machine_of(parallel: &ParallelRecord) -> &MachineRecord {
    parallel.machine.as_ref().expect("it was run on a machine")
}

/// The time that finding GVT took all PEs, in nanoseconds.
fn gvt_time(parallel: &ParallelRecord) -> f64 {
    let machine = machine_of(parallel);
    (machine.shares.gvt * machine.seconds * 1e9 * machine.pes as f64).round()
}

/// LPs that each have an event a second. With a lookahead of a second, none may have its next event
/// before all have had this one: that is a barrier each second.
fn seconds(lps: u32) -> Story {
    Story::new(lps)
        .lookahead(1.0)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(|_, _, lp| lp.send(lp.id(), 1.0, 0))
}

/// A PE reads LBTS and writes its register, executes its event in the next step, and writes its
/// register again. The last of them lets all go on when the comparators are through. Without a unit a reading takes two words of each PE, and what
/// was written takes a latency and the reading of a word.
#[test]
fn a_barrier_by_registers_takes_what_the_file_says() {
    let second = |pes: u32, given: &[(&str, &str)], tables: &str| {
        let takes = |end: f64| {
            let simulation = Simulation::new(seconds(pes)).end(end).pes(pes);
            let simulation = simulation.sync(Synchronisation::Conservative).gvt(GvtAlgorithm::Gsu);
            machine_of(&on_chip(simulation, given, tables)).seconds * 1e9
        };
        ((takes(12.5) - takes(8.5)) / 4.0).round()
    };
    let event = ("costs.event", "ns = 1000");
    for (pes, ranks) in [(2, 1), (4, 2), (8, 3)] {
        let hardware = second(pes, &[event], &units([50, 30, 7], None));
        assert_eq!(hardware, f64::from(30 + 50 + 1000 + 50 + 7 * ranks), "{pes}");
        let given = [
            event,
            ("costs.remote_write", "ns = 50"),
            ("costs.register_read", "ns = 3"),
            ("near.latency", "ns = 200"),
        ];
        let software = second(pes, &given, "");
        assert_eq!(software, f64::from(2 * pes * 3 + 50 + 1000 + 50 + 200 + 3), "{pes}");
    }
}

/// Nothing costs anything but registers: all time of GVT is that of the accesses that were counted.
#[test]
fn every_access_to_registers_is_charged() {
    for pes in [2, 4, 8] {
        let simulation = || {
            let simulation = hops(16, 0.5).sync(Synchronisation::Conservative).pes(pes);
            simulation.gvt(GvtAlgorithm::Gsu)
        };
        let hardware = on_chip(simulation(), &[], &units([5, 3, 0], None));
        let ParallelRecord { register_reads, register_writes, .. } = hardware;
        assert!(register_reads > 20 && register_writes > 20, "{register_reads}");
        assert_eq!(gvt_time(&hardware), (3 * register_reads + 5 * register_writes) as f64, "{pes}");
    }
}

/// LP 0 sends LP 1 three messages at once.
fn three_at_once() -> Story {
    Story::new(2)
        .lookahead(1.0)
        .init(|lp| {
            if lp.id().0 == 0 {
                lp.send(lp.id(), 1.0, 0);
            }
            0
        })
        .handle(|_, _, lp| {
            if lp.id().0 == 0 {
                (0..3).for_each(|_| lp.send(1, 1.0, 0));
            }
        })
}

/// The mailbox has one slot, and a message takes 1000 ns to get there, where it is taken out at
/// once. So the second message waits as long for room, and then the third. If they may wait for 100
/// ns only, the flag is set, and they are sent through memory.
#[test]
fn a_message_waits_for_room_in_a_mailbox_and_then_takes_another_way() {
    let burst = |slots: u32, wait: u32| {
        let simulation =
            Simulation::new(three_at_once()).end(10.0).sync(Synchronisation::Conservative);
        let simulation = simulation.pes(2).gvt(GvtAlgorithm::Gsu);
        let given = [("near.latency", "ns = 1000"), ("near.overhead", "ns = 10")];
        let tables = units([0, 0, 0], Some([slots, wait, 4, 3, 2, 1]));
        let parallel = on_chip(simulation, &given, &tables);
        let machine = machine_of(&parallel);
        let all = machine.seconds * 1e9 * 2.0;
        let MachineRecord { mailbox_messages, mailbox_waits, mailbox_failures, .. } = *machine;
        let waited = (machine.mailbox_wait_seconds * 1e9).round();
        let messages = (machine.shares.messages * all).round();
        (mailbox_messages, mailbox_waits, mailbox_failures, waited, messages)
    };
    // Each message is allocated, counted and sent, and taken out and counted again.
    let through_mailbox = f64::from((2 + 1 + 4) + (3 + 1));
    assert_eq!(burst(3, 100), (3, 0, 0, 0.0, 3.0 * through_mailbox));
    assert_eq!(burst(1, 5000), (3, 2, 0, 2000.0, 3.0 * through_mailbox + 2000.0));
    // Two are tried in vain, and then cost the sender and the receiver their overhead.
    let in_vain = f64::from((2 + 1 + 4) + 10 + 10);
    assert_eq!(burst(1, 100), (1, 2, 2, 200.0, through_mailbox + 2.0 * in_vain + 200.0));
    assert_eq!(burst(1, 0), (1, 2, 2, 0.0, through_mailbox + 2.0 * in_vain));
}

/// The same events take the same PEs another time on each chip.
#[test]
fn hardware_changes_the_time_and_not_the_answer() {
    let expected = hops(64, 0.3).run().expect("it runs").record.digest;
    let mut times = Vec::new();
    for name in ["multicore-copies", "multicore", "multicore-gsu", "multicore-gsu-mailboxes"] {
        let simulation = hops(64, 0.3).sync(Synchronisation::Conservative);
        let simulation = simulation.machine(name).pes(32).gvt(GvtAlgorithm::Gsu);
        let record = simulation.run().expect("it runs").record;
        assert_eq!(record.digest, expected, "{name}");
        times.push(machine_of(&record.parallel.expect("it is parallel")).seconds);
    }
    assert!(times[1] > times[2] && times[2] > times[3], "{times:?}");
}

/// However often mailboxes are full, and however long PEs wait for room, the answer is the same.
#[test]
fn full_mailboxes_change_no_answer() {
    let expected = hops(32, 0.3).run().expect("it runs").record.digest;
    let directory = tempfile::tempdir().expect("a directory");
    let given =
        [("node.cores", "count = 64"), ("near.latency", "ns = 700"), ("costs.turn", "ns = 9")];
    for wait in [0, 300, 5000] {
        let path = directory.path().join("chip.toml");
        let tables = units([4, 4, 1], Some([1, wait, 4, 4, 4, 4]));
        fs::write(&path, machine_file(&given) + &tables).expect("a file");
        for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
            for gvt in ALGORITHMS {
                let simulation = hops(32, 0.3).sync(sync).gvt(*gvt).machine(&path).pes(8);
                let record = simulation.run().expect("it runs").record;
                let parallel = record.parallel.expect("it is parallel");
                let MachineRecord { mailbox_waits, mailbox_failures, .. } = machine_of(&parallel);
                assert_eq!(record.digest, expected, "{wait} {sync:?} {gvt:?}");
                assert!(*mailbox_waits > 0 && mailbox_failures <= mailbox_waits, "{wait} {gvt:?}");
                assert!(wait > 0 || mailbox_failures == mailbox_waits, "{gvt:?}");
            }
        }
    }
}

/// Copying costs both cores what the file says for each byte, and shared payloads cost nothing.
#[test]
fn payloads_are_copied_or_shared() {
    struct Parcel;

    #[model]
    impl Model for Parcel {
        type State = ();
        type Event = Payload;

        fn lps(&self) -> u32 {
            2
        }

        fn lookahead(&self) -> f64 {
            1.0
        }

        fn init(&self, lp: &mut Init<Self>) {
            if lp.id().0 == 0 {
                lp.send(lp.id(), 1.0, Payload::zeroed(5000));
            }
        }

        fn handle(&self, _: &mut (), bytes: &Payload, lp: &mut Context<Self>) {
            if lp.id().0 == 0 {
                lp.send(1, 1.0, bytes.clone());
            }
        }

        fn payload(bytes: &Payload) -> Option<&Payload> {
            Some(bytes)
        }
    }
    let messages = |copy: &str| {
        let simulation = Simulation::new(Parcel).end(10.0).sync(Synchronisation::Conservative);
        let simulation = simulation.pes(2).gvt(GvtAlgorithm::Gsu);
        // Something has to take time while the message is on its way.
        let parallel = on_chip(simulation, &[("costs.gvt_step", "ns = 1")], copy);
        let machine = machine_of(&parallel);
        (machine.shares.messages * machine.seconds * 1e9 * 2.0).round()
    };
    assert_eq!(messages(&units([0, 0, 0], None)), 0.0);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("copies.toml");
    let text = machine_file(&[("node.cores", "count = 64"), ("costs.gvt_step", "ns = 1")]);
    let copies = "[near]\ncopy = { gb_per_s = 2, origin = \"measured\" }";
    fs::write(&path, text.replacen("[near]", copies, 1)).expect("a file");
    let simulation = Simulation::new(Parcel).end(10.0).sync(Synchronisation::Conservative);
    let run = simulation.pes(2).gvt(GvtAlgorithm::Gsu).machine(path).run().expect("it runs");
    let parallel = run.record.parallel.expect("it is parallel");
    let machine = machine_of(&parallel);
    // 2500 ns at either end.
    assert_eq!((machine.shares.messages * machine.seconds * 1e9 * 2.0).round(), 5000.0);
}

#[test]
fn registers_serve_one_node() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("small.toml");
    fs::write(&path, machine_file(&[("node.cores", "count = 8")]) + &units([1, 1, 1], None))
        .expect("a file");
    let simulation = hops(40, 0.5).machine(&path).pes(9).gvt(GvtAlgorithm::Gsu);
    let refused = simulation.run().expect_err("it is refused").to_string();
    assert_eq!(
        refused,
        "`gvt` is `gsu`, but 9 PEs take 2 nodes of machine `small`, whose registers serve the 8 \
         cores of a node: set `pes` to fewer, or `gvt` to `one-sided`"
    );
}
