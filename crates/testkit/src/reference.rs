//! A simulator without tricks: one ordered map of pending events, one event after the other.
//!
//! It shares the model API with the engines, and with it the times and steps of sends, statistics,
//! streams and digest. It shares nothing of the engines themselves: no pool, no entries, no pending
//! set, no tie prefix. The shared parts have tests of their own.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use warpline::base::random::mix64;
use warpline::base::{
    EventKey, EventKind, HistoryDigest, Priority, RunDigest, Sequence, VirtualTime,
};
use warpline::engine::{Executor, Handle, Limits, Outgoing, TimerTable};
use warpline::record::Series;
use warpline::statistics::{Row, RowSink};
use warpline::{Act, Cell, Declarations, Fault, LpId, Model, Place, Statistics};

use crate::panics::panic_text;

/// The settings of a run, besides its model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The end, in model time.
    pub end: f64,
    /// The time before which nothing is observed, in model time.
    pub warmup: f64,
    /// The most zero-delay hops at one instant.
    pub zero_delay_hops: u32,
}

impl Settings {
    /// A run to `end` without warm-up and with the usual limits.
    pub fn new(seed: u64, end: f64) -> Self {
        Settings { seed, end, warmup: 0.0, zero_delay_hops: Limits::ZERO_DELAY_HOPS }
    }
}

/// The answer of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The history digest, as 16 hexadecimal digits.
    pub digest: String,
    /// Events executed.
    pub committed: u64,
    /// The final state of every LP, as `Debug` writes it.
    pub states: Vec<String>,
    /// The [`Model::results`] of the statistics.
    pub results: Value,
    /// The statistics over virtual time.
    pub series: BTreeMap<String, Series>,
    /// The rows of every table, in the order of their events.
    pub tables: Vec<Vec<(f64, LpId, Vec<Cell>)>>,
}

/// The first mistake of a model that ended its run.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Where it was made. Texts of events are not cut here.
    pub place: Box<Place>,
    /// The virtual time, in model units.
    pub time: f64,
    /// The mistake.
    pub fault: Fault,
    /// Events executed before it.
    pub committed: u64,
}

/// Runs `model` from 0 to `end`; see [`run_with`].
///
/// # Errors
/// The model's first mistake.
pub fn run<M: Model>(model: &M, seed: u64, end: f64, warmup: f64) -> Result<Outcome, Stop> {
    run_with(model, &Settings { warmup, ..Settings::new(seed, end) })
}

/// Runs `model` under `settings`, which must make sense.
///
/// # Errors
/// The model's first mistake.
pub fn run_with<M: Model>(model: &M, settings: &Settings) -> Result<Outcome, Stop> {
    let mut simulator = Simulator::new(model, settings);
    for lp in (0..model.lps()).map(LpId) {
        simulator.init(lp)?;
    }
    while let Some((place, pending)) = simulator.next_event() {
        simulator.execute(place, pending)?;
    }
    for lp in (0..model.lps()).map(LpId) {
        simulator.finish(lp)?;
    }
    simulator.statistics.close_levels(settings.end);
    simulator.outcome()
}

/// Virtual time, ordered as a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The place of an event in the order. Fields are compared from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    time: Time,
    step: u32,
    priority: i8,
    /// 0 for all, or a seeded hash where ties are unbiased.
    luck: u64,
    sender: u32,
    /// The number of the sender's event.
    event: u64,
    /// The index of the send within that event.
    index: u32,
}

impl Rank {
    fn sequence(&self) -> Sequence {
        Sequence::first_of(self.event).nth(self.index)
    }

    fn key(&self) -> EventKey {
        EventKey {
            time: VirtualTime::new(self.time.0).expect("a time is finite and not negative"),
            step: self.step,
            priority: Priority::new(self.priority),
            sender: LpId(self.sender),
            sequence: self.sequence(),
        }
    }
}

struct Pending<E> {
    to: LpId,
    /// The timer of its LP that it is, if it is one.
    timer: Option<Sequence>,
    event: E,
}

