//! What is settled about a run before it begins.
//!
//! Settings stay as they were given. Two plans follow from them, and from facts about the model and
//! the machine: a [`RunPlan`] for the whole run, and a [`ParallelPlan`] for each segment that a
//! parallel engine executes. They are made here and are plain data from then on: fields that all may
//! read, and nothing changes. Engines read the plan, and the record prints it.
//! Each value that was left to the engine follows from one rule, in `choices`, and the plan gives
//! the reason.

pub(crate) mod choices;
mod facts;
mod modelled;
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
