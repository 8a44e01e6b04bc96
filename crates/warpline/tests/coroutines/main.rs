//! Runs of models of processes.

mod first_steps;
mod telling;
