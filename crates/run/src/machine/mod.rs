//! What the machine has, and how much of it a run may take and gets: memory and cores.

pub(crate) mod budget;
mod control_groups;
pub(crate) mod core_time;
pub(crate) mod memory_use;
pub mod provenance;
