use warpline_base::{Moment, VirtualTime};

use crate::gvt::Work;

/// How far beyond GVT events may be executed.
#[derive(Clone, Debug)]
pub struct Window {
    width: f64,
    fixed: bool,
}

impl Window {
    /// A window of fixed width, in model time, or one that adapts itself and starts with a millionth of the run.
    pub fn new(fixed: Option<f64>, end: VirtualTime) -> Self {
        Window { width: fixed.unwrap_or(end.get() * 1e-6), fixed: fixed.is_some() }
    }

    /// The present width, in model time.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Events before this time may be executed.
    pub fn bound(&self, gvt: &Moment, end: VirtualTime) -> VirtualTime {
        let now = time_of(gvt, end);
        VirtualTime::new(now.get() + self.width).unwrap_or(end).max(Self::least_bound(gvt, end)).min(end)
    }

    /// Events before this time may be executed, however narrow the window: what is due at GVT itself.
    pub fn least_bound(gvt: &Moment, end: VirtualTime) -> VirtualTime {
        VirtualTime::from_bits(time_of(gvt, end).bits() + 1).min(end)
    }

    /// Adapts the width to what all PEs did since the last GVT.
    pub fn adapt(&mut self, work: &Work) {
        if self.fixed || work.processed == 0 {
            return;
        }
        let efficiency = 1.0 - work.rolled_back as f64 / work.processed as f64;
        let factor = match efficiency {
            e if e < 0.33 => 0.25,
            e if e < 0.66 => 0.5,
            e if e > 0.95 => 2.0,
            _ => 1.0,
        };
        self.width = (self.width * factor).clamp(f64::MIN_POSITIVE, f64::MAX / 4.0);
    }
}

fn time_of(gvt: &Moment, end: VirtualTime) -> VirtualTime {
    match gvt {
        Moment::Init(_) => VirtualTime::ZERO,
        Moment::Event(key) => key.time,
        Moment::Finish(_) | Moment::Never => end,
    }
}
