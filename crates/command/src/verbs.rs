//! The commands, as they are typed.

/// Runs a model.
pub(crate) const RUN: &str = "run";
/// Verifies a model: undo, and the same answer in another process.
pub(crate) const VERIFY: &str = "verify";
/// Searches for a schedule that goes wrong.
pub(crate) const TORTURE: &str = "torture";
/// Explains how fast a model could be.
pub(crate) const EXPLAIN: &str = "explain";
/// Runs a model on several engines in turn.
pub(crate) const COMPARE: &str = "compare";
/// Writes a project.
pub(crate) const NEW: &str = "new";
/// Repeats an experiment.
pub(crate) const STUDY: &str = "study";
/// Measures this machine.
pub(crate) const CALIBRATE: &str = "calibrate";

/// Prints what a shell needs to complete a command line.
pub(crate) const COMPLETIONS: &str = "completions";

/// The commands that take a model and settings.
pub(crate) const OF_MODELS: [&str; 5] = [RUN, VERIFY, TORTURE, EXPLAIN, COMPARE];
