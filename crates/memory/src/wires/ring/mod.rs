use std::mem::{MaybeUninit, needs_drop};

use crate::alloc::MakeRoom;
use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};
use crate::{
    Apart, Common, IsPortable, Region, Shareable, drop_each, prefetch, prefetch_write, region,
};

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

/// The unit in which cores exchange memory.
const LINE_BYTES: usize = 64;
/// How many lines are prefetched.
const LINES_AHEAD: usize = 3;
/// The distance, in cells, between the cell in use and the one that is prefetched.
const CELLS_AHEAD: usize = 8;
/// The most lines of values that one look prefetches.
const LINES_LOOKED_AT: usize = 24;

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

/// The end of a [`ring`] where values go in.
pub struct Producer<T> {
    shared: Shared<T>,
    /// `None` where processes share the ring: what is left in it goes with the memory.
    _leftover: Option<Arc<Leftover<T>>>,
    /// Values before this index have been written; those from the shared tail on have yet to be
    /// published.
    tail: usize,
    /// The shared head when it was last read. It may be further by now.
    head: usize,
}

/// The end of a [`ring`] where values come out.
pub struct Consumer<T> {
    shared: Shared<T>,
    _leftover: Option<Arc<Leftover<T>>>,
    head: usize,
    /// The shared tail when it was last read. It may be further by now.
    tail: usize,
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
    let producer =
        Producer { shared: shared.clone(), _leftover: leftover.clone(), tail: 0, head: 0 };
    (producer, Consumer { shared, _leftover: leftover, head: 0, tail: 0 })
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

impl<T: Copy + Send> Producer<T> {
    /// Appends as many of the values as fit, starting with the first, and returns how many.
    #[inline]
    pub fn push_some(&mut self, values: &[T]) -> usize {
        let capacity = self.shared.cells.len();
        let mut free = capacity - self.tail.wrapping_sub(self.head);
        if free < values.len() {
            // Acquire pairs with the Release of `drain_into`: the consumer has read what was in the
            // cells.
            self.head = self.shared.indices.head.0.load(Ordering::Acquire);
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
                // SAFETY: the cell is among the `free` ones from the tail on, which the consumer
                // leaves alone until the tail is past them.
                cell.0.with_mut(|place| unsafe { *place = MaybeUninit::new(value) });
            }
        }
        self.tail = self.tail.wrapping_add(count);
        // Release pairs with the Acquire of `drain_into`, which may then read the cells.
        self.shared.indices.tail.0.store(self.tail, Ordering::Release);
        count
    }

    /// Appends a value, if it fits.
    #[inline]
    pub fn push(&mut self, value: T) -> bool {
        self.push_some(&[value]) == 1
    }
}

impl<T: Send> Producer<T> {
    /// Whether there is room for a value.
    #[inline(always)]
    pub fn has_room(&mut self) -> bool {
        if self.tail.wrapping_sub(self.head) == self.shared.cells.len() {
            // Acquire pairs with the Release of the consumer, which has taken what was in the
            // cells.
            self.head = self.shared.indices.head.0.load(Ordering::Acquire);
        }
        self.tail.wrapping_sub(self.head) < self.shared.cells.len()
    }

    /// Appends a value, which the consumer does not see until it is [published](Self::publish).
    ///
    /// # Errors
    /// The value, if there is no room for it.
    #[inline(always)]
    pub fn write(&mut self, value: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(value);
        }
        // SAFETY: the cell is free, as fewer values than there are cells lie between head and tail;
        // the consumer leaves it alone until the shared tail is past it.
        self.shared.cell(self.tail).with_mut(|place| unsafe { *place = MaybeUninit::new(value) });
        self.tail = self.tail.wrapping_add(1);
        // Otherwise, to take the line from the consumer's core would take as long as to execute
        // several events.
        prefetch_write(self.shared.cell(self.tail.wrapping_add(CELLS_AHEAD)));
        Ok(())
    }

    /// Makes all values written visible to the consumer.
    #[inline]
    pub fn publish(&mut self) {
        // Relaxed: this is the only writer.
        if self.shared.indices.tail.0.load(Ordering::Relaxed) != self.tail {
            // Release pairs with the Acquires of the consumer, which may then read the cells.
            self.shared.indices.tail.0.store(self.tail, Ordering::Release);
        }
    }

    /// Prefetches the cells of the next values for writing; not the tail, which the consumer may
    /// read at any time.
    #[inline]
    pub fn prefetch(&self) {
        self.shared.lines(self.tail).for_each(prefetch_write);
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        // Where processes share the ring, this end may be in use in another process.
        if self.shared.indices.is_shared() {
            return;
        }
        // Publishes what has only been written, so that it is dropped with the ring if the consumer
        // does not take it. Release pairs with the consumer's Acquires.
        self.shared.indices.tail.0.store(self.tail, Ordering::Release);
    }
}

