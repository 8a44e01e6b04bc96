//! What an explanation should say: a slow simulator that keeps a list of all events, and the
//! definitions applied to it word for word.

use std::collections::BTreeMap;

use warpline::base::{EventKey, EventKind, Sequence};
use warpline::engine::{Executor, Handle, Limits, Lookahead, TimerTable, tie_break};
use warpline::{LpId, Model};
use warpline_kernel::Partition;

/// An event that was executed.
pub(super) struct Executed {
    pub(super) lp: LpId,
    pub(super) time: f64,
    /// The place of the event that sent it; `None` if `init` did.
    pub(super) by: Option<usize>,
}

/// A send from one LP to another, whether or not the event happened.
pub(super) struct Sent {
    pub(super) by: Option<usize>,
    pub(super) from: LpId,
    pub(super) to: LpId,
    pub(super) delay: f64,
}

/// Everything that happened in a run.
pub(super) struct Log {
    pub(super) lps: u32,
    pub(super) events: Vec<Executed>,
    pub(super) sends: Vec<Sent>,
}

/// The critical path.
#[derive(Debug, PartialEq)]
pub(super) struct Path {
    pub(super) length: u64,
    pub(super) messages: u64,
    /// The events on it by LP.
    pub(super) lps: BTreeMap<u32, u64>,
}

struct Pending<E> {
    key: EventKey,
    to: LpId,
    /// Whether it is a timer.
    timer: bool,
    payload: E,
    by: Option<usize>,
}

/// Takes what `from` sent in its event of this number, at time `now`, out of the executor.
fn collect_sends<M: Model>(
    executor: &mut Executor<M>,
    log: &mut Log,
    pending: &mut Vec<Pending<M::Event>>,
    from: LpId,
    number: u64,
    now: f64,
) {
    assert!(executor.take_fault().is_none(), "nothing is wrong with the model");
    executor.observations_mut().clear();
    let by = log.events.len().checked_sub(1);
    for (sent, index) in executor.outbox_mut().drain(..).zip(0..) {
        let sequence = Sequence::first_of(number).nth(index);
        let key = EventKey {
            time: sent.time,
            step: sent.step,
            priority: sent.priority,
            sender: from,
            sequence,
        };
        if from != sent.to {
            log.sends.push(Sent { by, from, to: sent.to, delay: sent.time.get() - now });
        }
        if sent.kind != EventKind::CancelledTimer {
            let timer = sent.kind == EventKind::Timer;
            pending.push(Pending { key, to: sent.to, timer, payload: sent.event, by });
        }
    }
    executor.forget();
}

/// The pending timers of an LP, by their places in the list.
fn timers_of<E>(lp: LpId, pending: &[Pending<E>]) -> TimerTable {
    let mut timers = TimerTable::default();
    for (place, event) in (0..).zip(pending).filter(|(_, event)| event.timer && event.to == lp) {
        timers.push(event.key.sequence, Handle::from_bits(place));
    }
    timers.sort();
    timers
}

impl Log {
    /// Executes everything before `end`.
    pub(super) fn of<M: Model>(model: &M, seed: u64, end: f64) -> Log {
        let lps = model.lps();
        let ties = tie_break(model, seed);
        let mut executor = Executor::new(model, seed, Limits::ZERO_DELAY_HOPS, false);
        let mut log = Log { lps, events: Vec::new(), sends: Vec::new() };
        let mut pending = Vec::new();
        let mut counts = vec![0; lps as usize];
        let mut states = Vec::new();
        for lp in (0..lps).map(LpId) {
            states.push(executor.init(model, lp));
            collect_sends(&mut executor, &mut log, &mut pending, lp, 0, 0.0);
        }
        while let Some(first) =
            (0..pending.len()).min_by(|a, b| ties.compare(&pending[*a].key, &pending[*b].key))
        {
            let Pending { key, to, payload, by, .. } = pending.swap_remove(first);
            if key.time.get() >= end {
                break;
            }
            counts[to.index()] += 1;
            let number = counts[to.index()];
            let time = key.time.get();
            executor.begin(to, number, key.time, key.step);
            let timers = executor.timers_mut().add(timers_of(to, &pending));
            executor.lend_timers(timers, None);
            model.handle(&mut states[to.index()], &payload, executor.lp());
            executor.copy_forwards(&payload, |place| &pending[place.bits() as usize].payload);
            let cancelled: Vec<Sequence> =
                executor.cancelled_timers().iter().map(|(timer, _)| *timer).collect();
            pending.retain(|event| {
                !(event.timer && event.to == to && cancelled.contains(&event.key.sequence))
            });
            log.events.push(Executed { lp: to, time, by });
            collect_sends(&mut executor, &mut log, &mut pending, to, number, time);
            executor.timers_mut().remove(timers);
        }
        log
    }

