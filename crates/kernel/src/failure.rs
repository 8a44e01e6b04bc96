use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{EventKey, LpId, Moment, VirtualTime};
use warpline_memory::Handle;
use warpline_model::Fault;

use crate::pending::Entry;

/// A mistake of the model that is no speculation any more.
#[derive(Debug)]
pub struct Failed {
    /// Where it happened in the order of everything.
    pub moment: Moment,
    /// The LP.
    pub lp: LpId,
    /// The virtual time.
    pub time: VirtualTime,
    /// The event, as text; none if the LP was being made.
    pub event: Option<String>,
    /// The mistake.
    pub fault: Fault,
}

/// An event that did what it must not. It waits until GVT reaches it, as it may still turn out not to happen, or another PE may fail before
/// it; and all later events of the PE wait with it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) entry: Entry,
    pub(crate) key: EventKey,
    pub(crate) fault: Fault,
    /// Whether nothing can undo it any more, so that it is not tried again.
    pub(crate) certain: bool,
}

impl Held {
    pub(crate) fn event(&self) -> Handle {
        self.entry.handle()
    }
}

/// The message of a panic.
pub fn panic_message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast_ref::<&str>().map_or_else(|| "without a message".into(), |text| (*text).to_owned()),
    }
}

/// An event's `Debug` text, cut to a length that fits a message.
pub fn event_text(event: &impl fmt::Debug) -> String {
    const MOST: usize = 200;
    // It is the model's code, and may panic.
    let text = catch_unwind(AssertUnwindSafe(|| format!("{event:?}"))).unwrap_or_else(|_| "(whose Debug panics)".into());
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
