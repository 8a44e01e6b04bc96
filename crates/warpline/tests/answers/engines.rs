//! One answer, however a run is executed: engines and threads, each tested with its own models.
#![cfg(not(miri))]

mod handovers;
mod history;
mod lookahead;
mod mixed;
mod order;
mod threads;
