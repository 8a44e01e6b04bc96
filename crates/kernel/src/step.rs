/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There was something to do.
    Worked,
    /// There was nothing to execute: the PE waits for others.
    Idle,
    /// The run is over, and everything has committed.
    Finished,
    /// The run is over, because a mistake of the model has committed.
    Failed,
}
