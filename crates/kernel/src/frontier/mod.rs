//! How far a PE may go.
//!
//! *Bounds.* Each PE publishes a bound E: it will not execute, undo or commit anything before E any
//! more. Whatever it sends to PE b from then on arrives at E + d or later, where d is the least
//! delay from it to b. So nothing can arrive at b any more before b's *horizon*, the least of E + d
//! over all other PEs, and b may execute events before the horizon for good. A PE's own bound is
//! the least of the time of its first pending event, its horizon, and the time up to which it has
//! committed.
//!
//! Why no message in transit is missed. A PE hands over everything it has sent before it publishes
//! a bound, and reads the bounds of others before it empties its mailbox. So a message still in
//! transit to b after b has emptied its mailbox was sent by an event at or after the bound that b
//! has read, and comes at or after b's horizon. As b's bound never exceeds its horizon, the bound
//! also covers whatever b does on receiving that message. No message has to be counted, and as a
//! bound is one number, nobody reads half of it. (K. M. Chandy and J. Misra, "Distributed
//! simulation", IEEE Trans. Software Engineering 5(5), 1979: the bounds are their null messages,
//! kept in registers like those of the Global Synchronization Unit of E. Lynch and G. Riley, PADS
//! 2009.)
//!
//! *Windows.* Instead of reading bounds at every step, PEs may advance in windows: see
//! [`crate::frontier::rounds`].
//!
//! *Agreement.* What all PEs must agree on (GVT as a moment, failures, the end of the run) is
//! computed by [`crate::gvt`]. That takes messages, and is rarely needed where there is lookahead.
//!
//! *GVT instead of bounds.* With `Horizon::Gvt` nobody publishes or reads bounds, and the horizon
//! follows from GVT alone. PEs ask for the next GVT when they come to it, or all the time.
//!
//! *Both.* With `Horizon::Both`, PEs read the bounds of those that share their memory, and GVT plus
//! the least delay stands for the bounds of all others: nothing that these have yet to send, or that
//! is in transit from them, arrives sooner. So the argument for bounds holds as it is. It pays where
//! delays between machines are longer than those within them.
//!
//! *GVT and horizon.* GVT raises the horizon, too, to itself plus the least delay. A lookahead so
//! small that it is lost in rounding moves no horizon past GVT. Then a conservative run executes
//! the one event at GVT, and asks for the next GVT. Without any lookahead all PEs may wait for each
//! other at one instant, so `conservative` refuses such models.

mod bound_bits;
pub(crate) mod rounds;
pub(crate) mod window;

use std::ops::Range;

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, TieBreak, VirtualTime};

use crate::Window;
use crate::frontier::bound_bits::{bits, time_of};
use crate::frontier::rounds::Rounds;
use crate::gvt::{Verdict, Work};
use crate::partition::DelaysHere;
use crate::step::Step;

/// How far this PE and all others have come.
///
/// Invariant: settled ≤ GVT, and GVT, floor, horizon and own bound never decrease.
#[derive(Debug)]
pub(crate) struct Frontier {
    end: VirtualTime,
    /// From this time on, nothing beyond GVT is done for good. It is the end, or an earlier time
    /// while PEs look for an earlier end, which must lie after any GVT that they may still find.
    cap: VirtualTime,
    /// While PEs look for an earlier end, and until all have it: GVT must not reach this time.
    held_back: Option<VirtualTime>,
    /// The last verdict on GVT.
    verdict: Option<Verdict>,
    /// The GVT before that.
    settled: Option<Moment>,
    /// How the run has ended.
    over: Option<Step>,
    window: Window,
    /// Nothing can arrive from another PE before this time.
    horizon: VirtualTime,
    /// The next horizon, once every message that had arrived when the bounds were read is in the
    /// pending set.
    coming: VirtualTime,
    /// The least of all bounds read: no PE has anything left to do before it.
    floor: VirtualTime,
    /// The least delay from any PE whose bound is not read, if there is one.
    unbound_delay: Option<f64>,
    /// Nothing can arrive from such a PE before this time.
    unbound: VirtualTime,
    /// The bound published last.
    published: VirtualTime,
    /// This PE's last contribution to GVT. The next verdict is no later, unless the PE has
    /// contributed again by then.
    contributed: Moment,
    /// The work that this PE has reported for GVT so far.
    reported: Work,
    /// The rounds of a run in windows.
    rounds: Option<Rounds>,
}

