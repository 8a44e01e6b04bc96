//! What runs, explanations and verifications end with: values, errors, and the rows of a run.

pub(crate) mod error;
mod explanation;
mod long_event;
pub(crate) mod rows;
mod run;
mod share;
pub(crate) mod tellings;
mod trace_summary;
pub mod verify;

pub use error::{Error, Failure, Place};
pub use explanation::{CORES, DividedGroups, Explanation};
pub use long_event::LongEvent;
pub use rows::{Records, TableRows};
pub use run::Run;
pub use share::Share;
pub use trace_summary::TraceSummary;
pub use verify::{Mismatch, UnequalRuns, Verification, VerifiedKind, VerifyError, VerifyLimits};
