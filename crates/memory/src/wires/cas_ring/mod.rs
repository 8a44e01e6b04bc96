//! A ring that many producers share. The consumer looks at one index, however many producers there
//! are.
//!
//! After B. Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance PDES on manycore
//! clusters", SIGSIM-PADS 2021, §4.1. A producer reserves a place by compare-and-swap, and one
//! writes at a time. A producer never waits inside: it is told that the ring is full, that another
//! is writing, or that another was first.
//!
//! On two cores a message took 60 to 120 ns, where it takes 5 to 10 in rings of one producer each,
//! and 150 to 500 in a queue behind a mutex. A producer that loses its core while it writes holds
//! up the others. So PEs use such rings among themselves only if told to (`--mailbox cas`).

use std::fmt;
use std::mem::{MaybeUninit, needs_drop};

pub use self::producers::CasProducers;
pub use self::refusal::{CasCounts, Refusal, Refused};
use crate::sync::{Arc, AtomicU64, Ordering, UnsafeCell, spin_loop};
use crate::{Apart, Common, IsPortable, Region, Shareable, drop_each, region};

#[cfg(all(test, loom))]
mod loom_tests;
mod producers;
mod refusal;
#[cfg(all(test, not(loom)))]
mod tests;

/// How far all ends have got: `read <= write <= reserved <= write + 1`. Values `read..write` are in
/// the ring, value i in place i modulo the capacity; if `reserved` is greater than `write`, one
/// producer is writing the value between them.
///
/// They only grow, and 64 bits last for 500 years at a value per nanosecond. So they never wrap,
/// and an index that reads the same twice has not changed in between.
#[derive(Default)]
struct Indices {
    /// Written by the consumer.
    read: Apart<AtomicU64>,
    /// Written by the producer that has reserved the place before it.
    write: Apart<AtomicU64>,
    /// Written by all producers, by compare-and-swap.
    reserved: Apart<AtomicU64>,
}

// SAFETY: these are numbers.
unsafe impl Shareable for Indices {}

/// A place for a value.
struct Place<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a place belongs to the producer that has reserved it, until the write index is past it,
// and then to the consumer, until the read index is past it. It passes on by Release stores and
// Acquire loads. So values move between threads, as `Send` allows.
unsafe impl<T: Send> Sync for Place<T> {}

// SAFETY: a place that may be uninitialised is valid whatever is in it.
unsafe impl<T> region::Cell<T> for Place<T> {}

