//! A run that is ended early has the answer of a run to that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{assert_words, settings};
use warpline::prelude::*;
use warpline::record::{Partial, Series};
use warpline::serde_json::Value;
use warpline::{Error, Settings, StopSwitch, TableRows};
use warpline_testkit::{Story, time_limit};

const HOPS: Counter = Counter::slot(0);
const GAP: Histogram = Histogram::slot(1);
const BUSY: TimeMean = TimeMean::slot(2);
const AHEAD: TimeMean = TimeMean::slot(3);
const DELAY: Mean = Mean::slot(4);
const OPEN: TimeMean = TimeMean::slot(5);
const ROWS: Table = Table(0);

/// Tokens that hop between LPs. After a number of events, committed or not, the next event ends the
/// run.
struct Hops {
    lps: u32,
    lookahead: f64,
    /// Turned on after `after` calls of `handle`.
    switch: StopSwitch,
    after: u64,
    calls: Arc<AtomicU64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Place {
    hops: u64,
    last: f64,
    busy: Level,
    open: Level,
}

impl Model for Hops {
    type State = Place;
    type Event = u32;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(HOPS, "hops", "", "hops").slices(30);
        declare.histogram(GAP, "gap", "s", "time between hops");
        declare.time_mean(BUSY, "busy", "", "parity of hops over time").series();
        declare.time_mean(AHEAD, "ahead", "", "tokens under way, and one LP in the far future");
        declare.mean(DELAY, "delay", "s", "time to the next hop").items(2);
        declare.time_mean(OPEN, "open", "", "3 for each LP, and then 5 for one of them");
        declare.table(ROWS, "rows", &[("token", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Place {
        for token in 0..3 {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, token);
        }
        lp.span(AHEAD, 50.0, 1e9, 1.0);
        Place { hops: 0, last: 0.0, busy: Level::default(), open: Level::new(3.0, OPEN, lp) }
    }

    fn handle(&self, place: &mut Place, token: &u32, lp: &mut Context<Self>) {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.after {
            self.switch.stop();
        }
        place.hops += 1;
        lp.count(HOPS, 1);
        lp.sample(GAP, lp.now() - place.last);
        place.last = lp.now();
        place.busy.set((place.hops % 2) as f64, BUSY, lp);
        lp.record(ROWS, &[(*token).into()]);
        let to = lp.random().below(self.lps);
        let delay = self.lookahead + lp.random().exponential(1.0);
        lp.span(AHEAD, lp.now(), lp.now() + delay, 1.0);
        lp.observe(DELAY.at(u32::from(lp.now() > 20.0)), delay);
        if lp.id() == LpId(7) && lp.now() > 30.0 && place.open.get() < 5.0 {
            place.open.set(5.0, OPEN, lp);
        }
        lp.send(to, delay, *token);
    }
}

const END: f64 = 60.0;

fn hops(lookahead: f64, after: u64) -> Hops {
    Hops { lps: 12, lookahead, switch: StopSwitch::default(), after, calls: Arc::default() }
}

/// The whole answer of a run, without the series whose slices depend on the wanted end.
fn outcome(run: &Run<Hops>) -> (String, Vec<Place>, Vec<TableRows>, Value, Series) {
    let record = &run.record;
    (
        record.digest.clone(),
        run.states.clone(),
        run.tables.clone(),
        (*record.results).clone(),
        record.series["busy"].clone(),
    )
}

/// If the model says how many slices there are, they are those of the wanted run, and slices that
/// were not reached are empty. All series show everything that happened.
fn assert_series(early: &Run<Hops>) {
    let record = &early.record;
    let wanted = |slice: usize| END * (slice as f64 / 30.0);
    let reached = (0..30).filter(|slice| wanted(*slice) < record.end_time).count();
    let hops = &record.series["hops"];
    assert_eq!(hops.edges, (0..=30).map(wanted).collect::<Vec<_>>());
    let known: Vec<usize> = (0..30).filter(|slice| hops.values[*slice].is_some()).collect();
    assert_eq!(known, (0..reached).collect::<Vec<_>>(), "to {}", record.end_time);
    assert_eq!(hops.counts.iter().sum::<u64>(), early.statistics.counter(HOPS));
    let area: f64 = record.series["busy"]
        .slices()
        .filter_map(|(begin, end, value)| Some(value? * (end - begin)))
        .sum();
    let mean = early.statistics.time_mean(BUSY).mean.unwrap_or(0.0);
    assert!(
        (area - mean * record.end_time).abs() < 1e-9,
        "{area} and {mean} to {}",
        record.end_time
    );
}

/// Ends a run after so many calls, and compares it with a run to that time. Returns that time.
fn ends_early(lookahead: f64, after: u64, engine: &Settings) -> f64 {
    ends_early_on(lookahead, after, |model| Simulation::new(model).settings(engine.clone()))
}

fn ends_early_on(
    lookahead: f64,
    after: u64,
    simulation: impl FnOnce(Hops) -> Simulation<'static, Hops>,
) -> f64 {
    let model = hops(lookahead, after);
    let switch = model.switch.clone();
    let early = simulation(model).end(END).stop_with(&switch).run().expect("a run");
    let end = early.record.end_time;
    match early.record.partial {
        Some(Partial { wanted_end, wanted_runs }) => {
            assert_eq!((wanted_end, wanted_runs), (END, 1));
            assert!(end < END);
        }
        None => assert_eq!(end, END),
    }
    let whole = Simulation::new(hops(lookahead, u64::MAX)).end(end).run().expect("a run");
    assert_eq!(outcome(&early), outcome(&whole), "to {end} after {after} calls");
    assert_eq!(early.record.committed_events, whole.record.committed_events);
    assert_series(&early);
    end
}

#[test]
fn a_sequential_run_ends_early() {
    // It looks at the switch after 1, 3, 7, 15, … events.
    let mut ends: Vec<f64> = [1, 5, 17, 150, 900, 1500]
        .map(|after| ends_early(0.1, after, &settings("sync=sequential")))
        .into();
    ends.dedup();
    assert!(ends.len() >= 4 && ends.is_sorted() && ends[0] < 5.0, "{ends:?}");
}

#[test]
fn a_parallel_run_ends_early_whatever_the_schedule() {
    let _limit = time_limit(200);
    let mut partial = 0;
    for seed in 0..30u64 {
        let after = 80 * seed;
        for lookahead in [0.0, 0.3] {
            let pes = 2 + (seed % 5) as u32;
            let mut engines = vec![
                "batch=16 gvt=gsu",
                "batch=16 gvt=one-sided messages=copy",
                "batch=16",
                "use-lookahead=no window=1e9 copy-interval=3",
                "gvt=synchronous gvt-interval=7 batch=5",
            ];
            if lookahead > 0.0 {
                engines
                    .extend(["conservative=windows batch=8", "conservative=free-running batch=8"]);
            }
            for engine in engines {
                let engine = settings(&format!("threads={pes} virtual-cluster={seed} {engine}"));
                let end = ends_early(lookahead, after, &engine);
                partial += u32::from(end < END);
            }
        }
    }
    assert!(partial > 200, "{partial} runs ended early");
}

#[test]
fn a_run_on_threads_ends_early() {
    let _limit = time_limit(200);
    for repetition in 0..20 {
        for lookahead in [0.0, 0.3] {
            ends_early(lookahead, 100 * repetition, &settings("threads=3"));
        }
        ends_early(0.3, 100 * repetition, &settings("threads=2 sync=conservative"));
    }
}

/// A run may be on any engine when it is ended.
#[test]
fn a_run_that_changes_its_engine_ends_early() {
    let _limit = time_limit(200);
    let mut partial = 0;
    for seed in 0..40u64 {
        for lookahead in [0.0, 0.3] {
            for words in
                ["sync=sequential", "threads=3", "threads=4 virtual-cluster=5 sync=optimistic"]
            {
                let ends =
                    |model| Simulation::new(model).settings(settings(words)).change_engines(seed);
                partial += u32::from(ends_early_on(lookahead, 60 * seed, ends) < END);
            }
        }
    }
    assert!(partial > 100, "{partial} runs ended early");
}

#[test]
fn a_single_pe_does_not_go_on_to_the_end() {
    for sync in ["optimistic", "conservative"] {
        let alone = settings(&format!("sync={sync} threads=1 batch=16"));
        let end = ends_early(0.3, 100, &alone);
        assert!(end < END / 2.0, "{end}");
    }
}

#[test]
fn before_the_warm_up_nothing_has_been_observed() {
    let model = hops(0.0, 50);
    let switch = model.switch.clone();
    let run = Simulation::new(model).end(END).warmup(50.0).stop_with(&switch).run().expect("a run");
    assert!(run.record.partial.is_some() && run.record.end_time < 50.0);
    let results = &run.record.results;
    assert_eq!(
        (&results["hops"], &results["busy"]["mean"], &results["gap"]["mean"]),
        (&Value::from(0), &Value::Null, &Value::Null)
    );
}

/// Replications that are ended early give those that had ended.
#[test]
fn replications_end_early() {
    let _limit = time_limit(100);
    // More than half of all events, so some runs have ended, however many there are at once.
    let model = hops(0.1, 500_000);
    let switch = model.switch.clone();
    let replicated = Simulation::new(model)
        .end(END)
        .seed(5)
        .stop_with(&switch)
        .replicate(400)
        .expect("some runs");
    let runs = replicated.record.replications.expect("replications").runs;
    assert!(!runs.is_empty() && runs.len() < 400, "{}", runs.len());
    assert_eq!(replicated.record.partial, Some(Partial { wanted_end: END, wanted_runs: 400 }));
    for run in runs.iter().step_by(5) {
        let alone =
            Simulation::new(hops(0.1, u64::MAX)).end(END).seed(run.seed).run().expect("a run");
        assert_eq!(alone.record.digest, run.digest);
    }
    let model = hops(0.1, 10);
    let switch = model.switch.clone();
    let error = Simulation::new(model)
        .end(1e12)
        .stop_with(&switch)
        .replicate(3)
        .expect_err("none has ended");
    assert!(error.to_string().starts_with("stopped before the first run had ended"), "{error}");
}

/// A mistake counts even if the run is ended early.
#[test]
fn a_mistake_counts_though_the_run_is_ended_early() {
    let late = |switch: StopSwitch| {
        Story::new(2)
            .init(|lp| {
                lp.send(lp.id(), 1.0, 0);
                0
            })
            .handle(move |ticks, _, lp| {
                *ticks += 1;
                if lp.id() == LpId(1) && *ticks == 1000 {
                    lp.fail("enough");
                    switch.stop();
                    thread::sleep(Duration::from_millis(20));
                }
                lp.send(lp.id(), 1.0, 0);
            })
    };
    for threads in [1, 2] {
        let switch = StopSwitch::default();
        let run = Simulation::new(late(switch.clone()))
            .end(2000.0)
            .threads(threads)
            .stop_with(&switch)
            .run();
        match run {
            Err(error) => assert!(
                error.to_string().contains("event 1000 of LP 1 at time 1000 (0) failed: enough"),
                "{error}"
            ),
            Ok(run) => assert!(
                run.record.end_time <= 1000.0 && run.record.partial.is_some(),
                "{}",
                run.record.end_time
            ),
        }
    }
}

/// LP 0 goes on and on at time 1, and LP 1 waits for time 2. After many events, the run is to end.
fn whirl(switch: StopSwitch) -> Story {
    let calls = AtomicU64::new(0);
    Story::new(2)
        .init(|lp| {
            lp.send(lp.id(), f64::from(1 + lp.id().0), 0);
            0
        })
        .handle(move |_, _, lp| {
            if calls.fetch_add(1, Ordering::Relaxed) == 100_000 {
                switch.stop();
            }
            lp.send(lp.id(), 0.0, 0);
        })
}

/// There is no time at which all PEs could end.
#[test]
fn a_run_that_comes_no_further_is_given_up_when_it_is_to_end() {
    let _limit = time_limit(200);
    for engine in ["sync=sequential", "threads=2 sync=optimistic"] {
        let settings = settings(&format!("{engine} zero-delay-hops=4294967295"));
        let switch = StopSwitch::default();
        let run = Simulation::new(whirl(switch.clone()))
            .settings(settings)
            .end(9.0)
            .stop_with(&switch)
            .run();
        let error = run.expect_err("it has no end");
        assert!(matches!(error, Error::NoEnd { .. }), "{engine}: {error}");
        let text = error.to_string();
        assert_words(&text, &["told to end", "no further for", "there are no results"]);
    }
}
