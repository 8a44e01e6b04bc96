//! The GVT interval, adapted during the run: the third optimisation of B. Williams, A. Eker, K.
//! Chiu and D. Ponomarev, "High-performance PDES on manycore clusters", SIGSIM-PADS 2021. The
//! README beside this file says what the paper does, and what differs here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::messages::{Verdict, Work};

/// Computations of GVT between two decisions.
const ROUNDS: u32 = 4;
/// Above the first share, in percent, PEs wait too much, and below the second, little. Doubling or
/// halving the interval changes the share by a factor of about 2, so no change turns too much into
/// little.
const MUCH: u64 = 20;
const LITTLE: u64 = 5;
/// The interval stays between this fraction and this multiple of the given one.
const SHORTER: u32 = 8;
const LONGER: u32 = 8;
/// The multiple for an interval in passes: a thread makes thousands while a PE executes some
/// events.
const LONGER_IN_PASSES: u32 = 1 << 10;

/// What the interval counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntervalUnit {
    /// Events that a PE executes.
    Events,
    /// Passes that a thread which only sends and receives makes over its work.
    Passes,
}

/// How an interval changed during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalHistory {
    /// What it counts.
    pub unit: IntervalUnit,
    /// The first interval.
    pub first: u32,
    /// The shortest.
    pub least: u32,
    /// The interval in the end.
    pub last: u32,
    /// The longest.
    pub greatest: u32,
    /// How often it was changed.
    pub changes: u64,
}

/// Adapts the interval to how busy PEs are while GVT is computed.
///
/// Their utilisation is estimated from counts alone: a step in which nothing is executed because
/// GVT is being computed costs about what an event does. Where PEs stop for GVT, they wait in every
/// computation. If they wait much, computations should be rarer; if little, they may be more
/// frequent, so that less waits to be committed. Where PEs go on meanwhile, they wait only if GVT
/// was asked for too late. Then computations should be more frequent.
///
/// It decides by verdicts, which are the same on all PEs, so all PEs have the same interval.
#[derive(Clone, Debug)]
pub struct IntervalControl {
    /// Whether PEs stop while GVT is computed.
    stops: bool,
    shortest: u32,
    longest: u32,
    history: IntervalHistory,
    /// Computations since the last decision, and what was done in them.
    rounds: u32,
    work: Work,
}

impl IntervalControl {
    /// The control of an interval that starts as `first`.
    pub fn new(first: u32, unit: IntervalUnit, stops: bool) -> Self {
        let factor = match unit {
            IntervalUnit::Events => LONGER,
            IntervalUnit::Passes => LONGER_IN_PASSES,
        };
        let shortest = (first / SHORTER).max(1);
        let longest = first.saturating_mul(factor);
        let history =
            IntervalHistory { unit, first, least: first, last: first, greatest: first, changes: 0 };
        IntervalControl { stops, shortest, longest, history, rounds: 0, work: Work::default() }
    }

    /// The control of an interval that starts alike and counts passes.
    pub fn in_passes(&self) -> Self {
        IntervalControl::new(self.history.first, IntervalUnit::Passes, self.stops)
    }

    /// The current interval.
    #[inline]
    pub fn interval(&self) -> u32 {
        self.history.last
    }

    /// How the interval has changed so far.
    pub fn history(&self) -> IntervalHistory {
        self.history
    }

    /// GVT has been found. `work` is what all PEs have done since the GVT before.
    pub fn adapt(&mut self, work: &Work) {
        self.work = self.work + *work;
        self.rounds += 1;
        if self.rounds < ROUNDS {
            return;
        }
        let Work { processed, waiting_steps, .. } = std::mem::take(&mut self.work);
        let rounds = u64::from(std::mem::take(&mut self.rounds));
        // If no PE can have come near the end of an interval, idle ones have asked, and will ask
        // again whatever the interval is.
        let asked_by_idle = self.history.unit == IntervalUnit::Events
            && processed < u64::from(self.interval()) * rounds / 2;
        let waited = 100 * u128::from(waiting_steps);
        let all = u128::from(processed) + u128::from(waiting_steps);
        let much = waited > u128::from(MUCH) * all;
        let little = waited < u128::from(LITTLE) * all;
        let now = self.interval();
        let next = match self.stops {
            true if much && !asked_by_idle => now.saturating_mul(2),
            true if little => now / 2,
            false if much => now / 2,
            false if little && !asked_by_idle => now.saturating_mul(2),
            _ => now,
        };
        self.set(next.clamp(self.shortest, self.longest));
    }

