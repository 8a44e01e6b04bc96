//! Runs of models of processes.

mod first_steps;
