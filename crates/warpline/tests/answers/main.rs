//! One answer, however a run is executed: random models, and what is published. Tests of the same
//! models are in one program, as they build them into the same engines, which need compiling only
//! once; those of others are in programs of their own (`engines.rs`, `undo.rs`), as a compiler
//! takes memory for all that is in one.
#![cfg(not(miri))]

mod books;
mod budget;
mod golden;
mod large_clusters;
mod one_answer;
mod pools;
mod thrashing;
mod torture;
mod windows;
