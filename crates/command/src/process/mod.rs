//! Processes that this one starts, and signals that it gets.

pub(crate) mod child;
pub(crate) mod signals;
pub(crate) mod ways;
