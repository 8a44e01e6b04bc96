//! Steps that PEs of a modelled machine need not make.

use warpline::prelude::*;
use warpline::record::MachineRecord;
use warpline::{FigureGroup, GvtStart, MachineScale, Synchronisation};
use warpline_testkit::Hops;
use warpline_testkit::matrix::ALGORITHMS;

use super::modelled::hops_on;

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
                        let simulation = || hops_on((machine, pes), lookahead, (sync, gvt, start));
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

/// Messages of events that are undone delay the next GVT, and windows get narrower only then. So
/// PEs must stop going ahead in the meantime, or they undo ever more.
#[test]
fn pes_do_not_undo_without_end_where_the_network_is_slow() {
    let scale = MachineScale::default();
    let scale = scale.times(FigureGroup::Bandwidth, 0.001).times(FigureGroup::Latency, 10.0);
    let simulation = Simulation::new(Hops { lps: 320, messages: 10, lookahead: 0.1 })
        .end(4.0)
        .sync(Synchronisation::Optimistic)
        .machine("cray-xt5-stragglers")
        .machine_scale(scale)
        .pes(32);
    let record = simulation.run().expect("it runs").record;
    let parallel = record.parallel.expect("it is parallel");
    let committed = record.committed_events;
    let undone = parallel.rolled_back_events;
    assert!(undone < 8 * committed, "{undone} undone, {committed} committed");
}
