//! Another way to bring messages from process to process of one machine, to measure Warpline's against: by themselves, and as a carrier of whole
//! runs.
//!
//! With the cargo feature `boost` there is Boost.Interprocess, as G. F. Riley used it as a rival of zero-copy messages ("Hardware Supported
//! Multi-Core Communications for Efficient Parallel Discrete Event Simulations", final technical report, Georgia Institute of Technology): one
//! managed segment of shared memory for all processes, in which senders allocate messages and receivers free them, all with one allocator
//! behind one lock, and of which only offset pointers travel. The report leaves open through what they travel. Here each receiver has a deque of
//! offset pointers in the segment, guarded by a mutex of its own; a condition variable would do nothing, as receivers poll.
//!
//! Without the feature there is nothing here but [`AVAILABLE`].

#[cfg(feature = "boost")]
mod error;
#[cfg(feature = "boost")]
mod ffi;
#[cfg(feature = "boost")]
mod heap;
#[cfg(feature = "boost")]
mod message;
#[cfg(feature = "boost")]
mod segment;

#[cfg(feature = "boost")]
pub use self::{
    error::{Error, Result},
    message::Message,
    segment::Segment,
};

/// Whether this was built with the feature `boost`.
pub const AVAILABLE: bool = cfg!(feature = "boost");
