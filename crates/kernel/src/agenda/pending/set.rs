//! What a pending event set holds, and what it can do.

use std::cmp::Ordering;

use warpline_base::VirtualTime;
use warpline_memory::Handle;

/// What pending sets hold, as error messages put it.
pub(super) const PENDING_EVENTS: &str = "pending events";

/// An event in a pending set: its time, the start of its tie-break, and its handle. Two words, so
/// that it travels in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    time: VirtualTime,
    /// Tie-break prefix (high half) and handle (low half).
    place: u64,
}

impl Entry {
    /// The entry of the event in `handle`. The `tie` is the first part of the order within its
    /// time: [`TieBreak::prefix`](warpline_base::TieBreak::prefix).
    #[inline]
    pub fn new(time: VirtualTime, tie: u32, handle: Handle) -> Self {
        Entry { time, place: u64::from(tie) << 32 | u64::from(handle.bits()) }
    }

    /// When the event happens.
    #[inline]
    pub fn time(&self) -> VirtualTime {
        self.time
    }

    /// The handle of the event.
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle::from_bits(self.place as u32)
    }

    /// Time and tie-break as one number that orders entries, except for ties of the prefix.
    #[inline]
    pub fn rank(&self) -> u128 {
        u128::from(self.time.bits()) << 32 | u128::from(self.place >> 32)
    }
}

/// Decides between two entries of equal [`rank`](Entry::rank) by looking at their events.
pub trait Ties {
    /// The order of two different events.
    fn order(&self, a: Handle, b: Handle) -> Ordering;

    /// The full order of two entries.
    #[inline]
    fn compare(&self, a: &Entry, b: &Entry) -> Ordering {
        match a.rank().cmp(&b.rank()) {
            Ordering::Equal => self.order(a.handle(), b.handle()),
            unequal => unequal,
        }
    }

    /// Whether `a` comes before `b`.
    #[inline]
    fn before(&self, a: &Entry, b: &Entry) -> bool {
        // Times differ, as a rule, so the rest is kept out of the way.
        a.time < b.time || a.time == b.time && self.ties_before(*a, *b)
    }

    /// Whether `a` comes before `b`, which happens at the same time.
    #[inline(never)]
    fn ties_before(&self, a: Entry, b: Entry) -> bool {
        self.compare(&a, &b).is_lt()
    }
}

/// A set of entries that gives out the first one.
///
/// Entries may be added at any time, even before ones that were already given out: optimistic
/// engines do that.
pub trait PendingSet: Default {
    /// Adds an entry.
    fn push(&mut self, entry: Entry, ties: &impl Ties);

    /// The first entry.
    fn first(&mut self, ties: &impl Ties) -> Option<Entry>;

    /// Takes out the first entry, if it happens before `end`.
    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry>;

    /// Removes the entries whose events `keep` does not want, in time proportional to the number of
    /// entries.
    fn retain(&mut self, keep: impl FnMut(Handle) -> bool, ties: &impl Ties);

    /// The entry that is `distance` places behind the first, if the set knows it without extra
    /// work. For prefetching only.
    fn upcoming(&self, distance: usize) -> Option<Handle>;

    /// Passes to `see` the entries before `end` that the set holds in no order, so that it does not
    /// know which are [coming up](Self::upcoming). For prefetching only.
    fn see_unordered(&self, end: VirtualTime, see: impl FnMut(Handle));

    /// How many entries there are.
    fn len(&self) -> usize;

    /// How much memory the set has, in bytes, in use or free.
    fn bytes(&self) -> usize;

    /// Whether there is no entry.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
