//! How far a PE may go.
//!
//! *Bounds.* Each PE publishes a time E, its bound: nothing before it will be executed, undone or committed there any more. What it sends
//! from then on to PE b comes at E + d or later, where d is the least delay from it to b. So before its *horizon*, the least of E + d over
//! all other PEs, nothing arrives at b any more, and b may execute what comes before the horizon for good. Its own bound is the least of
//! its first pending event, its horizon, and what it has executed and not committed.
//!
//! Why no message on its way is forgotten. A PE hands over all that it sent before it publishes a bound, and reads the bounds of others before
//! it empties its mailbox; so a message that is still on its way to b after b has emptied its mailbox was sent by an event at or after
//! the bound that b has read, and comes at or after b's horizon. As b's bound is at most b's horizon, it also holds for what b will do on
//! receiving that message. No message is counted, and no register is ever between two values. (K. M. Chandy and J. Misra, "Distributed
//! simulation", IEEE Trans. Software Engineering 5(5), 1979; the bounds are their null messages, in the registers that the Global
//! Synchronization Unit of E. Lynch and G. Riley, PADS 2009, has for this.)
//!
//! *Windows.* Instead of reading bounds whenever they please, PEs may go in step: see [`crate::rounds`].
//!
//! *Agreement.* What all PEs must know alike, GVT as a moment, failures and the end, is found by [`crate::gvt`], which takes messages, and
//! is needed rarely where there is lookahead.

use warpline_base::{LpId, Moment, VirtualTime};

use crate::Window;
use crate::bound_word::{time_of, word};
use crate::gvt::{Verdict, Work};
use crate::rounds::Rounds;

/// How far this PE and all others have come.
///
/// Invariant: settled ≤ GVT, and neither GVT nor floor, horizon and own bound ever decrease.
#[derive(Debug)]
pub(crate) struct Frontier {
    end: VirtualTime,
    /// The last verdict on GVT.
    verdict: Option<Verdict>,
    /// The GVT before that.
    settled: Option<Moment>,
    window: Window,
    /// Before this time nothing can arrive from another PE.
    horizon: VirtualTime,
    /// What the horizon will be once all that had arrived when bounds were read is in the pending set.
    coming: VirtualTime,
    /// The least of all bounds that were read: no PE has anything to do before it.
    floor: VirtualTime,
    /// The bound published last.
    published: VirtualTime,
    /// The work that other PEs have been told of.
    pub(crate) reported: Work,
    /// Where PEs go in step.
    rounds: Option<Rounds>,
}

impl Frontier {
    pub(crate) fn new(window: Window, end: VirtualTime, rounds: Option<Rounds>) -> Self {
        let zero = VirtualTime::ZERO;
        let (verdict, settled, reported) = (None, None, Work::default());
        Frontier { end, verdict, settled, window, horizon: zero, coming: zero, floor: zero, published: zero, reported, rounds }
    }

    /// Before this time nothing can arrive any more, and the PE has received all there was.
    #[inline(always)]
    pub(crate) fn horizon(&self) -> VirtualTime {
        self.horizon
    }

    /// Before this time no PE has anything left to do.
    #[inline]
    pub(crate) fn floor(&self) -> VirtualTime {
        self.floor
    }

    /// Before this time nothing may arrive, whether or not the PE makes use of it.
    #[inline]
    pub(crate) fn earliest_arrival(&self) -> VirtualTime {
        match self.verdict {
            Some(Verdict { gvt: Moment::Event(key), .. }) => self.horizon.max(key.time),
            Some(Verdict { gvt: Moment::Never, .. }) => self.end,
            _ => self.horizon,
        }
    }

    /// Events before this time may be executed ahead of the horizon.
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

    /// What comes before this time is due at GVT itself.
    pub(crate) fn due(&self) -> VirtualTime {
        Window::least_bound(&self.gvt(), self.end)
    }

    /// All before this moment is settled: it has committed here, and no PE has failed there.
    pub(crate) fn settled(&self) -> Option<Moment> {
        self.settled
    }