impl Frontier {
    /// What bounds do not tell of arrives at least `unbound_delay` after GVT, if there is such.
    pub(crate) fn new(
        window: Window,
        end: VirtualTime,
        rounds: Option<Rounds>,
        unbound_delay: Option<f64>,
    ) -> Self {
        let zero = VirtualTime::ZERO;
        Frontier {
            end,
            cap: end,
            held_back: None,
            verdict: None,
            settled: None,
            over: None,
            window,
            horizon: zero,
            coming: zero,
            floor: zero,
            unbound_delay,
            unbound: zero,
            published: zero,
            contributed: Moment::Init(LpId(0)),
            reported: Work::default(),
            rounds,
        }
    }

    /// Nothing can arrive before this time any more, and everything that did is in the pending set.
    #[inline(always)]
    pub(crate) fn horizon(&self) -> VirtualTime {
        self.horizon.min(self.cap)
    }

    /// Stops doing anything for good from some time on, which is returned. It is the earliest time
    /// for which that is still possible, if the first pending event is at `first`. The other time
    /// returned lies after the GVT that this PE has last contributed to, whether or not the verdict
    /// has arrived.
    pub(crate) fn propose_end(&mut self, first: VirtualTime) -> (VirtualTime, VirtualTime) {
        // Another event at that time may have committed already.
        let after = |time: VirtualTime| VirtualTime::from_bits(time.bits() + 1).min(self.end);
        let from = self.horizon.max(self.due()).min(after(first));
        let contributed = after(self.contributed.time(self.end));
        self.cap = from;
        self.held_back = Some(from);
        (from, contributed)
    }

    /// GVT must not pass this moment: while a PE holds back, it may still have to undo what it has
    /// executed from then on.
    pub(crate) fn held_back_at(&self, ties: TieBreak) -> Moment {
        let Some(held_back) = self.held_back else { return Moment::Never };
        // Before every event from then on, whatever decides between simultaneous ones.
        let time = VirtualTime::from_bits(held_back.bits().saturating_sub(1));
        let moment = Moment::Event(EventKey {
            time,
            step: 0,
            priority: Priority::new(i8::MIN),
            sender: LpId(0),
            sequence: Sequence::first_of(0),
        });
        if moment.is_before(&self.gvt(), ties) { self.gvt() } else { moment }
    }

    /// The run ends at an earlier time, which GVT must not pass before all PEs know it.
    pub(crate) fn end_at(&mut self, end: VirtualTime) {
        self.end = end;
        self.cap = end;
        self.held_back = Some(end);
    }

    /// All PEs have the new end.
    pub(crate) fn let_go(&mut self) {
        self.held_back = None;
    }

    /// No PE has anything left to do before this time.
    #[inline]
    pub(crate) fn floor(&self) -> VirtualTime {
        self.floor
    }

    /// The earliest time at which anything can still arrive, by horizon and GVT, whether or not the
    /// PE makes use of the horizon.
    #[inline]
    pub(crate) fn earliest_arrival(&self) -> VirtualTime {
        match self.verdict {
            // Once the run is cut short, anything beyond its new end may still arrive.
            Some(Verdict { gvt: Moment::Event(key), .. }) => {
                self.horizon.max(key.time).min(self.end)
            }
            Some(Verdict { gvt: Moment::Never, .. }) => self.end,
            _ => self.horizon.min(self.end),
        }
    }

    /// Whether the horizon cannot pass GVT, because the least delay is lost in rounding when it is
    /// added. Then the event at GVT alone is certain.
    #[inline]
    pub(crate) fn is_held_up(&self) -> bool {
        matches!(self.gvt(), Moment::Event(key) if self.horizon <= key.time)
    }

    /// Events before this time may be executed ahead.
    #[inline]
    pub(crate) fn limit(&self) -> VirtualTime {
        let from = self.floor.get().max(self.gvt_time());
        self.window.bound_from(from).max(self.due()).max(self.horizon).min(self.end)
    }

    pub(crate) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// GVT as of the last verdict.
    pub(crate) fn gvt(&self) -> Moment {
        self.verdict.map_or(Moment::Init(LpId(0)), |verdict| verdict.gvt)
    }