    fn set(&mut self, next: u32) {
        let IntervalHistory { least, last, greatest, changes, .. } = &mut self.history;
        *changes += u64::from(*last != next);
        *least = (*least).min(next);
        *last = next;
        *greatest = (*greatest).max(next);
    }
}

/// Lets a thread that only sends and receives say when GVT is to be found, by an interval of its
/// own, which the PEs of its process work out from their verdicts. The thread takes no part in
/// finding GVT: no PE waits for it.
#[derive(Clone, Debug)]
pub struct Pacer(Arc<PacerState>);

#[derive(Debug)]
struct PacerState {
    /// The thread has asked to close all epochs below this.
    asked: AtomicU64,
    /// Some PE has joined all epochs below this.
    joined: AtomicU64,
    /// In the upper half, how many epochs are closed; in the lower half, the interval since then.
    closed: AtomicU64,
}

impl Pacer {
    /// A pacer with this first interval.
    pub fn new(interval: u32) -> Self {
        Pacer(Arc::new(PacerState {
            asked: AtomicU64::new(0),
            joined: AtomicU64::new(0),
            closed: AtomicU64::new(interval.into()),
        }))
    }

    /// Whether a PE that has joined this many epochs should ask for GVT.
    #[inline]
    pub(crate) fn calls(&self, joined: u64) -> bool {
        // Relaxed, as everywhere here: these numbers publish nothing but themselves.
        self.0.asked.load(Ordering::Relaxed) > joined
    }

    /// A PE has joined this many epochs.
    pub(crate) fn note_joined(&self, joined: u64) {
        self.0.joined.fetch_max(joined, Ordering::Relaxed);
    }

    /// A PE has adopted a verdict, and has this interval now.
    pub(crate) fn note_verdict(&self, verdict: &Verdict, interval: u32) {
        self.0.closed.fetch_max((verdict.epoch + 1) << 32 | u64::from(interval), Ordering::Relaxed);
    }

    /// Whether PEs of this process are waiting for a verdict, so that no messages should be kept
    /// back.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.joined.load(Ordering::Relaxed) > self.0.closed.load(Ordering::Relaxed) >> 32
    }
}

/// The part of the thread that drives a [`Pacer`].
#[derive(Debug)]
pub struct PacerDriver {
    pacer: Pacer,
    /// How many epochs were closed when it last looked.
    closed: u64,
    /// Passes since then.
    passes: u32,
}

impl PacerDriver {
    /// The driver of a pacer, which has only one.
    pub fn new(pacer: Pacer) -> Self {
        PacerDriver { pacer, closed: 0, passes: 0 }
    }

