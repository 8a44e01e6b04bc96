//! When a PE asks for GVT because it is time, and not because it is idle.

use crate::Tuning;
use crate::gvt::{IntervalControl, IntervalHistory, IntervalUnit, Pacer, Verdict};

/// How often a PE asks for GVT.
#[derive(Debug)]
pub(crate) enum GvtInterval {
    /// After so many events.
    Fixed(u32),
    /// After a number of events that is adapted.
    Adaptive(IntervalControl),
    /// When another thread says so; its interval is adapted here.
    Paced {
        control: IntervalControl,
        pacer: Pacer,
        /// Epochs that this PE has joined, as far as the pacer knows.
        joined: u64,
    },
}

impl GvtInterval {
    pub(crate) fn new(tuning: &Tuning, stops: bool) -> Self {
        match tuning.adapts_interval {
            false => GvtInterval::Fixed(tuning.gvt_interval),
            true => GvtInterval::Adaptive(IntervalControl::new(tuning.gvt_interval, IntervalUnit::Events, stops)),
        }
    }

    /// From now on another thread says when it is time.
    ///
    /// # Panics
    /// If the interval is not adapted.
    pub(crate) fn follow(&mut self, pacer: Pacer) {
        let GvtInterval::Adaptive(control) = self else { panic!("only an interval that is adapted can be that of another thread") };
        *self = GvtInterval::Paced { control: control.in_passes(), pacer, joined: 0 };
    }

    /// The interval in events; without end if another thread has it.
    #[inline]
    pub(crate) fn events(&self) -> u64 {
        match self {
            GvtInterval::Fixed(events) => u64::from(*events),
            GvtInterval::Adaptive(control) => u64::from(control.interval()),
            GvtInterval::Paced { .. } => u64::MAX,
        }
    }

    /// Whether the other thread says that it is time, to a PE that has joined so many epochs.
    #[inline]
    pub(crate) fn is_called(&self, joined: u64) -> bool {
        match self {
            GvtInterval::Paced { pacer, .. } => pacer.calls(joined),
            _ => false,
        }
    }

    /// The PE has joined so many epochs.
    #[inline]
    pub(crate) fn note_joined(&mut self, epochs: u64) {
        if let GvtInterval::Paced { pacer, joined, .. } = self
            && *joined != epochs
        {
            *joined = epochs;
            pacer.note_joined(epochs);
        }
    }

    /// GVT has been found.
    pub(crate) fn adopt(&mut self, verdict: &Verdict) {
        match self {
            GvtInterval::Fixed(_) => {}
            GvtInterval::Adaptive(control) => control.adapt(&verdict.work),
            GvtInterval::Paced { control, pacer, .. } => {
                control.adapt(&verdict.work);
                pacer.note_verdict(verdict, control.interval());
            }
        }
    }

    /// What became of it, if it was adapted.
    pub(crate) fn history(&self) -> Option<IntervalHistory> {
        match self {
            GvtInterval::Fixed(_) => None,
            GvtInterval::Adaptive(control) | GvtInterval::Paced { control, .. } => Some(control.history()),
        }
    }
}
