//! The section on parallel execution: what it cost, where the time went, and what to do about it.

mod bars;
mod section;
mod shares;
mod words;

pub(crate) use bars::Data;
pub(crate) use section::section;
