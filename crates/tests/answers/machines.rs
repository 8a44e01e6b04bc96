//! One answer, however a run is executed: on modelled machines, and how it would go there.
#![cfg(not(miri))]

mod hardware;
mod modelled;
mod parts;
mod steps;
