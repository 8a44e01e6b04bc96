//! Limits the time that a test may take, so that an engine that hangs is a failure with a message
//! instead of a build that never ends.

use std::fmt::Debug;
use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The variable that sets another limit, in seconds.
const VARIABLE: &str = "WARPLINE_TIME_LIMIT";
/// Many times what the longest run of a test takes on a busy machine.
const SECONDS: u64 = 300;

/// A limit that holds until this is dropped.
#[must_use = "the limit holds until this is dropped"]
#[derive(Debug)]
pub struct TimeLimit {
    _running: Sender<()>,
}

/// Ends the process with a message, unless the returned value is dropped within 300 seconds (or
/// those in `WARPLINE_TIME_LIMIT`). It ends the process because a thread that loops for ever cannot
/// be stopped on its own. The message has the name of the test, and `what` is run.
///
/// ```
/// let _limit = warpline_testkit::time_limit("an endless loop");
/// # if false {
/// loop {}
/// # }
/// ```
pub fn time_limit(what: impl Debug + Send + 'static) -> TimeLimit {
    let (running, ended) = channel();
    let seconds =
        std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let test = thread::current().name().unwrap_or("a test").to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout) {
            let message = format!(
                "{test} hangs: it has not ended within {seconds} s ({VARIABLE} allows more)\n  \
                 in {what:?}\n"
            );
            // Not by a macro, whose output the test harness would capture.
            let _ = std::io::stderr().write_all(message.as_bytes());
            std::process::abort();
        }
    });
    TimeLimit { _running: running }
}
