/// How a PE undoes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undoing {
    /// By a copy of the state before every so many events of an LP, at least 1; between copies by executing events again.
    Copy {
        /// How many.
        interval: u32,
    },
    /// By the model's reverse code. For events that fail, and must not be undone by it, states are copied now and then.
    Reverse,
}

/// Where not every event has a copy of its own, an older one than this many places in the history is of no use.
pub(crate) const LAG: u64 = 1024;
/// Every how many events of an LP its state is copied for the case that one fails.
const RARELY: u32 = 64;

impl Undoing {
    /// How many places of the history behind those that may be undone are kept for their copies of states.
    pub(crate) fn lag(self) -> u64 {
        if self == (Undoing::Copy { interval: 1 }) { 0 } else { LAG }
    }

    /// At every how many events of an LP its state is copied.
    pub(crate) fn copy_every(self) -> u32 {
        match self {
            Undoing::Copy { interval } => interval,
            Undoing::Reverse => RARELY,
        }
    }
}