    /// For every event, the one before it at the same LP.
    fn before(&self) -> Vec<Option<usize>> {
        let mut last = vec![None; self.lps as usize];
        (0..)
            .zip(&self.events)
            .map(|(place, event)| last[event.lp.index()].replace(place))
            .collect()
    }

    /// The longest chain. Among equally long ones, it ends at the first LP, and prefers the
    /// previous event of the same LP.
    pub(super) fn path(&self) -> Path {
        let before = self.before();
        let mut ends: Vec<u64> = Vec::new();
        let mut back: Vec<(Option<usize>, bool)> = Vec::new();
        for (event, own) in self.events.iter().zip(before) {
            let end = |place: Option<usize>| place.map_or(0, |place| ends[place]);
            let message = end(event.by) > end(own);
            let (previous, length) =
                if message { (event.by, end(event.by)) } else { (own, end(own)) };
            back.push((previous, message));
            ends.push(length + 1);
        }
        let length = ends.iter().copied().max().unwrap_or(0);
        let mut path = Path { length, messages: 0, lps: BTreeMap::new() };
        let mut place = (0..ends.len())
            .filter(|place| ends[*place] == length)
            .min_by_key(|place| self.events[*place].lp);
        while let Some(here) = place {
            *path.lps.entry(self.events[here].lp.0).or_default() += 1;
            path.messages += u64::from(back[here].1);
            place = back[here].0;
        }
        path
    }

    /// How long PEs take if each executes its events in the order of time, and the work of the
    /// busiest one.
    pub(super) fn in_order(&self, partition: &Partition) -> (u64, u64) {
        let mut pes = vec![(0, 0); partition.pes() as usize];
        let mut ends: Vec<u64> = Vec::new();
        for event in &self.events {
            let (free, work) = &mut pes[partition.pe(event.lp) as usize];
            *free = (*free).max(event.by.map_or(0, |by| ends[by])) + 1;
            *work += 1;
            ends.push(*free);
        }
        let most = |of: fn(&(u64, u64)) -> u64| pes.iter().map(of).max().unwrap_or(0);
        (most(|pe| pe.0), most(|pe| pe.1))
    }

    /// How long windows of this width take for the events from place `from` on.
    pub(super) fn windows(&self, partition: &Partition, width: f64, from: usize) -> u64 {
        let mut events = &self.events[from..];
        let mut time = 0;
        while let Some(first) = events.first() {
            let count =
                events.iter().take_while(|event| event.time < first.time + width).count().max(1);
            let (window, rest) = events.split_at(count);
            let work =
                |pe| window.iter().filter(|event| partition.pe(event.lp) == pe).count() as u64;
            time += (0..partition.pes()).map(work).max().unwrap_or(0);
            events = rest;
        }
        time
    }

    /// The least delay between PEs, and the event from which on no smaller delay was sent, after
    /// rounding by `round`.
    pub(super) fn least_delay(
        &self,
        partition: &Partition,
        round: impl Fn(f64) -> f64,
    ) -> (f64, usize) {
        let mut least = f64::INFINITY;
        let mut from = 0;
        for sent in
            self.sends.iter().filter(|sent| partition.pe(sent.from) != partition.pe(sent.to))
        {
            if round(sent.delay) < round(least) {
                from = sent.by.map_or(0, |by| by + 1);
            }
            least = least.min(sent.delay);
        }
        (least, from)
    }

    /// The least declared delay between LPs of different PEs.
    pub(super) fn declared(&self, lookahead: &Lookahead, partition: &Partition) -> f64 {
        let mut least = f64::INFINITY;
        for from in (0..self.lps).map(LpId) {
            for to in (0..self.lps).map(LpId).filter(|to| partition.pe(*to) != partition.pe(from)) {
                least = least.min(lookahead.between(from, to).unwrap_or(f64::INFINITY));
            }
        }
        least
    }
}
