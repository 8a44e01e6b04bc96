//! Memory and cores of the machine, how much of them a run may take, and how much it gets. What
//! this build has beside the engine.

pub(crate) mod boost;
pub(crate) mod budget;
mod control_groups;
pub(crate) mod core_time;
pub(crate) mod memory_use;
pub mod provenance;
