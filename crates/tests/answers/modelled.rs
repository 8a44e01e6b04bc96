//! Runs on modelled machines: their answers, and how they would go there.
#![cfg(not(miri))]

use std::fs;

use warpline::prelude::*;
use warpline::record::MachineRecord;
use warpline::{
    Barrier, Conservative, GvtAlgorithm, GvtStart, Horizon, MemoryLimit, Synchronisation,
};
use warpline_testkit::matrix::ALGORITHMS;
use warpline_testkit::{Hops, Story};

const END: f64 = 10.0;

fn model(lps: u32, lookahead: f64) -> Hops {
    Hops { lps, messages: 3, lookahead }
}

pub(crate) fn hops(lps: u32, lookahead: f64) -> Simulation<'static, Hops> {
    Simulation::new(model(lps, lookahead)).end(END)
}

/// The same on so many cores of a machine, with this engine and this way to find GVT.
pub(crate) fn hops_on(
    (machine, pes): (&str, u32),
    lookahead: f64,
    (sync, gvt, start): (Synchronisation, GvtAlgorithm, GvtStart),
) -> Simulation<'static, Hops> {
    hops(80, lookahead).sync(sync).machine(machine).pes(pes).gvt(gvt).gvt_start(start)
}

#[test]
fn the_answer_on_any_machine_is_that_of_a_sequential_run() {
    for lookahead in [0.05, 0.5] {
        let expected = model(40, lookahead).sequential(END);
        for sync in
            [Synchronisation::Conservative, Synchronisation::Optimistic, Synchronisation::Mixed]
        {
            for (horizon, start) in [
                (Horizon::Gvt, GvtStart::OnDemand),
                (Horizon::Gvt, GvtStart::AtOnce),
                (Horizon::Bounds, GvtStart::OnDemand),
            ] {
                for &gvt in ALGORITHMS {
                    for (name, pes) in
                        [("multicore-gsu-mailboxes", 40), ("cray-xt5", 29), ("knl-10gbe", 9)]
                    {
                        let run = hops(40, lookahead)
                            .sync(sync)
                            .machine(name)
                            .pes(pes)
                            .horizon(horizon)
                            .gvt_start(start)
                            .gvt(gvt)
                            .run()
                            .unwrap_or_else(|why| panic!("{sync:?} {gvt:?} {name}: {why}"));
                        assert!(
                            run.record.digest == expected.record.digest
                                && run.states == expected.states,
                            "{sync:?} {horizon:?} {start:?} {gvt:?} {name} {pes}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn pes_in_windows_and_pure_time_warp_have_the_same_answer_on_a_machine() {
    let expected = model(24, 0.3).sequential(END).record.digest;
    let windows = hops(24, 0.3)
        .sync(Synchronisation::Conservative)
        .conservative(Conservative::Windows)
        .machine("infiniband")
        .pes(24);
    assert_eq!(windows.run().expect("it runs").record.digest, expected);
    let ahead = hops(24, 0.3)
        .sync(Synchronisation::Optimistic)
        .use_lookahead(false)
        .machine("knl-10gbe")
        .pes(24);
    assert_eq!(ahead.run().expect("it runs").record.digest, expected);
}

#[test]
fn machine_time_repeats() {
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        let run = |seed| {
            let simulation = hops(64, 0.2).sync(sync).machine("cray-xt5").pes(64).seed(seed);
            let record = simulation.run().expect("it runs").record;
            record.parallel.expect("it is parallel").machine.expect("on a machine")
        };
        let first = run(1);
        assert_eq!(first, run(1), "{sync:?}");
        assert_ne!(first.seconds, run(2).seconds, "{sync:?}");
        let shares: f64 = first.shares.list().iter().map(|(_, share)| share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
}

/// All of a few PEs have a time line, so that they say together what the shares of the run say.
#[test]
fn time_lines_and_distributions_tell_where_the_time_went() {
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        let run = hops(64, 0.2).sync(sync).machine("cray-xt5").pes(16).run().expect("it runs");
        let machine = run.record.parallel.expect("it is parallel").machine.expect("on a machine");
        let lines = machine.time_lines.as_ref().expect("time lines");
        assert_eq!((lines.recorded, lines.pes.len()), (16, 16));
        let bins = machine.seconds / lines.bin_seconds;
        assert!(bins > 200.0 && bins <= 480.0, "{bins}");
        let all = bins * 16.0 * 1000.0;
        for (place, (name, share)) in machine.shares.list().into_iter().enumerate() {
            let times = lines.pes.iter().flat_map(|line| line.list()[place].1);
            let told = times.map(|time| f64::from(*time)).sum::<f64>() / all;
            // Each bin is rounded down to thousandths.
            assert!((told - share).abs() < 0.002, "{sync:?}: {name} {told} {share}");
        }
        let waiting = &machine.distribution.waiting;
        assert_eq!((waiting[0], waiting[20]), (machine.waiting.min, machine.waiting.max));
        let sum: f64 = machine.distribution.committed_events.iter().sum();
        assert!(sum > 0.0 && machine.distribution.buffers.len() == 21);
        let latency = machine.gvt_latency.expect("computations are common to all");
        assert!(latency > 0.0 && latency <= machine.shares.gvt + machine.shares.waiting);
        assert_eq!(machine.least_delay, Some(0.2));
    }
}

/// Two LPs that throw a ball to and fro.
fn ping_pong() -> Story {
    Story::new(2)
        .lookahead(1.0)
        .init(|lp| {
            if lp.id().0 == 0 {
                lp.send(0, 1.0, 0);
            }
            0
        })
        .handle(|throws, _, lp| {
            *throws += 1;
            lp.send(1 - lp.id().0, 1.0, 0);
        })
}

/// The figures of a machine on which nothing costs anything but what is given.
pub(crate) fn machine_file(given: &[(&str, &str)]) -> String {
    let figures = [
        ("node", vec![("cores", "count = 1")]),
        (
            "near",
            vec![("latency", "ns = 0"), ("overhead", "ns = 0"), ("bandwidth", "gb_per_s = 1e6")],
        ),
        (
            "far",
            vec![
                ("latency", "ns = 0"),
                ("overhead", "ns = 0"),
                ("gap", "ns = 0"),
                ("bandwidth", "gb_per_s = 1e6"),
            ],
        ),
        ("network", vec![("hop", "ns = 0")]),
        (
            "costs",
            [
                "event",
                "send",
                "receive",
                "undo",
                "copy",
                "commit",
                "gvt_step",
                "turn",
                "remote_write",
                "register_read",
            ]
            .map(|name| (name, "ns = 0"))
            .to_vec(),
        ),
    ];
    let mut text = String::from("about = \"by hand\"\n");
    for (table, figures) in figures {
        text += &format!("[{table}]\n");
        if table == "network" {
            text += "topology = \"flat\"\n";
        }
        for (name, value) in figures {
            let key = format!("{table}.{name}");
            let value =
                given.iter().find(|(given, _)| *given == key).map_or(value, |(_, value)| value);
            text += &format!("{name} = {{ {value}, origin = \"assumed: for a test\" }}\n");
        }
    }
    text
}

/// A run on a machine with these figures.
fn on_machine<M: Model>(
    name: &str,
    simulation: Simulation<'_, M>,
    given: &[(&str, &str)],
) -> MachineRecord {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(format!("{name}.toml"));
    fs::write(&path, machine_file(given)).expect("a file");
    let run = simulation.machine(path).run().expect("it runs");
    run.record.parallel.and_then(|parallel| parallel.machine).expect("it was run on a machine")
}

/// Its machine time, in nanoseconds.
fn nanoseconds<M: Model>(name: &str, simulation: Simulation<'_, M>, given: &[(&str, &str)]) -> f64 {
    (on_machine(name, simulation, given).seconds * 1e9 * 1000.0).round() / 1000.0
}

/// The ball is thrown as soon as it is there.
#[test]
fn a_ping_pong_ahead_of_gvt_takes_an_event_a_throw() {
    let throws = |end: f64| {
        let simulation = Simulation::new(ping_pong()).end(end).sync(Synchronisation::Optimistic);
        let simulation = simulation.use_lookahead(false).window(100.0).pes(2);
        nanoseconds("ping-pong", simulation, &[("costs.event", "ns = 1000")])
    };
    assert_eq!(throws(16.5) - throws(8.5), 8.0 * 1000.0);
}

/// The ball and the bound that lets it be executed arrive together. A turn takes them in, and another
/// one executes the event. A PE that waits is woken by them at once, even if nothing takes time on the
/// way.
#[test]
fn a_ping_pong_behind_bounds_takes_two_turns_and_an_event_a_throw() {
    let throws = |end: f64| {
        let simulation = Simulation::new(ping_pong()).end(end).sync(Synchronisation::Conservative);
        let simulation = simulation.horizon(Horizon::Bounds).pes(2);
        let costs =
            [("node.cores", "count = 2"), ("costs.event", "ns = 1000"), ("costs.turn", "ns = 50")];
        nanoseconds("ping-pong", simulation, &costs)
    };
    assert_eq!(throws(16.5) - throws(8.5), 8.0 * (2.0 * 50.0 + 1000.0));
}

/// Without anything to do, a run is over once GVT has been found twice. All PEs begin at once. A PE
/// gives its share when its first partner has begun, a latency later, and each stage of the
/// butterfly takes another one. Asynchronous GVT takes a round, synchronous GVT two, of which only
/// the first waits for partners to begin.
#[test]
fn a_reduction_takes_a_latency_a_stage() {
    let takes = |pes: u32, gvt: GvtAlgorithm| {
        let quiet = Hops { lps: 8, messages: 0, lookahead: 1.0 };
        let simulation =
            Simulation::new(quiet).end(10.0).sync(Synchronisation::Conservative).pes(pes).gvt(gvt);
        nanoseconds("quiet", simulation, &[("far.latency", "ns = 1000")]) / 1000.0
    };
    for (pes, stages) in [(2, 1.0), (4, 2.0), (8, 3.0)] {
        for gvt in [GvtAlgorithm::Asynchronous, GvtAlgorithm::OneSided] {
            assert_eq!(takes(pes, gvt), 2.0 * (1.0 + stages), "{pes} {gvt:?}");
        }
        let synchronous = takes(pes, GvtAlgorithm::Synchronous);
        assert_eq!(synchronous, 2.0 * (1.0 + 2.0 * stages), "{pes}");
    }
}

/// LP 1 sends LP 0 an event for time 2, which arrives when LP 0 has executed its own at time 3.
fn straggler() -> Story {
    Story::new(2)
        .init(|lp| {
            lp.send(lp.id(), if lp.id().0 == 0 { 3.0 } else { 1.0 }, 0);
            0
        })
        .handle(|events, _, lp| {
            *events += 1;
            if lp.id().0 == 1 {
                lp.send(0, 1.0, 0);
            }
        })
}

/// PE 1 executes its event from 0 to 1000 ns, as PE 0 does, and its message is there at 1100 ns. PE 0
/// then undoes an event and executes two, and PE 1 has nothing to do but wait for it. So the run
/// lasts longer by just what undoing takes.
///
/// If a latency takes 5000 ns, PE 0 gets the straggler at 6000 ns, when PE 1 has long given its
/// share to GVT. The next one needs a share that PE 1 gives when it has PE 0's for this one, two
/// latencies later, and PE 0 is done by then, with or without an undo of 700 ns: the cost is there,
/// and lies in a wait.
#[test]
fn a_rollback_takes_what_undoing_its_events_takes() {
    let simulation = || {
        let simulation = Simulation::new(straggler()).end(10.0).sync(Synchronisation::Optimistic);
        simulation.use_lookahead(false).window(10.0).pes(2)
    };
    let record = simulation().machine("cray-xt5").run().expect("it runs").record;
    let parallel = record.parallel.expect("it is parallel");
    assert_eq!((parallel.rolled_back_events, parallel.rollbacks.primary), (1, 1));
    for (latency, longer) in [("ns = 100", 700.0), ("us = 5", 0.0)] {
        let run = |undo| {
            let given = [("far.latency", latency), ("costs.event", "us = 1"), ("costs.undo", undo)];
            on_machine("straggler", simulation(), &given)
        };
        let machine = run("ns = 700");
        let all = machine.seconds * 1e9 * 2.0;
        assert_eq!((machine.shares.undo * all).round(), 700.0);
        // Two events, one of them twice, and that of LP 1.
        assert_eq!((machine.shares.computing * all).round(), 4000.0);
        let more = (machine.seconds - run("ns = 0").seconds) * 1e9;
        assert_eq!(more.round(), longer, "{latency}");
    }
}

#[test]
fn what_does_not_go_with_a_machine_is_refused_in_a_sentence() {
    let refused = |change: &dyn Fn(Simulation<'static, Hops>) -> Simulation<'static, Hops>| {
        let simulation = hops(40, 0.5).machine("cray-xt5");
        change(simulation).run().expect_err("it is refused").to_string()
    };
    assert_eq!(
        refused(&|run| run.machine("cray-xt6")),
        "there is no machine `cray-xt6`: it is neither a file nor one of loggops-default, \
         cray-xt5, cray-xt5-interrupted, cray-xt5-stragglers, infiniband, knl-10gbe, multicore, \
         multicore-copies, multicore-gsu, multicore-gsu-mailboxes, this; did you mean `cray-xt5`?"
    );
    assert_eq!(
        refused(&|run| run.pes(41)),
        "`pes` is `41`, but model `Hops` has 40 LPs, and every PE needs one"
    );
    assert_eq!(
        refused(&|run| run.sync(Synchronisation::Sequential)),
        "`machine` is `cray-xt5`, but `sync` is `sequential`: its PEs are those of one parallel \
         engine; leave `sync` out, or set it to `conservative`, `optimistic` or `mixed`"
    );
    assert_eq!(
        refused(&|run| run.pes(13).gvt(GvtAlgorithm::Synchronous).barrier(Barrier::Central)),
        "`barrier` is `central`, but 13 PEs take 2 nodes of machine `cray-xt5`, which share no \
         memory to meet in: set it to `tree`"
    );
    // An LP with its state takes 24 bytes, and a PE 14 kB.
    let large = hops(100_000, 0.5).machine("infiniband").pes(100_000);
    let large = large.memory(MemoryLimit::Bytes(1_000_000_000));
    let large = large.run().expect_err("it does not fit").to_string();
    assert!(
        large
            .starts_with("100000 PEs of machine `infiniband` and their LPs need at least 1.40 GB,")
            && large.ends_with("(1.00 GB here): 71257 PEs would fit"),
        "{large}"
    );
    let alone = hops(40, 0.5).pes(4).run().expect_err("it is refused").to_string();
    assert_eq!(
        alone,
        "`pes` is `4`, but there is no `machine`: name one, as only modelled machines have it, or \
         set `threads` instead"
    );
}
