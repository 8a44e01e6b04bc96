use std::mem::{MaybeUninit, needs_drop};

pub use self::consumer::{Consumer, Drain};
pub use self::producer::Producer;
use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};
use crate::{Apart, Common, IsPortable, Region, Shareable, drop_each, region};

mod consumer;
#[cfg(all(test, loom))]
mod loom_tests;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

/// The unit in which cores exchange memory.
const LINE_BYTES: usize = 64;
/// How many lines are prefetched.
const LINES_AHEAD: usize = 3;
/// The distance, in cells, between the cell in use and the one that is prefetched.
const CELLS_AHEAD: usize = 8;

/// How far the ends have got. Values `head..tail` are in the ring, value i in cell i modulo the
/// capacity. Both indices only grow; they may wrap around, as the capacity is a power of two.
#[derive(Default)]
struct Indices {
    /// Written by the producer.
    tail: Apart<AtomicUsize>,
    /// Written by the consumer.
    head: Apart<AtomicUsize>,
}

// SAFETY: these are numbers.
unsafe impl Shareable for Indices {}

/// A place for a value.
struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: only the producer reaches a cell while it is free, and only the consumer while it is
// filled; it passes from one to the other by a Release store and an Acquire load. So values move
// between threads, as `Send` allows.
unsafe impl<T: Send> Sync for Cell<T> {}

// SAFETY: a cell that may be uninitialised is valid whatever is in it.
unsafe impl<T> region::Cell<T> for Cell<T> {}

/// What both ends share.
struct Shared<T> {
    indices: Common<Indices>,
    cells: Common<[Cell<T>]>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared { indices: self.indices.clone(), cells: self.cells.clone() }
    }
}

/// Drops the values that are left when both ends are gone.
struct Leftover<T>(Shared<T>);

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

/// A lock-free queue from one thread to another with room for `capacity` values, rounded up to a
/// power of two and at least 2.
///
/// ```
/// let (mut producer, mut consumer) = warpline_memory::ring(4);
/// assert_eq!(producer.push_some(&[1, 2, 3, 4, 5]), 4);
/// let mut found = Vec::new();
/// assert_eq!(consumer.drain_into(&mut found, 3), 3);
/// assert_eq!(found, [1, 2, 3]);
/// assert!(producer.push(5) && !consumer.is_empty());
/// ```
///
/// # Panics
/// If there is not enough memory, it [unwinds](crate::Exhausted::unwind).
pub fn ring<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    ring_in(&Region::own(), None, capacity)
}

/// As [`ring`], in a region. If processes share the region, values must be portable; each process
/// has both ends, but may use one of them only if no other process does.
///
/// # Panics
/// As [`ring`]; also if processes share the region without a proof that values are portable.
pub fn ring_in<T: Send>(
    region: &Region,
    portable: Option<IsPortable<T>>,
    capacity: usize,
) -> (Producer<T>, Consumer<T>) {
    let capacity = rounded(capacity);
    let empty = || Cell(UnsafeCell::new(MaybeUninit::uninit()));
    let cells = region.place_empty(capacity, "the queues between PEs", portable, empty);
    let shared = Shared { indices: region.place(Indices::default()), cells };
    let leftover = (!region.is_shared()).then(|| Arc::new(Leftover(shared.clone())));
    (Producer::new(shared.clone(), leftover.clone()), Consumer::new(shared, leftover))
}

/// Leaves out a ring whose ends only other processes use, so that what is placed next lies where it
/// does in those processes. The ring is empty, as the bytes of the region are zeros at first.
///
/// # Panics
/// If there is not enough memory, it [unwinds](crate::Exhausted::unwind).
pub fn pass_over_ring<T>(region: &Region, capacity: usize) {
    region.pass_over::<Cell<T>>(rounded(capacity));
    region.pass_over::<Indices>(1);
}

/// How many bytes a ring takes in a region.
pub const fn ring_bytes<T>(capacity: usize) -> usize {
    let cells = rounded(capacity) * size_of::<Cell<T>>();
    cells.next_multiple_of(region::APART) + size_of::<Indices>().next_multiple_of(region::APART)
}

/// How many values a ring has room for if this capacity is asked for.
const fn rounded(capacity: usize) -> usize {
    let capacity = if capacity < 2 { 2 } else { capacity };
    capacity.checked_next_power_of_two().expect("the capacity of a ring is a power of two")
}

impl<T> Shared<T> {
    /// The cell of the value with this index.
    #[inline(always)]
    fn cell(&self, index: usize) -> &UnsafeCell<MaybeUninit<T>> {
        &self.cells[index & (self.cells.len() - 1)].0
    }

    /// The cells of `count` values from an index on, at most the capacity: those up to the end of
    /// the ring, and the rest from its start.
    #[inline(always)]
    fn cells(&self, from: usize, count: usize) -> [&[Cell<T>]; 2] {
        let start = from & (self.cells.len() - 1);
        let (before, after) = self.cells.split_at(start);
        let first = count.min(after.len());
        [&after[..first], &before[..count - first]]
    }

    /// A cell in each of the cache lines to prefetch from an index on.
    #[inline(always)]
    fn lines(&self, from: usize) -> impl Iterator<Item = &UnsafeCell<MaybeUninit<T>>> {
        let step = (LINE_BYTES / size_of::<T>().max(1)).max(1);
        (0..LINES_AHEAD).map(move |line| self.cell(from.wrapping_add(line * step)))
    }
}
