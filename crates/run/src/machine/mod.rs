//! What the machine has, and how much of it a run may take and gets: memory and cores. What this
//! build has beside the engine.

pub(crate) mod boost;
pub(crate) mod budget;
mod control_groups;
pub(crate) mod core_time;
pub(crate) mod memory_use;
pub mod provenance;
