//! Models of processes.

mod engines;
mod first_steps;
mod mistakes;
mod story;
mod truth;
mod waiting;
