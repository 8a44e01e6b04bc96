//! Fossil collection: the memory of committed events is reclaimed.
//!
//! *Payloads are kept after commit* where states are not copied before every event, as events may
//! have to be executed again. A panic on dropping one is then found late, and reported for the
//! event that carried it. When a run fails, all PEs first drop what they have kept, so that the
//! earliest failure counts.

use warpline_memory::{catch_panic, try_drop};

use super::Pe;
use crate::past::{Fate, Past, Record, StateBefore};
use crate::pe::types::{EventOf, PeTypes, StateOf};

impl<T: PeTypes> Pe<'_, T> {
    /// Reclaims the memory of committed events, except those whose copies may still be needed.
    pub(super) fn collect_fossils(&mut self) {
        self.collect(Past::reclaim);
    }

    /// Reclaims the memory of all committed events, when the run is over.
    pub(super) fn collect_fossils_at_end(&mut self) {
        self.collect(Past::reclaim_at_end);
    }

    fn collect(
        &mut self,
        next: impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        if self.past.keeps_committed() {
            self.release_committed(next);
        } else {
            self.past.reclaim_closed();
        }
        self.agenda.tidy(self.past.first());
    }

    /// Drops what is left of committed events when the run has failed: dropping one may fail, too,
    /// and be the earlier failure.
    pub(super) fn release_all(&mut self) {
        if self.past.keeps_committed() {
            self.release_committed(Past::take_first);
        }
    }

    fn release_committed(
        &mut self,
        mut next: impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        // Panics are caught once per batch, not per event.
        while let Err(panic) = catch_panic(|| self.release_each(&mut next)) {
            self.fail_panicked(panic);
        }
    }

    fn release_each(
        &mut self,
        next: &mut impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        while let Some(Record { event, fate, state, .. }) = next(&mut self.past) {
            if let StateBefore::Copied(state) = state {
                // The engine made this copy of a state, so a panic on dropping it must not matter.
                _ = try_drop(state);
            }
            if fate == Fate::Committed {
                self.drop_payload(event, |agenda| agenda.release_executed(event));
            }
        }
    }
}
