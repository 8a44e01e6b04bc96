//! Attacks the engine: runs random models with random settings, and compares each with the
//! sequential run. README.md explains how.

pub mod attack;
pub mod case;
pub mod check;
mod draw;
pub mod models;
mod nasty;
mod nasty_processes;
mod worker;
