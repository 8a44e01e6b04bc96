//! A queue from one thread to another: what both ends share, the end where values go in, and the end
//! where they come out.

pub use self::consumer::{Consumer, Drain};
pub use self::producer::Producer;
use self::shared::{Cell, Indices, Leftover, Shared};
use crate::sync::Arc;
use crate::{IsPortable, Region, region};

mod consumer;
#[cfg(all(test, loom))]
mod loom_tests;
mod producer;
mod shared;
#[cfg(all(test, not(loom)))]
mod tests;

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
    let cells = region.place_empty(capacity, "the queues between PEs", portable, Cell::empty);
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
