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

impl Lost {
    /// The same of a process that was to begin a run, and has not.
    pub(super) fn before_the_run(mut self) -> Self {
        if self.why.starts_with("ended with") {
            self.why += " before it began this run: each process executes the program from its \
                         beginning, and has to begin the same runs, with the same parameters and \
                         settings";
        }
        self
    }
}