/// Moves values out of a ring, oldest first. Values left when it is dropped stay in the ring.
pub struct Drain<'a, T> {
    consumer: &'a mut Consumer<T>,
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let Consumer { shared, head, tail, .. } = &mut *self.consumer;
        if *head == *tail {
            return None;
        }
        // SAFETY: the cell is between head and tail, so it has been filled, and the producer leaves
        // it alone until the shared head is past it. The value is read only once, as the head moves
        // on right away.
        let value = shared.cell(*head).with(|place| unsafe { (*place).assume_init_read() });
        *head = head.wrapping_add(1);
        // Not beyond the last value, as that would take lines away that the producer is about to
        // fill.
        if tail.wrapping_sub(*head) > CELLS_AHEAD {
            prefetch(shared.cell(head.wrapping_add(CELLS_AHEAD)));
        }
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.consumer.tail.wrapping_sub(self.consumer.head);
        (left, Some(left))
    }
}

impl<T> Drop for Drain<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the Acquires of the producer, which may then refill the cells.
        self.consumer.shared.indices.head.0.store(self.consumer.head, Ordering::Release);
    }
}

impl<T: Send> Consumer<T> {
    /// Moves out the values that have arrived by now; `None` if there are none.
    #[inline]
    pub fn drain(&mut self) -> Option<Drain<'_, T>> {
        self.look();
        self.drain_seen()
    }

    /// Notes which values have arrived, and prefetches them for [`drain_seen`](Self::drain_seen).
    #[inline]
    pub fn look(&mut self) {
        // Acquire pairs with the Release of the producer, which filled the cells.
        self.tail = self.shared.indices.tail.0.load(Ordering::Acquire);
        let bytes = self.tail.wrapping_sub(self.head) * size_of::<T>();
        let step = (LINE_BYTES / size_of::<T>().max(1)).max(1);
        for line in 0..(bytes / LINE_BYTES + usize::from(bytes > 0)).min(LINES_LOOKED_AT) {
            prefetch(self.shared.cell(self.head.wrapping_add(line * step)));
        }
    }

    /// Moves out the values that had arrived at the last [`look`](Self::look); `None` if there were
    /// none.
    #[inline]
    pub fn drain_seen(&mut self) -> Option<Drain<'_, T>> {
        (self.head != self.tail).then_some(Drain { consumer: self })
    }

    /// Prefetches the tail and the cells where the next values will arrive.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.shared.indices.tail);
        self.shared.lines(self.head).for_each(prefetch);
    }

    /// Whether the ring is empty right now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values there are right now.
    #[inline]
    pub fn len(&self) -> usize {
        // Acquire pairs with the Release of the producer: a caller that finds values sees
        // everything done before they were published.
        self.shared.indices.tail.0.load(Ordering::Acquire).wrapping_sub(self.head)
    }
}

impl<T: Copy + Send> Consumer<T> {
    /// Moves up to `most` values, oldest first, to the end of `into`, and returns how many.
    #[inline]
    pub fn drain_into(&mut self, into: &mut Vec<T>, most: usize) -> usize {
        if self.tail.wrapping_sub(self.head) < most {
            // Acquire pairs with the Release of `push_some`, which filled the cells.
            self.tail = self.shared.indices.tail.0.load(Ordering::Acquire);
        }
        let count = self.tail.wrapping_sub(self.head).min(most);
        if count == 0 {
            return 0;
        }
        into.make_room(count, "messages received");
        for cells in self.shared.cells(self.head, count) {
            // SAFETY: the cell is between head and tail, so it has been filled, and the producer
            // leaves it alone until the head is past it.
            into.extend(
                cells.iter().map(|cell| cell.0.with(|place| unsafe { (*place).assume_init() })),
            );
        }
        self.head = self.head.wrapping_add(count);
        // Release pairs with the Acquire of `push_some`, which may then refill the cells.
        self.shared.indices.head.0.store(self.head, Ordering::Release);
        count
    }
}
