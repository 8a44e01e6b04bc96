//! One answer, however a run is executed: random models, and golden digests. Tests of the same
//! models are in one program, so that engines are compiled for them only once. Tests of other
//! models are in programs of their own (`engines.rs`, `machines.rs`, `undo.rs`), as a compiler takes
//! memory for all that is in one.
#![cfg(not(miri))]

mod books;
mod budget;
mod golden;
mod large_clusters;
mod one_answer;
mod pools;
mod testkit;
mod thrashing;
mod torture;
mod windows;
