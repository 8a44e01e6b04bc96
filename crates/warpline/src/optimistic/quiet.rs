//! Panics of speculative events are not printed: they may never have happened.

use std::cell::{Cell, RefCell};
use std::panic::{set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<u32> = const { Cell::new(0) };
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The last panic of this thread that was not printed, with its location.
pub(crate) fn last() -> String {
    LAST.take()
}

/// While it lives, panics of this thread are not printed.
pub(crate) struct PanicSilencer;

impl PanicSilencer {
    pub(crate) fn new() -> Self {
        static HOOK: Once = Once::new();
        // The program's own hook still handles all other panics.
        HOOK.call_once(|| {
            let usual = take_hook();
            set_hook(Box::new(move |info| {
                if QUIET.get() == 0 {
                    usual(info);
                } else {
                    LAST.replace(info.to_string());
                }
            }));
        });
        QUIET.set(QUIET.get() + 1);
        PanicSilencer
    }
}

impl Drop for PanicSilencer {
    fn drop(&mut self) {
        QUIET.set(QUIET.get() - 1);
    }
}
