use serde::{Deserialize, Serialize};

/// The observed span of time, in model units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::statistics) struct Horizon {
    pub(in crate::statistics) start: f64,
    /// How far the run came: to the end, unless it was stopped early.
    pub(in crate::statistics) reached: f64,
}

impl Horizon {
    pub(in crate::statistics) const fn new(start: f64, end: f64) -> Self {
        Horizon { start, reached: end }
    }

    /// Ends the run at `end`.
    pub(in crate::statistics) fn cut_short(&mut self, end: f64) {
        self.reached = end;
    }

    /// The length of the observed time.
    pub(in crate::statistics) fn length(&self) -> f64 {
        self.reached - self.start
    }
}
