//! What the engines of one run hand on to each other: the state of the run between two of them, and
//! its monitor.

pub(crate) mod run_monitor;
pub(crate) mod run_state;
