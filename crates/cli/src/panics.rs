//! What is told of a panic. The engine makes an error of a panic in a model; any other panic is a mistake in Warpline itself.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::failure::Failure;

/// What is known of a panic.
#[derive(Clone, Debug)]
pub(crate) struct Panicked {
    message: String,
    /// File and line; also the backtrace, if the environment asks for one.
    pub(crate) place: String,
}

static LAST: Mutex<Option<Panicked>> = Mutex::new(None);

/// Keeps panics silent from now on, but remembers the last one.
pub(crate) fn remember() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("without a message").to_owned();
        let mut place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            place = format!("{place}\n{trace}");
        }
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Panicked { message, place });
    }));
}

/// The last panic.
pub(crate) fn last() -> Option<Panicked> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Runs the command, and makes a failure of a panic that nothing has caught.
pub(crate) fn guard(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let what = last().map_or_else(String::new, |panic| format!(": {}\n  it panicked at {}", panic.message, panic.place));
        Err(Failure::failed(format!(
            "something is wrong in Warpline itself{what}\n  please report this, with the command that you typed and its version ({}), at {}",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_our_own_is_a_failure_that_asks_for_a_report() {
        let failure = guard(|| panic!("oh no")).unwrap_err();
        assert_eq!(failure.code, 1);
        assert!(failure.message.contains("please report this"), "{}", failure.message);
    }
}
