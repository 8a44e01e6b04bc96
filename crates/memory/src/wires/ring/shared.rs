use std::mem::{MaybeUninit, needs_drop};

use crate::sync::{AtomicUsize, Ordering, UnsafeCell};
use crate::{Apart, Common, Shareable, drop_each, region};

/// The unit in which cores exchange memory.
pub(super) const LINE_BYTES: usize = 64;
/// How many lines are prefetched.
const LINES_AHEAD: usize = 3;
/// The distance, in cells, between the cell in use and the one that is prefetched.
pub(super) const CELLS_AHEAD: usize = 8;

/// How far the ends have got. Values `head..tail` are in the ring, value i in cell i modulo the
/// capacity. Both indices only grow; they may wrap around, as the capacity is a power of two.
#[derive(Default)]
pub(super) struct Indices {
    /// Written by the producer.
    pub(super) tail: Apart<AtomicUsize>,
    /// Written by the consumer.
    pub(super) head: Apart<AtomicUsize>,
}

// SAFETY: these are numbers.
unsafe impl Shareable for Indices {}

/// A place for a value.
pub(super) struct Cell<T>(pub(super) UnsafeCell<MaybeUninit<T>>);

// SAFETY: only the producer reaches a cell while it is free, and only the consumer while it is
// filled; it passes from one to the other by a Release store and an Acquire load. So values move
// between threads, as `Send` allows.
unsafe impl<T: Send> Sync for Cell<T> {}

// SAFETY: a cell that may be uninitialised is valid whatever is in it.
unsafe impl<T> region::Cell<T> for Cell<T> {}

impl<T> Cell<T> {
    pub(super) fn empty() -> Self {
        Cell(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// What both ends share.
pub(super) struct Shared<T> {
    pub(super) indices: Common<Indices>,
    pub(super) cells: Common<[Cell<T>]>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared { indices: self.indices.clone(), cells: self.cells.clone() }
    }
}

/// Drops the values that are left when both ends are gone.
pub(super) struct Leftover<T>(pub(super) Shared<T>);

impl<T> Drop for Leftover<T> {
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        // Relaxed: both ends are gone, and everything they did happened before.
        let [head, tail] = [&self.0.indices.head, &self.0.indices.tail]
            .map(|index| index.0.load(Ordering::Relaxed));
        for index in 0..tail.wrapping_sub(head) {
            // SAFETY: values from head to tail are in their cells, and nobody else reaches them any
            // more. Each is dropped once.
            drop_each([self
                .0
                .cell(head.wrapping_add(index))
                .with_mut(|value| unsafe { (*value).assume_init_read() })]);
        }
    }
}

impl<T> Shared<T> {
    /// The cell of the value with this index.
    #[inline(always)]
    pub(super) fn cell(&self, index: usize) -> &UnsafeCell<MaybeUninit<T>> {
        &self.cells[index & (self.cells.len() - 1)].0
    }

    /// The cells of `count` values from an index on, at most the capacity: those up to the end of
    /// the ring, and the rest from its start.
    #[inline(always)]
    pub(super) fn cells(&self, from: usize, count: usize) -> [&[Cell<T>]; 2] {
        let start = from & (self.cells.len() - 1);
        let (before, after) = self.cells.split_at(start);
        let first = count.min(after.len());
        [&after[..first], &before[..count - first]]
    }

    /// A cell in each of the cache lines to prefetch from an index on.
    #[inline(always)]
    pub(super) fn lines(&self, from: usize) -> impl Iterator<Item = &UnsafeCell<MaybeUninit<T>>> {
        let step = (LINE_BYTES / size_of::<T>().max(1)).max(1);
        (0..LINES_AHEAD).map(move |line| self.cell(from.wrapping_add(line * step)))
    }
}
