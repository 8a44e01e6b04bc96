//! What is settled about a run before it begins.
//!
//! Settings stay as they were given. From them, and from facts about the model and the machine,
//! follow two plans, which nobody changes: a [`RunPlan`] for the whole run, and a [`ParallelPlan`]
//! for each of its segments that a parallel engine executes. Engines read the plan, and the record
//! prints it. Each value that was left to the engine follows from one rule, in `choices`, and the
//! plan says why it is what it is.

pub(crate) mod choices;
mod facts;
mod partition;
mod preview;
mod reason;
mod record;
mod run_plan;
mod segment;

pub(crate) use self::facts::{Facts, Machines, cores};
pub use self::preview::PlannedSetting;
pub(crate) use self::run_plan::{ProcessPlan, RunPlan};
pub(crate) use self::segment::{FarPlan, ParallelPlan};
