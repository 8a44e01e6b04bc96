//! The pending event set: what has yet to happen, soonest first.
//!
//! Sets hold small [`Entry`]s, not events: the time and the first part of the tie-break are in the
//! entry, so that comparing two entries almost never touches an event. Only where both agree do
//! sets ask a [`Ties`] to look at the events themselves.
//!
//! Two kinds stand behind one interface: [`Heap`], a 4-ary heap, and [`Ladder`], which sorts by
//! distribution into buckets of time. Both pass the conformance suite in
//! `tests/all/conformance.rs`.
//!
//! `make bench` measures both: the heap is faster below some thousand entries and then grows with
//! log n, while the ladder stays flat up to 10⁷. So the ladder keeps small sets in a heap beside its
//! lowest rung. A run that is to use a heap has a ladder [without rungs](Ladder::without_rungs), so
//! that engines are compiled for one kind. The buckets of a ladder are bit fields of the time and
//! not quotients, so that rounding cannot disturb their order.

mod bucket;
mod heap;
mod ladder;
mod set;

pub use heap::Heap;
pub use ladder::Ladder;
pub use set::{Entry, PendingSet, Ties};
