//! Programs of MPI, whose LPs are ranks.

pub mod mupi_barrier;
pub mod mupi_ping;
pub mod stencil;
mod target;
