//! What a PE did, if a trace was asked for. However long the run, a trace stays within its limits.
//! Spans are kept or left out in whole stretches (`blocks`). Snapshots and events are thinned out
//! evenly: whenever a list is full, about every other item is dropped, and from then on half as
//! many are added. A lack of memory makes a trace thinner, and nothing else.

mod blocks;
mod span;

use std::time::Instant;

use warpline_base::random::mix64;
use warpline_base::{EventKey, LpId};

pub use self::blocks::{Piece, SpanBlocks, SpanLimits};
pub use self::span::{Activity, LostTime, Span, SpanSum};
use crate::gauge::phases::Stretch;

/// How much a PE's trace holds.
#[derive(Clone, Copy, Debug)]
pub struct TraceLimits {
    /// The origin of its times.
    pub origin: Instant,
    /// How many spans are kept.
    pub spans: SpanLimits,
    /// The most snapshots.
    pub snapshots: usize,
    /// The most events of LPs.
    pub events: usize,
    /// Only LPs whose id is a multiple of this have their events traced.
    pub lp_every: u32,
}

/// How much a PE has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// LPs made.
    pub(crate) made: u64,
    /// Events executed.
    pub(crate) executed: u64,
    /// Events committed.
    pub(crate) committed: u64,
}

/// The state of a PE after a commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// When, in nanoseconds since the origin.
    pub at: u64,
    /// The time of GVT.
    pub gvt: f64,
    /// How far beyond GVT events may be executed, in model time.
    pub window: f64,
    /// How many events are pending, cancelled ones included.
    pub pending: usize,
    /// About how many events have been executed and not committed.
    pub uncommitted: u64,
}

/// A committed event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LpEvent {
    /// The LP that it reached.
    pub lp: LpId,
    /// Its key.
    pub key: EventKey,
    /// The event is left out once the bar is higher than this. A function of the key alone, so that
    /// the choice does not depend on who commits when.
    pub lot: u8,
}

/// A list whose length is limited.
#[derive(Clone, Debug)]
pub struct ThinnedList<T> {
    items: Vec<T>,
    most: usize,
    every: u64,
    offered: u64,
    out_of_memory: bool,
}

impl<T> ThinnedList<T> {
    fn new(most: usize) -> Self {
        ThinnedList { items: Vec::new(), most, every: 1, offered: 0, out_of_memory: false }
    }

    fn offer(&mut self, item: T) {
        if self.most > 0 && self.offered.is_multiple_of(self.every) {
            if self.items.len() < self.most && self.items.try_reserve(1).is_err() {
                self.most = self.items.len();
                self.out_of_memory = true;
            }
            if self.items.len() >= self.most {
                let mut index = 0u64;
                self.items.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.every *= 2;
            }
            // With an odd limit the pattern shifts by one.
            if self.offered.is_multiple_of(self.every) && self.items.len() < self.most {
                self.items.push(item);
            }
        }
        self.offered += 1;
    }

    /// Its items, in order.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// How many items were left out.
    pub fn left_out(&self) -> u64 {
        self.offered - self.items.len() as u64
    }
}

/// What a PE did, and which events its LPs committed.
#[derive(Clone, Debug)]
pub struct Trace {
    limits: TraceLimits,
    /// What it did, in order.
    pub spans: SpanBlocks,
    /// Its state after each commit, in order.
    pub snapshots: ThinnedList<Snapshot>,
    /// Events that its LPs committed, in order for each LP.
    pub events: Vec<LpEvent>,
    /// Events with lots below this were left out.
    pub bar: u8,
    /// How many events there were.
    pub offered: u64,
    /// The end of the last span: what the PE has done since then is not in a span yet.
    since: u64,
    /// How much it had done by then.
    done: Totals,
    /// Since when it has had nothing to do, and for how many steps.
    idle: Option<(u64, u64)>,
    gvt: f64,
    /// Whether events were left out for lack of memory.
    out_of_memory: bool,
}

impl Trace {
    pub(crate) fn new(limits: TraceLimits) -> Self {
        let spans = SpanBlocks::new(limits.spans);
        let snapshots = ThinnedList::new(limits.snapshots);
        Trace {
            limits,
            spans,
            snapshots,
            events: Vec::new(),
            bar: 0,
            offered: 0,
            since: 0,
            done: Totals::default(),
            idle: None,
            gvt: 0.0,
            out_of_memory: false,
        }
    }

