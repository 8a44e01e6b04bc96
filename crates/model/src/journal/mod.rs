//! The journal of a state: for each change, the old value and its place in the state. An event is
//! undone by restoring the old values, the last one first. Parts of the state that do not change
//! are never copied.
//!
//! A value is found again by its address: `#[derive(Journaled)]` compares the addresses of fields
//! as numbers, which finds the way through structs, arrays and variants in safe code. The items of
//! a growing list do not lie in the state itself, so a [`Queue`] logs how to undo each of its
//! changes.

pub(crate) mod changing;
pub(crate) mod journaled;
pub(crate) mod log;
pub(crate) mod queue;
pub(crate) mod saved;
mod values;

#[cfg(test)]
mod tests;
