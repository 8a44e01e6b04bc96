//! How often a PE asks for GVT.
//!
//! Without lookahead, events commit only by GVT, so a PE asks after a GVT interval of events, or
//! when it has nothing to execute. With lookahead, events commit as bounds rise. So a PE asks after
//! 32 times as many events ([`GVT_SELDOM`]), or after one interval if as many events are executed
//! and uncommitted. It also asks when it has been idle while its horizon has not moved
//! (`Tuning::patience` steps), or, if its next event is so far away that bounds would have to creep
//! up to it, after an eighth as many idle steps. Where memory is short or much was undone, it asks
//! at once.

use crate::Tuning;
use crate::gvt::{IntervalControl, IntervalHistory, IntervalUnit, Pacer, Verdict};

/// Where bounds advance, events commit without GVT, and it is asked for this many times less often.
const GVT_SELDOM: u64 = 32;
/// The patience of a PE whose next event is far away is divided by this.
const FAR_PATIENCE: u32 = 8;

/// When a PE asks for GVT because it is time, or because it has long been idle.
///
/// Invariant: everything counted here is counted from the last GVT on.
#[derive(Debug)]
pub(crate) struct GvtCalls {
    interval: GvtInterval,
    patience: u32,
    /// Events executed.
    executed: u64,
    /// Steps in a row in which there was nothing to execute.
    idle_steps: u32,
    /// Those of them since a bound moved the horizon.
    stuck_steps: u32,
}

impl GvtCalls {
    /// `stops`: PEs execute nothing while GVT is computed.
    pub(crate) fn new(tuning: &Tuning, stops: bool) -> Self {
        let interval = GvtInterval::new(tuning, stops);
        GvtCalls { interval, patience: tuning.patience, executed: 0, idle_steps: 0, stuck_steps: 0 }
    }

    /// Lets another thread say when it is time.
    ///
    /// # Panics
    /// If the interval is not adapted.
    pub(crate) fn follow(&mut self, pacer: Pacer) {
        self.interval.follow(pacer);
    }

    /// A step has executed this many events.
    #[inline]
    pub(crate) fn on_step(&mut self, executed: u32) {
        self.executed += u64::from(executed);
        if executed == 0 {
            self.idle_steps = self.idle_steps.saturating_add(1);
            self.stuck_steps = self.stuck_steps.saturating_add(1);
        } else {
            self.idle_steps = 0;
            self.stuck_steps = 0;
        }
    }

    /// Notes steps that were not made, as nothing would have been executed in them.
    pub(crate) fn note_idle_steps(&mut self, steps: u32) {
        self.idle_steps = self.idle_steps.saturating_add(steps);
        self.stuck_steps = self.stuck_steps.saturating_add(steps);
    }

    /// A bound moves the horizon.
    #[inline]
    pub(crate) fn on_horizon(&mut self) {
        self.stuck_steps = 0;
    }

    /// GVT has been found.
    pub(crate) fn on_gvt(&mut self, verdict: &Verdict) {
        self.interval.adapt(verdict);
        self.executed = 0;
        self.idle_steps = 0;
        self.stuck_steps = 0;
    }

    /// The PE has joined this many epochs.
    #[inline]
    pub(crate) fn note_joined(&mut self, epochs: u64) {
        self.interval.note_joined(epochs);
    }

    /// Whether the thread that says when it is time calls a PE that has joined this many epochs.
    #[inline]
    pub(crate) fn is_called(&self, joined: u64) -> bool {
        self.interval.is_called(joined)
    }

    /// Whether an interval is over.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.executed >= self.interval.events()
    }

    /// Whether it is time although events commit as bounds rise. `open` executed events have not
    /// committed.
    #[inline]
    pub(crate) fn is_due_with_bounds(&self, open: u64) -> bool {
        let interval = self.interval.events();
        self.executed >= interval.saturating_mul(GVT_SELDOM)
            || open >= interval && self.executed >= interval
    }

    /// Whether the PE has been idle for long, and its horizon has not moved.
    #[inline]
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck_steps >= self.patience
    }

    /// Whether the PE has been idle for long enough if its next event is far away.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.idle_steps > self.patience / FAR_PATIENCE
    }

    /// After how many more idle steps the PE asks for GVT, if nothing arrives; whether its next
    /// event `is_far`. `None` if it has asked already.
    pub(crate) fn idle_steps_left(&self, is_far: bool) -> Option<u32> {
        let stuck = self.patience.checked_sub(self.stuck_steps).filter(|left| *left > 0);
        let idle = (self.patience / FAR_PATIENCE + 1).checked_sub(self.idle_steps);
        let idle = idle.filter(|left| *left > 0 && is_far);
        stuck.into_iter().chain(idle).min()
    }

    /// What became of the interval, if it was adapted.
    pub(crate) fn history(&self) -> Option<IntervalHistory> {
        self.interval.history()
    }
}

/// After how many events a PE asks for GVT.
#[derive(Debug)]
enum GvtInterval {
    /// After this many events.
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
    fn new(tuning: &Tuning, stops: bool) -> Self {
        match tuning.adapts_interval {
            false => GvtInterval::Fixed(tuning.gvt_interval),
            true => GvtInterval::Adaptive(IntervalControl::new(
                tuning.gvt_interval,
                IntervalUnit::Events,
                stops,
            )),
        }
    }

    /// Lets another thread say when it is time.
    ///
    /// # Panics
    /// If the interval is not adapted.
    fn follow(&mut self, pacer: Pacer) {
        let GvtInterval::Adaptive(control) = self else {
            panic!("only an interval that is adapted can be that of another thread")
        };
        *self = GvtInterval::Paced { control: control.in_passes(), pacer, joined: 0 };
    }

    /// The interval in events; without end if another thread has it.
    #[inline]
    fn events(&self) -> u64 {
        match self {
            GvtInterval::Fixed(events) => u64::from(*events),
            GvtInterval::Adaptive(control) => u64::from(control.interval()),
            GvtInterval::Paced { .. } => u64::MAX,
        }
    }

    /// Whether the other thread says that it is time, to a PE that has joined this many epochs.
    #[inline]
    fn is_called(&self, joined: u64) -> bool {
        match self {
            GvtInterval::Paced { pacer, .. } => pacer.calls(joined),
            _ => false,
        }
    }

    /// The PE has joined this many epochs.
    #[inline]
    fn note_joined(&mut self, epochs: u64) {
        if let GvtInterval::Paced { pacer, joined, .. } = self
            && *joined != epochs
        {
            *joined = epochs;
            pacer.note_joined(epochs);
        }
    }

    fn adapt(&mut self, verdict: &Verdict) {
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
    fn history(&self) -> Option<IntervalHistory> {
        match self {
            GvtInterval::Fixed(_) => None,
            GvtInterval::Adaptive(control) | GvtInterval::Paced { control, .. } => {
                Some(control.history())
            }
        }
    }
}
