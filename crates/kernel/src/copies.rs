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
const LAG: u64 = 1024;
/// Every how many events of an LP its state is copied for the case that one fails.
const RARELY: u32 = 64;

impl Undoing {
    /// How many places of the history behind those that may be undone are kept for their copies of states.
    pub(crate) fn lag(self) -> u64 {
        if self == (Undoing::Copy { interval: 1 }) { 0 } else { LAG }
    }
}

/// When states are copied, for PEs that do not copy them before every event.
#[derive(Debug)]
pub(crate) struct Copies {
    /// At every how many events of an LP.
    every: u32,
    /// By LP; of none if states are copied before every event.
    last: Vec<LastCopy>,
}

#[derive(Clone, Copy, Debug)]
struct LastCopy {
    /// Its place in the history.
    place: u64,
    /// Events executed since.
    since: u32,
}

impl Copies {
    pub(crate) fn new(undoing: Undoing, lps: usize) -> Self {
        let every = match undoing {
            Undoing::Copy { interval } => interval,
            Undoing::Reverse => RARELY,
        };
        let last = if undoing.lag() == 0 { Vec::new() } else { vec![LastCopy { place: 0, since: u32::MAX }; lps] };
        Copies { every, last }
    }

    /// Whether the state of an LP is copied before an event whose place in the history will be `place`.
    #[inline]
    pub(crate) fn is_due(&self, lp: usize, place: u64) -> bool {
        self.last.is_empty() || self.last[lp].since >= self.every - 1 || place - self.last[lp].place >= LAG
    }

    /// Notes that an event was executed, with a copy or without.
    #[inline]
    pub(crate) fn executed(&mut self, lp: usize, place: u64, copied: bool) {
        if let Some(last) = self.last.get_mut(lp) {
            *last = if copied { LastCopy { place, since: 0 } } else { LastCopy { since: last.since + 1, ..*last } };
        }
    }

    /// Has the state of an LP copied before its next event.
    pub(crate) fn soon(&mut self, lp: usize) {
        if let Some(last) = self.last.get_mut(lp) {
            last.since = u32::MAX;
        }
    }
}
