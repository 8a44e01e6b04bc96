//! The pending event set: what has yet to happen, soonest first.
//!
//! Sets hold small [`Entry`]s, not events: the time and the first part of the tie-break are in the entry, so that
//! comparing two entries almost never touches an event. Only where both agree do sets ask a [`Ties`] to look at the
//! events themselves.
//!
//! Two kinds stand behind one interface: [`Heap`], a 4-ary heap, and [`Ladder`], which sorts by distribution into
//! buckets of time; [`AnyPending`] is either of them. All pass the conformance suite in `tests/conformance.rs`.

mod any;
mod bucket;
mod heap;
mod ladder;
mod set;

pub use any::AnyPending;
pub use heap::Heap;
pub use ladder::Ladder;
pub use set::{Entry, PendingSet, Ties};
