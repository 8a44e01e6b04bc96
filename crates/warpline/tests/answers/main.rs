//! One answer, however a run is executed. All in one program: most of these tests build the same models into the same engines, which need
//! compiling only once. How runs behave otherwise is in a second program, so that two cores can compile them at the same time.
#![cfg(not(miri))]

mod books;
mod budget;
mod copies_and_drops;
mod copy_intervals;
mod forwarding;
mod golden;
mod handovers;
mod history;
mod journal;
mod large_clusters;
mod lookahead;
mod mixed;
mod one_answer;
mod order;
mod pools;
mod speculation;
mod thrashing;
mod threads;
mod torture;
mod windows;
mod wire;
