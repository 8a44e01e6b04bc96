//! Steps that PEs of a modelled machine need not make.

use warpline::prelude::*;
use warpline::record::MachineRecord;
use warpline::{GvtStart, Synchronisation};
use warpline_testkit::Hops;
use warpline_testkit::matrix::ALGORITHMS;

use super::modelled::hops;

/// The digest, how it went on the machine, and how many steps were made.
fn run(simulation: Simulation<'static, Hops>) -> (String, MachineRecord, u64) {
    let record = simulation.run().expect("it runs").record;
    let parallel = record.parallel.expect("it is parallel");
    (record.digest, parallel.machine.expect("on a machine"), parallel.steps)
}

#[test]
fn steps_that_are_left_out_change_neither_the_answer_nor_machine_time() {
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        let mut left_out = 0;
        for &gvt in ALGORITHMS {
            for start in [GvtStart::OnDemand, GvtStart::AtOnce] {
                for (machine, pes) in [
                    ("cray-xt5", 40),
                    ("cray-xt5-interrupted", 24),
                    ("cray-xt5-stragglers", 40),
                    ("multicore-gsu-mailboxes", 16),
                ] {
                    for lookahead in [0.05, 0.5] {
                        let simulation = || {
                            hops(80, lookahead)
                                .sync(sync)
                                .machine(machine)
                                .pes(pes)
                                .gvt(gvt)
                                .gvt_start(start)
                        };
                        let (digest, times, steps) = run(simulation());
                        let (expected, expected_times, all) = run(simulation().all_steps());
                        let name = format!("{sync:?} {gvt:?} {start:?} {machine} {lookahead}");
                        assert_eq!(digest, expected, "{name}");
                        assert_eq!(times, expected_times, "{name}");
                        assert!(steps <= all, "{name}: {steps} of {all}");
                        left_out += all - steps;
                    }
                }
            }
        }
        assert_eq!(left_out > 0, sync == Synchronisation::Conservative, "{left_out} left out");
    }
}
