//! How far a PE goes, how much it does at a time, and how much memory it takes. No answer depends
//! on any of it.

pub(crate) mod caution;
pub(crate) mod flow;
pub(crate) mod interval;
pub(crate) mod memory;
pub(crate) mod stride;
