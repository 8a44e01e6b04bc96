//! What the benchmarks measure with, and messages between processes by rival carriers, which have
//! tests. The measurements themselves are in the program, which is not compiled for tests.

pub mod measuring;
pub mod rivals;
