use warpline_base::{EventKey, LpId};

use crate::agenda::pending::Entry;

/// An event that has been executed and cannot be undone any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExecutedEvent {
    pub(crate) key: EventKey,
    pub(crate) lp: LpId,
}

/// The event that is to blame for a panic.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blamed {
    /// The model's code was running for it.
    Running(Entry),
    /// It was over, and its payload was being dropped, which may run the model's code, too.
    Dropped(ExecutedEvent),
}

/// The event for which the model's code is running, in case that panics.
///
/// Invariant: at most one field is set. If neither is, a panic is the engine's own.
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