struct Lp<S> {
    state: S,
    events: u64,
    history: HistoryDigest,
    /// The pending timers, in the order in which they were set.
    timers: Vec<(Sequence, Rank)>,
}

#[derive(Default)]
struct Tables(Vec<Vec<(f64, LpId, Vec<Cell>)>>);

impl RowSink for Tables {
    fn row(&mut self, row: Row<'_>) {
        self.0[usize::from(row.table)].push((row.time, row.lp, row.cells.to_vec()));
    }

    fn act(&mut self, act: &Act, _: f64, _: LpId) {
        act.perform();
    }
}

struct Simulator<'m, M: Model> {
    model: &'m M,
    settings: Settings,
    executor: Executor<M>,
    pending: BTreeMap<Rank, Pending<M::Event>>,
    lps: Vec<Lp<M::State>>,
    statistics: Statistics,
    tables: Tables,
    committed: u64,
}

impl<'m, M: Model> Simulator<'m, M> {
    fn new(model: &'m M, settings: &Settings) -> Self {
        let mut declared = Declarations::default();
        model.declare(&mut declared);
        let declared = declared.checked().expect("the declarations make sense");
        let statistics = Statistics::new(declared, settings.warmup, settings.end);
        let tables = Tables(vec![Vec::new(); statistics.tables().len()]);
        let executor = Executor::new(model, settings.seed, settings.zero_delay_hops, false);
        Simulator {
            model,
            settings: *settings,
            executor,
            pending: BTreeMap::new(),
            lps: Vec::new(),
            statistics,
            tables,
            committed: 0,
        }
    }

    fn init(&mut self, lp: LpId) -> Result<(), Stop> {
        let state = guarded(|| self.executor.init(self.model, lp));
        let place = || (Place::Init(lp), 0.0);
        let state = self.check(state, place)?;
        let history = HistoryDigest::default();
        self.lps.push(Lp { state, events: 0, history, timers: Vec::new() });
        self.observe(lp, 0.0, place)?;
        self.file(lp, 0, None);
        Ok(())
    }

    /// The first pending event, if it happens before the end.
    fn next_event(&mut self) -> Option<(Rank, Pending<M::Event>)> {
        self.pending.pop_first().filter(|(rank, _)| rank.time.0 < self.settings.end)
    }

    fn execute(
        &mut self,
        rank: Rank,
        Pending { to, timer, event }: Pending<M::Event>,
    ) -> Result<(), Stop> {
        let lp = &mut self.lps[to.index()];
        lp.timers.retain(|pending| Some(pending.0) != timer);
        lp.events += 1;
        let number = lp.events;
        let time = rank.time.0;
        let place = || {
            let payload = format!("{event:?}");
            (Place::Event { lp: to, time, number: Some(number), payload }, time)
        };
        self.executor.begin(to, number, rank.key().time, rank.step);
        let mut table = TimerTable::default();
        for ((timer, _), place) in lp.timers.iter().zip(0..) {
            table.insert(*timer, Handle::from_bits(place));
        }
        let table = self.executor.timers_mut().add(table);
        self.executor.lend_timers(table, None);
        let handled = guarded(|| {
            self.model.handle(&mut lp.state, &event, self.executor.lp());
            let pending = |place: Handle| &self.pending[&lp.timers[place.bits() as usize].1].event;
            self.executor.copy_forwards(&event, pending);
        });
        lp.history.push(&rank.key());
        self.check(handled, place)?;
        let committed = guarded(|| self.executor.commit(self.model, &event));
        self.check(committed, place)?;
        self.observe(to, rank.time.0, place)?;
        self.file(to, number, Some(rank));
        self.executor.timers_mut().remove(table);
        self.committed += 1;
        Ok(())
    }

