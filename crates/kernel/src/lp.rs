use warpline_base::HistoryDigest;

/// An LP in a PE: its state, and the 16 bytes that the PE needs to know of it. Its random numbers and the sequence numbers of its
/// sends follow from its event count.
#[derive(Debug)]
pub struct Lp<S> {
    /// Events executed and not undone.
    pub events: u64,
    /// These events, in order.
    pub history: HistoryDigest,
    /// Its state.
    pub state: S,
}

impl<S> Lp<S> {
    pub(crate) fn new(state: S) -> Self {
        Lp { events: 0, history: HistoryDigest::default(), state }
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
