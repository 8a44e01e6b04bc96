//! The model library of Warpline. Every model is also an example of the API: `mm1` first, then
//! `phold`, `simplesim`, `hypercube`, `pcs` and `network`. Those in [`processes`] are written as
//! coroutines, and those in [`ranks`] as programs of MPI.

pub mod hypercube;
mod library;
pub mod mm1;
pub mod network;
pub mod pcs;
pub mod phold;
pub mod processes;
pub mod ranks;
pub mod simplesim;
mod studies;

pub use library::Library;
pub use studies::STUDIES;