impl<T> Place<T> {
    fn empty() -> Self {
        Place(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// What all ends share.
struct Shared<T> {
    indices: Common<Indices>,
    places: Common<[Place<T>]>,
}

impl<T> Shared<T> {
    fn capacity(&self) -> u64 {
        self.places.len() as u64
    }

    /// The place of the value with this index.
    #[inline(always)]
    fn place(&self, index: u64) -> &UnsafeCell<MaybeUninit<T>> {
        // The capacity is a power of two, and fits into a usize.
        &self.places[index as usize & (self.places.len() - 1)].0
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // What processes share is dropped by the one that receives it.
        if !needs_drop::<T>() || self.places.is_shared() {
            return;
        }
        // Relaxed: all ends are gone, and everything they did happened before.
        let [read, write] =
            [&self.indices.read, &self.indices.write].map(|index| index.0.load(Ordering::Relaxed));
        for index in read..write {
            // SAFETY: values from read to write are in their places, and nobody else reaches them
            // any more. Each is dropped once.
            drop_each([self.place(index).with_mut(|value| unsafe { (*value).assume_init_read() })]);
        }
    }
}

/// An end of a [`cas_ring`] where values go in. Each clone is another producer, with counts of its
/// own.
pub struct CasProducer<T> {
    shared: Arc<Shared<T>>,
    /// The read index when it was last read. It may be further by now.
    read: u64,
    counts: CasCounts,
}

/// The end of a [`cas_ring`] where values come out.
pub struct CasConsumer<T> {
    shared: Arc<Shared<T>>,
    read: u64,
}

/// A queue from several threads to one, without locks, with room for `capacity` values, rounded up
/// to a power of two.
///
/// It is the communication buffer with compare-and-swap of B. Williams, A. Eker, K. Chiu and D.
/// Ponomarev, "High-performance PDES on manycore clusters", SIGSIM-PADS 2021, §4.1 and algorithm 1.
/// A producer that finds room, and nobody writing, reserves a place by compare-and-swap, writes its
/// value there, and advances the write index, which is all that the consumer looks at. So **one
/// producer writes at a time**, values come out in the order in which places were reserved, and
/// those of one producer in the order in which it pushed them. A producer that gets no place is
/// told [why](Refusal) and does not wait.
///
/// It is not lock-free: if a producer loses its core after it has reserved a place and before it
/// has written its value, all other producers are refused until it goes on. The consumer reads what
/// was there before, and nothing is lost. Whoever retries for long should yield its core.
///
/// ```
/// use warpline_memory::{Refusal, cas_ring};
/// let (mut first, mut consumer) = cas_ring(2);
/// let mut second = first.clone();
/// assert!(first.push(1).is_ok() && second.push(2).is_ok());
/// assert_eq!(first.push(3).unwrap_err().why, Refusal::Full);
/// let mut found = Vec::new();
/// assert_eq!(consumer.drain(usize::MAX, |value| found.push(value)), 2);
/// assert_eq!(found, [1, 2]);
/// assert!(consumer.is_empty());
/// assert_eq!((first.counts().pushed, first.counts().full, second.counts().pushed), (1, 1, 1));
/// ```
///
/// # Panics
/// If there is not enough memory, it [unwinds](crate::Exhausted::unwind).
pub fn cas_ring<T: Send>(capacity: usize) -> (CasProducer<T>, CasConsumer<T>) {
    cas_ring_in(&Region::own(), None, capacity)
}

/// As [`cas_ring`], in a region. If processes share the region, values must be portable; each
/// process has both ends, but only one of them may use the one where values come out.
///
/// # Panics
/// As [`cas_ring`]; also if processes share the region without a proof that values are portable.
pub fn cas_ring_in<T: Send>(
    region: &Region,
    portable: Option<IsPortable<T>>,
    capacity: usize,
) -> (CasProducer<T>, CasConsumer<T>) {
    let capacity = rounded(capacity);
    let places =
        region.place_empty(capacity, "the queue of several producers", portable, Place::empty);
    let shared = Arc::new(Shared { indices: region.place(Indices::default()), places });
    (
        CasProducer { shared: shared.clone(), read: 0, counts: CasCounts::default() },
        CasConsumer { shared, read: 0 },
    )
}

/// How many bytes a ring takes in a region.
pub const fn cas_ring_bytes<T>(capacity: usize) -> usize {
    let places = rounded(capacity) * size_of::<Place<T>>();
    places.next_multiple_of(region::APART) + size_of::<Indices>().next_multiple_of(region::APART)
}

/// How many values a ring has room for if this capacity is asked for.
const fn rounded(capacity: usize) -> usize {
    capacity.checked_next_power_of_two().expect("the capacity of a ring is a power of two")
}

/// The index of a place that was found free, when all values before it had been written.
struct Free(u64);

/// The index of a place that was found free, and that one producer has reserved.
struct Reserved(u64);

impl<T> CasProducer<T> {
    /// How many values this producer has pushed, and how often it was refused.
    pub fn counts(&self) -> CasCounts {
        self.counts
    }
}

impl<T: Send> CasProducer<T> {
    /// Appends a value, unless it is refused.
    ///
    /// # Errors
    /// The value, and why it was refused.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), Refused<T>> {
        self.shared.push(&mut self.read, &mut self.counts, value)
    }

    /// Appends a value, spinning while it is refused, in up to `tries` attempts, at least one.
    ///
    /// # Errors
    /// The value, and why it was last refused. Each refusal is counted.
    #[inline]
    pub fn push_within(&mut self, mut value: T, tries: u32) -> Result<(), Refused<T>> {
        for _ in 1..tries {
            match self.push(value) {
                Ok(()) => return Ok(()),
                Err(refused) => value = refused.value,
            }
            spin_loop();
        }
        self.push(value)
    }
}

impl<T: Send> Shared<T> {
    /// Appends a value, unless it is refused. `seen` is the read index when it was last read.
    #[inline]
    fn push(&self, seen: &mut u64, counts: &mut CasCounts, value: T) -> Result<(), Refused<T>> {
        match self.look(seen).and_then(|free| self.reserve(free)) {
            Ok(place) => {
                self.write(place, value);
                counts.pushed += 1;
                Ok(())
            }
            Err(why) => {
                match why {
                    Refusal::Full => counts.full += 1,
                    Refusal::InProgress => counts.in_progress += 1,
                    Refusal::Collision => counts.collisions += 1,
                }
                Err(Refused { value, why })
            }
        }
    }

    /// Looks for a free place.
    #[inline(always)]
    fn look(&self, seen: &mut u64) -> Result<Free, Refusal> {
        let Indices { read, write, reserved } = &*self.indices;
        // Acquire pairs with the Release of the producer that wrote the value before this one. It
        // makes a chain of all values: a consumer that sees the last one has to see those before.
        let write = write.0.load(Ordering::Acquire);
        if write >= *seen + self.capacity() {
            // Acquire pairs with the Release of the consumer, which has read what was in the place.
            *seen = read.0.load(Ordering::Acquire);
            if write >= *seen + self.capacity() {
                return Err(Refusal::Full);
            }
        }
        // Relaxed: a stale value is noticed when the place is reserved.
        if reserved.0.load(Ordering::Relaxed) != write {
            return Err(Refusal::InProgress);
        }
        Ok(Free(write))
    }

    /// Reserves the place, unless another producer has done so in the meantime.
    #[inline(always)]
    fn reserve(&self, Free(place): Free) -> Result<Reserved, Refusal> {
        // Relaxed: it decides who writes, and passes nothing on. What the place depends on was
        // acquired when it was found free, and stays true, as no index ever goes back.
        match self.indices.reserved.0.compare_exchange(
            place,
            place + 1,
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            Ok(_) => Ok(Reserved(place)),
            Err(_) => Err(Refusal::Collision),
        }
    }

    /// Writes the value.
    #[inline(always)]
    fn write(&self, Reserved(place): Reserved, value: T) {
        // SAFETY: the place was free, so the consumer has read what was in it and will not reach it
        // before the write index is past it. No other producer has reserved it, or ever will.
        self.place(place).with_mut(|there| unsafe { *there = MaybeUninit::new(value) });
        let write = &self.indices.write.0;
        // The paper advances it by compare-and-swap, to notice faults. But nobody else reserves a
        // place before this, let alone writes.
        debug_assert_eq!(
            write.load(Ordering::Relaxed),
            place,
            "only the producer that has reserved moves the write index"
        );
        // Release pairs with the Acquires of the consumer, which may then read the value, and of
        // the producer that writes the next one.
        write.store(place + 1, Ordering::Release);
    }
}

impl<T> Clone for CasProducer<T> {
    fn clone(&self) -> Self {
        CasProducer { shared: self.shared.clone(), read: self.read, counts: CasCounts::default() }
    }
}

impl<T: Send> CasConsumer<T> {
    /// Gives up to `most` of the values that have arrived by now to `take`, oldest first, and
    /// returns how many. The place of each is free before `take` is called; if that panics, the
    /// values after it stay in the ring.
    #[inline]
    pub fn drain(&mut self, most: usize, mut take: impl FnMut(T)) -> usize {
        // Acquire pairs with the Release of the producer that wrote the last value, and by its own
        // Acquire with those before.
        let arrived = self.shared.indices.write.0.load(Ordering::Acquire) - self.read;
        let count = usize::try_from(arrived).map_or(most, |arrived| arrived.min(most));
        for _ in 0..count {
            // SAFETY: the value is between read and write, so it has been written, and no producer
            // reserves its place again until the read index is past it. It is read only once, as
            // the index moves on right away.
            let value =
                self.shared.place(self.read).with(|place| unsafe { (*place).assume_init_read() });
            self.read += 1;
            // Release pairs with the Acquire of a producer that looks for a free place, which may
            // then write there.
            self.shared.indices.read.0.store(self.read, Ordering::Release);
            take(value);
        }
        count
    }

    /// Whether no value has arrived. One that is being written has not.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Acquire pairs with the Release of the producer: a caller that finds values sees
        // everything done before they were pushed.
        self.shared.indices.write.0.load(Ordering::Acquire) == self.read
    }
}

impl<T> fmt::Debug for CasProducer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CasProducer").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for CasConsumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CasConsumer").field("read", &self.read).finish_non_exhaustive()
    }
}
