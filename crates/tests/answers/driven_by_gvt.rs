//! Runs in which GVT alone says how far PEs may go.

use warpline::prelude::*;
use warpline::record::ParallelRecord;
use warpline::{GvtAlgorithm, GvtStart, Horizon, Synchronisation};
use warpline_testkit::Hops;
use warpline_testkit::matrix::ALGORITHMS;

const END: f64 = 20.0;

fn model(lookahead: f64) -> Hops {
    Hops { lps: 40, messages: 4, lookahead }
}

fn hops(lookahead: f64) -> Simulation<'static, Hops> {
    Simulation::new(model(lookahead)).end(END)
}

/// A run in a virtual cluster, where everything that is counted repeats.
fn driven(lookahead: f64, sync: Synchronisation, start: GvtStart) -> Simulation<'static, Hops> {
    let simulation = hops(lookahead).sync(sync).threads(5).virtual_cluster(3);
    simulation.horizon(Horizon::Gvt).gvt_start(start)
}

#[test]
fn runs_that_gvt_drives_have_the_answer_of_a_sequential_run() {
    for lookahead in [0.01, 0.5] {
        let expected = model(lookahead).sequential(END);
        for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
            for start in [GvtStart::OnDemand, GvtStart::AtOnce] {
                for &gvt in ALGORITHMS {
                    for simulation in [
                        driven(lookahead, sync, start),
                        hops(lookahead)
                            .sync(sync)
                            .threads(2)
                            .horizon(Horizon::Gvt)
                            .gvt_start(start),
                    ] {
                        let run = simulation.gvt(gvt).run().expect("it runs");
                        let same = run.record.digest == expected.record.digest;
                        assert!(
                            same && run.states == expected.states,
                            "{sync:?} {start:?} {gvt:?}"
                        );
                    }
                }
            }
        }
    }
}

/// PEs that are not called, or of which none is close to another, find the same, and the run ends.
#[test]
fn runs_end_with_the_same_answer_without_jump_start_and_groups() {
    let expected = model(0.1).sequential(END).record.digest;
    for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
        for start in [GvtStart::OnDemand, GvtStart::AtOnce] {
            for &gvt in ALGORITHMS {
                for (calls, groups) in [(false, true), (true, false), (false, false)] {
                    let with = |run: Simulation<'static, Hops>| {
                        let run = run.gvt(gvt).jump_start(calls).gvt_groups(groups).run();
                        run.expect("it runs").record.digest
                    };
                    let threads =
                        hops(0.1).sync(sync).threads(3).horizon(Horizon::Gvt).gvt_start(start);
                    let machine = hops(0.1).sync(sync).machine("cray-xt5").pes(40).gvt_start(start);
                    for run in [driven(0.1, sync, start), threads, machine] {
                        assert_eq!(
                            with(run),
                            expected,
                            "{sync:?} {start:?} {gvt:?} {calls} {groups}"
                        );
                    }
                }
            }
        }
    }
}

/// With registers, PEs read GVT whenever they need it, and compute it only at the end and to forget
/// old commits.
#[test]
fn gvt_in_registers_is_read_instead_of_computed() {
    let simulation = driven(0.5, Synchronisation::Conservative, GvtStart::OnDemand);
    let record = simulation.gvt(GvtAlgorithm::Gsu).run().expect("it runs").record;
    let ParallelRecord { gvt_epochs, gvt_reads, .. } = record.parallel.expect("it is parallel");
    // Each of 5 PEs needs one for every lookahead, at most, and shares none.
    assert!(gvt_reads > 5 * 20 && gvt_epochs * 4 < gvt_reads, "{gvt_epochs}, {gvt_reads} read");
}

/// A PE goes on to GVT plus lookahead, so a conservative run takes about five times as many
/// computations of GVT with a fifth of the lookahead (Fig. 14 to 21 of K. Perumalla, A. Park and V.
/// Tipparaju, ACM TOMACS 24(3), 2014).
#[test]
fn the_less_lookahead_there_is_the_more_often_gvt_is_found() {
    let found = |lookahead, start, gvt| {
        let simulation = driven(lookahead, Synchronisation::Conservative, start).gvt(gvt);
        let record = simulation.run().expect("it runs").record;
        let ParallelRecord { gvt_epochs, .. } = record.parallel.expect("it is a parallel run");
        gvt_epochs as f64
    };
    for gvt in ALGORITHMS.iter().copied().filter(|gvt| *gvt != GvtAlgorithm::Gsu) {
        let on_demand = |lookahead| found(lookahead, GvtStart::OnDemand, gvt);
        let ratio = on_demand(0.1) / on_demand(0.5);
        assert!((3.0..7.0).contains(&ratio), "{gvt:?}: {ratio} times as often");
        let at_once = found(0.5, GvtStart::AtOnce, gvt);
        assert!(at_once >= on_demand(0.5), "{gvt:?}: {at_once} at once");
    }
}
