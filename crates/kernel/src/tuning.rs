use crate::Undoing;

/// Which events a PE may execute: all that distinguishes the ways to synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Only what is certain, as nothing can arrive before it any more: conservative synchronisation.
    Certain,
    /// What is certain, for good, and beyond that what may have to be undone: Time Warp that uses lookahead.
    Both,
    /// Everything as if it might have to be undone: Time Warp alone.
    Ahead,
}

impl Lanes {
    /// Whether events before the horizon are executed for good.
    #[inline(always)]
    pub fn has_certain(self) -> bool {
        self != Lanes::Ahead
    }

    /// Whether events beyond the horizon are executed.
    #[inline(always)]
    pub fn has_ahead(self) -> bool {
        self != Lanes::Certain
    }
}

/// How events travel to other PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Those that nobody can cancel by value, others in shared buffers.
    Both,
    /// All by value, cancelled by anti-messages: the only way between address spaces.
    Value,
    /// All in shared buffers, cancelled in place.
    Shared,
}

/// Settings of a PE. None of them changes what commits. Counts are at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The most events of a step.
    pub batch: u32,
    /// The most KPs. They have equal numbers of LPs, a power of two, but for the last.
    pub kps: u32,
    /// How many events are executed ahead of the horizon before a new GVT is asked for; it takes many more that are certain. A PE that has
    /// nothing to execute asks sooner.
    pub gvt_interval: u32,
    /// Where the bounds of PEs push each other on: for how many steps a PE with nothing to execute waits for them before it asks for GVT.
    pub patience: u32,
    /// The most events that are executed and not committed, unless they come before some that are; never more than twice as many and a
    /// batch.
    pub history_most: u64,
    /// How events are undone.
    pub undoing: Undoing,
    /// Which events are executed.
    pub lanes: Lanes,
    /// How they travel.
    pub wire: Wire,
    /// Whether PEs go in step, from window to window, and not each as far as the bounds of the others allow at the moment. Nothing is
    /// executed ahead then.
    pub windows: bool,
}