    /// Whether more would have been kept with more memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.out_of_memory || self.snapshots.out_of_memory || self.spans.is_out_of_memory()
    }

    fn push(&mut self, since: u64, until: u64, activity: Activity) {
        self.spans.offer(Span { since, until, activity, gvt: self.gvt });
    }

    pub(crate) fn begin_step(&mut self, now: u64, done: Totals) {
        self.since = now;
        self.done = done;
    }

    /// Ends the current spans at `now`.
    fn close(&mut self, now: u64, done: Totals) {
        if let Some((since, steps)) = self.idle.take() {
            self.push(since, self.since, Activity::Idle { steps });
        }
        let since = self.since;
        let before = self.done;
        if done.made > before.made {
            self.push(since, now, Activity::Making { lps: done.made - before.made });
        } else if done.executed > before.executed {
            let executed = done.executed - before.executed;
            let committed = done.committed - before.committed;
            self.push(since, now, Activity::Batch { executed, committed });
        }
    }

    /// Adds a span that was measured on its own, and how much the PE had done before and after it.
    pub(crate) fn stretch(
        &mut self,
        stretch: Stretch,
        before: Totals,
        after: Totals,
        activity: Activity,
    ) {
        self.close(stretch.since, before);
        self.push(stretch.since, stretch.until, activity);
        self.since = stretch.until;
        self.done = after;
    }

    pub(crate) fn end_step(&mut self, now: u64, done: Totals, idle: bool) {
        if !idle {
            self.close(now, done);
        } else {
            let (since, steps) = self.idle.unwrap_or((self.since, 0));
            self.idle = Some((since, steps + 1));
        }
        self.since = now;
        self.done = done;
    }

    /// The PE has finished.
    pub(crate) fn end(&mut self) {
        self.close(self.since, self.done);
    }

    pub(crate) fn snapshot(&mut self, snapshot: Snapshot) {
        self.gvt = snapshot.gvt;
        self.snapshots.offer(snapshot);
    }

    /// Notes a committed event.
    #[inline]
    pub(crate) fn event(&mut self, lp: LpId, key: &EventKey) {
        if !lp.0.is_multiple_of(self.limits.lp_every) {
            return;
        }
        self.offered += 1;
        let lot = mix64(key.sequence.bits() ^ mix64(u64::from(key.sender.0))).leading_zeros() as u8;
        if lot < self.bar {
            return;
        }
        let mut most = self.limits.events;
        if self.events.len() < most && self.events.try_reserve(1).is_err() {
            most = self.events.len();
            self.out_of_memory = true;
        }
        // The loop ends, as no lot is above 64.
        while self.events.len() >= most && self.bar <= lot {
            self.bar += 1;
            self.events.retain(|event| event.lot >= self.bar);
        }
        if lot >= self.bar {
            self.events.push(LpEvent { lp, key: *key, lot });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_base::{Priority, Sequence, VirtualTime};

    fn limits() -> TraceLimits {
        let spans = SpanLimits { block: 100, blocks: 1, sums: 3 };
        TraceLimits { origin: Instant::now(), spans, snapshots: 10, events: 50, lp_every: 2 }
    }

    #[test]
    fn a_full_list_keeps_every_other_entry() {
        for most in [1, 2, 3, 7, 8, 100] {
            let mut list = ThinnedList::new(most);
            (0..10_000u64).for_each(|number| list.offer(number));
            let items = list.items();
            assert!(items.len() <= most && items.len() >= most / 3, "{most}: {}", items.len());
            assert!(items.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(list.left_out() + items.len() as u64, 10_000);
            assert_eq!(items.first(), Some(&0));
        }
    }

    #[test]
    fn spans_follow_each_other_and_idle_steps_are_one() {
        let mut trace = Trace::new(limits());
        let stretch = |since, until| Stretch { since, until };
        let done = |executed| Totals { executed, ..Totals::default() };
        // A batch of 3 with a rollback after the second event, and a commit.
        trace.begin_step(10, done(0));
        trace.stretch(
            stretch(20, 25),
            done(2),
            done(2),
            Activity::Rollback { length: 1, primary: true },
        );
        trace.stretch(stretch(40, 50), done(3), done(3), Activity::Commit { committed: 2 });
        trace.end_step(52, done(3), false);
        // Nothing to do, twice, and an anti-message that undoes something meanwhile.
        for (since, until) in [(60, 70), (70, 80)] {
            trace.begin_step(since, done(3));
            trace.end_step(until, done(3), true);
        }
        trace.begin_step(90, done(3));
        trace.stretch(
            stretch(95, 96),
            done(3),
            done(3),
            Activity::Rollback { length: 1, primary: false },
        );
        trace.end_step(97, done(3), true);
        trace.begin_step(100, done(3));
        trace.end_step(110, done(3), true);
        trace.end();
        let spans: Vec<_> =
            trace.spans.kept().map(|span| (span.since, span.until, span.activity)).collect();
        let expected = [
            (10, 20, Activity::Batch { executed: 2, committed: 0 }),
            (20, 25, Activity::Rollback { length: 1, primary: true }),
            (25, 40, Activity::Batch { executed: 1, committed: 0 }),
            (40, 50, Activity::Commit { committed: 2 }),
            (60, 90, Activity::Idle { steps: 2 }),
            (95, 96, Activity::Rollback { length: 1, primary: false }),
            (96, 110, Activity::Idle { steps: 2 }),
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn the_events_that_stay_do_not_depend_on_the_order_of_commits() {
        let key = |number: u64| EventKey {
            time: VirtualTime::from_bits(number),
            step: 0,
            priority: Priority::NORMAL,
            sender: LpId(number as u32 % 7),
            sequence: Sequence::first_of(number),
        };
        let kept = |order: &mut dyn Iterator<Item = u64>| {
            let mut trace = Trace::new(limits());
            order.for_each(|number| trace.event(LpId(number as u32 % 4), &key(number)));
            let mut kept: Vec<_> = trace.events.iter().map(|event| event.key.time).collect();
            kept.sort_unstable();
            (kept, trace.bar, trace.offered)
        };
        let forward = kept(&mut (0..5000));
        let backward = kept(&mut (0..5000).rev());
        assert_eq!(forward, backward);
        assert!(forward.0.len() <= 50 && forward.0.len() > 5 && forward.2 == 2500, "{forward:?}");
    }
}
