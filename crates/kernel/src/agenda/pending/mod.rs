//! The pending event set: what has yet to happen, soonest first.
//!
//! Sets hold small [`Entry`]s, not events: the time and the first part of the tie-break are in the
//! entry, so that comparing two entries almost never touches an event. Only where both agree do
//! sets ask a [`Ties`] to look at the events themselves.
//!
//! Two kinds stand behind one interface: [`Heap`], a 4-ary heap, and [`Ladder`], which sorts by
//! distribution into buckets of time; [`AnyPending`] is either of them. Both pass the conformance
//! suite in `tests/all/conformance.rs`.
//!
//! The ladder is the default. `make bench` measures both: the heap is faster below some thousand
//! entries and then grows with log n, while the ladder stays flat up to 10⁷. So the ladder keeps
//! small sets in a heap beside its lowest rung. Its buckets are bit fields of the time and not
//! quotients, so that rounding cannot disturb their order.

mod any;
mod bucket;
mod heap;
mod ladder;
mod set;

pub use any::AnyPending;
pub use heap::Heap;
pub use ladder::Ladder;
pub use set::{Entry, PendingSet, Ties};
