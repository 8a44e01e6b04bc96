//! All integration tests of the kernel, in one program: one is quicker to build than many.
#![cfg(not(miri))]

mod by_hand;
mod cancellation;
mod conformance;
mod engine_faults;
mod failures;
mod faulty_wires;
mod gvt;
mod gvt_cases;
mod histories;
mod lost_lps;
mod mail;
mod mixed;
mod rollbacks;
mod sequential;
mod timers;
mod traces;
