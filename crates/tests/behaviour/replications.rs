//! Replications: independent runs, several at a time, each with the answer that it has alone.

use std::sync::atomic::{AtomicU32, Ordering};

use warpline::prelude::*;
use warpline::record::View;
use warpline::serde_json::json;
use warpline::{Replicated, Spread, Synchronisation};
use warpline_testkit::{Story, time_limit};

const ARRIVED: Counter = Counter::slot(0);
const GAP: Mean = Mean::slot(1);
const SEEN: Table = Table(0);

/// A Poisson stream of rate 1 at each of four LPs, which fails at a gap longer than `fails_at`.
fn arriving(fails_at: Option<f64>) -> Story {
    Story::new(4)
        .declare(|declare| {
            declare.counter(ARRIVED, "arrived", "", "arrivals").slices(5);
            declare.mean(GAP, "gap", "s", "time between arrivals").slices(5);
            declare.table(SEEN, "seen", &[("gap", "s")]);
        })
        .init(|lp| {
            let gap = lp.random().exponential(1.0);
            lp.send(lp.id(), gap, 0);
            0
        })
        .handle(move |arrived, _, lp| {
            *arrived += 1;
            let gap = lp.random().exponential(1.0);
            if fails_at.is_some_and(|longest| gap > longest) {
                lp.fail(format!("a gap of {gap}"));
            }
            lp.count(ARRIVED, 1);
            lp.observe(GAP, gap);
            lp.record(SEEN, &[gap.into()]);
            lp.send(lp.id(), gap, 0);
        })
}

fn arrivals<'a>() -> Simulation<'a, Story> {
    Simulation::new(arriving(None)).end(50.0).seed(11)
}

fn runs(replicated: &Replicated) -> &[warpline::record::Replication] {
    &replicated.record.replications.as_ref().expect("there were several runs").runs
}

#[test]
fn every_run_is_that_of_its_seed_alone() {
    let replicated = arrivals().replicate(7).expect("seven runs");
    let seeds: Vec<u64> = runs(&replicated).iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [11, 12, 13, 14, 15, 16, 17]);
    let mut events = 0;
    for run in runs(&replicated) {
        let alone = arrivals().seed(run.seed).run().expect("a run");
        assert_eq!(
            (&run.digest, &*run.results),
            (&alone.record.digest, &alone.record.results),
            "seed {}",
            run.seed
        );
        assert_eq!(
            (run.committed_events, &*run.series),
            (alone.record.committed_events, &alone.record.series)
        );
        events += run.committed_events;
    }
    assert_eq!(replicated.record.committed_events, events);
    let digests: std::collections::BTreeSet<&str> =
        runs(&replicated).iter().map(|run| run.digest.as_str()).collect();
    assert_eq!(digests.len(), 7);
    let again = arrivals().replicate(7).expect("seven runs");
    assert_eq!(
        (&again.record.digest, &again.record.results),
        (&replicated.record.digest, &replicated.record.results)
    );
    assert_ne!(arrivals().replicate(6).expect("six runs").record.digest, again.record.digest);
}

#[test]
fn parallel_runs_follow_each_other_and_give_the_same() {
    let alone = arrivals().replicate(4).expect("sequential runs");
    for sync in [Synchronisation::Optimistic, Synchronisation::Sequential] {
        let other = arrivals().sync(sync).replicate(4).expect("runs");
        assert_eq!(
            (&other.record.digest, &other.record.results),
            (&alone.record.digest, &alone.record.results)
        );
        let at_once = other.record.replications.map(|replications| replications.at_once);
        let cores =
            std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32).min(4);
        assert_eq!(at_once, Some(if sync == Synchronisation::Sequential { cores } else { 1 }));
    }
}

#[test]
fn estimates_are_those_of_the_runs() {
    let replicated = arrivals().replicate(30).expect("thirty runs");
    let arrived = replicated.spread("arrived").expect("they were counted");
    // Poisson with mean and variance 200, less the events at the very end; the mean of 30 has a
    // standard deviation of 2.6.
    assert!((arrived.mean - 200.0).abs() < 10.0, "{arrived:?}");
    assert!(
        arrived.deviation.is_some_and(|deviation| (8.0..22.0).contains(&deviation)),
        "{arrived:?}"
    );
    let by_hand: Vec<f64> = runs(&replicated)
        .iter()
        .map(|run| run.results["arrived"].as_f64().expect("a count"))
        .collect();
    assert_eq!(arrived.values, by_hand);
    assert_eq!(replicated.record.results["arrived"]["mean"], json!(arrived.mean));
    let gap = replicated.spread("gap").expect("the mean of a run's estimate");
    assert!((gap.mean - 1.0).abs() < 0.05, "{gap:?}");
    assert_eq!(replicated.record.results["gap"]["count"], 30);
    assert_eq!((replicated.spread("nothing"), replicated.spread("gap.wrong")), (None, None));
    let [View::Lines(first), View::Lines(_), View::Table(table)] = &replicated.record.views[..]
    else {
        panic!("{:?}", replicated.record.views)
    };
    assert_eq!((first.lines[0].1.len(), table.rows.len(), table.columns.len()), (30, 30, 6));
}

