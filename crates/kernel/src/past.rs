use warpline_base::VirtualTime;
use warpline_memory::Handle;

use crate::Tuning;
use crate::copies::Copies;
use crate::extras::Extras;
use crate::history::History;
use crate::pending::Entry;

/// A kernel process: LPs of a PE that roll back together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kp {
    /// The place of its last executed event in the history, which may be closed; 0 for none.
    pub(crate) last: u64,
    /// The time of that event: an event that is not later may be a straggler.
    pub(crate) last_time: u64,
}

/// What a PE has executed and may have to undo.
///
/// Invariant: the open records of a KP are a chain in the order of their keys, and no open record comes before one that has been closed.
#[derive(Debug)]
pub(crate) struct Past<S> {
    pub(crate) history: History<S>,
    pub(crate) extras: Extras,
    pub(crate) copies: Copies,
    kps: Vec<Kp>,
    /// The number of an LP's KP is its own without this many low bits.
    kp_shift: u32,
    /// Where the history was last not in order: from this place on it is.
    inversion: u64,
    last_rank: u128,
    /// The latest time of any event executed so far.
    latest: VirtualTime,
    /// All before this time has committed, if anything is open.
    committed_to: VirtualTime,
    /// How many records the last commit left open.
    left_open: u64,
    /// Processed events that were cancelled and are still to be undone.
    cancelled: Vec<Handle>,
    /// LPs whose state is still to be worked out from an earlier copy, by their place in the table.
    stale: Vec<usize>,
}

impl<S> Past<S> {
    /// The past of so many LPs.
    pub(crate) fn new(lps: usize, tuning: Tuning) -> Self {
        let Tuning { kps, undoing, lanes, .. } = tuning;
        // Where nothing is ever undone, nothing is copied.
        let copied = if lanes.has_ahead() { lps } else { 0 };
        let kp_shift = (lps as u32).div_ceil(kps).next_power_of_two().ilog2();
        Past {
            history: History::default(),
            extras: Extras::default(),
            copies: Copies::new(undoing, copied),
            kps: vec![Kp::default(); lps.div_ceil(1 << kp_shift)],
            kp_shift,
            inversion: 0,
            last_rank: 0,
            latest: VirtualTime::ZERO,
            committed_to: VirtualTime::ZERO,
            left_open: 0,
            cancelled: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// Whether any event may still be undone.
    #[inline(always)]
    pub(crate) fn has_open(&self) -> bool {
        self.history.open_len() > 0
    }

    /// The KP of an LP, by its place in the table.
    #[inline(always)]
    pub(crate) fn kp_of(&self, index: usize) -> usize {
        index >> self.kp_shift
    }

    #[inline(always)]
    pub(crate) fn kp(&self, k: usize) -> Kp {
        self.kps[k]
    }

    /// The place of the last event of a KP, if that may be undone.
    #[inline]
    pub(crate) fn last_open(&self, k: usize) -> Option<u64> {
        let last = self.kps[k].last;
        self.history.is_open(last).then_some(last)
    }

    /// Notes that the last event of a KP is now that at `place`, of this time.
    #[inline]
    pub(crate) fn set_last(&mut self, k: usize, place: u64, time: VirtualTime) {
        self.kps[k] = Kp { last: place, last_time: time.bits() };
    }

    /// The last event of a KP was undone: the one before it is the last now.
    #[inline]
    pub(crate) fn set_last_place(&mut self, k: usize, place: u64) {
        self.kps[k].last = place;
    }

    /// Notes the time of the last event of a KP that has rolled back.
    pub(crate) fn set_last_time(&mut self, k: usize, time: Option<VirtualTime>) {
        self.kps[k].last_time = time.map_or(0, VirtualTime::bits);
    }

    /// Notes that the event of an entry is the last that was executed, with its record at `place`.
    #[inline(always)]
    pub(crate) fn executed(&mut self, entry: &Entry, place: u64) {
        if entry.rank() <= self.last_rank {
            self.inversion = place;
        }
        self.latest = self.latest.max(entry.time());
        self.last_rank = entry.rank();
    }

    /// From this place on the history is in order.
    #[inline]
    pub(crate) fn inversion(&self) -> u64 {
        self.inversion
    }

    /// The latest time of any event executed so far.
    pub(crate) fn latest(&self) -> VirtualTime {
        self.latest
    }

    /// Everything from this time on was undone.
    pub(crate) fn lower_latest(&mut self, time: VirtualTime) {
        self.latest = time;
    }

    /// How many KPs there are.
    pub(crate) fn kps(&self) -> usize {
        self.kps.len()
    }

    /// Before this time everything has committed. With nothing open, that is everything before the `horizon`.
    #[inline]
    pub(crate) fn committed_to(&mut self, horizon: VirtualTime) -> VirtualTime {
        if !self.has_open() {
            self.committed_to = horizon;
        }
        self.committed_to
    }

    /// Notes that a commit has taken all before this time.
    pub(crate) fn commit_done(&mut self, before: VirtualTime) {
        self.committed_to = self.committed_to.max(before);
        self.left_open = self.history.open_len();
    }

    /// Whether so much has been executed since the last commit that looking through it all costs little per event.
    #[inline]
    pub(crate) fn is_worth_a_commit(&self) -> bool {
        const FEW: u64 = 64;
        self.history.open_len() >= FEW + 2 * self.left_open
    }

    /// Notes that a processed event was cancelled, and is to be undone.
    pub(crate) fn cancel(&mut self, handle: Handle) {
        self.cancelled.push(handle);
    }

    pub(crate) fn take_cancelled(&mut self) -> Option<Handle> {
        self.cancelled.pop()
    }

    pub(crate) fn is_stale(&self, index: usize) -> bool {
        self.stale.contains(&index)
    }

    pub(crate) fn set_stale(&mut self, index: usize) {
        self.stale.push(index);
    }

    pub(crate) fn set_fresh(&mut self, index: usize) {
        self.stale.retain(|&stale| stale != index);
    }

    pub(crate) fn take_stale(&mut self) -> Option<usize> {
        self.stale.pop()
    }
}
