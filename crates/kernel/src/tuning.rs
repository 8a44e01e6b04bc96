use crate::Undoing;

/// Which events a PE may execute. Nothing else distinguishes the ways to synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Only events that are certain, because nothing can arrive before them any more: conservative synchronisation.
    Safe,
    /// Events that are certain, for good, and speculatively those beyond: Time Warp that uses lookahead.
    Both,
    /// Every event speculatively: Time Warp alone.
    Speculative,
}

impl Lanes {
    /// Whether events before the horizon are executed for good.
    #[inline(always)]
    pub fn has_safe(self) -> bool {
        self != Lanes::Speculative
    }

    /// Whether events beyond the horizon are executed.
    #[inline(always)]
    pub fn has_speculative(self) -> bool {
        self != Lanes::Safe
    }
}

/// When a PE goes ahead of its horizon, if it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoAhead {
    /// If waiting for the horizon does not pay, as found by counting during the run.
    Auto,
    /// Whenever nothing certain is left to execute.
    Always,
}

/// When what an undone event had sent is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// At once.
    Aggressive,
    /// When the event has been executed again and has not sent the same, or turns out not to happen.
    Lazy,
    /// Each PE does what has paid so far, as found by counting.
    Dynamic,
}

/// How events travel to other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// By value if nobody can cancel them, otherwise in shared buffers.
    Value,
    /// By value, into the receiver's queue, while the sender keeps a copy of what may have to be cancelled; cancelled by anti-messages.
    Copy,
    /// All in shared buffers, and cancelled in place.
    Shared,
}

/// Settings of a PE. None of them changes what commits. Counts are at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The most events executed in one step.
    pub batch: u32,
    /// The most KPs. They have equal numbers of LPs, a power of two, except for the last.
    pub kps: u32,
    /// How many events a PE executes before it asks for a new GVT; where bounds advance, 32 times as many, unless this many may still be
    /// undone. A PE that has nothing to execute asks sooner.
    pub gvt_interval: u32,
    /// Whether this interval is only the first, and [adapted](crate::gvt::IntervalControl) during the run.
    pub adapts_interval: bool,
    /// Where the bounds of PEs raise each other: how many steps a PE with nothing to execute waits for them before it asks for GVT.
    pub patience: u32,
    /// The most events that may be executed and uncommitted. Events that come before one of them are exempt, up to twice this number and a
    /// batch.
    pub history_most: u64,
    /// How events are undone.
    pub undoing: Undoing,
    /// When what undone events had sent is cancelled. Anything but [`Cancellation::Aggressive`] needs a model whose events can be
    /// [compared](warpline_model::Abilities::comparable).
    pub cancellation: Cancellation,
    /// Which events are executed.
    pub lanes: Lanes,
    /// When events beyond the horizon are executed.
    pub go_ahead: GoAhead,
    /// How events travel to other PEs.
    pub messages: Messages,
    /// Whether PEs advance in step, from window to window, rather than each as far as the bounds of the others allow at the moment. Nothing
    /// is executed ahead then.
    pub windows: bool,
}