    /// The time of GVT.
    #[inline]
    pub(crate) fn gvt_time(&self) -> f64 {
        self.verdict.map_or(0.0, |verdict| verdict.gvt.time(self.end).get())
    }

    /// The end of GVT's own instant: events before this time are due.
    pub(crate) fn due(&self) -> VirtualTime {
        Window::due(&self.gvt(), self.end)
    }

    /// Everything before this moment is settled: this PE has committed it, and no PE has failed
    /// before it.
    pub(crate) fn settled(&self) -> Option<Moment> {
        self.settled
    }

    pub(crate) fn window(&self) -> f64 {
        self.window.width()
    }

    /// Reads the bounds of the PEs in `bounding` other than `me`: `bounds` gives the bound of a PE,
    /// `delays` the least delays to this one. Returns whether the horizon will move.
    #[inline]
    pub(crate) fn read_bounds(
        &mut self,
        me: u32,
        bounding: Range<u32>,
        delays: DelaysHere<'_>,
        mut bounds: impl FnMut(u32) -> u64,
    ) -> bool {
        let mut horizon = f64::INFINITY;
        let mut floor = f64::INFINITY;
        if self.unbound_delay.is_some() {
            horizon = self.unbound.get();
            floor = self.settled.map_or(0.0, |settled| settled.time(self.end).get());
        }
        let from_each = &delays.from_each[bounding.start as usize..bounding.end as usize];
        for (pe, &delay) in bounding.clone().zip(from_each) {
            if pe != me {
                let Some(bound) = time_of(bounds(pe)).map(VirtualTime::get) else { return false };
                horizon = horizon.min(bound + delay);
                floor = floor.min(bound);
            }
        }
        // A bound that has risen since it was read for the floor was published before the mailbox is
        // emptied, as the first was.
        for &(pe, delay) in delays.links.iter().filter(|(pe, _)| bounding.contains(pe)) {
            let Some(bound) = time_of(bounds(pe)).map(VirtualTime::get) else { return false };
            horizon = horizon.min(bound + delay);
        }
        let horizon = self.clamp(horizon);
        let moved = horizon > self.coming;
        self.coming = self.coming.max(horizon);
        self.floor = self.floor.max(self.clamp(floor).min(self.published));
        moved
    }

    /// In windows: looks for the other PEs' bounds for the round; `delay` is the least delay from
    /// any of them to this PE. Returns whether the next window opens, which it does once everything
    /// in the mailbox now is in the pending set.
    #[inline]
    pub(crate) fn find_round(
        &mut self,
        delay: f64,
        bounds: impl FnMut(u32, u64) -> Option<u64>,
    ) -> bool {
        let Some(floor) = self.rounds.as_mut().and_then(|rounds| rounds.find(bounds)) else {
            return false;
        };
        self.coming = self.coming.max(self.clamp(floor.get() + delay));
        self.floor = self.floor.max(floor.min(self.end));
        true
    }

    /// Whether a window is open and there may be something to do in it.
    #[inline]
    pub(crate) fn is_window_open(&self) -> bool {
        self.floor < self.end && self.rounds.as_ref().is_some_and(Rounds::is_open)
    }

    /// Ends the window of a PE that has nothing to do before `least`. Returns the round and the
    /// bound to publish for it.
    pub(crate) fn end_window(&mut self, least: VirtualTime) -> Option<(u64, u64)> {
        self.rounds.as_mut().map(|rounds| rounds.end_window(least.min(self.end)))
    }

    /// The time, but no later than the end of the run.
    #[inline]
    fn clamp(&self, time: f64) -> VirtualTime {
        VirtualTime::new(time).map_or(self.end, |time| time.min(self.end))
    }

    /// Raises the horizon, as everything that had arrived when the bounds were read is in the
    /// pending set now. Returns whether it moved.
    #[inline]
    pub(crate) fn raise_horizon(&mut self) -> bool {
        let raised = self.coming > self.horizon;
        self.horizon = self.horizon.max(self.coming);
        raised
    }

    /// The bound to publish: that of a PE whose first pending event is at `first` and that has
    /// committed everything before `committed`.
    #[inline]
    pub(crate) fn own_bound(&mut self, first: VirtualTime, committed: VirtualTime) -> u64 {
        let bound = first.min(self.horizon).min(committed);
        // Whatever arrives comes at or after the horizon, so no bound has to be taken back. Nor is
        // one taken back for a fault that is found out of order, when the payload of a committed
        // event is dropped.
        self.published = self.published.max(bound);
        bits(self.published)
    }

