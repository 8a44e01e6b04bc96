/// Where not every event has a copy of its own, the history keeps this many places more than can be
/// undone, for the copies in them, and a state is copied again before its last copy is further
/// back.
pub(crate) const LAG: u64 = 1024;

/// Which events a PE may execute. Nothing else distinguishes the ways to synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Only events that are certain, because nothing can arrive before them any more: conservative
    /// synchronisation.
    Safe,
    /// Events that are certain, for good, and speculatively those beyond: Time Warp that uses
    /// lookahead.
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

warpline_base::words! {
    /// When PEs execute events that may have to be undone. The answer does not depend on it.
    ///
    /// ```
    /// use warpline_kernel::GoAhead;
    /// assert_eq!([GoAhead::Auto, GoAhead::Always].map(GoAhead::name), ["auto", "always"]);
    /// ```
    pub enum GoAhead {
        /// Where waiting until events are certain would take longer, which every PE finds out as it
        /// runs.
        #[default]
        Auto = "auto",
        /// Whenever nothing certain is left.
        Always = "always",
    }

    /// When what an undone event had sent is cancelled. The answer does not depend on it.
    ///
    /// ```
    /// use warpline_kernel::Cancellation;
    /// let all = [Cancellation::Aggressive, Cancellation::Lazy, Cancellation::Dynamic];
    /// assert_eq!(all.map(Cancellation::name), ["aggressive", "lazy", "dynamic"]);
    /// ```
    pub enum Cancellation {
        /// At once.
        #[default]
        Aggressive = "aggressive",
        /// Once the event has been executed again and has not sent the same, or turns out not to
        /// happen. It needs events that can be [compared](warpline_model::Abilities::comparable).
        Lazy = "lazy",
        /// Each PE takes whichever has paid so far, by how much of what it kept was sent again.
        Dynamic = "dynamic",
    }
}

/// How a PE undoes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// By a copy of the state before every `interval`-th event of an LP; in between, by executing
    /// events again from the last copy.
    Copy {
        /// At least 1.
        interval: u32,
    },
    /// The same, with an interval that follows from how many events cost as much as [a
    /// copy](crate::Pe::set_copy_cost), and how often states are worked out from copies.
    CopyAdaptively,
    /// By the model's reverse code. States are still copied now and then, for events that fail:
    /// reverse code cannot undo those.
    Reverse,
    /// By a log of what they have changed, which undoes events that fail as well: nothing is ever
    /// copied.
    Journal,
}

impl Undoing {
    /// How many places of the history are kept, for their copies, behind the first that may be
    /// undone.
    pub(crate) fn lag(self) -> u64 {
        if matches!(self, Undoing::Copy { interval: 1 } | Undoing::Journal) { 0 } else { LAG }
    }
}

/// How events travel to other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// By value if nobody can cancel them, otherwise in shared buffers.
    Value,
    /// By value, into the receiver's queue, while the sender keeps a copy of what may have to be
    /// cancelled; cancelled by anti-messages.
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
    /// How many events a PE executes before it asks for a new GVT; where bounds advance, 32 times
    /// as many, unless this many may still be undone. A PE that has nothing to execute asks sooner.
    pub gvt_interval: u32,
    /// Whether this interval is only the first, and [adapted](crate::gvt::IntervalControl) during
    /// the run.
    pub adapts_interval: bool,
    /// Where the bounds of PEs raise each other: how many steps a PE with nothing to execute waits
    /// for them before it asks for GVT.
    pub patience: u32,
    /// The most events that may be executed and uncommitted. Events that come before one of them
    /// are exempt, up to twice this number and a batch.
    pub history_most: u64,
    /// How events are undone.
    pub undoing: Undoing,
    /// When what undone events had sent is cancelled. Anything but [`Cancellation::Aggressive`]
    /// needs a model whose events can be [compared](warpline_model::Abilities::comparable).
    pub cancellation: Cancellation,
    /// Which events are executed.
    pub lanes: Lanes,
    /// When events beyond the horizon are executed.
    pub go_ahead: GoAhead,
    /// How events travel to other PEs.
    pub messages: Messages,
    /// Whether PEs advance in step, from window to window, rather than each as far as the bounds of
    /// the others allow at the moment. Nothing is executed ahead then.
    pub windows: bool,
}
