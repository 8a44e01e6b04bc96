//! All tests of the command. One program is quicker to build than many.

#[cfg(target_os = "linux")]
mod book;
mod compare;
mod early_ends;
mod machines;
mod memory;
mod models;
mod mpi;
mod new;
mod parallel;
mod presets;
mod processes;
mod run;
mod scenario;
mod studies;
mod support;
mod torture;
mod ways;
