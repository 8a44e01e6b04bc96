//! All that needs the MPI library.

mod blocking;
mod buffer;
mod comm;
mod error;
mod ffi;
mod litter;
mod nodes;
mod program;
mod receive;
mod reduce;
mod requests;
mod send;
mod session;
mod tag;

pub use buffer::Buffer;
pub use comm::Comm;
pub use error::{Error, Result};
pub use litter::remove_shared_memory;
pub use nodes::{NodeView, Nodes};
pub use program::Mpi;
pub use receive::{ReceiveLimits, Receiver};
pub use reduce::{Barrier, Reducer, Reduction};
pub use send::{SendLimits, SendPool, Sent};
pub use session::ThreadLevel;
pub use tag::Tag;
