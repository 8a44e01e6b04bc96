//! Undoing events that were executed too early, and cancelling what they sent, at once (aggressive cancellation).
//!
//! Rollback and anti-messages are those of D. Jefferson, "Virtual time", ACM TOPLAS 7(3), 1985. That a message is cancelled in the
//! one copy that sender and receiver share is direct cancellation: R. Fujimoto, "Time Warp on a shared memory multiprocessor", Trans.
//! Society for Computer Simulation 6(3), 1989. Reverse code: C. Carothers, K. Perumalla and R. Fujimoto, "Efficient optimistic
//! parallel simulations using reverse computation", ACM TOMACS 9(3), 1999.

use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{EventKey, VirtualTime};
use warpline_memory::{Cancelled, Handle};
use warpline_model::Model;

use crate::execute::Keys;
use crate::extras::ExtraId;
use crate::history::Fate;
use crate::pe::Pe;
use crate::pending::{Entry, PendingSet};
use crate::phases::Phase;
use crate::trace::Doing;
use crate::wires::{Message, MessageKind, Port};
use crate::{Event, Undoing};

/// How far a KP rolls back.
#[derive(Clone, Copy)]
enum Until<'a> {
    /// Everything after this key is undone.
    After(&'a EventKey),
    /// This event is the last to be undone.
    With(Handle),
    /// Everything from this time on is undone.
    From(VirtualTime),
}

impl<M: Model, Q: PendingSet, P: Port> Pe<'_, M, Q, P> {
    /// Rolls a KP back, if the event of `key`, which is about to be executed, comes before what the KP has executed already. Stragglers
    /// are looked for here, and not on receipt: many are cancelled before their turn comes.
    #[cold]
    pub(crate) fn mind_straggler(&mut self, k: usize, key: &EventKey) {
        let last = self.kps[k].last;
        if self.history.is_open(last) && self.ties.compare(key, &self.key_at(last)).is_lt() {
            self.counts.primary += 1;
            self.rolling(Phase::Execute, true, |pe| {
                pe.roll_back(k, Until::After(key));
                pe.undo_cancelled();
            });
        }
    }

    /// Times a rollback within a phase.
    pub(crate) fn rolling(&mut self, within: Phase, primary: bool, roll: impl FnOnce(&mut Self)) {
        let (done, length) = (self.done(), self.counts.rolled_back);
        let since = self.meter.begin_rollback(within, self.trace.is_some());
        roll(self);
        let stretch = self.meter.end_rollback(since);
        if let (Some(trace), Some(stretch)) = (&mut self.trace, stretch) {
            let length = self.counts.rolled_back - length;
            trace.stretch(stretch, done, done, Doing::Rollback { length, primary });
        }
    }

    /// Undoes processed events that were cancelled, and whatever came after them in their KPs, until no more are cancelled by that.
    pub(crate) fn undo_cancelled(&mut self) {
        while let Some(handle) = self.cancelled.pop() {
            // It may have been undone together with others of its KP.
            if !self.buffers.is_undone(handle) {
                self.counts.secondary += 1;
                let k = self.index_of(handle) >> self.kp_shift;
                self.roll_back(k, Until::With(handle));
                assert!(self.buffers.is_undone(handle), "a processed event is in the history of its KP");
            }
            self.annihilate(handle);
        }
    }

    /// Undoes all that can still be undone, as GVT did not get to what the history is full of: some of it lies far ahead, and what has
    /// committed since cannot be reclaimed before it.
    #[cold]
    pub(crate) fn make_room(&mut self) {
        self.release_held();
        self.rolling(Phase::Gvt, false, |pe| {
            (0..pe.kps.len()).for_each(|k| pe.roll_back(k, Until::From(pe.horizon)));
            pe.undo_cancelled();
        });
        self.latest = self.horizon;
        self.history.close_front();
        self.collect_fossils(self.tuning.undoing.lag());
    }

    fn key_at(&self, place: u64) -> EventKey {
        self.buffers.get(self.history.get(place).event).key()
    }

    fn roll_back(&mut self, k: usize, until: Until<'_>) {
        let before = self.counts.rolled_back;
        while self.history.is_open(self.kps[k].last) {
            let place = self.kps[k].last;
            let handle = self.history.get(place).event;
            match until {
                Until::After(key) if self.ties.compare(&self.key_at(place), key).is_le() => break,
                Until::From(time) if self.key_at(place).time < time => break,
                Until::With(last) if last == handle => {
                    self.undo(k, place);
                    break;
                }
                _ => self.undo(k, place),
            }
        }
        let last = self.kps[k].last;
        self.kps[k].last_time = if self.history.is_open(last) { self.key_at(last).time.bits() } else { 0 };
        self.refresh();
        self.history.trim();
        self.counts.rollback(self.counts.rolled_back - before);
    }

    /// Undoes the last event of a KP.
    fn undo(&mut self, k: usize, place: u64) {
        let record = self.history.get_mut(place);
        record.fate = Fate::Undone;
        let (handle, extra, digest, mut sent) = (record.event, record.extra, record.digest, record.sent.take());
        let state = record.state.take();
        self.kps[k].last = record.before;
        self.restore(handle, state, extra);
        let index = self.index_of(handle);
        let lp = &mut self.lps[index];
        lp.events -= 1;
        lp.history = digest;
        self.copies.soon(index);
        self.extras.give_back(extra);
        while let Some(message) = sent {
            // Looked up first, as the buffer may be used anew once it is cancelled.
            sent = self.buffers.next(message);
            self.cancel(message);
        }
        if self.buffers.undo(handle) {
            let event: &Event<_> = self.buffers.get(handle);
            let entry = Entry::new(event.time, self.ties.prefix(&event.key()), handle);
            self.pending.push(entry, &Keys { buffers: &self.buffers, ties: self.ties });
        }
        self.counts.rolled_back += 1;
    }

    /// Brings back the state that an LP had before an event, or notes that it is still to be worked out.
    fn restore(&mut self, handle: Handle, state: Option<M::State>, extra: ExtraId) {
        let index = self.index_of(handle);
        let stale = self.stale.iter().position(|&stale| stale == index as u32);
        if let Some(state) = state {
            self.lps[index].state = state;
            if let Some(stale) = stale {
                self.stale.swap_remove(stale);
            }
        } else if stale.is_none() && !(self.tuning.undoing == Undoing::Reverse && self.reverse(handle, index, extra)) {
            self.stale.push(index as u32);
        }
    }

    /// Runs the model's reverse code, and returns whether it came to a good end.
    fn reverse(&mut self, handle: Handle, index: usize, extra: ExtraId) -> bool {
        let event = self.buffers.get(handle);
        let lp = &mut self.lps[index];
        self.context.begin(event.receiver, lp.events, event.time, event.step);
        if let Some(extra) = self.extras.get(extra) {
            std::mem::swap(self.context.saved_mut(), &mut extra.saved);
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.context.reverse(self.model, &mut lp.state, &event.payload)));
        let good = outcome.is_ok() && !self.context.has_fault();
        self.context.forget();
        good
    }

    /// Cancels a message that an undone event had sent: in place, if it has not been processed.
    fn cancel(&mut self, message: Handle) {
        let owner = self.buffers.owner(message);
        match self.buffers.cancel(message) {
            Cancelled::Pending => self.counts.cancelled_in_place += 1,
            Cancelled::Processed if owner == self.me => self.cancelled.push(message),
            Cancelled::Processed => {
                let anti = Message { event: message, tag: self.gvt.sent(), kind: MessageKind::Anti };
                self.outgoing[owner as usize].0.push(anti);
                self.counts.anti_sent += 1;
            }
        }
    }
}
