//! The program around models, and what it says of each.

pub(crate) mod catalogue;
pub(crate) mod page;
pub(crate) mod program;
