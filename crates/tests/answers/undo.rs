//! One answer, however a run is executed: ways to undo events, and payloads of events, each tested
//! with its own models.
#![cfg(not(miri))]

mod copies_and_drops;
mod copy_intervals;
mod forwarding;
mod journal;
mod speculation;
mod timers;
mod wire;
