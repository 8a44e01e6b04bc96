//! The simulation that a program prepares: its settings, who watches it, and what it is prepared
//! for.

mod engine;
mod examination;
mod for_tests;
mod processes;
mod simulation;
mod supervision;

pub use simulation::Simulation;
