//! All that needs the MPI library.

mod blocking;
mod buffer;
mod comm;
mod error;
mod ffi;
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
pub use nodes::{NodeView, Nodes};
pub use program::Mpi;
pub use receive::{ReceiveLimits, Receiver};
pub use reduce::{Barrier, Reducer, Reduction};
pub use send::{SendLimits, SendPool, Sent};
pub use session::ThreadLevel;
pub use tag::Tag;
