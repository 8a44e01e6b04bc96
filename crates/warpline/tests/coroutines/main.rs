//! Models of processes.

mod engines;
mod first_steps;
mod mistakes;
mod story;
mod telling;
mod truth;
mod waiting;
