use warpline_base::{HistoryDigest, LpId, RunDigest};

/// One LP in an engine: its state, and the 16 bytes that the engine needs to know of it. Its random numbers and the
/// sequence numbers of its sends follow from its event count.
#[derive(Debug)]
pub(crate) struct Lp<S> {
    /// Events executed.
    pub(crate) events: u64,
    /// The events executed, in order.
    pub(crate) history: HistoryDigest,
    pub(crate) state: S,
}

impl<S> Lp<S> {
    pub(crate) fn new(state: S) -> Self {
        Lp { events: 0, history: HistoryDigest::default(), state }
    }
}

/// The digest of all histories.
pub(crate) fn digest<S>(lps: &[Lp<S>]) -> RunDigest {
    let mut digest = RunDigest::default();
    for (id, lp) in lps.iter().enumerate() {
        digest.add(LpId(id as u32), lp.events, lp.history);
    }
    digest
}
