//! How panics are reported. The engine makes an error of a panic in a model; any other panic is a
//! mistake in Warpline itself.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::sync::{Mutex, PoisonError};

/// What is known about a panic.
#[derive(Clone, Debug)]
pub(crate) struct PanicReport {
    pub(crate) message: String,
    /// File and line; also the backtrace, if the environment asks for one.
    pub(crate) place: String,
}

static LAST: Mutex<Option<PanicReport>> = Mutex::new(None);

/// Silences panics, and remembers the last one.
pub(crate) fn remember() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("without a message").to_owned();
        let mut place =
            info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            place = format!("{place}\n{trace}");
        }
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(PanicReport { message, place });
    }));
}

/// The last panic.
pub(crate) fn last() -> Option<PanicReport> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
