use warpline_base::HistoryDigest;

/// An LP in a PE: its state, and the 32 bytes that the PE needs to know of it. Its random numbers and the sequence numbers of its
/// sends follow from its event count.
#[derive(Debug)]
pub struct Lp<S> {
    /// Events executed and not undone.
    pub events: u64,
    /// These events, in order.
    pub history: HistoryDigest,
    /// The place in the PE's history of the last copy of the state.
    pub(crate) copied: u64,
    /// Events executed since that copy.
    pub(crate) since_copy: u32,
    /// Its state.
    pub state: S,
}

impl<S> Lp<S> {
    pub(crate) fn new(state: S) -> Self {
        Lp { events: 0, history: HistoryDigest::default(), copied: 0, since_copy: u32::MAX, state }
    }

    /// Has the state copied before the next event, whatever the interval.
    pub(crate) fn copy_soon(&mut self) {
        self.since_copy = u32::MAX;
    }
}

/// A kernel process: LPs of a PE that roll back together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kp {
    /// The place of its last executed event in the history, which may be closed; 0 for none.
    pub(crate) last: u64,
    /// The time of that event: an event that is not later may be a straggler.
    pub(crate) last_time: u64,
}
