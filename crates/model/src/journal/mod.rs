//! The journal of a state: for each change, the old value of what was changed, and where in the
//! state it lies. Events are undone from it, the last change first; parts of the state that no
//! event changes are never copied.
//!
//! A value is found again by its address: `#[derive(Journaled)]` compares the addresses of fields,
//! as numbers, and so finds its way through structs, arrays and variants in safe code. The entries
//! of a list that grows do not lie in the state, so a [`Queue`] logs what would undo each of its
//! changes.

pub(crate) mod changing;
pub(crate) mod journaled;
pub(crate) mod log;
pub(crate) mod queue;
pub(crate) mod saved;
mod values;

#[cfg(test)]
mod tests;
