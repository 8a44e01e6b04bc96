use warpline_base::{HistoryDigest, LpId, RunDigest};

/// One LP in an engine: its state, and the 16 bytes that the engine needs to know of it. Its random numbers and the
/// sequence numbers of its sends follow from its event count.
#[derive(Debug)]
pub(crate) struct Lp<S> {
    /// Events executed.
    pub(crate) events: u64,
    /// The events executed, in order.
    pub(crate) digest: HistoryDigest,
    pub(crate) state: S,
}

impl<S> Lp<S> {
    pub(crate) fn new(state: S) -> Self {
        Lp { events: 0, digest: HistoryDigest::default(), state }
    }
}

/// Adds the histories of consecutive LPs, given as event counts and digests, to a run's.
pub(crate) fn add_digest(digest: &mut RunDigest, first: u32, histories: impl Iterator<Item = (u64, HistoryDigest)>) {
    for (id, (events, history)) in (first..).zip(histories) {
        digest.add(LpId(id), events, history);
    }
}

/// The digest of all histories.
pub(crate) fn digest<S>(lps: &[Lp<S>]) -> RunDigest {
    let mut digest = RunDigest::default();
    add_digest(&mut digest, 0, lps.iter().map(|lp| (lp.events, lp.digest)));
    digest
}
