//! The engines. [`Pe`] is one processing element (PE) of a parallel run, and [`Pe::step`] its event
//! loop. [`Sequential`] is the engine of sequential runs, which needs only LPs, events and the
//! pending event set.

mod agenda;
mod effects;
mod event;
mod faults;
mod frontier;
mod gauge;
pub mod gvt;
mod lps;
mod mail;
mod pacing;
mod partition;
mod past;
mod pe;
mod sequential;
mod step;
mod tuning;

pub use agenda::pending;
pub use effects::rows::{MomentRow, ROWS, RowContent};
pub use event::Event;
pub use faults::failure::{CommittedFault, FailedEvent, drop_fault, event_text};
pub use faults::panics::{PanicSilencer, last_panic, panic_message, remember_panics};
pub use frontier::window::{Rule, Window};
pub use gauge::counts::{Counts, balance};
pub use gauge::phases::{Measured, agrees};
pub use gauge::trace::{
    Activity, LostTime, LpEvent, Piece, Snapshot, Span, SpanBlocks, SpanLimits, SpanSum,
    ThinnedList, Trace, TraceLimits,
};
pub use lps::Lp;
pub use lps::roles::{Role, RoleCounts, Roles};
pub use mail::wires::{
    BoundPort, Content, ControlPort, Message, MessageKind, MessagePort, Port, Sent, TakeValue,
    UnreadableEvent, ValueMessage, ValuePort,
};
pub use partition::delays::{Delays, Shortest};
pub use partition::{Groups, LpGroup, Partition, ScatteredGroup};
pub use pe::world::Task;
pub use pe::{EventOf, Parts, Pe, PeInputs, PeTypes, Position};
pub use sequential::Sequential;
pub use sequential::attempt::Attempt;
pub use sequential::outcome::{SequentialParts, Stop};
pub use sequential::watcher::Watcher;
pub use step::Step;
pub use tuning::{Cancellation, GoAhead, GvtStart, Horizon, Lanes, Messages, Tuning, Undoing};
