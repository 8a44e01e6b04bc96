//! How the benchmarks measure, and messages between processes by rival carriers, which have tests.
//! The other measurements are in the program, which is not compiled for tests.

pub mod measuring;
pub mod rivals;
