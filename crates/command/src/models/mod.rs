//! The models of a program, the program around them, and what it says of each.

pub(crate) mod catalogue;
pub(crate) mod page;
pub(crate) mod program;
