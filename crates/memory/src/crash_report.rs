//! Reports which event was being executed when the system ends the program. A stack overflow, and
//! memory that cannot be had, leave no other trace of it.

/// Installs handlers that report the running event when the system ends the program over a stack
/// overflow, or the program aborts for lack of memory. They change nothing else.
#[cfg(all(unix, not(miri), not(loom)))]
pub fn report_crashes() {
    handler::install();
}

/// Where signals have no handlers, nothing is reported.
#[cfg(not(all(unix, not(miri), not(loom))))]
pub fn report_crashes() {}

#[cfg(all(unix, not(miri), not(loom)))]
mod handler {
    use std::fmt::{self, Write};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Once, OnceLock};

    use libc::{
        SA_ONSTACK, SA_SIGINFO, SIGABRT, SIGBUS, SIGSEGV, c_int, c_void, sigaction, siginfo_t,
    };

    use warpline_base::Figure;

    use crate::Beat;
    use crate::beat::{Activity, CURRENT};

    const SIGNALS: [c_int; 3] = [SIGSEGV, SIGBUS, SIGABRT];

    /// The action that each of the signals had before.
    static BEFORE: [OnceLock<sigaction>; 3] = [const { OnceLock::new() }; 3];
    /// Whether a crash has been reported: the system's own handler may end in another signal.
    static REPORTED: AtomicBool = AtomicBool::new(false);

    pub(super) fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
                let mut old = MaybeUninit::<sigaction>::zeroed();
                // SAFETY: `new` is a valid action, as all zeros are one (the default, without
                // flags, with an empty mask) and the fields set belong together: SA_SIGINFO with a
                // handler of three arguments. `old` has room for what is written.
                let done = unsafe {
                    let mut new = MaybeUninit::<sigaction>::zeroed().assume_init();
                    new.sa_sigaction =
                        on_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
                    new.sa_flags = SA_SIGINFO | SA_ONSTACK;
                    sigaction(signal, &new, old.as_mut_ptr())
                };
                if done == 0 {
                    // SAFETY: the call succeeded and has written it.
                    let _ = before.set(unsafe { old.assume_init() });
                }
            }
        });
    }

    /// A line of text, without memory from the heap.
    struct Line {
        bytes: [u8; 320],
        length: usize,
    }

    impl Write for Line {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room =
                self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
            room.copy_from_slice(text.as_bytes());
            self.length += text.len();
            Ok(())
        }
    }

    extern "C" fn on_signal(signal: c_int, _: *mut siginfo_t, _: *mut c_void) {
        let current = CURRENT.get();
        // SAFETY: the pointer is null, or leads to what this very thread keeps alive as long as the
        // pointer is there.
        let activity = unsafe { current.as_ref() }.and_then(Beat::read);
        if let Some(activity) = activity
            && !REPORTED.swap(true, Ordering::Relaxed)
        {
            report(signal, activity);
        }
        restore(signal);
    }

    /// Writes a line about the event to standard error.
    fn report(signal: c_int, activity: Activity) {
        let Activity { lp, event, .. } = activity;
        let time = Figure(activity.time);
        let hint = if signal == SIGABRT {
            ""
        } else {
            "; if its stack is too small, give it a larger one (--stack)"
        };
        let mut line = Line { bytes: [0; 320], length: 0 };
        // What does not fit is left out.
        let _ = match event {
            0 => writeln!(
                line,
                "\nthe program ends in init or finish of LP {lp} at time {time}{hint}"
            ),
            _ => writeln!(
                line,
                "\nthe program ends in event {event} of LP {lp} at time {time}{hint}"
            ),
        };
        // SAFETY: `write` may be called from a handler, and these bytes are initialised.
        let _ = unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.length) };
    }

    /// Restores the action that the signal had before.
    fn restore(signal: c_int) {
        let before =
            SIGNALS.iter().position(|known| *known == signal).and_then(|index| BEFORE[index].get());
        // SAFETY: all zeros are the default action; both are valid ones, and may be set from a
        // handler. On return the signal comes again, and meets what was there before.
        unsafe {
            let default = MaybeUninit::<sigaction>::zeroed().assume_init();
            sigaction(signal, before.unwrap_or(&default), ptr::null_mut());
        }
    }
}
