//! Why the command stopped, and what becomes of a panic.

pub(crate) mod panics;

use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::error::ErrorKind;
use warpline_report::ReportError;
use warpline_run::{Error, Share};

/// Why the command stopped: a message for people, and the exit code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
    /// Whether programs have been told on stdout.
    pub(crate) printed: bool,
    /// Set if nothing failed, and this process only had a share in a run of several.
    pub(crate) share: Option<Share>,
}

impl Failure {
    /// The simulation or the writing of its outputs failed.
    pub(crate) const FAILED: u8 = 1;
    /// The command was used wrongly; nothing was simulated.
    pub(crate) const USAGE_ERROR: u8 = 2;

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: Self::FAILED, printed: false, share: None }
    }

    pub(crate) fn wrong_use(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: Self::USAGE_ERROR, printed: false, share: None }
    }

    /// The same failure, which is part of an object that has been printed.
    pub(crate) fn printed(self) -> Self {
        Failure { printed: true, ..self }
    }

    /// The same failure, at a place in a file.
    pub(crate) fn at(self, place: Option<&str>) -> Self {
        let message = place.map(|place| format!("{place}: {}", self.message));
        Failure { message: message.unwrap_or(self.message), ..self }
    }
}

/// Runs the command, and turns an uncaught panic into a failure: it is a bug in Warpline.
pub(crate) fn guard(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let what = panics::last().map_or_else(String::new, |panic| {
            format!(
                ": {}\n  it panicked at \
                                                                            {}",
                panic.message, panic.place
            )
        });
        Err(Failure::failed(format!(
            "this is a bug in Warpline{what}\n  please report this, with the command that you \
             typed and its version ({}), at {}",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        )))
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match &error {
            // `Error::Trace` is a trace that cannot be created; nothing was simulated yet.
            Error::Setting(_) | Error::Trace { .. } => Self::wrong_use(error.to_string()),
            Error::Share(share) => {
                Failure { share: Some(share.clone()), ..Self::failed(share.to_string()) }
            }
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::NoRecord { .. }
            | ReportError::Read { .. }
            | ReportError::Broken { .. } => Self::wrong_use(error.to_string()),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Self::wrong_use(format!("a command is missing\n\n{}", text.trim_end()))
            }
            _ => Self::wrong_use(text.trim_start_matches("error: ").trim_end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_our_own_is_a_failure_that_asks_for_a_report() {
        let failure = guard(|| panic!("oh no")).unwrap_err();
        assert_eq!(failure.code, Failure::FAILED);
        assert!(failure.message.contains("please report this"), "{}", failure.message);
    }
}
