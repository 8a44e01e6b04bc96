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

/// An event that failed, in so far as its LP and time do not name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedEvent {
    /// Which event of its LP it is, counted from 1; `None` if its payload is gone, as others may
    /// have followed since it was over.
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

/// Stands for the text of an event whose payload never arrived.
pub(crate) const UNREADABLE_EVENT: &str = "its payload has not arrived";

/// A panic on dropping the payload of an executed event.
pub fn drop_fault(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(panic_message_with(panic, ", when its payload was dropped"))
}

/// A panic while the state of an LP was copied, or worked out from a copy. This cannot happen in a
/// sequential run.
pub(crate) fn copy_fault(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(format!(
        "{}, as optimistic runs do to undo events; see to it that State::clone does not panic, or use \
         --sync conservative or sequential, which copy no states",
        panic_message_with(panic, ", when the state was copied")
    ))
}

/// A panic of an event that was executed again, to work out a state from a copy, after it had been
/// executed once without a panic.
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

/// Changes that are not where the log says.
pub(crate) fn journal_fault() -> Fault {
    let why = "events changed the LP's state by other means than Context::change, so that --undo journal could not undo them; \
               `warpline verify --undo journal` finds the first, and --undo copy needs no journal";
    Fault::Failed(why.to_owned())
}

/// A panic while changes were undone.
pub(crate) fn journal_panic(panic: Box<dyn Any + Send>) -> Fault {
    Fault::Panic(format!(
        "{}; see to it that Saved::from_word takes every word that Saved::to_word gives",
        panic_message_with(panic, ", when changes of the LP's state were undone by its journal")
    ))
}

/// An event's `Debug` text, cut to a length that fits a message.
pub fn event_text(event: &impl fmt::Debug) -> String {
    const MOST: usize = 200;
    // Debug is the model's code, and may panic.
    let text = catch_unwind(AssertUnwindSafe(|| format!("{event:?}")))
        .unwrap_or_else(|_| "its Debug panics".into());
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
