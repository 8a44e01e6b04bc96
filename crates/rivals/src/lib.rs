//! A rival way to carry messages between processes of one machine. Warpline's own is measured
//! against it: alone, and as a carrier of whole runs.
//!
//! With the cargo feature `boost` this is Boost.Interprocess, with which G. F. Riley compared
//! zero-copy messages ("Hardware Supported Multi-Core Communications for Efficient Parallel
//! Discrete Event Simulations", final technical report, Georgia Institute of Technology). All
//! processes share one managed segment of memory. Senders allocate messages in it and receivers
//! free them, with one allocator behind one lock, and only offset pointers travel. The report does
//! not say how they travel. Here each receiver has a deque of offset pointers in the segment,
//! guarded by a mutex of its own. A condition variable would be of no use, as receivers poll.
//!
//! Without the feature there is only [`AVAILABLE`].

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
