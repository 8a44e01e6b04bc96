use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{LpId, Moment, VirtualTime};
use warpline_model::Fault;

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
