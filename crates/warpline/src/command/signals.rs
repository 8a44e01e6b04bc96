//! Ctrl-C and SIGTERM: the first ends a run early, with the results so far; the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::failure::Failure;
use super::output;
use crate::StopSwitch;
use crate::record::RunRecord;

/// The switch that signals turn, and which signal did.
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
        let (switch, received) = (self.switch.clone(), self.received.clone());
        let listen = move || {
            let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
            for signal in signals.forever() {
                if received.swap(signal, Ordering::Relaxed) != 0 {
                    std::process::exit(128 + signal);
                }
                switch.stop();
                output::remark("ending early, with the results so far; once more ends the program at once");
            }
        };
        // If the system refuses the thread, signals do what they usually do.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
    }

    /// The failure that a run ended by a signal counts as; `None` if it reached its end.
    pub(crate) fn failure(&self, record: &RunRecord) -> Option<Failure> {
        record.partial?;
        let (name, code) = match self.received.load(Ordering::Relaxed) {
            15 => ("SIGTERM", 143),
            _ => ("SIGINT", 130),
        };
        Some(Failure { message: format!("ended early by {name}: the results are partial"), code, printed: false })
    }
}
