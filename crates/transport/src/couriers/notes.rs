use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpline_memory::CasCounts;

/// What the PEs and couriers of a process note for those who watch them.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<NotesInside>);

#[derive(Debug, Default)]
struct NotesInside {
    /// What has gone wrong, if anything has.
    trouble: OnceLock<String>,
    /// What became of what PEs pushed.
    cas: Mutex<CasCounts>,
}

impl Notes {
    /// Notes what went wrong first.
    #[inline]
    pub(super) fn note<T>(&self, outcome: Result<T, String>) -> Option<T> {
        outcome.map_err(|why| self.0.trouble.set(why)).ok()
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.0.trouble.get().map(String::as_str)
    }

    /// Adds what became of what a PE pushed.
    pub(super) fn count(&self, counts: CasCounts) {
        let mut all = self.0.cas.lock().unwrap_or_else(PoisonError::into_inner);
        *all = *all + counts;
    }

    /// What became of what all PEs pushed.
    pub(super) fn counts(&self) -> CasCounts {
        *self.0.cas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
