//! The pending event set: what is still to happen, soonest first.
//!
//! Sets hold small [`Entry`]s, not events: the time and the first part of the tie-break are in the entry, so that
//! comparing two entries almost never touches an event. Only where both agree do sets ask a [`Ties`] to look at the
//! events themselves.
//!
//! Two kinds stand behind one interface: [`Heap`], a 4-ary heap, and [`Ladder`], which sorts by distribution into
//! buckets of time. All pass the conformance suite in `tests/conformance.rs`.

mod heap;
mod ladder;

use std::cmp::Ordering;

pub use heap::Heap;
pub use ladder::Ladder;
use warpline_base::VirtualTime;
use warpline_memory::Handle;

/// An event in a pending set: its place in time and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it happens.
    pub time: VirtualTime,
    /// The first part of the order within that time: [`TieBreak::prefix`](warpline_base::TieBreak::prefix).
    pub tie: u32,
    /// Where the event lies.
    pub handle: Handle,
}

impl Entry {
    /// Time and tie-break as one number, whose order is the entries' as far as it goes.
    #[inline]
    pub fn rank(&self) -> u128 {
        u128::from(self.time.bits()) << 32 | u128::from(self.tie)
    }
}

/// Decides between two entries of equal [`rank`](Entry::rank), by looking at their events.
pub trait Ties {
    /// The order of two different events.
    fn order(&self, a: Handle, b: Handle) -> Ordering;

    /// The full order of two entries.
    #[inline]
    fn compare(&self, a: &Entry, b: &Entry) -> Ordering {
        match a.rank().cmp(&b.rank()) {
            Ordering::Equal => self.order(a.handle, b.handle),
            unequal => unequal,
        }
    }

    /// Whether `a` comes before `b`.
    #[inline]
    fn before(&self, a: &Entry, b: &Entry) -> bool {
        let (left, right) = (a.rank(), b.rank());
        left < right || left == right && self.order(a.handle, b.handle).is_lt()
    }
}

/// A set of entries that gives out the first one.
///
/// Entries may be added at any time, also before ones that were given out already: optimistic engines do that.
pub trait PendingSet: Default {
    /// What the set is called in settings and results.
    const NAME: &'static str;

    /// Adds an entry.
    fn push(&mut self, entry: Entry, ties: &impl Ties);

    /// Takes out the first entry, if it happens before `end`.
    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry>;

    /// The entry that is `distance` places behind the first, if the set knows it without work. For prefetching only.
    fn upcoming(&self, distance: usize) -> Option<Handle>;

    /// How many entries there are.
    fn len(&self) -> usize;

    /// Whether there is no entry.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
