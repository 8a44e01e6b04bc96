//! Parallel runs on real threads: many short runs, which `make tsan` watches for data races too.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use warpline::prelude::*;
use warpline::{Conservative, Messages, Progress, Run, Synchronisation};
use warpline_testkit::matrix::ALGORITHMS;
use warpline_testkit::time_limit;

/// How a [`Mill`] spends its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// Nothing happens at all.
    Nothing,
    /// Events go anywhere after a random time.
    Random,
    /// Events go anywhere without delay, in chains of 50.
    Instant,
    /// All events happen at whole numbers.
    Ties,
}

const HANDLED: Counter = Counter::slot(0);
const SIZES: Mean = Mean::slot(1);
const LOG: Table = Table(0);

/// LPs with states and events on the heap, each of which holds a share of one token.
#[derive(Debug)]
struct Mill {
    lps: u32,
    pattern: Pattern,
    unbiased: bool,
    /// The least delay.
    lookahead: f64,
    /// The LP that panics at its 30th event.
    panics: Option<u32>,
    token: Arc<()>,
}

#[derive(Clone, Debug, PartialEq)]
struct Diary {
    text: String,
    events: u32,
    token: Arc<()>,
}

#[derive(Clone, Debug)]
struct Sack {
    bytes: Vec<u8>,
    hops: u32,
    #[allow(dead_code, reason = "its count is looked at")]
    token: Arc<()>,
}

impl Mill {
    fn new(lps: u32, pattern: Pattern) -> Self {
        Mill { lps, pattern, unbiased: false, lookahead: 0.0, panics: None, token: Arc::new(()) }
    }

    fn delay(&self, hops: u32, random: &mut Random) -> f64 {
        let more = match self.pattern {
            Pattern::Nothing | Pattern::Random => random.exponential(1.0),
            Pattern::Instant => f64::from(hops % 50 == 49),
            Pattern::Ties => f64::from(1 + random.below(2)),
        };
        self.lookahead + more
    }
}

#[model]
impl Model for Mill {
    type State = Diary;
    type Event = Sack;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn weight(&self, lp: LpId) -> f64 {
        f64::from(lp.0 % 3)
    }

