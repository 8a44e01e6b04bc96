//! One answer, however a run is executed: ways to undo events, and what events carry, with models
//! of their own.
#![cfg(not(miri))]

mod copies_and_drops;
mod copy_intervals;
mod forwarding;
mod journal;
mod speculation;
mod wire;
