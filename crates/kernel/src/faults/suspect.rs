use warpline_base::{EventKey, LpId};

use crate::agenda::pending::Entry;

/// An event that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExecutedEvent {
    pub(crate) key: EventKey,
    pub(crate) lp: LpId,
}

/// The event that is to blame for a panic.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blamed {
    /// Its code was running.
    Running(Entry),
    /// It was over, and its payload was being dropped, which is code of the model as well.
    Dropped(ExecutedEvent),
}

/// Whose code of the model is running, should it panic.
///
/// Invariant: with neither set, it is the engine that panicked. At most one is set.
#[derive(Debug, Default)]
pub(super) struct Suspect {
    running: Option<Entry>,
    dropping: Option<ExecutedEvent>,
}

impl Suspect {
    #[inline(always)]
    pub(super) fn set_running(&mut self, entry: Option<Entry>) {
        self.running = entry;
    }

    #[inline(always)]
    pub(super) fn set_dropping(&mut self, event: Option<ExecutedEvent>) {
        self.dropping = event;
    }

    pub(super) fn take(&mut self) -> Option<Blamed> {
        self.dropping
            .take()
            .map(Blamed::Dropped)
            .or_else(|| self.running.take().map(Blamed::Running))
    }
}
