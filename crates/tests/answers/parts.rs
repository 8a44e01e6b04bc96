//! Parts of a modelled machine, each stepped by a thread of its own.

use warpline::prelude::*;
use warpline::record::RunRecord;
use warpline::{GvtStart, Synchronisation};
use warpline_testkit::Hops;
use warpline_testkit::matrix::ALGORITHMS;

use super::modelled::hops_on;

/// The record of a run in so many threads, and in how many it was.
fn run(simulation: Simulation<'static, Hops>, threads: u32) -> (RunRecord, u64) {
    let record = simulation.threads(threads).run().expect("it runs").record;
    let threads = record.engine["threads"].as_u64().expect("a number");
    (record, threads)
}

/// What a run says of its machine, and all that its PEs have counted.
fn of_machine(record: &RunRecord) -> String {
    let parallel = record.parallel.as_ref().expect("it is parallel");
    format!("{:?} {} {}", parallel.machine, parallel.rolled_back_events, parallel.steps)
}

#[test]
fn the_time_of_the_machine_does_not_depend_on_the_threads_that_step_it() {
    let mut divided = 0;
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic, Synchronisation::Mixed]
    {
        for &gvt in ALGORITHMS {
            for start in [GvtStart::OnDemand, GvtStart::AtOnce] {
                for (machine, pes, lookahead, asked) in [
                    ("cray-xt5", 40, 0.5, 2),
                    ("cray-xt5", 80, 0.05, 4),
                    ("cray-xt5-interrupted", 29, 0.5, 3),
                    ("cray-xt5-stragglers", 61, 0.2, 2),
                ] {
                    let simulation = || hops_on((machine, pes), lookahead, (sync, gvt, start));
                    let (expected, _) = run(simulation(), 1);
                    let (record, threads) = run(simulation(), asked);
                    let name = format!("{sync:?} {gvt:?} {start:?} {machine} {lookahead}");
                    assert_eq!(record.digest, expected.digest, "{name}");
                    assert_eq!(of_machine(&record), of_machine(&expected), "{name}");
                    divided += u32::from(threads > 1);
                }
            }
        }
    }
    assert!(divided >= 60, "only {divided} runs were in several threads");
}

/// LPs that send to the next but one. One of them makes a mistake.
#[derive(Debug)]
struct Mistaken;

impl Model for Mistaken {
    type State = u32;
    type Event = ();

    fn lps(&self) -> u32 {
        96
    }

    fn lookahead(&self) -> f64 {
        0.5
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(lp.id(), 0.5, ());
        0
    }

    fn handle(&self, events: &mut u32, (): &(), lp: &mut Context<Self>) {
        *events += 1;
        assert!(lp.id().0 != 61 || *events < 9, "LP 61 has had enough");
        let delay = 0.5 + lp.random().uniform();
        lp.send(LpId((lp.id().0 + 2) % 96), delay, ());
    }
}

#[test]
fn a_mistake_in_one_part_is_the_same_error() {
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        let error = |threads| {
            let simulation = Simulation::new(Mistaken).end(100.0).sync(sync).machine("cray-xt5");
            simulation.pes(48).threads(threads).run().expect_err("it fails").to_string()
        };
        let expected = error(1);
        assert!(expected.contains("LP 61 has had enough"), "{expected}");
        assert_eq!(error(4), expected);
    }
}
