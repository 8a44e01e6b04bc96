//! Calls of all ranks of a communicator, by the algorithms that real libraries use.
//!
//! Each is made of messages between ranks, so what it costs follows from the network. Combining
//! values takes no time. Which algorithm is used depends on sizes, as in MPICH, where a program does
//! not name one (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
//! operations in MPICH", IJHPCA 19(1), 2005).

mod allgather;
mod alltoall;
mod barrier;
mod bcast;
mod choice;
mod fold;
mod gather;
mod reduce;
mod ring;
mod scan;
mod steps;

pub use self::choice::{AllgatherBy, AllreduceBy, AlltoallBy, BcastBy, ReduceBy};
