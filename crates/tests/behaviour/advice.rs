//! The advice about a parallel run, tested on workloads with known problems. Advice about waiting
//! PEs needs cores that no other program uses: `WARPLINE_IDLE=1 cargo test --package warpline-tests
//! --test behaviour advice -- --test-threads=1` says that there are such cores.

use std::hint::black_box;
use std::iter;

use warpline::prelude::*;
use warpline::record::RunRecord;
use warpline::{Run, Synchronisation};
use warpline_report::{estimated_speedup, is_sampled, limits, taken_by_others};
use warpline_testkit::{Story, time_limit};

/// LPs on two PEs, each of which sends itself one event after the other.
struct Load {
    lps: u32,
    /// The iterations of an event, at LPs of the first half and at all others.
    work: [u32; 2],
    /// Whether there is only one event, which goes round.
    token: bool,
    lookahead: f64,
}

impl Load {
    fn story(&self) -> Story {
        let Load { lps, work, token, lookahead } = *self;
        Story::new(lps)
            .lookahead(lookahead)
            .init(move |lp| {
                if !token || lp.id() == LpId(0) {
                    lp.send(lp.id(), 1.0, 0);
                }
                1
            })
            .handle(move |state, _, lp| {
                for _ in 0..work[usize::from(lp.id().0 >= lps / 2)] {
                    let next = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    *state = black_box(next);
                }
                match token {
                    true => lp.send((lp.id().0 + lps / 2) % lps, 1.0, 0),
                    false => lp.send(lp.id(), 1.0, 0),
                }
            })
    }
}

/// Runs it on two threads, longer and longer, until the run takes long enough for advice. Returns
/// the record of that run.
fn run(load: &Load, sync: Synchronisation) -> RunRecord {
    let mut end = 64.0;
    loop {
        let run: Run<Story> =
            Simulation::new(load.story()).end(end).sync(sync).threads(2).run().expect("it runs");
        if run.record.loop_seconds >= 0.3 {
            return run.record;
        }
        end *= 2.0;
    }
}

/// The titles of the limits that are reported; `None` if other programs use the cores, so that
/// nothing can be said about the model.
fn titles(record: &RunRecord) -> Option<Vec<&'static str>> {
    std::env::var_os("WARPLINE_IDLE")?;
    let titles: Vec<_> = limits(record).into_iter().map(|limit| limit.title).collect();
    if taken_by_others(record).is_some() {
        assert_eq!(
            (&titles[..], estimated_speedup(record)),
            (&["Others used the cores as well"][..], None)
        );
        return None;
    }
    let oversubscribed = record.parallel.as_ref().is_some_and(|parallel| parallel.oversubscribed);
    (!oversubscribed).then_some(titles)
}

/// The phases of a PE take no longer than the run, whatever else happens on the machine.
fn check_time(record: &RunRecord) {
    let parallel = record.parallel.as_ref().expect("it was parallel");
    for pe in &parallel.pes {
        let all: f64 = pe.phase_seconds.list().iter().map(|(_, seconds)| seconds).sum();
        assert!(all <= record.loop_seconds * 1.001, "{all} of {}: {pe:?}", record.loop_seconds);
    }
}

#[test]
fn even_loads_are_not_called_uneven() {
    let _limit = time_limit("an even load");
    let record = run(
        &Load { lps: 64, work: [2000, 2000], token: false, lookahead: 1.0 },
        Synchronisation::Conservative,
    );
    check_time(&record);
    if let Some(titles) = titles(&record) {
        assert!(
            !titles.contains(&"The load is uneven")
                && !titles.contains(&"Probably slower than on one core"),
            "{titles:?}"
        );
    }
}

/// A PE whose events take a hundred times as long is reported as busy, even if few of its steps
/// execute events.
#[test]
fn uneven_loads_are_found() {
    let _limit = time_limit("an uneven load");
    let load = Load { lps: 64, work: [20_000, 200], token: false, lookahead: 1.0 };
    let mut found = Vec::new();
    let is_uneven = || {
        let record = run(&load, Synchronisation::Conservative);
        check_time(&record);
        let parallel = record.parallel.as_ref().expect("it was parallel");
        let [heavy, light] = [0, 1].map(|pe| parallel.pes[pe].phase_seconds);
        if let Some(titles) = titles(&record) {
            assert_eq!(titles, ["The load is uneven"], "{heavy:?} {light:?}");
        }
        let [heavy, light] = [heavy, light].map(|phases| phases.event_processing);
        found.push([heavy, light]);
        !is_sampled(&record, parallel) || heavy > 10.0 * light
    };
    // A PE that others keep off its core in an event that is sampled seems busy, so one run proves
    // nothing.
    assert!(iter::repeat_with(is_uneven).take(10).any(|is_uneven| is_uneven), "{found:?}");
}

/// With one event that goes to and fro, two PEs never work at the same time.
#[test]
fn too_few_events_are_not_called_an_uneven_load() {
    let _limit = time_limit("a token");
    let record = run(
        &Load { lps: 2, work: [2000, 2000], token: true, lookahead: 1.0 },
        Synchronisation::Conservative,
    );
    check_time(&record);
    if let Some(titles) = titles(&record) {
        assert!(
            titles.contains(&"There is too little to do")
                && !titles.contains(&"The load is uneven"),
            "{titles:?}"
        );
    }
}

/// PEs that share a thread do not take longer together than the thread.
#[test]
fn pes_that_share_a_thread_share_its_time() {
    let _limit = time_limit("PEs that share threads");
    let load = Load { lps: 64, work: [2000, 2000], token: false, lookahead: 1.0 };
    let run = Simulation::new(load.story())
        .end(200.0)
        .sync(Synchronisation::Conservative)
        .threads(64)
        .run()
        .expect("it runs");
    let seconds = run.record.loop_seconds;
    let parallel = run.record.parallel.expect("it was parallel");
    let all: f64 = parallel.phase_seconds.list().iter().map(|(_, seconds)| seconds).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(64) as f64;
    assert!(
        all > 0.0 && all <= threads * seconds * 1.01,
        "{all} of {seconds} on {threads} threads"
    );
}
