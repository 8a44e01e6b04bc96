//! Panics of models: where they happened, and whether they are printed. Panics of speculative
//! events are not printed, as these events may never happen.
//!
//! Panics are caught once per batch and not per event, as the engine knows which event was running
//! or having its payload dropped. Types that need no dropping pay nothing for that. A panic is
//! ignored when what is dropped never happened (a cancelled payload, an undone state) or is only a
//! copy.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

/// The last panic of a thread.
#[derive(Default)]
struct LastPanic {
    /// File, line and column.
    place: String,
    /// The text that would be printed.
    text: String,
}

thread_local! {
    static QUIET: Cell<u32> = const { Cell::new(0) };
    static LAST: RefCell<Option<LastPanic>> = const { RefCell::new(None) };
}

/// Makes every thread of this process remember where it panicked last. The program's own hook still
/// handles all panics except [silenced](PanicSilencer) ones.
pub fn remember_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            LAST.replace(Some(LastPanic { place, text: info.to_string() }));
            if QUIET.get() == 0 {
                usual(info);
            }
        }));
    });
}

/// The last panic of this thread as it would have been printed.
pub fn last_panic() -> String {
    LAST.take().unwrap_or_default().text
}

/// While it lives, panics of this thread are not printed. It cannot leave its thread:
///
/// ```compile_fail,E0277
/// let quiet = warpline_kernel::PanicSilencer::new();
/// std::thread::spawn(move || drop(quiet));
/// ```
#[derive(Debug)]
pub struct PanicSilencer(PhantomData<*const ()>);

impl PanicSilencer {
    /// Silences this thread.
    #[expect(clippy::new_without_default, reason = "it acts when it is made")]
    pub fn new() -> Self {
        remember_panics();
        QUIET.set(QUIET.get() + 1);
        PanicSilencer(PhantomData)
    }
}

impl Drop for PanicSilencer {
    fn drop(&mut self) {
        QUIET.set(QUIET.get() - 1);
    }
}

/// The message of a panic of this thread that was caught just now, with where it happened if panics
/// are [remembered](remember_panics).
pub fn panic_message(payload: Box<dyn Any + Send>) -> String {
    panic_message_with(payload, "")
}

/// The same, with `more` between the message and the place.
pub(crate) fn panic_message_with(payload: Box<dyn Any + Send>, more: &str) -> String {
    let message = match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast_ref::<&str>()
            .map_or_else(|| "without a message".into(), |text| (*text).to_owned()),
    };
    match LAST.take() {
        Some(LastPanic { place, .. }) if !place.is_empty() => format!("{message}{more} ({place})"),
        _ => message + more,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, panic_any};

    use super::*;

    thread_local! {
        static PRINTED: Cell<u32> = const { Cell::new(0) };
    }

    fn caught(panic: fn()) -> Box<dyn Any + Send> {
        catch_unwind(panic).expect_err("it panics")
    }

    /// The only test here that sets a hook, as hooks belong to the whole program.
    #[test]
    fn silenced_panics_are_remembered_but_not_printed() {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            PRINTED.set(PRINTED.get() + 1);
            usual(info);
        }));
        let silencer = PanicSilencer::new();
        drop(PanicSilencer::new());
        let planned = || panic!("as {}", "planned");
        let said = |panic, more| {
            let text = panic_message_with(panic, more);
            text.split_once(" (").map(|(message, place)| {
                (message.to_owned(), place.contains("panics.rs:") && place.ends_with(')'))
            })
        };
        for (panic, expected) in [
            (planned as fn(), "as planned"),
            (|| panic!("a text"), "a text"),
            (|| panic_any(7), "without a message"),
        ] {
            assert_eq!(said(caught(panic), ", then"), Some((format!("{expected}, then"), true)));
        }
        let panic = caught(planned);
        let printed = last_panic();
        assert!(printed.contains("panics.rs:") && printed.ends_with("as planned"), "{printed}");
        // A message that has been taken is forgotten.
        assert_eq!(
            (&panic_message(panic)[..], &last_panic()[..], PRINTED.get()),
            ("as planned", "", 0)
        );
        drop(silencer);
        assert_eq!(panic_message(caught(planned)).find(" ("), Some("as planned".len()));
        assert_eq!(PRINTED.get(), 1);
    }
}
