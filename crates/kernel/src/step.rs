/// What a step of a PE did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It executed events or initialised LPs.
    Worked,
    /// It had nothing to execute: the PE waits for others.
    Idle,
    /// The run is over, and everything has committed.
    Finished,
    /// The run is over, as a mistake of the model has committed.
    Failed,
}
