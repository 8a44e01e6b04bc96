use serde::{Deserialize, Serialize};

/// The span of time that is observed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Horizon {
    pub(super) start: f64,
    /// How far the run came: to the end, unless it was cut short.
    pub(super) reached: f64,
}

impl Horizon {
    pub(super) const fn new(start: f64, end: f64) -> Self {
        Horizon { start, reached: end }
    }

    /// The run ends here.
    pub(super) fn cut_short(&mut self, end: f64) {
        self.reached = end;
    }

    /// How long it was observed.
    pub(super) fn length(&self) -> f64 {
        self.reached - self.start
    }
}
