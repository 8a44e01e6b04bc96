use super::shared::{CELLS_AHEAD, LINE_BYTES, Leftover, Shared};
use crate::alloc::MakeRoom;
use crate::prefetch;
use crate::sync::{Arc, Ordering};

/// The most lines of values that one look prefetches.
const LINES_LOOKED_AT: usize = 24;

/// The end of a [`ring`](super::ring) where values come out.
pub struct Consumer<T> {
    shared: Shared<T>,
    _leftover: Option<Arc<Leftover<T>>>,
    head: usize,
    /// The shared tail when it was last read. It may be further by now.
    tail: usize,
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Shared<T>, leftover: Option<Arc<Leftover<T>>>) -> Self {
        Consumer { shared, _leftover: leftover, head: 0, tail: 0 }
    }

    /// Begins at this index.
    #[cfg(all(test, not(loom)))]
    pub(super) fn start_at(&mut self, index: usize) {
        self.head = index;
        self.tail = index;
        self.shared.indices.head.0.store(index, Ordering::Relaxed);
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
