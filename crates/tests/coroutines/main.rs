//! Models of processes.

mod conditions;
mod engines;
mod first_steps;
mod interrupts;
mod mistakes;
mod sharing;
mod story;
mod telling;
mod truth;
mod values;
mod waiting;
