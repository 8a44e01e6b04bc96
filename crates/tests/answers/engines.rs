//! One answer, however a run is executed: engines and threads, each tested with its own models.
#![cfg(not(miri))]

mod driven_by_gvt;
mod handovers;
mod history;
mod lookahead;
mod mixed;
mod order;
mod threads;