    pub(crate) fn window(&self) -> f64 {
        self.window.width()
    }

    /// Reads the bounds of the PEs other than `me`, whose words are `words`, and which send here with these delays. Returns whether
    /// the horizon will move.
    #[inline]
    pub(crate) fn read_bounds(&mut self, me: u32, delays: &[f64], mut words: impl FnMut(u32) -> u64) -> bool {
        let (mut horizon, mut floor) = (f64::INFINITY, f64::INFINITY);
        for (pe, &delay) in (0..).zip(delays) {
            if pe != me {
                let Some(bound) = time_of(words(pe)).map(VirtualTime::get) else { return false };
                horizon = horizon.min(bound + delay);
                floor = floor.min(bound);
            }
        }
        let horizon = self.clamp(horizon);
        let moved = horizon > self.coming;
        self.coming = self.coming.max(horizon);
        self.floor = self.floor.max(self.clamp(floor).min(self.published));
        moved
    }

    /// In windows: looks for the words of the other PEs, which send here with this delay at least. Returns whether a window opens, once all
    /// that is in the mailbox now is in the pending set.
    #[inline]
    pub(crate) fn find_round(&mut self, delay: f64, words: impl FnMut(u32, u64) -> Option<u64>) -> bool {
        let Some(floor) = self.rounds.as_mut().and_then(|rounds| rounds.find(words)) else { return false };
        self.coming = self.coming.max(self.clamp(floor.get() + delay));
        self.floor = self.floor.max(floor.min(self.end));
        true
    }

    /// Whether a window is open in which there may be something to do.
    #[inline]
    pub(crate) fn is_window_open(&self) -> bool {
        self.floor < self.end && self.rounds.as_ref().is_some_and(Rounds::is_open)
    }

    /// Ends the window of a PE that has nothing to do before `least`, and tells the round and the word to publish.
    pub(crate) fn end_window(&mut self, least: VirtualTime) -> Option<(u64, u64)> {
        self.rounds.as_mut().map(|rounds| rounds.end_window(least.min(self.end)))
    }

    /// A time of this run, which has an end.
    #[inline]
    fn clamp(&self, time: f64) -> VirtualTime {
        VirtualTime::new(time).map_or(self.end, |time| time.min(self.end))
    }

    /// All that had arrived when bounds were read is in the pending set now. Returns whether the horizon has moved.
    #[inline]
    pub(crate) fn raise_horizon(&mut self) -> bool {
        let raised = self.coming > self.horizon;
        self.horizon = self.horizon.max(self.coming);
        raised
    }

    /// The bound of a PE whose first pending event is at `first` and that has committed all before `committed`: the word to publish.
    #[inline]
    pub(crate) fn own_bound(&mut self, first: VirtualTime, committed: VirtualTime) -> u64 {
        let bound = first.min(self.horizon).min(committed);
        // A straggler may lie before what is published, but not before the horizon.
        self.published = self.published.max(bound);
        word(self.published)
    }

    /// Takes note of a verdict without a failure. `least` is the least delay between any two PEs, if events before the horizon are certain.
    pub(crate) fn adopt(&mut self, verdict: Verdict, least: Option<f64>) {
        let last = self.verdict.replace(verdict).map(|last| last.gvt);
        if verdict.failure != Moment::Never {
            return;
        }
        self.settled = last;
        if let Some(delay) = least {
            let horizon = match verdict.gvt {
                Moment::Init(_) => VirtualTime::ZERO,
                Moment::Event(key) => VirtualTime::new(key.time.get() + delay).map_or(self.end, |time| time.min(self.end)),
                Moment::Finish(_) | Moment::Never => self.end,
            };
            // All that was sent before GVT has arrived, and what comes after it is at least so much later.
            self.coming = self.coming.max(horizon);
            self.horizon = self.horizon.max(horizon);
        }
    }

    /// Adapts the window to the last verdict.
    pub(crate) fn adapt_window(&mut self) {
        if let Some(verdict) = self.verdict {
            self.window.adapt(&verdict.gvt, &verdict.work);
        }
    }
}
