//! One answer, however a run is executed: ways to execute it, with models of their own.
#![cfg(not(miri))]

mod handovers;
mod history;
mod lookahead;
mod mixed;
mod order;
mod threads;
