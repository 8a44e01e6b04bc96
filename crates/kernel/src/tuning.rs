/// If not every event has a copy of its own, the history keeps this many places more than may be
/// undone, for the copies in them. A state is copied again before its last copy lies further back.
pub(crate) const LAG: u64 = 1024;

/// Which events a PE may execute. The ways to synchronise differ only in this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Only events that are certain, as nothing can arrive before them any more: conservative
    /// synchronisation.
    Safe,
    /// Certain events for good, and others speculatively: Time Warp with lookahead.
    Both,
    /// All events speculatively: pure Time Warp.
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
        /// When waiting for certain events would take longer, which each PE finds out as it runs.
        #[default]
        Auto = "auto",
        /// Whenever no certain event is left.
        Always = "always",
    }

    /// What tells PEs how far they may execute events for good. The answer does not depend on it.
    ///
    /// ```
    /// use warpline_kernel::Horizon;
    /// let names = [Horizon::Bounds, Horizon::Gvt, Horizon::Both].map(Horizon::name);
    /// assert_eq!(names, ["bounds", "gvt", "both"]);
    /// ```
    pub enum Horizon {
        /// The bounds that each PE publishes and all others read, and GVT.
        #[default]
        Bounds = "bounds",
        /// GVT alone: up to the last GVT plus the least delay.
        Gvt = "gvt",
        /// The bounds of PEs that share memory, and GVT for all others.
        Both = "both",
    }

    /// When PEs ask for a new GVT if that tells them how far they may go. The answer does not depend
    /// on it.
    ///
    /// ```
    /// use warpline_kernel::GvtStart;
    /// assert_eq!([GvtStart::OnDemand, GvtStart::AtOnce].map(GvtStart::name), ["on-demand", "at-once"]);
    /// ```
    pub enum GvtStart {
        /// When a PE has nothing left that it may execute for good: Algorithm 1 of Perumalla, Park
        /// and Tipparaju.
        #[default]
        OnDemand = "on-demand",
        /// As soon as the last one has been found: §3 there.
        AtOnce = "at-once",
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
        /// When the event has been executed again and has not sent the same, or turns out never to
        /// happen. This needs events that can be [compared](warpline_model::Abilities::comparable).
        Lazy = "lazy",
        /// Each PE chooses between the two, by how much of what it kept was sent again.
        Dynamic = "dynamic",
    }
}

/// How a PE undoes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// By a copy of the state before every `interval`-th event of an LP, from which events are
    /// executed again to restore the states in between.
    Copy {
        /// At least 1.
        interval: u32,
    },
    /// The same, with an interval that adapts to [what a copy costs](crate::Pe::set_copy_cost) and
    /// to how often states are worked out from copies.
    CopyAdaptively,
    /// By the model's reverse code. States are still copied now and then, as reverse code cannot
    /// undo events that fail.
    Reverse,
    /// By a log of what events have changed. It undoes events that fail, too, so no state is
    /// copied.
    Journal,
}

impl Undoing {
    /// How many places of the history are kept, for their copies, before the first that may be
    /// undone.
    pub(crate) fn lag(self) -> u64 {
        if matches!(self, Undoing::Copy { interval: 1 } | Undoing::Journal) { 0 } else { LAG }
    }
}

/// How events travel to other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// By value if nobody can cancel them, and otherwise in shared buffers.
    Value,
    /// By value into the receiver's queue. The sender keeps a copy of what may have to be
    /// cancelled, and cancels it by an anti-message.
    Copy,
    /// All in shared buffers, where they are cancelled in place.
    Shared,
}

/// Settings of a PE. None of them changes what commits. Counts are at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The most events executed in one step.
    pub batch: u32,
    /// The most KPs. Each has the same number of LPs, a power of two, except the last.
    pub kps: u32,
    /// How many events a PE executes before it asks for a new GVT. If bounds advance, it executes
    /// 32 times as many, unless this many may still be undone. An idle PE asks sooner.
    pub gvt_interval: u32,
    /// Whether that is only the first interval, which [adapts](crate::gvt::IntervalControl) during
    /// the run.
    pub adapts_interval: bool,
    /// How many steps an idle PE waits for the bounds of others before it asks for GVT, if bounds
    /// advance.
    pub patience: u32,
    /// The most events that may be executed and uncommitted. Events that precede one of them are
    /// exempt, up to twice this number and a batch.
    pub history_most: u64,
    /// How events are undone.
    pub undoing: Undoing,
    /// When what undone events had sent is cancelled. All but [`Cancellation::Aggressive`] need a
    /// model whose events can be [compared](warpline_model::Abilities::comparable).
    pub cancellation: Cancellation,
    /// Which events are executed.
    pub lanes: Lanes,
    /// When events beyond the horizon are executed.
    pub go_ahead: GoAhead,
    /// What the horizon follows from.
    pub horizon: Horizon,
    /// When a PE asks for GVT if the horizon follows from it.
    pub gvt_start: GvtStart,
    /// How events travel to other PEs.
    pub messages: Messages,
    /// Whether PEs advance in step, from window to window. Otherwise each goes as far as the bounds
    /// of the others allow at the moment. In windows, nothing is executed ahead.
    pub windows: bool,
    /// Whether it measures how long things take. Otherwise it reads no clock, and all that it says
    /// of its time is 0, unless it is [traced](crate::Pe::trace).
    pub measures: bool,
    /// Whether it takes turns with so many other PEs that none of its memory stays in a cache: it
    /// then prefetches a batch of events as it begins.
    pub crowded: bool,
}

impl Tuning {
    /// Whether PEs tell each other by bounds how far they may go.
    #[inline]
    pub fn has_bounds(&self) -> bool {
        self.lanes.has_safe() && self.horizon != Horizon::Gvt
    }
}
