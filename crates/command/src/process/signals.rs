//! Ctrl-C and SIGTERM: the first signal ends a run early, with the results so far; the second ends
//! the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::output;
use warpline_record::RunRecord;
use warpline_run::{Error, StopSwitch};

/// A signal this soon after the first is part of the same request: `timeout` and launchers send one
/// to the process and another to its group.
const SAME_WITHIN: Duration = Duration::from_millis(100);

/// The switch that a signal turns, and which signal it was.
pub(crate) struct Signals {
    pub(crate) switch: StopSwitch,
    received: Arc<AtomicI32>,
}

impl Signals {
    /// Listens until the program ends.
    pub(crate) fn listen() -> Self {
        let signals = Signals { switch: StopSwitch::default(), received: Arc::default() };
        #[cfg(unix)]
        signals.listen_in_a_thread();
        signals
    }

    #[cfg(unix)]
    fn listen_in_a_thread(&self) {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let switch = self.switch.clone();
        let received = self.received.clone();
        let listen = move || {
            let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else {
                return;
            };
            let mut requests = Requests::default();
            for signal in signals.forever() {
                match requests.heed(Instant::now()) {
                    Request::EndEarly => {
                        // Ordering: Relaxed, as it publishes nothing else. `failure` loads it after
                        // the run has ended, which takes far longer than the store.
                        received.store(signal, Ordering::Relaxed);
                        switch.stop();
                        output::remark(
                            "ending early, with the results so far; once more ends the program at \
                             once",
                        );
                    }
                    Request::Same => {}
                    Request::EndAtOnce => std::process::exit(128 + signal),
                }
            }
        };
        // If the system refuses the thread, signals keep their default action.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
    }

    /// Makes sure that this process learns how its children end, even if it has inherited that
    /// SIGCHLD is ignored.
    pub(crate) fn notice_children() {
        #[cfg(unix)]
        {
            // With any handler, the system keeps the status of children. If it refuses the handler,
            // each run still notices its own children.
            let _ = signal_hook::flag::register(
                signal_hook::consts::SIGCHLD,
                Arc::<AtomicBool>::default(),
            );
        }
    }

    /// The name of the signal that was received, and the exit code that follows from it.
    pub(crate) fn received(&self) -> Option<(&'static str, u8)> {
        match self.received.load(Ordering::Relaxed) {
            0 => None,
            15 => Some(("SIGTERM", 143)),
            _ => Some(("SIGINT", 130)),
        }
    }

    /// The failure of a run that a signal ended early; `None` if the run reached its end.
    pub(crate) fn failure(&self, record: &RunRecord) -> Option<Failure> {
        record.partial?;
        let (name, code) = self.name_and_code();
        Some(Failure {
            code,
            ..Failure::failed(format!("ended early by {name}: the results are partial"))
        })
    }

    /// The failure of a run that has no results for this reason.
    pub(crate) fn failed(&self, error: Error) -> Failure {
        match error {
            Error::NoEnd { .. } => Failure { code: self.name_and_code().1, ..error.into() },
            _ => error.into(),
        }
    }

    /// The signal that ended a run, and the exit code that tells of it.
    fn name_and_code(&self) -> (&'static str, u8) {
        self.received().unwrap_or(("SIGINT", 130))
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    EndEarly,
    /// Part of the request before it.
    Same,
    EndAtOnce,
}

/// The requests so far.
#[derive(Default)]
struct Requests {
    first: Option<Instant>,
}

impl Requests {
    fn heed(&mut self, now: Instant) -> Request {
        match self.first {
            None => {
                self.first = Some(now);
                Request::EndEarly
            }
            Some(first) if now - first < SAME_WITHIN => Request::Same,
            Some(_) => Request::EndAtOnce,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_at_once_are_one_request() {
        let mut requests = Requests::default();
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let heeded = [0, 0, 1, 99, 100, 5000].map(|time| requests.heed(after(time)));
        use Request::{EndAtOnce, EndEarly, Same};
        assert_eq!(heeded, [EndEarly, Same, Same, Same, EndAtOnce, EndAtOnce]);
    }
}