    /// The thread has made another pass. When it has made as many since the last GVT as the
    /// interval says, it asks for the next.
    pub fn pass(&mut self) {
        let state = &self.pacer.0;
        let both = state.closed.load(Ordering::Relaxed);
        let closed = both >> 32;
        let interval = both as u32;
        if closed != self.closed {
            self.closed = closed;
            self.passes = 0;
        }
        self.passes = self.passes.saturating_add(1);
        if self.passes >= interval {
            state.asked.fetch_max(closed + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_base::Moment;

    use super::*;

    /// In each of `rounds` computations, four PEs execute `events` events and wait `waits` steps
    /// each.
    fn adapt(control: &mut IntervalControl, rounds: u32, events: u64, waits: u64) {
        let work = Work { processed: 4 * events, waiting_steps: 4 * waits, ..Work::default() };
        (0..rounds).for_each(|_| control.adapt(&work));
    }

    fn control(unit: IntervalUnit, stops: bool) -> IntervalControl {
        IntervalControl::new(128, unit, stops)
    }

    #[test]
    fn pes_that_stop_and_wait_much_get_a_longer_interval() {
        let mut control = control(IntervalUnit::Events, true);
        adapt(&mut control, 3, 128, 100);
        assert_eq!(control.interval(), 128, "it takes four computations to decide");
        adapt(&mut control, 1, 128, 100);
        assert_eq!(control.interval(), 256);
        adapt(&mut control, 4, 256, 100);
        assert_eq!(control.interval(), 512);
        // 100 of 612 steps: neither much nor little.
        adapt(&mut control, 40, 512, 100);
        assert_eq!(control.interval(), 512);
        // Messages arrive faster.
        adapt(&mut control, 4, 512, 10);
        assert_eq!(control.interval(), 256);
        let history = control.history();
        let expected = IntervalHistory {
            unit: IntervalUnit::Events,
            first: 128,
            least: 128,
            last: 256,
            greatest: 512,
            changes: 3,
        };
        assert_eq!(history, expected);
    }

    #[test]
    fn pes_that_go_on_and_wait_nevertheless_get_a_shorter_interval() {
        let mut control = control(IntervalUnit::Events, false);
        adapt(&mut control, 4, 128, 100);
        assert_eq!(control.interval(), 64);
        adapt(&mut control, 4, 128, 0);
        assert_eq!(control.interval(), 128);
    }

    #[test]
    fn the_interval_is_bounded() {
        for (unit, stops) in [IntervalUnit::Events, IntervalUnit::Passes]
            .into_iter()
            .flat_map(|unit| [true, false].map(|stops| (unit, stops)))
        {
            let mut control = control(unit, stops);
            adapt(&mut control, 100, 1 << 40, 0);
            let without_waiting = control.interval();
            adapt(&mut control, 100, 1 << 40, 1 << 40);
            let with = control.interval();
            let longest = if unit == IntervalUnit::Events { 1024 } else { 128 << 10 };
            assert_eq!(
                if stops { (without_waiting, with) } else { (with, without_waiting) },
                (16, longest),
                "{unit:?} {stops}"
            );
        }
        let mut least = IntervalControl::new(1, IntervalUnit::Events, true);
        adapt(&mut least, 8, 100, 0);
        assert_eq!(least.interval(), 1);
        let mut most = IntervalControl::new(u32::MAX, IntervalUnit::Passes, true);
        adapt(&mut most, 8, 100, 100);
        assert_eq!(most.interval(), u32::MAX);
    }

    /// PEs that are idle ask at once; no interval changes how long they wait.
    #[test]
    fn what_idle_pes_ask_for_does_not_lengthen_the_interval() {
        let mut control = control(IntervalUnit::Events, true);
        adapt(&mut control, 100, 3, 100);
        assert_eq!(control.interval(), 128);
        adapt(&mut control, 4, 0, 0);
        assert_eq!(control.interval(), 128, "nothing was done, and nothing is known");
    }

    #[test]
    fn the_same_verdicts_lead_to_the_same_intervals() {
        let mut one = control(IntervalUnit::Passes, true);
        let mut other = control(IntervalUnit::Passes, true);
        for round in 0..200u64 {
            let work = Work {
                processed: round * 37 % 101,
                waiting_steps: round * 53 % 97,
                ..Work::default()
            };
            one.adapt(&work);
            other.adapt(&work);
            assert_eq!(one.history(), other.history());
        }
        assert!(one.history().changes > 5, "{:?}", one.history());
    }

    fn verdict(epoch: u64) -> Verdict {
        Verdict {
            epoch,
            rounds: 1,
            gvt: Moment::Never,
            in_transit: Moment::Never,
            failure: Moment::Never,
            work: Work::default(),
        }
    }

    #[test]
    fn a_thread_asks_by_an_interval_of_its_own() {
        let pacer = Pacer::new(3);
        let mut driver = PacerDriver::new(pacer.clone());
        (0..2).for_each(|_| driver.pass());
        assert!(!pacer.calls(0));
        driver.pass();
        assert!(pacer.calls(0) && !pacer.calls(1) && !pacer.is_on());
        pacer.note_joined(1);
        assert!(pacer.is_on(), "PEs wait for a verdict");
        (0..10).for_each(|_| driver.pass());
        assert!(!pacer.calls(1), "it asks for one verdict at a time");
        pacer.note_verdict(&verdict(0), 2);
        assert!(!pacer.is_on());
        driver.pass();
        assert!(!pacer.calls(1));
        driver.pass();
        assert!(pacer.calls(1));
        // PEs have found GVT in the meantime, as some were idle: the interval begins again.
        pacer.note_joined(3);
        pacer.note_verdict(&verdict(2), 5);
        // A PE that is late says so, too.
        pacer.note_verdict(&verdict(1), 1);
        (0..4).for_each(|_| driver.pass());
        assert!(!pacer.calls(3));
        driver.pass();
        assert!(pacer.calls(3));
    }
}
