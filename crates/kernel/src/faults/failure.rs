use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment, VirtualTime};
use warpline_model::Fault;

use crate::faults::panics::panic_message_with;

/// A mistake of the model that is certain to have happened.
#[derive(Debug, Serialize, Deserialize)]
pub struct CommittedFault {
    /// Where it happened in the order of moments.
    pub moment: Moment,
    /// The LP.
    pub lp: LpId,
    /// The virtual time.
    pub time: VirtualTime,
    /// The event; none if the LP was being initialised or was finishing.
    pub event: Option<FailedEvent>,
    /// The mistake.
    pub fault: Fault,
}

/// What tells an event that failed from others of its LP and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedEvent {
    /// Which event of its LP it is, counted from 1; `None` if its payload is gone, as other events
    /// may have followed by then.
    pub number: Option<u64>,
    /// Its payload, as text.
    pub payload: String,
}

impl FailedEvent {
    /// An event whose payload has been dropped.
    pub fn dropped() -> Self {
        FailedEvent { number: None, payload: "its payload is gone".into() }
    }
}

/// The text of an event whose payload never arrived.
pub(crate) const UNREADABLE_EVENT: &str = "its payload has not arrived";

/// A panic when the payload of an executed event was dropped.
pub fn drop_fault(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(panic_message_with(panic, ", when its payload was dropped"))
}

/// A panic while the state of an LP was copied. Sequential runs copy no states.
pub(crate) fn copy_fault(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(format!(
        "{}, as optimistic runs do to undo events; see to it that State::clone does not panic, or \
         use --sync conservative or sequential, which copy no states",
        panic_message_with(panic, ", when the state was copied")
    ))
}

/// A panic of an event that was executed again to work out a state from a copy. It did not panic
/// the first time.
pub(crate) fn repeat_fault(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(format!(
        "{}, and not when they were executed first; \
         an event must do the same each time",
        panic_message_with(
            panic,
            ", when earlier events of the LP were executed again to work out its state from a copy"
        )
    ))
}

/// Changes of a state that its journal does not account for.
pub(crate) fn journal_fault() -> Fault {
    let why = "events changed the LP's state by other means than Context::change, so that --undo \
               journal could not undo them; `warpline verify --undo journal` finds the first, and \
               --undo copy needs no journal";
    Fault::Failed(why.to_owned())
}

/// A panic while changes of a state were undone.
pub(crate) fn journal_panic(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(format!(
        "{}; see to it that Saved::from_word takes every word that Saved::to_word gives",
        panic_message_with(panic, ", when changes of the LP's state were undone by its journal")
    ))
}

/// An event's `Debug` text, cut to a length that fits a message.
pub fn event_text(event: &impl fmt::Debug) -> String {
    const MOST: usize = 200;
    // Debug runs the model's code, which may panic.
    let text = catch_unwind(AssertUnwindSafe(|| format!("{event:?}")))
        .unwrap_or_else(|_| "its Debug panics".into());
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
