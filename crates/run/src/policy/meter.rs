use super::milestone::Milestone;

/// Measures the rate of a stretch from one change of the count to another, as PEs tell their counts
/// only now and then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    pub(super) began: Milestone,
    /// What comes before, in seconds, is not measured.
    warm_from: f64,
    first: Option<Milestone>,
    /// The first change from the middle of the stretch on.
    middle: Option<Milestone>,
    middle_from: f64,
    last: Milestone,
    /// How often the count has changed.
    changes: u32,
}

impl Meter {
    /// For a stretch that begins now and takes `length` seconds, of which the share `cold` at the
    /// beginning is not measured.
    pub(super) fn new(at: Milestone, length: f64, cold: f64) -> Self {
        Meter {
            began: at,
            warm_from: at.seconds + cold * length,
            first: None,
            middle: None,
            middle_from: at.seconds + 0.5 * (1.0 + cold) * length,
            last: at,
            changes: 0,
        }
    }

    pub(super) fn note(&mut self, at: Milestone) {
        if at.committed == self.last.committed {
            return;
        }
        self.last = at;
        self.changes += 1;
        if at.seconds >= self.warm_from {
            self.first.get_or_insert(at);
        }
        if at.seconds >= self.middle_from {
            self.middle.get_or_insert(at);
        }
    }

    /// Whether the second half of what was measured was much faster than the first: the engine is
    /// not warm yet.
    pub(super) fn is_rising(&self) -> bool {
        const RISING: f64 = 1.1;
        let (Some(first), Some(middle)) = (self.first, self.middle) else { return false };
        rate(middle, self.last) > RISING * rate(first, middle)
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
        self.first.filter(|_| self.span() > 0.0).map(|first| rate(first, self.last))
    }

    /// The rate until `at`, with the cold start.
    pub(super) fn rate_of_all(&self, at: Milestone) -> f64 {
        rate(self.began, at)
    }

    /// The share of a core that each thread was given meanwhile.
    pub(super) fn share(&self) -> f64 {
        let since = self.first.filter(|_| self.span() > 0.0).unwrap_or(self.began);
        self.last.core_time.share_since(since.core_time)
    }

    /// Model time per second.
    pub(super) fn pace(&self, at: Milestone) -> f64 {
        (at.virtual_time - self.began.virtual_time) / (at.seconds - self.began.seconds)
    }

    /// Events per unit of model time.
    pub(super) fn density(&self, at: Milestone) -> f64 {
        (at.committed - self.began.committed) as f64 / (at.virtual_time - self.began.virtual_time)
    }
}

/// Events per second from one reading to another.
fn rate(from: Milestone, to: Milestone) -> f64 {
    (to.committed - from.committed) as f64 / (to.seconds - from.seconds).max(f64::MIN_POSITIVE)
}