    /// What this PE contributes to GVT: nothing that it has yet to do comes before this moment.
    pub(crate) fn contribute(&mut self, least: Moment) -> Moment {
        self.contributed = least;
        least
    }

    /// Takes the part of the work `done` so far that has not been reported yet.
    pub(crate) fn report(&mut self, done: Work) -> Work {
        let unreported = self.unreported(&done);
        self.reported = done;
        unreported
    }

    /// The part of the work `done` so far that has not been reported yet.
    #[inline]
    pub(crate) fn unreported(&self, done: &Work) -> Work {
        let reported = &self.reported;
        Work {
            processed: done.processed - reported.processed,
            rolled_back: done.rolled_back - reported.rolled_back,
            steps: done.steps - reported.steps,
            idle_steps: done.idle_steps - reported.idle_steps,
            waiting_steps: done.waiting_steps - reported.waiting_steps,
        }
    }

    /// How the run has ended, if it has.
    #[inline]
    pub(crate) fn over(&self) -> Option<Step> {
        self.over
    }

    /// GVT has been found: the horizon rises, and the window is adapted. `least` is the least delay
    /// between any two PEs; without a safe lane there is no horizon to raise, and it is `None`.
    /// After a failure nothing changes any more.
    pub(crate) fn on_gvt(&mut self, verdict: Verdict, least: Option<f64>) {
        let last = self.verdict.replace(verdict).map(|last| last.gvt);
        if verdict.failure != Moment::Never {
            self.over = Some(Step::Failed);
            return;
        }
        self.settled = last;
        // Only the verdict after the last commits tells whether one of them failed.
        if last == Some(Moment::Never) {
            self.over = Some(Step::Finished);
        }
        if let Some(delay) = least {
            let horizon = self.time_beyond((verdict.gvt, verdict.in_transit), delay);
            // What was sent before GVT has arrived, or is in transit; and whatever is sent from GVT
            // on arrives at least the delay later.
            self.coming = self.coming.max(horizon);
            self.horizon = self.horizon.max(horizon);
        }
        if let Some(delay) = self.unbound_delay {
            let unbound = self.time_beyond((verdict.gvt, verdict.in_transit), delay);
            self.unbound = self.unbound.max(unbound);
        }
        self.window.adapt(&verdict.gvt, &verdict.work);
    }

    /// Nothing that was sent since arrives any more before this time, if PEs have nothing to do
    /// before `least`, nothing in transit comes before `in_transit`, and what is sent takes at least
    /// `delay`.
    pub(crate) fn time_beyond(
        &self,
        (least, in_transit): (Moment, Moment),
        delay: f64,
    ) -> VirtualTime {
        match least {
            Moment::Init(_) => VirtualTime::ZERO,
            Moment::Event(key) => self.clamp(key.time.get() + delay),
            Moment::Finish(_) | Moment::Never => self.end,
        }
        .min(in_transit.time(self.end))
    }

    /// In a run that GVT drives: takes what was read of it between computations, the least moments
    /// of PEs and of messages in transit. Returns whether the horizon will move, once everything that
    /// has arrived is in the pending set.
    pub(crate) fn read_gvt(&mut self, read: (Moment, Moment), delay: f64) -> bool {
        let horizon = self.time_beyond(read, delay);
        let moved = horizon > self.coming;
        self.coming = self.coming.max(horizon);
        moved
    }

    /// Without another GVT the horizon does not pass this time, if it follows from GVT.
    #[inline]
    pub(crate) fn horizon_by_gvt(&self) -> VirtualTime {
        if self.unbound_delay.is_some() { self.unbound.min(self.cap) } else { self.horizon() }
    }

    /// Raises the floor to what is settled, where no bounds raise it.
    pub(crate) fn raise_floor(&mut self) {
        if let Some(settled) = self.settled {
            self.floor = self.floor.max(settled.time(self.end));
        }
    }

    /// Whether PEs have undone far more than they commit lately.
    #[inline]
    pub(crate) fn thrashes(&self) -> bool {
        self.window.thrashes()
    }

    /// How many verdicts have found PEs thrashing.
    pub(crate) fn throttled(&self) -> u64 {
        self.window.throttled()
    }
}

#[cfg(test)]
mod tests;
