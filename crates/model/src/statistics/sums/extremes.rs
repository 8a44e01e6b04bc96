use serde::{Deserialize, Serialize};

/// The least and the greatest of some values.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct Extremes {
    min: f64,
    max: f64,
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes { min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Extremes {
    #[inline]
    pub(in crate::statistics) fn add(&mut self, value: f64) {
        // Makes -0.0 positive, so that the order of adding does not show.
        let value = value + 0.0;
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    pub(in crate::statistics) fn merge(&mut self, other: &Extremes) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub(in crate::statistics) fn min(&self) -> Option<f64> {
        (self.min <= self.max).then_some(self.min)
    }

    pub(in crate::statistics) fn max(&self) -> Option<f64> {
        (self.min <= self.max).then_some(self.max)
    }
}
