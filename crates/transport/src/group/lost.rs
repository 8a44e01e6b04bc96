/// A process that is gone, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("process {number} of {of} {why}")]
pub struct Lost {
    /// Its number, from 0.
    pub number: u32,
    /// How many there were.
    pub of: u32,
    /// How it ended, or its own failure report.
    pub why: String,
}
