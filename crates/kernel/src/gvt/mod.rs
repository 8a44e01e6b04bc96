//! Global virtual time (GVT): a moment before which nothing can be undone any more, found by all
//! PEs together.
//!
//! The algorithms are state machines, one per PE: a PE reports messages to its machine, which
//! answers with control messages to send to other PEs or to write into their memory and, in the
//! end, with a [`Verdict`] to adopt. They know nothing of clocks, threads or wires, and rely on no
//! order among messages of any kind; every control message must arrive exactly once.
//!
//! * [`Asynchronous`]: PEs go on executing while GVT is computed (epochs and colours).
//! * [`OneSided`]: the same, but PEs write straight into each other's memory.
//! * [`Synchronous`]: PEs pause until nothing is in flight (four counters). Simpler and slower, it
//!   is a check on the others. They reduce by messages or at a [`Barrier`], and from there over all
//!   ranks by [`AllReduce`].
//! * [`Gsu`]: GVT is read from registers in shared memory, without control messages.
//!
//! The README beside this file explains each of them, step by step.
//!
//! Reductions go over a [`Hierarchy`] of the PEs. Messages that still wait at their sender count as
//! in flight, so PEs should hand over often while [`Gvt::is_on`]. Fewer reductions are needed if a
//! PE hands messages over before it sends control messages, and takes control messages before it
//! receives other messages.

mod algorithm;
mod all_reduce;
mod any;
mod asynchronous;
mod barrier;
mod gsu;
mod hierarchy;
mod interval;
mod messages;
mod one_sided;
mod protocol;
mod put;
mod reduction;
mod shares;
mod synchronous;

pub use algorithm::GvtAlgorithm;
pub use all_reduce::{ALL_REDUCE_KEY, ALL_REDUCE_SUMS, ALL_REDUCE_WORDS, AllReduce, RankPlaces};
pub use any::AnyGvt;
pub use asynchronous::Asynchronous;
pub use barrier::Barrier;
pub use gsu::{Gsu, RegisterAccesses};
pub use hierarchy::Hierarchy;
pub use interval::{IntervalControl, IntervalHistory, IntervalUnit, Pacer, PacerDriver};
pub use messages::{Control, Share, Tag, Verdict, Work};
pub use one_sided::OneSided;
pub use protocol::{Action, Gvt, Local};
pub use put::{BLOCK_WORDS, Put};
pub use synchronous::Synchronous;