#[test]
fn series_are_estimated_in_every_slice() {
    let replicated = arrivals().replicate(30).expect("thirty runs");
    let series = &replicated.record.series;
    let in_slice = |name: &str, slice: usize| {
        Spread::of(
            &runs(&replicated)
                .iter()
                .filter_map(|run| run.series[name].values[slice])
                .collect::<Vec<_>>(),
        )
    };
    for (name, slice) in [("arrived", 0), ("arrived", 4), ("gap", 2)] {
        let Spread { mean, ci95, .. } = in_slice(name, slice);
        assert_eq!(
            (series[name].values[slice], series[name].ci95[slice]),
            (Some(mean), ci95),
            "{name} in {slice}"
        );
    }
    // Poisson with mean 40 in each slice; the mean of 30 has a standard deviation of 1.2.
    assert!(
        series["arrived"]
            .slices()
            .all(|(_, _, value)| value.is_some_and(|value| (value - 40.0).abs() < 5.0)),
        "{series:?}"
    );
    let arrived = replicated.spread("arrived").expect("they were counted");
    assert_eq!(
        series["arrived"].counts.iter().sum::<u64>(),
        arrived.values.iter().sum::<f64>() as u64
    );
}

#[test]
fn a_report_shows_the_runs_and_their_means() {
    let replicated = arrivals().replicate(30).expect("thirty runs");
    let out = tempfile::tempdir().expect("a directory");
    let page = replicated.report(out.path().join("out")).expect("a report");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("seed")
            && page.contains("mean of the runs")
            && page.contains("Arrived over time: arrivals")
    );
}

#[test]
fn the_first_failure_by_seed_is_reported() {
    // Some seeds have no such gap, and some later ones do.
    let model = || Simulation::new(arriving(Some(8.0))).end(50.0);
    let first = (1..100)
        .find_map(|seed| model().seed(seed).run().err().map(|error| (seed, error.to_string())));
    let (seed, alone) = first.expect("some seed fails");
    assert!(seed > 1, "the first seeds do not fail");
    let error = model().seed(1).replicate(60).expect_err("one of them fails");
    assert_eq!(error.to_string(), alone);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |simulation: Simulation<'_, Story>, runs| {
        simulation.replicate(runs).expect_err("it is refused").to_string()
    };
    assert!(refused(arrivals(), 0).starts_with("`replications` cannot be `0`"));
    assert!(
        refused(arrivals().seed(u64::MAX - 1), 3)
            .starts_with("3 replications from seed 18446744073709551614 on exceed")
    );
    assert!(arrivals().seed(u64::MAX - 1).replicate(2).is_ok());
    assert!(
        refused(arrivals().trace("trace.json").threads(2), 3).starts_with("a trace shows one run")
    );
    assert!(refused(arrivals().end(-1.0), 3).starts_with("`end` cannot be `-1`"));
}

#[test]
fn progress_is_that_of_all_runs() {
    let _limit = time_limit(60);
    // Runs get longer until they report progress, however fast the machine is.
    let mut end = 20_000.0;
    let calls = AtomicU32::new(0);
    while calls.load(Ordering::Relaxed) == 0 {
        let mut last = 0.0;
        let mut report = |progress: &warpline::Progress| {
            assert!(
                progress.virtual_time >= last && progress.virtual_time <= progress.end,
                "{last}: {progress:?}"
            );
            last = progress.virtual_time;
            calls.fetch_add(1, Ordering::Relaxed);
        };
        arrivals().end(end).on_progress(&mut report).replicate(24).expect("runs");
        end *= 2.0;
    }
}

/// Lists of results are estimated entry by entry.
#[test]
fn lists_are_estimated_across_the_runs() {
    const BY_LP: Counter = Counter::slot(0);
    let crowd = Story::new(30)
        .declare(|declare| _ = declare.counter(BY_LP, "seen", "", "events of each LP").items(30))
        .init(|lp| {
            let gap = lp.random().exponential(1.0);
            lp.send(lp.id(), gap, 0);
            0
        })
        .handle(|_, _, lp| {
            lp.count(BY_LP.at(lp.id().0), 1);
            let gap = lp.random().exponential(1.0);
            lp.send(lp.id(), gap, 0);
        });
    let simulation = |seed| Simulation::new(crowd.clone()).end(20.0).seed(seed);
    let replicated = simulation(3).replicate(6).expect("six runs");
    let alone: Vec<Run<Story>> =
        (3..9).map(|seed| simulation(seed).run().expect("a run")).collect();
    let by_hand = |lp: u32| {
        Spread::of(
            &alone
                .iter()
                .map(|run| run.statistics.counter(BY_LP.at(lp)) as f64)
                .collect::<Vec<_>>(),
        )
    };
    let list = &replicated.record.results.lists()["seen"];
    assert_eq!(list.len(), 30);
    for lp in [0, 7, 29] {
        let entry = list.entry(lp as usize).expect("one for each LP");
        assert_eq!((&entry["mean"], &entry["count"]), (&json!(by_hand(lp).mean), &json!(6)));
        assert_eq!(replicated.spread(&format!("seen.{lp}")), Some(by_hand(lp)));
    }
    assert_eq!(
        (list.entry(30), replicated.spread("seen.30"), replicated.spread("seen")),
        (None, None, None)
    );
    assert_eq!(replicated.record.results["seen"][7], list.entry(7).expect("there is one"));
    for (run, alone) in runs(&replicated).iter().zip(&alone) {
        assert_eq!(run.results.lists()["seen"], alone.record.results.lists()["seen"]);
        assert_eq!(run.results["seen"][4], alone.statistics.counter(BY_LP.at(4)));
    }
}
