//! Runs that change their engine again and again have the answer of runs that keep it.

use warpline::prelude::*;
use warpline::record::RunRecord;
use warpline::{Place, Synchronisation, TableRows};
use warpline_testkit::time_limit;

const CALLS: Counter = Counter::slot(0);
const WAIT: Histogram = Histogram::slot(1);
const QUEUE: TimeMean = TimeMean::slot(2);
const OPEN: TimeMean = TimeMean::slot(3);
const ROWS: Table = Table(0);

/// Counters in a bank: customers go from one to another, and no counter ever closes its levels.
struct Bank {
    lookahead: f64,
    /// The event of LP 3 that fails, if one does.
    fails: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Desk {
    served: u64,
    last: f64,
    queue: Level,
    open: Level,
    /// Memory that must be copied and dropped correctly.
    names: Vec<String>,
}

impl Model for Bank {
    type State = Desk;
    type Event = Box<u64>;

    fn lps(&self) -> u32 {
        30
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(CALLS, "calls", "", "calls").slices(20);
        declare.histogram(WAIT, "wait", "s", "time between calls");
        declare.time_mean(QUEUE, "queue", "", "length of the queue").slices(20);
        declare.time_mean(OPEN, "open", "", "one per desk").items(30);
        declare.table(ROWS, "rows", &[("customer", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Desk {
        for customer in 0..4 {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, Box::new(customer));
        }
        Desk {
            served: 0,
            last: 0.0,
            queue: Level::default(),
            open: Level::new(1.0, OPEN.at(lp.id().0), lp),
            names: Vec::new(),
        }
    }

    fn handle(&self, desk: &mut Desk, customer: &Box<u64>, lp: &mut Context<Self>) {
        desk.served += 1;
        if lp.id() == LpId(3) && Some(desk.served) == self.fails {
            lp.fail("out of money");
            return;
        }
        lp.count(CALLS, 1);
        lp.sample(WAIT, lp.now() - desk.last);
        desk.last = lp.now();
        desk.queue.set((desk.served % 5) as f64, QUEUE, lp);
        if desk.served.is_multiple_of(7) {
            desk.open.set((desk.served % 2) as f64, OPEN.at(lp.id().0), lp);
        }
        desk.names.truncate(3);
        desk.names.push(format!("{customer}"));
        lp.record(ROWS, &[(**customer).into()]);
        let to = lp.random().below(30);
        let delay = self.lookahead + lp.random().exponential(1.0);
        // Some customers go on at once, to the same desk or to another.
        let delay = if self.lookahead == 0.0 && lp.random().bernoulli(0.1) { 0.0 } else { delay };
        lp.send(to, delay, Box::new(**customer + 1));
    }
}

const END: f64 = 60.0;

fn simulation(lookahead: f64, fails: Option<u64>) -> Simulation<'static, Bank> {
    Simulation::new(Bank { lookahead, fails }).end(END).warmup(4.0)
}

/// The same with changes of the engine, from any to any other.
fn changing(lookahead: f64, fails: Option<u64>, seed: u64) -> Simulation<'static, Bank> {
    let simulation = simulation(lookahead, fails).change_engines(seed);
    let simulation = match seed % 3 {
        0 => simulation.sync(Synchronisation::Sequential),
        1 if lookahead > 0.0 => simulation.sync(Synchronisation::Conservative).threads(3),
        _ => simulation.sync(Synchronisation::Optimistic).threads(5),
    };
    // Half of the parallel runs are in a virtual cluster.
    if seed.is_multiple_of(3) || seed.is_multiple_of(2) {
        simulation
    } else {
        simulation.virtual_cluster(seed)
    }
}

/// The whole answer of a run.
fn answer(run: Run<Bank>) -> (String, u64, Vec<Desk>, Vec<TableRows>, String, String) {
    let RunRecord { digest, committed_events, results, series, .. } = run.record;
    (digest, committed_events, run.states, run.tables, results.to_string(), format!("{series:?}"))
}

#[test]
fn engines_may_change_at_any_time() {
    for lookahead in [0.0, 0.2] {
        let expected = answer(
            simulation(lookahead, None).sync(Synchronisation::Sequential).run().expect("a run"),
        );
        let mut most = 0;
        for seed in 0..24 {
            let _limit = time_limit((lookahead, seed));
            let run = changing(lookahead, None, seed).run().expect("a run");
            let engines = &run.record.engines;
            most = most.max(engines.len());
            assert_eq!(
                engines.iter().map(|engine| engine.committed_events).sum::<u64>(),
                run.record.committed_events,
                "seed {seed}"
            );
            assert!(
                engines
                    .windows(2)
                    .all(|pair| pair[0].to == pair[1].from && pair[0].from <= pair[0].to),
                "{engines:?}"
            );
            assert_eq!((engines[0].from, engines.last().map(|last| last.to)), (0.0, Some(END)));
            let progress = &run.record.progress;
            assert!(
                progress
                    .windows(2)
                    .all(|pair| pair[0].committed_events <= pair[1].committed_events),
                "{progress:?}"
            );
            assert_eq!(
                progress.last().map(|last| last.committed_events),
                Some(run.record.committed_events)
            );
            assert_eq!(answer(run), expected, "seed {seed}");
        }
        assert!(most > 20, "at most {most} segments");
    }
}

/// What PEs did adds up over all of their segments.
#[test]
fn the_record_is_about_all_segments() {
    let run = changing(0.2, None, 4).run().expect("a run");
    let in_parallel = |record: &RunRecord| {
        record
            .engines
            .iter()
            .filter(|engine| engine.sync != "sequential")
            .map(|engine| engine.committed_events)
            .sum()
    };
    let committed: u64 = in_parallel(&run.record);
    let parallel = run.record.parallel.expect("some segments are parallel");
    assert!(committed > 0 && committed < run.record.committed_events);
    assert_eq!(parallel.processed_events - parallel.rolled_back_events, committed);
    assert_eq!(parallel.pes.iter().map(|pe| pe.committed_events).sum::<u64>(), committed);
    assert_eq!(parallel.certain_events + parallel.ahead_events, parallel.processed_events);
}

#[test]
fn a_hundred_handovers_change_nothing() {
    let _limit = time_limit("a hundred handovers");
    let long = |simulation: Simulation<'static, Bank>| simulation.end(600.0).warmup(0.0);
    let expected =
        answer(long(simulation(0.2, None)).sync(Synchronisation::Sequential).run().expect("a run"));
    for seed in [1, 2, 3] {
        let run = long(changing(0.2, None, seed)).run().expect("a run");
        assert!(run.record.engines.len() > 100, "{} segments", run.record.engines.len());
        assert!(answer(run) == expected, "seed {seed}");
    }
}

/// The run fails at the same event, after as many committed events, whatever the engine.
#[test]
fn a_mistake_is_the_same_in_every_segment() {
    for lookahead in [0.0, 0.2] {
        for fails in [1, 30, 150].map(Some) {
            let failure = |simulation: Simulation<'static, Bank>| match simulation.run() {
                Err(Error::Fault(failure)) => failure,
                other => panic!("{other:?}"),
            };
            let expected = failure(simulation(lookahead, fails).sync(Synchronisation::Sequential));
            assert!(matches!(expected.place, Place::Event { lp: LpId(3), .. }), "{expected}");
            for seed in 0..12 {
                let _limit = time_limit((lookahead, fails, seed));
                assert_eq!(failure(changing(lookahead, fails, seed)), expected, "seed {seed}");
            }
        }
    }
}
