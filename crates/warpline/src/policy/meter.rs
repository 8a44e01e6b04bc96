use super::Reading;

/// Measures the rate of a stretch, from one change of the count to another: PEs tell their counts now and then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    pub(super) began: Reading,
    /// What comes before is not measured.
    warm_from: f64,
    first: Option<Reading>,
    last: Reading,
    /// How often the count has changed.
    changes: u32,
}

impl Meter {
    pub(super) fn new(at: Reading, warm_from: f64) -> Self {
        Meter { began: at, warm_from, first: None, last: at, changes: 0 }
    }

    pub(super) fn note(&mut self, at: Reading) {
        if at.committed == self.last.committed {
            return;
        }
        self.last = at;
        self.changes += 1;
        if at.seconds >= self.warm_from {
            self.first.get_or_insert(at);
        }
    }

    /// Whether counts come often enough to tell something of any part of the stretch.
    pub(super) fn is_lively(&self) -> bool {
        const CHANGES: u32 = 4;
        self.changes >= CHANGES
    }

    /// The seconds that have been measured.
    pub(super) fn span(&self) -> f64 {
        self.first.map_or(0.0, |first| self.last.seconds - first.seconds)
    }

    /// The rate when it was warm.
    pub(super) fn rate(&self) -> Option<f64> {
        let first = self.first.filter(|_| self.span() > 0.0)?;
        Some((self.last.committed - first.committed) as f64 / self.span())
    }

    /// The rate at `at`, cold start and all.
    pub(super) fn rate_of_all(&self, at: Reading) -> f64 {
        (at.committed - self.began.committed) as f64 / (at.seconds - self.began.seconds).max(f64::MIN_POSITIVE)
    }

    /// Model time per second.
    pub(super) fn speed(&self, at: Reading) -> f64 {
        (at.virtual_time - self.began.virtual_time) / (at.seconds - self.began.seconds)
    }

    /// Events per unit of model time.
    pub(super) fn density(&self, at: Reading) -> f64 {
        (at.committed - self.began.committed) as f64 / (at.virtual_time - self.began.virtual_time)
    }
}
