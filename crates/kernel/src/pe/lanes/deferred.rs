//! Events that fail. A failed event is held back until it is certain that it happens; if it was
//! executed ahead, it is undone, and tried again whenever something earlier might change it. See
//! [`Faults`](crate::faults::Faults).
//!
//! A fault is held until GVT is exactly the moment of its event. Then nothing before it is left
//! that could undo the event, or fail first, and the fault is a failure. This holds for faults of
//! speculation, for those of certain events, and for those that are found only on commit. Until
//! then the event counts as pending, and the PE executes no later one. So whatever fails would also
//! fail sequentially, at the same event. There is one exception: an event that does not reach
//! another process, as what it carries cannot be written as bytes. It is held where it arrives
//! without that, and fails only if it happens.
//!
//! Reverse code cannot undo an event that fails, as it cannot know how far `handle` got. Where the
//! state was copied before the event, that copy is put back. Elsewhere the state before the event
//! is worked out from the last copy, by executing again what came after it (coast forward);
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
    /// Holds back the event that was running when the model panicked.
    #[cold]
    pub(in crate::pe) fn defer_panicked(&mut self, panic: Box<dyn Any + Send>) {
        let entry = match self.faults.take_blamed() {
            Some(Blamed::Running(entry)) => entry,
            Some(Blamed::Dropped(over)) => return self.fail_dropped(over, panic),
            // It was the engine that panicked.
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

    /// Whether an event is executed for good: it comes before the horizon, or its LP, or the whole
    /// PE, executes nothing in any other way.
    fn is_for_good(&self, entry: Entry) -> bool {
        let lanes = self.world.tuning().lanes;
        let certain = lanes.has_safe() && entry.time() < self.frontier.horizon();
        certain
            || !lanes.has_speculative()
            || self.lps.role(self.agenda.event(entry.handle()).receiver).is_conservative()
    }

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

    /// Holds back an event that failed. Unless the failure is certain, what the event did is
    /// undone.
    #[cold]
    pub(in crate::pe) fn defer(&mut self, entry: Entry, fault: Fault, certain: bool) {
        if self.executor.logs() {
            // However far the event has come, the log has all that it changed.
            self.undo_logged(self.index_of(entry.handle()));
        }
        self.executor.forget();
        self.gauge.count(|counts| counts.held_back += u64::from(!certain));
        // If the event is not pending again, it was cancelled in the meantime, and its anti-message
        // is in transit.
        if certain || self.take_back(entry.handle()) {
            let event = self.agenda.event(entry.handle());
            let (key, lp) = (event.key(), event.receiver);
            self.faults.defer(DeferredFault { key, lp, entry: Some(entry), fault, certain });
        }
        self.leaves_pending(entry.handle());
    }

    /// Undoes what the event executed last did before it failed or was parked. Returns whether it
    /// is pending again.
    pub(in crate::pe) fn take_back(&mut self, handle: Handle) -> bool {
        let index = self.index_of(handle);
        if let Some(state) = self.past.retract(handle) {
            match state {
                StateBefore::Copied(state) => self.lps.get_mut(index).bring_back(state),
                // Undone already.
                StateBefore::Logged(_) => {}
                StateBefore::WorkedOut => self.coast_forward(index),
            }
            self.past.copy_soon(index);
        }
        self.agenda.undo(handle)
    }

    /// Whether the first pending event, which has been taken out, must wait for one that is held
    /// back, or is held back itself because its LP is lost. If it need not wait, the held events
    /// are released, to be tried again after it.
    #[cold]
    pub(in crate::pe) fn waits(&mut self, entry: Entry) -> bool {
        let event = self.agenda.event(entry.handle());
        let (key, lp) = (event.key(), event.receiver);
        if self.faults.waits(&key, self.world.ties()) {
            self.agenda.push(entry);
            return true;
        }
        self.retry_deferred();
        let index = self.lps.index(lp);
        if self.faults.lost(index).is_none() || self.agenda.is_cancelled(entry.handle()) {
            return false;
        }
        // Undoing what comes later may restore the state.
        self.roll_back_if_straggler(self.past.kp_of(index), &key);
        let Some(fault) = self.faults.lost(index).cloned() else { return false };
        self.leaves_pending(entry.handle());
        let certain = self.is_for_good(entry);
        self.faults.defer(DeferredFault { key, lp, entry: Some(entry), fault, certain });
        true
    }

    /// Holds back an event that has been begun, if its LP is lost. Returns whether it is.
    #[cold]
    pub(in crate::pe) fn defer_if_lost(&mut self, entry: Entry, index: usize) -> bool {
        let Some(fault) = self.faults.lost(index).cloned() else { return false };
        self.defer(entry, fault, false);
        true
    }

    /// Releases the held events if any of them has been cancelled.
    pub(in crate::pe) fn retry_if_cancelled(&mut self) {
        if self.faults.is_any_cancelled(|event| self.agenda.is_cancelled(event)) {
            self.retry_deferred();
        }
    }

    /// Puts held events that are not certain back into the pending set.
    pub(in crate::pe) fn retry_deferred(&mut self) {
        for entry in self.faults.take_uncertain() {
            self.agenda.push(entry);
        }
    }

    pub(in crate::pe) fn index_of(&self, handle: Handle) -> usize {
        self.lps.index(self.agenda.event(handle).receiver)
    }
}
