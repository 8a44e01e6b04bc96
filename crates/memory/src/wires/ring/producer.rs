use std::mem::MaybeUninit;

use super::shared::{CELLS_AHEAD, Leftover, Shared};
use crate::prefetch_write;
use crate::sync::{Arc, Ordering};

/// The end of a [`ring`](super::ring) where values go in.
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

impl<T> Producer<T> {
    pub(super) fn new(shared: Shared<T>, leftover: Option<Arc<Leftover<T>>>) -> Self {
        Producer { shared, _leftover: leftover, tail: 0, head: 0 }
    }

    /// Begins at this index.
    #[cfg(all(test, not(loom)))]
    pub(super) fn start_at(&mut self, index: usize) {
        self.tail = index;
        self.head = index;
        self.shared.indices.tail.0.store(index, Ordering::Relaxed);
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
        self.write_made(|| value)
    }

    /// As [`write`](Self::write), for a value that is made in its cell. Its parts would otherwise be
    /// written one by one elsewhere, and read back as a whole to be copied. That waits for all
    /// earlier writes, also for those to lines that come from other cores.
    ///
    /// # Errors
    /// The value, if there is no room for it.
    #[inline(always)]
    pub fn write_made(&mut self, make: impl FnOnce() -> T) -> Result<(), T> {
        if !self.has_room() {
            return Err(make());
        }
        // SAFETY: the cell is free, as fewer values than there are cells lie between head and tail;
        // the consumer leaves it alone until the shared tail is past it.
        self.shared.cell(self.tail).with_mut(|place| unsafe { *place = MaybeUninit::new(make()) });
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

    /// Prefetches the tail for [`publish`](Self::publish), which comes soon. Otherwise all that is
    /// written after it would wait until its line has come from the consumer's core.
    #[inline]
    pub fn prefetch_tail(&self) {
        prefetch_write(&self.shared.indices.tail);
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
