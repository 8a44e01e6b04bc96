use std::mem::MaybeUninit;

use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};
use crate::{Apart, prefetch, prefetch_write};

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

/// How much memory cores exchange at once.
const LINE_BYTES: usize = 64;
/// So many lines are fetched ahead.
const LINES_AHEAD: usize = 3;

/// Values `head..tail` are in the ring, value i in cell i modulo the capacity. Both only grow; where they wrap around the
/// number range, all still fits, as the capacity is a power of two.
struct Shared<T> {
    /// Written by the producer.
    tail: Apart<AtomicUsize>,
    /// Written by the consumer.
    head: Apart<AtomicUsize>,
    cells: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: a cell is reached by the producer alone while it is free, by the consumer alone while it is filled, and passes from one to the
// other by a Release store and an Acquire load. Values so move between threads, as `Send` allows.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The end of a [`ring`] where values go in.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    /// The consumer's index when it was last looked at: it may be further by now.
    head: usize,
}

/// The end of a [`ring`] where values come out.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    /// The producer's index when it was last looked at: it may be further by now.
    tail: usize,
}

/// A queue from one thread to another without locks, for at least `capacity` values (the next power of two from 2 on).
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
/// If there is no memory for so many.
pub fn ring<T: Copy + Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let capacity = capacity.max(2).checked_next_power_of_two().expect("the capacity of a ring is a power of two");
    let cells = (0..capacity).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let shared = Arc::new(Shared { tail: Apart(AtomicUsize::new(0)), head: Apart(AtomicUsize::new(0)), cells });
    (Producer { shared: shared.clone(), tail: 0, head: 0 }, Consumer { shared, head: 0, tail: 0 })
}

impl<T> Shared<T> {
    /// The cells of `count` <= capacity values from an index on: up to the end of the cells, and the rest from their start.
    #[inline(always)]
    fn cells(&self, from: usize, count: usize) -> [&[UnsafeCell<MaybeUninit<T>>]; 2] {
        let start = from & (self.cells.len() - 1);
        let (before, after) = self.cells.split_at(start);
        let first = count.min(after.len());
        [&after[..first], &before[..count - first]]
    }

    /// A cell in each of the cache lines from an index on that are fetched ahead.
    #[inline(always)]
    fn lines(&self, from: usize) -> impl Iterator<Item = &UnsafeCell<MaybeUninit<T>>> {
        let step = (LINE_BYTES / size_of::<T>().max(1)).max(1);
        (0..LINES_AHEAD).map(move |line| &self.cells[from.wrapping_add(line * step) & (self.cells.len() - 1)])
    }
}

impl<T: Copy + Send> Producer<T> {
    /// Appends as many of the values as fit, the first ones, and tells how many.
    #[inline]
    pub fn push_some(&mut self, values: &[T]) -> usize {
        let capacity = self.shared.cells.len();
        let mut free = capacity - self.tail.wrapping_sub(self.head);
        if free < values.len() {
            // Acquire pairs with the Release of `drain_into`: the consumer has read what was in the cells.
            self.head = self.shared.head.0.load(Ordering::Acquire);
            free = capacity - self.tail.wrapping_sub(self.head);
        }
        let count = free.min(values.len());
        if count == 0 {
            return 0;
        }
        let [first, rest] = self.shared.cells(self.tail, count);
        let (firsts, rests) = values[..count].split_at(first.len());
        for (cells, values) in [(first, firsts), (rest, rests)] {
            for (cell, &value) in cells.iter().zip(values) {
                // SAFETY: the cell is among the `free` ones from the tail on, which the consumer leaves alone until the tail is past them.
                cell.with_mut(|place| unsafe { *place = MaybeUninit::new(value) });
            }
        }
        self.tail = self.tail.wrapping_add(count);
        // Release pairs with the Acquire of `drain_into`, which may then read the cells.
        self.shared.tail.0.store(self.tail, Ordering::Release);
        count
    }

    /// Brings near, for writing, where the next values will go. But not the index beside them, which the consumer may look at any time.
    #[inline]
    pub fn prefetch(&self) {
        self.shared.lines(self.tail).for_each(prefetch_write);
    }

    /// Appends a value, if it fits.
    #[inline]
    pub fn push(&mut self, value: T) -> bool {
        self.push_some(&[value]) == 1
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// Moves up to `most` values, the oldest first, to the end of `into`, and tells how many.
    #[inline]
    pub fn drain_into(&mut self, into: &mut Vec<T>, most: usize) -> usize {
        if self.tail.wrapping_sub(self.head) < most {
            // Acquire pairs with the Release of `push_some`, which filled the cells.
            self.tail = self.shared.tail.0.load(Ordering::Acquire);
        }
        let count = self.tail.wrapping_sub(self.head).min(most);
        if count == 0 {
            return 0;
        }
        into.reserve(count);
        for cells in self.shared.cells(self.head, count) {
            // SAFETY: the cell is between head and tail, so has been filled, and the producer leaves it alone until the head is past it.
            into.extend(cells.iter().map(|cell| cell.with(|place| unsafe { (*place).assume_init() })));
        }
        self.head = self.head.wrapping_add(count);
        // Release pairs with the Acquire of `push_some`, which may then fill the cells anew.
        self.shared.head.0.store(self.head, Ordering::Release);
        count
    }

    /// Brings near where the next values will be found.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.shared.tail);
        self.shared.lines(self.head).for_each(prefetch);
    }

    /// Whether there is nothing to take just now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values are there just now.
    #[inline]
    pub fn len(&self) -> usize {
        // Acquire pairs with the Release of `push_some`: who finds values may rely on what was done before they were sent.
        self.shared.tail.0.load(Ordering::Acquire).wrapping_sub(self.head)
    }
}
