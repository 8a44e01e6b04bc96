//! The commands, as they are typed.

/// Runs a model.
pub(crate) const RUN: &str = "run";
/// Tries out its undo.
pub(crate) const VERIFY: &str = "verify";
/// Finds out how fast it could be.
pub(crate) const EXPLAIN: &str = "explain";
/// Runs it on several engines in turn.
pub(crate) const COMPARE: &str = "compare";
/// Writes a project.
pub(crate) const NEW: &str = "new";
/// Repeats an experiment.
pub(crate) const STUDY: &str = "study";
