//! All tests of the engines, in one program: most of them build the same models into the same engines, which need compiling only once.
#![cfg(not(miri))]

mod books;
mod budget;
mod copies_and_drops;
mod copy_intervals;
mod early_ends;
mod errors;
mod explain;
mod forwarding;
mod golden;
mod handovers;
mod history;
mod journal;
mod large_clusters;
mod long_events;
mod lookahead;
mod memory;
mod mixed;
mod observation;
mod one_answer;
mod order;
mod own_model;
mod pools;
mod replications;
mod settings;
mod slow_writer;
mod speculation;
mod support;
mod threads;
mod torture;
mod traces;
mod verify;
mod windows;
mod wire;
