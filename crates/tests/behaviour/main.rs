//! How runs behave, apart from their answer: errors and early ends, observations and reports,
//! settings, verification, explanations. All in one program, like the
//! [answers](../answers/main.rs).
#![cfg(not(miri))]

mod advice;
mod dependencies;
mod early_ends;
mod errors;
mod explain;
mod long_events;
mod memory;
mod observation;
mod own_model;
mod parameters;
mod plans;
mod replications;
mod settings;
mod side_by_side;
mod slow_writer;
mod state_digest;
mod support;
mod told;
mod traces;
mod verify;