    fn unbiased_ties(&self) -> bool {
        self.unbiased
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(HANDLED, "handled", "events", "events handled");
        declare.mean(SIZES, "sizes", "bytes", "sizes of sacks");
        declare.table(LOG, "log", &[("hops", ""), ("size", "bytes")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Diary {
        if self.pattern != Pattern::Nothing {
            let delay = lp.random().uniform().ceil();
            lp.send(
                lp.id(),
                delay,
                Sack { bytes: vec![0; 500], hops: 0, token: self.token.clone() },
            );
        }
        Diary { text: String::new(), events: 0, token: self.token.clone() }
    }

    fn handle(&self, diary: &mut Diary, sack: &Sack, lp: &mut Context<Self>) {
        diary.events += 1;
        diary.text.push(char::from(b'a' + lp.random().below(26) as u8));
        let to = lp.random().below(self.lps);
        let delay = self.delay(sack.hops, lp.random());
        let size = (u32::from(diary.text.as_bytes()[diary.text.len() / 2]) + sack.hops) as usize;
        lp.send(
            to,
            delay,
            Sack {
                bytes: vec![sack.bytes[0].wrapping_add(1); 500 + size],
                hops: sack.hops + 1,
                token: self.token.clone(),
            },
        );
        lp.count(HANDLED, 1);
        lp.observe(SIZES, sack.bytes.len() as f64);
        if diary.events.is_multiple_of(3) {
            lp.record(LOG, &[sack.hops.into(), (sack.bytes.len() as u64).into()]);
        }
        assert!(self.panics != Some(lp.id().0) || diary.events != 30, "as planned");
    }

    fn reverse(&self, diary: &mut Diary, _: &Sack, _: &mut Reverse<Self>) {
        diary.events -= 1;
        diary.text.pop();
    }
}

const THREADS: [u32; 4] = [1, 2, 3, 8];

/// The answer, without what differs from run to run.
fn answer(run: &Run<Mill>) -> (String, u64, String, Vec<Diary>, String) {
    let record = &run.record;
    let states =
        run.states.iter().map(|diary| Diary { token: Arc::new(()), ..diary.clone() }).collect();
    (
        record.digest.clone(),
        record.committed_events,
        record.results.to_string(),
        states,
        format!("{:?}", run.tables),
    )
}

fn parallel(simulation: Simulation<'_, Mill>, threads: u32) -> Simulation<'_, Mill> {
    let undo = if threads.is_multiple_of(2) { Undo::Copy } else { Undo::Reverse };
    together(simulation.sync(Synchronisation::Optimistic).undo(undo), threads)
}

fn together(simulation: Simulation<'_, Mill>, threads: u32) -> Simulation<'_, Mill> {
    // Another algorithm for each number of threads.
    let gvt = ALGORITHMS[threads as usize % ALGORITHMS.len()];
    let simulation = simulation.threads(threads).gvt(gvt).gvt_interval(100).batch(16);
    // Eight PEs share threads if there are fewer cores, three never do.
    if threads == 3 { simulation.one_thread_per_pe() } else { simulation }
}

/// Compares threaded runs with a sequential one, which is returned.
fn compare(
    make: impl Fn() -> Mill,
    set: impl Fn(Simulation<'static, Mill>) -> Simulation<'static, Mill>,
) -> Run<Mill> {
    let sequential = set(Simulation::new(make())).run().expect("it runs");
    for threads in THREADS {
        let _limit = time_limit((threads, make()));
        let found = parallel(set(Simulation::new(make())), threads).run().expect("it runs");
        assert_eq!(answer(&found), answer(&sequential), "{threads} threads");
    }
    // PEs move between threads all the time, if there are fewer threads than PEs.
    let found =
        parallel(set(Simulation::new(make())), 8).migrate_at_random(1).run().expect("it runs");
    assert_eq!(answer(&found), answer(&sequential), "PEs that migrate at random");
    sequential
}

#[test]
fn many_short_runs_have_one_answer() {
    for seed in 0..8 {
        let run = compare(
            || Mill::new(40, Pattern::Random),
            |simulation| simulation.end(20.0).seed(seed),
        );
        assert!(run.record.committed_events > 500);
    }
}

/// Lanes differ in which events may be cancelled, and wires in how events travel: each has its own
/// shared variables.
#[test]
fn every_lane_and_every_wire_has_one_answer() {
    use Conservative::{Auto, FreeRunning, Windows};
    use Synchronisation::Optimistic;
    let mut seed = 0;
    let conservative = Synchronisation::Conservative;
    let ways = [
        (conservative, Windows, true),
        (conservative, FreeRunning, true),
        (Optimistic, Auto, true),
        (Optimistic, Auto, false),
    ];
    for (sync, way, lookahead) in ways {
        for messages in [Messages::Auto, Messages::Copy, Messages::Shared] {
            seed += 1;
            let make = || Mill { lookahead: 0.25, ..Mill::new(40, Pattern::Random) };
            let sequential = Simulation::new(make()).end(20.0).seed(seed).run().expect("it runs");
            for threads in [2, 3, 8] {
                let _limit = time_limit((sync, way, lookahead, messages, threads));
                let simulation = Simulation::new(make()).end(20.0).seed(seed);
                let simulation = if sync == conservative {
                    together(simulation, threads).conservative(way)
                } else {
                    parallel(simulation, threads)
                };
                let simulation = simulation
                    .sync(sync)
                    .use_lookahead(lookahead)
                    .messages(messages)
                    .migrate_at_random(seed);
                let run = simulation.run().expect("it runs");
                assert_eq!(
                    answer(&run),
                    answer(&sequential),
                    "{sync:?}, {way:?}, lookahead used: {lookahead}, {messages:?}, {threads} \
                     threads"
                );
                let record = run.record.parallel.expect("it was parallel");
                assert!(record.pes.iter().all(|pe| pe.messages_sent > 0), "all of them send");
                assert!(
                    sync == Optimistic || record.rolled_back_events == 0,
                    "conservative PEs undo nothing"
                );
            }
            assert!(sequential.record.committed_events > 200);
        }
    }
}

#[test]
fn a_narrow_and_a_wide_window_have_one_answer() {
    for window in [0.01, 1.0, 20.0] {
        compare(
            || Mill::new(40, Pattern::Random),
            |simulation| simulation.end(20.0).window(window).copy_interval(4),
        );
    }
}

#[test]
fn more_threads_than_lps_have_one_answer() {
    for lps in [1, 2, 5] {
        let run = compare(|| Mill::new(lps, Pattern::Random), |simulation| simulation.end(50.0));
        assert!(run.record.committed_events > 20);
    }
    let _limit = time_limit("8 threads for 2 LPs");
    let run = parallel(Simulation::new(Mill::new(2, Pattern::Random)), 8).run().expect("it runs");
    assert_eq!(run.record.parallel.expect("it was parallel").pes.len(), 2);
}

#[test]
fn runs_without_events_have_one_answer() {
    let run = compare(|| Mill::new(10, Pattern::Nothing), |simulation| simulation.end(1e9));
    assert_eq!(run.record.committed_events, 0);
    // The first events are at time 1.
    let run = compare(|| Mill::new(10, Pattern::Random), |simulation| simulation.end(0.5));
    assert_eq!(run.record.committed_events, 0);
}

#[test]
fn events_at_the_same_time_have_one_answer() {
    let run = compare(|| Mill::new(12, Pattern::Instant), |simulation| simulation.end(3.5));
    assert_eq!(run.record.committed_events, 12 * 3 * 50);
    for unbiased in [false, true] {
        let make = || Mill { unbiased, ..Mill::new(30, Pattern::Ties) };
        compare(make, |simulation| simulation.end(15.0));
    }
}

#[test]
fn the_warmup_applies_to_all_threads() {
    let run =
        compare(|| Mill::new(30, Pattern::Random), |simulation| simulation.end(20.0).warmup(7.5));
    assert!(run.statistics.counter(HANDLED) < run.record.committed_events);
}

#[test]
fn every_payload_and_state_is_dropped_once() {
    for threads in THREADS {
        for panics in [None, Some(3)] {
            let model = Mill { panics, ..Mill::new(20, Pattern::Random) };
            let token = model.token.clone();
            let _limit = time_limit((threads, panics));
            let ended = parallel(
                Simulation::new(model).end(if panics.is_some() { 1e3 } else { 20.0 }),
                threads,
            )
            .run();
            assert_eq!(ended.is_err(), panics.is_some());
            if let Ok(run) = &ended {
                assert_eq!(
                    Arc::strong_count(&token),
                    1 + run.states.len(),
                    "only the states are left"
                );
            }
            drop(ended);
            assert_eq!(Arc::strong_count(&token), 1, "{threads} threads, {panics:?}");
        }
    }
}

#[test]
fn a_panic_is_reported_as_sequentially() {
    for lp in [0, 7, 19] {
        let failure = |threads: Option<u32>| {
            let simulation =
                Simulation::new(Mill { panics: Some(lp), ..Mill::new(20, Pattern::Random) })
                    .end(1e3);
            let simulation = threads.into_iter().fold(simulation, parallel);
            let _limit = time_limit((threads, lp));
            simulation.run().expect_err("it panics").to_string()
        };
        for threads in THREADS {
            assert_eq!(failure(Some(threads)), failure(None), "{threads} threads");
        }
    }
}

#[test]
fn rows_are_written_in_the_order_of_events() {
    let written = |threads: Option<u32>| {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let records = Records::Write(directory.path().to_owned());
        let simulation = Simulation::new(Mill { unbiased: true, ..Mill::new(30, Pattern::Ties) })
            .end(40.0)
            .records(records);
        let _limit = time_limit(threads);
        let run = threads.into_iter().fold(simulation, parallel).run().expect("it runs");
        assert!(run.incomplete.is_none() && run.record.tables == ["log.csv"]);
        let read = |directory: &Path| {
            fs::read_to_string(directory.join("log.csv")).expect("the file was written")
        };
        read(directory.path())
    };
    let expected = written(None);
    assert!(expected.lines().count() > 200, "{expected}");
    for threads in THREADS {
        assert!(written(Some(threads)) == expected, "{threads} threads");
    }
}

/// A panic in the progress callback stops all threads and is passed on.
#[test]
fn a_panic_while_progress_is_reported_ends_the_run() {
    for threads in [None, Some(1), Some(2), Some(8)] {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let model = Mill::new(40, Pattern::Random);
            let token = model.token.clone();
            let mut report = |_: &Progress| panic!("seen enough");
            // Without the panic, the run would take years.
            let simulation =
                Simulation::new(model).end(1e12).records(Records::Drop).on_progress(&mut report);
            let simulation = threads.into_iter().fold(simulation, parallel);
            let panic = catch_unwind(AssertUnwindSafe(|| simulation.run())).expect_err("it panics");
            let text =
                panic.downcast_ref::<&str>().map_or_else(String::new, |text| (*text).to_owned());
            sender.send((text, Arc::strong_count(&token))).expect("somebody waits for it");
        });
        let outcome = receiver
            .recv_timeout(Duration::from_secs(100))
            .unwrap_or_else(|_| panic!("{threads:?} threads run on"));
        assert_eq!(outcome, ("seen enough".to_owned(), 1), "{threads:?} threads");
    }
}

/// A long run reports progress, which only increases.
#[test]
fn progress_is_reported_and_only_increases() {
    for threads in [1, 2] {
        let _limit = time_limit(threads);
        let mut end: f64 = 500.0;
        let mut seen: Vec<Progress> = Vec::new();
        while seen.len() < 2 {
            seen.clear();
            let mut report = |progress: &Progress| seen.push(*progress);
            let simulation = Simulation::new(Mill::new(40, Pattern::Random))
                .end(end)
                .records(Records::Drop)
                .on_progress(&mut report);
            parallel(simulation, threads).run().expect("it runs");
            end *= 2.0;
        }
        let forward = |pair: &[Progress]| {
            pair[0].virtual_time <= pair[1].virtual_time
                && pair[0].committed_events <= pair[1].committed_events
        };
        assert!(seen.windows(2).all(forward), "{seen:?}");
        assert!(
            seen.iter()
                .all(|progress| progress.virtual_time <= progress.end
                    && progress.speculation.is_some()),
            "{seen:?}"
        );
    }
}
