use warpline_base::VirtualTime;
use warpline_memory::Handle;

use super::{Entry, Heap, Ladder, PendingSet, Ties};

/// A pending set of a kind that is chosen at run time. It saves compiling the engine of each model
/// for each kind.
#[derive(Debug)]
pub enum AnyPending {
    /// A [`Ladder`].
    Ladder(Ladder),
    /// A [`Heap`].
    Heap(Heap),
}

impl Default for AnyPending {
    fn default() -> Self {
        AnyPending::Ladder(Ladder::default())
    }
}

impl PendingSet for AnyPending {
    fn push(&mut self, entry: Entry, ties: &impl Ties) {
        match self {
            AnyPending::Ladder(ladder) => ladder.push(entry, ties),
            AnyPending::Heap(heap) => heap.push(entry, ties),
        }
    }

    fn first(&mut self, ties: &impl Ties) -> Option<Entry> {
        match self {
            AnyPending::Ladder(ladder) => ladder.first(ties),
            AnyPending::Heap(heap) => heap.first(ties),
        }
    }

    fn pop_before(&mut self, end: VirtualTime, ties: &impl Ties) -> Option<Entry> {
        match self {
            AnyPending::Ladder(ladder) => ladder.pop_before(end, ties),
            AnyPending::Heap(heap) => heap.pop_before(end, ties),
        }
    }

    fn retain(&mut self, keep: impl FnMut(Handle) -> bool, ties: &impl Ties) {
        match self {
            AnyPending::Ladder(ladder) => ladder.retain(keep, ties),
            AnyPending::Heap(heap) => heap.retain(keep, ties),
        }
    }

    fn upcoming(&self, distance: usize) -> Option<Handle> {
        match self {
            AnyPending::Ladder(ladder) => ladder.upcoming(distance),
            AnyPending::Heap(heap) => heap.upcoming(distance),
        }
    }

    fn see_unordered(&self, end: VirtualTime, see: impl FnMut(Handle)) {
        match self {
            AnyPending::Ladder(ladder) => ladder.see_unordered(end, see),
            AnyPending::Heap(heap) => heap.see_unordered(end, see),
        }
    }

    fn len(&self) -> usize {
        match self {
            AnyPending::Ladder(ladder) => ladder.len(),
            AnyPending::Heap(heap) => heap.len(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            AnyPending::Ladder(ladder) => ladder.bytes(),
            AnyPending::Heap(heap) => heap.bytes(),
        }
    }
}
