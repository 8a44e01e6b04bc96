//! What a run ends with in a process that only does a share of it.

use std::fmt;
use std::process::ExitCode;

/// This process was one of several of a run, and not the first, which alone has the results. It is
/// to end now: the first one waits for that, but not for long.
///
/// ```
/// # use warpline::prelude::*;
/// # use std::process::ExitCode;
/// # use warpline_testkit::examples::{Clock, Example};
/// # fn simulation() -> Simulation<'static, Example> { Simulation::new(Clock) }
/// fn main() -> Result<ExitCode, Error> {
///     let run = match simulation().run() {
///         Err(Error::Share(share)) => return Ok(share.end()),
///         outcome => outcome?,
///     };
///     println!("{} events", run.record.committed_events);
///     Ok(ExitCode::SUCCESS)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Why the run could not go on, if another process was lost.
    loss: Option<String>,
    /// Whether no other process can say so.
    is_to_tell: bool,
}

impl Share {
    /// This process has done all that it had to do.
    pub(crate) fn done() -> Self {
        Share { loss: None, is_to_tell: false }
    }

    /// The run was given up, as another process was lost.
    pub(crate) fn lost(loss: String, is_to_tell: bool) -> Self {
        Share { loss: Some(loss), is_to_tell }
    }

    /// Whether the share was done. Otherwise another process was lost, and the run with it.
    pub fn is_done(&self) -> bool {
        self.loss.is_none()
    }

    /// The exit code for this process. If the run has failed, and the first process, which would
    /// say why, is gone, one of the others prints it here.
    pub fn end(&self) -> ExitCode {
        let Some(loss) = &self.loss else { return ExitCode::SUCCESS };
        if self.is_to_tell {
            eprintln!("error: {loss}");
        }
        ExitCode::FAILURE
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.loss {
            None => f.write_str(
                "this process has done its share of the run, and the first process has the results",
            ),
            Some(loss) => f.write_str(loss),
        }
    }
}
