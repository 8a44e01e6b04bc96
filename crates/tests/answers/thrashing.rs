//! Runs whose PEs would execute hundreds of events for each that commits: the engine bounds wasted
//! work, whatever the settings.

use warpline::prelude::*;
use warpline::record::ParallelRecord;
use warpline::{Cancellation, GvtAlgorithm, Run, Synchronisation};
use warpline_testkit::{Story, cases, time_limit};

/// The events that an LP sends itself; those from others change its state only.
const OWN: u64 = 1;
const OTHER: u64 = 0;

/// LPs whose events send another event to some LP without delay, so a PE that goes ahead is soon
/// rolled back.
fn gossips(lps: u32) -> Story {
    Story::new(lps)
        .init(|lp| {
            (0..20).for_each(|chain| lp.send(lp.id(), 0.1 * f64::from(chain), OWN));
            0
        })
        .handle(move |sum, event, lp| {
            *sum = sum.wrapping_mul(31).wrapping_add(lp.now().to_bits() ^ event);
            if event == OWN {
                let delay = lp.random().exponential(2.0);
                let to = lp.random().below(lps);
                lp.send(lp.id(), delay, OWN);
                lp.send(to, 0.0, OTHER);
            }
        })
}

const END: f64 = 5.0;

fn simulation() -> Simulation<'static, Story> {
    Simulation::new(gossips(13)).end(END)
}

fn parallel(run: &Run<Story>) -> &ParallelRecord {
    run.record.parallel.as_ref().expect("it is a parallel run")
}

/// The most events executed for each that commits, and how many more each PE may execute before
/// windows have become narrow.
const PROCESSED_MOST: u64 = 5;
const AT_FIRST: u64 = 20_000;

#[test]
fn pes_do_not_execute_far_more_than_they_commit() {
    let _limit = time_limit("throttled runs");
    let expected = gossips(13).sequential(END);
    for seed in 0..u64::from(cases(3)) {
        let gvt = GvtAlgorithm::ALL[seed as usize % GvtAlgorithm::ALL.len()];
        let cancellation = [Cancellation::Aggressive, Cancellation::Lazy][seed as usize % 2];
        let (batch, interval) = [(128, 50), (1000, 1_000_000), (8, 100)][seed as usize % 3];
        let run = simulation()
            .sync(Synchronisation::Optimistic)
            .threads(4)
            .virtual_cluster(seed)
            .gvt(gvt)
            .cancellation(cancellation);
        let run = run.window(1e9).batch(batch).gvt_interval(interval).run().expect("it runs");
        assert_eq!(run.record.digest, expected.record.digest, "cluster {seed}");
        let committed = run.record.committed_events;
        let parallel = parallel(&run);
        let most = PROCESSED_MOST * committed + 4 * AT_FIRST;
        assert!(
            parallel.processed_events <= most,
            "{} for {committed}, cluster {seed}",
            parallel.processed_events
        );
        assert!(
            parallel.throttle.as_ref().is_some_and(|throttle| throttle.narrowed_epochs > 0),
            "cluster {seed}: the record tells"
        );
        let buffers: u64 = parallel.pes.iter().map(|pe| pe.buffers).sum();
        assert!(
            buffers <= 4 * AT_FIRST,
            "cancelled events pile up: {buffers} buffers, cluster {seed}"
        );
    }
}

/// A window that wastes little stays as it was asked for.
#[test]
fn a_window_that_wastes_little_is_not_narrowed() {
    let run = simulation()
        .sync(Synchronisation::Optimistic)
        .threads(4)
        .virtual_cluster(1)
        .batch(8)
        .window(1e-3)
        .run()
        .expect("it runs");
    let record = parallel(&run);
    assert!(
        record.efficiency > 0.5 && record.throttle.is_none(),
        "{} {:?}",
        record.efficiency,
        record.throttle
    );
    assert_eq!(run.record.engine["final_window"], 1e-3);
}
