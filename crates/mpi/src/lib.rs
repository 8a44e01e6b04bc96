//! A thin, safe layer over MPI: what an engine needs to run on several machines, and no more.
//!
//! [`Launch::detect`] says whether a launcher such as `mpirun` started this program. All else is
//! there only with the cargo feature `mpi`, which needs an MPI library to build; [`AVAILABLE`] says
//! whether this build has it. Any library that follows MPI 3.0 will do, but the program must then
//! be started with that library's launcher. A shim in C hides what differs between libraries.
//! Everything borrows `Mpi`, so nothing outlives it.
//!
//! | to | there is |
//! |---|---|
//! | start and finish MPI, or end all ranks | `Mpi` |
//! | keep messages of different threads or purposes apart | `Comm`, `Tag` |
//! | know which ranks share a machine | `Nodes` |
//! | send batches of bytes, and now and then a large message | `SendPool`, `Buffer` |
//! | receive them | `Receiver` |
//! | find minima and sums over all ranks, or when all have arrived | `Reducer`, `Barrier` |
//! | collect bytes at rank 0, or hand them out | `Comm::gather`, `Comm::broadcast` |
//!
//! # Guarantees
//!
//! - Nothing waits for another rank unless its documentation says so.
//! - Messages of one rank with one tag of one communicator arrive in the order in which they were
//!   sent, whatever their lengths.
//! - Memory that MPI may read or write cannot be reached, or freed, until MPI is done with it. If
//!   that can no longer be found out, the memory is leaked.
//! - MPI is called only between its start and its end, and only by threads that may.
//! - Errors of MPI are returned in MPI's own words; they do not end the program.

mod launch;
#[cfg(feature = "mpi")]
mod library;

pub use launch::Launch;
#[cfg(feature = "mpi")]
pub use library::*;

/// Whether this was built with the feature `mpi`.
pub const AVAILABLE: bool = cfg!(feature = "mpi");

/// The longest message that can be sent, in bytes: 2 GiB − 1, as MPI counts them by `int`.
pub const LONGEST_MESSAGE: usize = i32::MAX as usize;
