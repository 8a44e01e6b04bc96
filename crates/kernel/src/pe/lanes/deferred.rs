//! Events that fail are deferred until it is certain that they happen. One that was executed ahead
//! is undone, and tried again whenever something earlier might change it. See
//! [`Faults`](crate::faults::Faults).
//!
//! A fault is deferred until GVT is exactly the moment of its event. Then nothing earlier is left
//! that could undo the event or fail first, and the fault is a failure. This holds for speculative
//! events, for certain ones, and for faults found only on commit. Until then the event counts as
//! pending, and the PE executes no later one. So whatever fails would fail in a sequential run,
//! too, at the same event. There is one exception: an event cannot reach another process if its
//! payload cannot be written as bytes. It arrives without its payload, is deferred there, and fails
//! only if it happens.
//!
//! Reverse code cannot undo an event that fails, as it cannot know how far `handle` got. If the
//! state was copied before the event, that copy is put back. Otherwise the state before the event
//! is worked out from the last copy, by executing the events since then again (coast forward);
//! `copies.rs` says how far back that copy is at most.

use std::any::Any;
use std::panic::resume_unwind;

use warpline_base::Sequence;
use warpline_memory::Handle;
use warpline_model::Fault;

use super::Pe;
use crate::agenda::pending::Entry;
use crate::faults::failure::copy_fault;
use crate::faults::panics::panic_message;
use crate::faults::{Blamed, DeferredFault};
use crate::past::StateBefore;
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Defers the event that was running when the model panicked.
    #[cold]
    pub(in crate::pe) fn defer_panicked(&mut self, panic: Box<dyn Any + Send>) {
        let entry = match self.faults.take_blamed() {
            Some(Blamed::Running(entry)) => entry,
            Some(Blamed::Dropped(over)) => return self.fail_dropped(over, panic),
            // The engine itself panicked.
            None => resume_unwind(panic),
        };
        // A fault before the panic takes precedence.
        let fault = self.executor.take_fault().unwrap_or_else(|| {
            if self.past.was_being_copied(entry.handle()) {
                copy_fault(panic)
            } else {
                Fault::Panic(panic_message(panic))
            }
        });
        self.defer(entry, fault, self.is_for_good(entry));
    }

    /// Whether an event is executed for good: it comes before the horizon, or its LP or the whole
    /// PE does not speculate.
    fn is_for_good(&self, entry: Entry) -> bool {
        let lanes = self.world.tuning().lanes;
        let certain = lanes.has_safe() && entry.time() < self.frontier.horizon();
        certain
            || !lanes.has_speculative()
            || self.lps.role(self.agenda.event(entry.handle()).receiver).is_conservative()
    }

    /// Defers the `number`-th event of an LP, which has reported a fault or exceeds the limit of
    /// events.
    #[cold]
    pub(in crate::pe) fn defer_failed(&mut self, entry: Entry, number: u64, certain: bool) {
        let many = || Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT };
        let fault = if number >= Sequence::EVENT_LIMIT {
            many()
        } else {
            self.executor.take_fault().unwrap_or_else(many)
        };
        self.defer(entry, fault, certain);
    }

    /// Defers an event that failed. Unless the fault is certain, what the event did is undone.
    #[cold]
    pub(in crate::pe) fn defer(&mut self, entry: Entry, fault: Fault, certain: bool) {
        self.put_back_timers(self.index_of(entry.handle()));
        if self.executor.logs() {
            // However far the event got, the log has everything that it changed.
            self.undo_logged(self.index_of(entry.handle()));
        }
        self.executor.forget();
        self.gauge.count(|counts| counts.held_back += u64::from(!certain));
        // If the event is not pending again, it was cancelled in the meantime, and its anti-message
        // is in transit.
        if certain || self.take_back(entry.handle()) {
            let event = self.agenda.event(entry.handle());
            let key = event.key();
            let lp = event.receiver;
            self.faults.defer(DeferredFault { key, lp, entry: Some(entry), fault, certain });
        }
        self.leaves_pending(entry.handle());
    }

    /// Undoes what the last event did before it failed or was parked. Returns whether it is pending
    /// again.
    pub(in crate::pe) fn take_back(&mut self, handle: Handle) -> bool {
        let index = self.index_of(handle);
        if let Some(state) = self.past.retract(handle) {
            match state {
                StateBefore::Copied(state) => self.lps.get_mut(index).bring_back(state),
                // The changes have been undone already.
                StateBefore::Logged(_) => {}
                StateBefore::WorkedOut => self.coast_forward(index),
            }
            self.past.copy_soon(index);
        }
        self.agenda.undo(handle)
    }

    /// Whether the first pending event, which has been taken out, must wait for a deferred one, or
    /// is deferred itself because its LP is lost. If it need not wait, the deferred events are
    /// pending again, to be tried after it.
    #[cold]
    pub(in crate::pe) fn waits(&mut self, entry: Entry) -> bool {
        let event = self.agenda.event(entry.handle());
        let key = event.key();
        let lp = event.receiver;
        if self.faults.waits(&key, self.world.ties()) {
            self.agenda.push(entry);
            return true;
        }
        self.retry_deferred();
        let index = self.lps.index(lp);
        if self.faults.lost(index).is_none() || self.agenda.is_cancelled(entry.handle()) {
            return false;
        }
        // Undoing later events may restore the state.
        self.roll_back_if_straggler(self.past.kp_of(index), &key);
        let Some(fault) = self.faults.lost(index).cloned() else { return false };
        self.leaves_pending(entry.handle());
        let certain = self.is_for_good(entry);
        self.faults.defer(DeferredFault { key, lp, entry: Some(entry), fault, certain });
        true
    }

    /// Defers an event that has been begun if its LP is lost. Returns whether it is.
    #[cold]
    pub(in crate::pe) fn defer_if_lost(&mut self, entry: Entry, index: usize) -> bool {
        let Some(fault) = self.faults.lost(index).cloned() else { return false };
        self.defer(entry, fault, false);
        true
    }

    /// Retries the deferred events if any of them has been cancelled.
    pub(in crate::pe) fn retry_if_cancelled(&mut self) {
        if self.faults.is_any_cancelled(|event| self.agenda.is_cancelled(event)) {
            self.retry_deferred();
        }
    }

    /// Puts the deferred events that are not certain back into the pending set.
    pub(in crate::pe) fn retry_deferred(&mut self) {
        for entry in self.faults.take_uncertain() {
            self.agenda.push(entry);
        }
    }

    /// The index of the LP that an event reaches.
    pub(in crate::pe) fn index_of(&self, handle: Handle) -> usize {
        self.lps.index(self.agenda.event(handle).receiver)
    }
}