    /// Inserts what `sender` sent in its `event`-th event, whose place in the order was `cause`.
    fn file(&mut self, sender: LpId, event: u64, cause: Option<Rank>) {
        let timers = &mut self.lps[sender.index()].timers;
        for (cancelled, _) in self.executor.cancelled_timers_mut().drain(..) {
            let place = timers.iter().position(|(timer, _)| *timer == cancelled);
            let (_, rank) = timers.remove(place.expect("only what is pending is cancelled"));
            self.pending.remove(&rank).expect("a pending timer is a pending event");
        }
        let sent: Vec<Outgoing<M::Event>> = self.executor.outbox_mut().drain(..).collect();
        self.executor.forget();
        for (outgoing, index) in sent.into_iter().zip(0..) {
            let Outgoing { time, to, step, priority, kind, event: payload } = outgoing;
            if kind == EventKind::CancelledTimer {
                continue;
            }
            let luck = if self.model.unbiased_ties() {
                mix64(
                    self.settings.seed
                        ^ mix64(time.bits() ^ mix64(u64::from(sender.0) << 32 | u64::from(step))),
                )
            } else {
                0
            };
            let rank = Rank {
                time: Time(time.get()),
                step,
                priority: priority.level(),
                luck,
                sender: sender.0,
                event,
                index,
            };
            assert!(
                cause.is_none_or(|cause| (cause.time, cause.step) < (rank.time, rank.step)),
                "{rank:?} is not after {cause:?}"
            );
            let timer = (kind == EventKind::Timer).then(|| rank.sequence());
            timers.extend(timer.map(|timer| (timer, rank)));
            let other = self.pending.insert(rank, Pending { to, timer, event: payload });
            assert!(other.is_none(), "two events stand at {rank:?}");
        }
    }

    fn finish(&mut self, lp: LpId) -> Result<(), Stop> {
        let end = VirtualTime::new(self.settings.end).expect("the end is a time");
        let place = || (Place::Finish(lp), end.get());
        let finished =
            guarded(|| self.executor.finish(self.model, lp, &self.lps[lp.index()].state, end));
        self.check(finished, place)?;
        self.observe(lp, end.get(), place)
    }

    /// Passes on the result of model code, unless it panicked or left a fault.
    fn check<T>(
        &mut self,
        returned: Result<T, Fault>,
        place: impl Fn() -> (Place, f64),
    ) -> Result<T, Stop> {
        let value = returned.map_err(|fault| self.stop(fault, &place))?;
        match self.executor.take_fault() {
            None => Ok(value),
            Some(fault) => Err(self.stop(fault, place)),
        }
    }

    fn observe(
        &mut self,
        lp: LpId,
        time: f64,
        place: impl Fn() -> (Place, f64),
    ) -> Result<(), Stop> {
        let observations = std::mem::take(self.executor.observations_mut());
        let applied = self.statistics.apply(&observations, time, lp, &mut self.tables);
        applied.map_err(|fault| self.stop(fault, place))
    }

    fn stop(&self, fault: Fault, place: impl Fn() -> (Place, f64)) -> Stop {
        let (place, time) = place();
        Stop { place: Box::new(place), time, fault, committed: self.committed }
    }

    fn outcome(self) -> Result<Outcome, Stop> {
        let mut digest = RunDigest::default();
        for (lp, id) in self.lps.iter().zip(0..) {
            digest.add(LpId(id), lp.events, lp.history);
        }
        if let Some(fault) = self.statistics.overflow() {
            return Err(self.stop(fault, || (Place::Results, self.settings.end)));
        }
        let outcome = warpline::Outcome {
            statistics: &self.statistics,
            end: self.settings.end,
            warmup: self.settings.warmup,
        };
        let results = guarded(|| self.model.results(&outcome).to_value(self.model, &outcome));
        let results =
            results.map_err(|fault| self.stop(fault, || (Place::Results, outcome.end)))?;
        let states = self.lps.iter().map(|lp| format!("{:?}", lp.state)).collect();
        Ok(Outcome {
            digest: digest.to_string(),
            committed: self.committed,
            states,
            results,
            series: self.statistics.series(),
            tables: self.tables.0,
        })
    }
}

/// Runs code of the model, and turns a panic into a fault.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        Fault::Panic(panic_text(&*panic).unwrap_or("without a message").to_owned())
    })
}
