use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use warpline_memory::CasCounts;

/// What the PEs and couriers of a process report to the thread that watches them.
#[derive(Clone, Debug, Default)]
pub(super) struct CourierReport(Arc<ReportInside>);

#[derive(Debug, Default)]
struct ReportInside {
    /// The first error, if there was one.
    trouble: OnceLock<String>,
    /// What became of the records that PEs pushed into shared rings.
    cas: Mutex<CasCounts>,
}

impl CourierReport {
    /// Notes what has gone wrong, unless something has before.
    #[inline]
    pub(super) fn note<T>(&self, outcome: Result<T, String>) -> Option<T> {
        outcome.map_err(|why| self.0.trouble.set(why)).ok()
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.0.trouble.get().map(String::as_str)
    }

    /// Adds the counts of one PE.
    pub(super) fn count(&self, counts: CasCounts) {
        let mut all = self.0.cas.lock().unwrap_or_else(PoisonError::into_inner);
        *all = *all + counts;
    }

    /// The counts of all PEs.
    pub(super) fn counts(&self) -> CasCounts {
        *self.0.cas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
