mod change_log;
pub(crate) mod copies;
pub(crate) mod history;
mod note_log;
pub(crate) mod pending_cancellations;
pub(crate) mod side_records;

use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom, list_of};

use crate::Tuning;
use crate::agenda::pending::Entry;
use crate::past::copies::Copies;
use crate::past::history::History;
use crate::past::pending_cancellations::PendingCancellations;
use crate::past::side_records::SideRecords;

/// A kernel process: LPs of a PE that roll back together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kp {
    /// The place in the history of its last executed event, which may be closed; 0 for none.
    pub(crate) last: u64,
    /// The time of that event: an event at or before it may be a straggler.
    pub(crate) last_time: u64,
}

/// What a PE has executed and may have to undo.
///
/// Invariant: the open records of a KP are a chain in the order of their keys, and no open record comes before one that has been closed.
#[derive(Debug)]
pub(crate) struct Past<S, E> {
    pub(crate) history: History<S>,
    pub(crate) side_records: SideRecords<E>,
    pub(crate) copies: Copies,
    /// What undone events had sent, and may send again.
    pub(crate) cancellations: PendingCancellations,
    kps: Vec<Kp>,
    /// The number of an LP's KP is the LP's own number without this many low bits.
    kp_shift: u32,
    /// The last place at which the history was out of order: it is in order from here on.
    inversion: u64,
    last_rank: u128,
    /// The latest time of any event executed so far.
    latest: VirtualTime,
    /// Everything before this time has committed, if any record is open.
    committed_to: VirtualTime,
    /// How many records the last commit left open.
    left_open: u64,
    /// Processed events that were cancelled and have yet to be undone.
    cancelled: Vec<Handle>,
    /// LPs whose state has yet to be worked out from an earlier copy, by index.
    stale: Vec<usize>,
}

impl<S, E> Past<S, E> {
    /// The past of this many LPs.
    pub(crate) fn new(lps: usize, tuning: Tuning) -> Self {
        let Tuning { kps, undoing, lanes, .. } = tuning;
        // Where nothing is ever undone, nothing is copied.
        let copied = if lanes.has_speculative() { lps } else { 0 };
        let kp_shift = (lps as u32).div_ceil(kps).next_power_of_two().ilog2();
        let kps = lps.div_ceil(1 << kp_shift);
        Past {
            history: History::default(),
            side_records: SideRecords::default(),
            copies: Copies::new(undoing, copied),
            cancellations: PendingCancellations::new(tuning.cancellation, kps),
            kps: list_of(Kp::default(), kps, "the table of KPs"),
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

    /// How much memory the past has, in bytes, in use or free, without what states and observations allocate themselves.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.cancelled.capacity() * size_of::<Handle>() + self.stale.capacity() * size_of::<usize>();
        self.history.bytes() + self.side_records.bytes() + self.copies.bytes() + self.kps.capacity() * size_of::<Kp>() + lists
    }

    /// How much more memory the longest lists take, in bytes, if this many events do not fit.
    pub(crate) fn growth(&self, events: usize) -> usize {
        self.history.growth(events) + self.side_records.growth(events)
    }

    /// Makes room for this many events and hardly more.
    pub(crate) fn make_little_room(&mut self, events: usize) {
        self.history.make_little_room(events);
        self.side_records.make_little_room(events);
    }

    /// Gives back memory that is not in use.
    pub(crate) fn give_back_room(&mut self) {
        self.history.give_back_room();
        self.side_records.give_back_room();
        self.cancelled.shrink_to_fit();
    }

    /// Whether any event may still be undone.
    #[inline(always)]
    pub(crate) fn has_open(&self) -> bool {
        self.history.open_len() > 0
    }

    /// The KP of an LP, by its index.
    #[inline(always)]
    pub(crate) fn kp_of(&self, index: usize) -> usize {
        index >> self.kp_shift
    }

    #[inline(always)]
    pub(crate) fn kp(&self, k: usize) -> Kp {
        self.kps[k]
    }

    /// The place of the last event of a KP, if it may be undone.
    #[inline]
    pub(crate) fn last_open(&self, k: usize) -> Option<u64> {
        let last = self.kps[k].last;
        self.history.is_open(last).then_some(last)
    }

    /// Notes that the last event of a KP is now the one at `place`, at this time.
    #[inline]
    pub(crate) fn set_last(&mut self, k: usize, place: u64, time: VirtualTime) {
        self.kps[k] = Kp { last: place, last_time: time.bits() };
    }

    /// The last event of a KP was undone: the previous one is the last now.
    #[inline]
    pub(crate) fn set_last_place(&mut self, k: usize, place: u64) {
        self.kps[k].last = place;
    }

    /// Sets the time of the last event of a KP that has rolled back.
    pub(crate) fn set_last_time(&mut self, k: usize, time: Option<VirtualTime>) {
        self.kps[k].last_time = time.map_or(0, VirtualTime::bits);
    }

    /// Notes that the event of `entry` was executed last, with its record at `place`.
    #[inline(always)]
    pub(crate) fn executed(&mut self, entry: &Entry, place: u64) {
        if entry.rank() <= self.last_rank {
            self.inversion = place;
        }
        self.latest = self.latest.max(entry.time());
        self.last_rank = entry.rank();
    }

    /// The history is in order from this place on.
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

    /// Everything before this time has committed. With nothing open, that is everything before the `horizon`.
    #[inline]
    pub(crate) fn committed_to(&mut self, horizon: VirtualTime) -> VirtualTime {
        if !self.has_open() {
            self.committed_to = horizon;
        }
        self.committed_to
    }

    /// Notes that a commit has taken everything before this time.
    pub(crate) fn commit_done(&mut self, before: VirtualTime) {
        self.committed_to = self.committed_to.max(before);
        self.left_open = self.history.open_len();
    }

    /// Whether enough has been executed since the last commit to make looking through all of it cheap per event.
    #[inline]
    pub(crate) fn is_worth_a_commit(&self) -> bool {
        const FEW: u64 = 64;
        self.history.open_len() >= FEW + 2 * self.left_open
    }

    /// Notes that a processed event was cancelled and has to be undone.
    pub(crate) fn cancel(&mut self, handle: Handle) {
        self.cancelled.make_room(1, "events that are undone");
        self.cancelled.push(handle);
    }

    /// Whether any processed event was cancelled and has yet to be undone.
    #[inline]
    pub(crate) fn has_cancelled(&self) -> bool {
        !self.cancelled.is_empty()
    }

    pub(crate) fn take_cancelled(&mut self) -> Option<Handle> {
        self.cancelled.pop()
    }

    pub(crate) fn is_stale(&self, index: usize) -> bool {
        self.stale.contains(&index)
    }

    pub(crate) fn set_stale(&mut self, index: usize) {
        self.stale.make_room(1, "events that are undone");
        self.stale.push(index);
    }

    pub(crate) fn set_fresh(&mut self, index: usize) {
        self.stale.retain(|&stale| stale != index);
    }

    pub(crate) fn take_stale(&mut self) -> Option<usize> {
        self.stale.pop()
    }
}
