//! The model library of Warpline. Every model is also an example of the API: `mm1` first, then
//! `phold`, `simplesim`, `hypercube`, `pcs`, `network` and `replay`. Those in [`processes`] are
//! written as coroutines, and those in [`ranks`] as programs of MPI.

pub mod hypercube;
mod library;
pub mod mm1;
pub mod network;
pub mod pcs;
pub mod phold;
pub mod processes;
pub mod ranks;
pub mod replay;
pub mod simplesim;
mod studies;

#[cfg(not(test))]
use std::process::ExitCode;

pub use library::Library;
pub use studies::STUDIES;

/// Does what the command line of this process says, for the models of this library: the program
/// `warpline`. Call this in `main`: it prints, and replaces the panic hook.
// All engines are compiled for all models here, once: programs around this library link them. Its own
// unit tests need none.
#[cfg(not(test))]
pub fn command() -> ExitCode {
    warpline::command::with_new(&Library, STUDIES)
}
