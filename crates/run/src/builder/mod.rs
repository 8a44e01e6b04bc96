//! The simulation that a program prepares: its settings, its audience, and what is done with it.

mod engine;
mod examination;
mod for_tests;
mod processes;
mod simulation;
mod supervision;

pub use simulation::Simulation;
