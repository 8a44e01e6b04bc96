//! Runs of the Warpline simulator: from a model and its settings to a record, by one engine or
//! several, sequentially and in parallel.
//!
//! Programs depend on `warpline`, which hands on what is theirs of this crate. What else is public
//! here is for the command line.

mod builder;
mod conclude;
mod job;
mod machine;
mod outcome;
mod parallel;
mod plan;
mod policy;
pub mod processes;
mod replications;
mod segments;
mod sequential;
pub mod settings;
mod state;
mod watch;

pub use builder::Simulation;
pub use machine::boost::HAS_BOOST;
pub use machine::provenance;
pub use outcome::verify;
pub use outcome::{
    CORES, DividedGroups, Error, Explanation, Failure, LongEvent, Mismatch, Place, Records, Run,
    Share, TableRows, TraceSummary, UnequalRuns, Verification, VerifiedKind, VerifyError,
    VerifyLimits,
};
pub use plan::PlannedSetting;
pub use replications::{Replicated, Spread};
pub use settings::{
    Barrier, BufferPool, Cancellation, Carrier, Communication, CommunicationRing, Conservative,
    CopyInterval, EventCost, FossilCollection, GoAhead, GvtAlgorithm, GvtIntervalControl, GvtStart,
    Horizon, LpChoice, MachineScale, Mailbox, MemoryLimit, Messages, Pending, PoolOrder,
    SettingError, Settings, SubPool, Synchronisation, Undo,
};
pub use warpline_explain::{
    BusiestPe, CoreFindings, Findings, LpDelay, LpWork, PathFindings, Slice,
};
pub use warpline_kernel::{Position, pending};
pub use warpline_machine::FigureGroup;
pub use warpline_model::*;
pub use watch::{Progress, StopSwitch};

/// What a program around a model usually needs, in one `use`.
pub mod prelude {
    pub use crate::{Error, Pending, Records, Run, Simulation, Undo, VerifyError};
    pub use warpline_model::prelude::*;
}
