//! Events that fail. One that may still turn out not to happen is held back, undone, and tried again; see [`Faults`](crate::faults::Faults).

use std::any::Any;
use std::panic::resume_unwind;

use warpline_base::Sequence;
use warpline_memory::Handle;
use warpline_model::{Fault, Model};

use super::Pe;
use crate::failure::panic_message;
use crate::faults::Held;
use crate::history::Fate;
use crate::pending::{Entry, PendingSet};
use crate::wires::Port;

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// Holds back a panic of the model.
    #[cold]
    pub(super) fn hold_panicked(&mut self, panic: Box<dyn Any + Send>) {
        // Without an event at hand, it was the engine that panicked.
        let Some(entry) = self.running.take() else { resume_unwind(panic) };
        // What the code did wrong before it panicked comes first.
        let fault = self.context.take_fault().unwrap_or_else(|| Fault::Panic(panic_message(panic)));
        let certain = self.world.tuning.lanes.has_certain() && entry.time() < self.frontier.horizon();
        self.hold(entry, fault, certain);
    }

    #[cold]
    pub(super) fn hold_failed(&mut self, entry: Entry, number: u64, certain: bool) {
        let many = || Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT };
        let fault = if number >= Sequence::EVENT_LIMIT { many() } else { self.context.take_fault().unwrap_or_else(many) };
        self.hold(entry, fault, certain);
    }

    /// Holds back an event that failed. Unless it is certain to happen, and to happen like this, what it did is undone.
    #[cold]
    pub(super) fn hold(&mut self, entry: Entry, fault: Fault, certain: bool) {
        self.context.forget();
        // If it cannot be taken back, it was cancelled meanwhile, and an anti-message is on its way.
        if certain || self.take_back(entry.handle()) {
            let key = self.agenda.event(entry.handle()).key();
            self.faults.hold(Held { entry, key, fault, certain });
        }
    }

    /// Undoes what an event did that failed half-way. Returns whether it is pending again.
    fn take_back(&mut self, handle: Handle) -> bool {
        self.gauge.counts.held_back += 1;
        let index = self.index_of(handle);
        // Unless it was the copy of the state that panicked.
        if self.past.history.last().is_some_and(|record| record.event == handle && record.fate == Fate::Open) {
            match self.past.history.pop().and_then(|record| record.state) {
                Some(state) => self.lps.get_mut(index).state = state,
                None => self.coast_forward(index),
            }
            self.past.copies.soon(index);
        }
        self.agenda.store_mut().undo(handle)
    }

    /// Whether the first pending event, which was taken out, must wait for one that is held back. What is held back is tried again
    /// after anything that comes before it.
    #[cold]
    pub(super) fn waits(&mut self, entry: Entry) -> bool {
        let waits = self.faults.waits(&self.agenda.event(entry.handle()).key(), self.world.ties);
        if waits {
            self.agenda.push(entry);
        } else {
            self.release_held();
        }
        waits
    }

    /// Lets go of what was held back, if any of it has been cancelled.
    pub(super) fn retry_held(&mut self) {
        if self.faults.held().iter().any(|held| self.agenda.store().is_cancelled(held.event())) {
            self.release_held();
        }
    }

    /// What was held back and may still come otherwise is to be tried again.
    pub(super) fn release_held(&mut self) {
        for entry in self.faults.release() {
            self.agenda.push(entry);
        }
    }

    pub(super) fn index_of(&self, handle: Handle) -> usize {
        self.lps.index(self.agenda.event(handle).receiver)
    }
}
