//! What the engines of one run hand on to each other: what the run is between two of them, and who
//! watches it.

pub(crate) mod run_monitor;
pub(crate) mod run_state;
