//! Runs of the Warpline simulator: from a model and its settings to a record, by one engine or several, sequentially and in parallel.
//!
//! Programs depend on `warpline`, which hands on what is theirs of this crate. What else is public here is for the command line.

mod budget;
mod check;
mod conclude;
mod control_groups;
mod core_time;
mod drive;
mod engine_choice;
mod engine_selector;
mod error;
mod explanation;
mod finish;
mod job;
mod kinds;
mod long_event;
mod memory_use;
mod parallel;
mod parallel_settings;
mod policy;
pub mod processes;
pub mod provenance;
mod replications;
mod rows;
mod run;
mod run_monitor;
mod run_state;
mod segments;
mod sequential;
pub mod settings;
mod simulation;
mod supervision;
mod trace_summary;
pub mod verify;
mod watch;

pub use drive::Progress;
pub use error::{Error, Failure, Place};
pub use explanation::{CORES, DividedGroups, Explanation};
pub use long_event::LongEvent;
pub use replications::{Replicated, Spread};
pub use rows::{Records, TableRows};
pub use run::Run;
pub use settings::{
    Barrier, BufferPool, Cancellation, Carrier, Communication, CommunicationRing, Conservative, CopyInterval, EventCost, FossilCollection,
    GoAhead, GvtAlgorithm, GvtIntervalControl, LpChoice, Mailbox, MemoryLimit, Messages, Pending, PoolOrder, SettingError, Settings,
    SubPool, Synchronisation, Undo,
};
pub use simulation::Simulation;
pub use trace_summary::TraceSummary;
pub use verify::{Mismatch, UnequalRuns, Verification, VerifiedKind, VerifyError, VerifyLimits};
pub use warpline_explain::{BusiestPe, CoreFindings, Findings, LpDelay, LpWork, PathFindings, Slice};
pub use warpline_kernel::{Position, pending};
pub use warpline_model::*;
pub use warpline_transport::HAS_BOOST;
pub use watch::StopSwitch;

/// What a program around a model usually needs, in one `use`.
pub mod prelude {
    pub use crate::{Error, Pending, Records, Run, Simulation, Undo, VerifyError};
    pub use warpline_model::prelude::*;
}
