//! The engines. [`Pe`] is one processing element (PE) of a parallel run, made of events, the pending event set, the history with rollback,
//! GVT, and commit; [`Pe::step`] is the event loop of parallel runs. Beside it, [`Sequential`] is the engine of sequential runs, which
//! needs only LPs, events and the pending event set.

mod agenda;
mod bound_word;
mod caution;
mod change_log;
mod committed;
mod copies;
mod counts;
mod critical_path;
mod delays;
mod effects;
mod event;
mod extras;
mod failure;
mod faults;
mod fetch;
mod flow;
mod frontier;
mod gauge;
pub mod gvt;
mod gvt_interval;
mod history;
mod kept;
mod key_order;
mod lp;
mod mail;
mod panics;
mod partition;
mod past;
mod pe;
pub mod pending;
mod phases;
mod roles;
mod rounds;
mod rows;
mod sequential;
mod store;
#[cfg(test)]
mod test_lookahead;
mod thrift;
mod trace;
mod tuning;
mod watcher;
mod window;
mod wires;
mod world;

pub use copies::Undoing;
pub use counts::{Counts, balance};
pub use critical_path::{BusiestPe, CORE_COUNTS, CoreFindings, CriticalPath, Findings, LpDelay, LpWork, PathFindings, SLICES, Slice};
pub use delays::{Delays, Shortest};
pub use event::Event;
pub use failure::{CommittedFault, DROPPED_EVENT, drop_fault, event_text};
pub use lp::Lp;
pub use panics::{PanicSilencer, last_panic, panic_message, remember_panics};
pub use partition::Partition;
pub use pe::{Parts, Pe, Position, Step};
pub use roles::{Role, RoleCounts, Roles};
pub use rows::{MomentRow, ROWS, RowContent};
pub use sequential::{Attempt, Sequential, SequentialParts, Stop};
pub use trace::{Activity, LostTime, LpEvent, Piece, Snapshot, Span, SpanBlocks, SpanLimits, SpanSum, ThinnedList, Trace, TraceLimits};
pub use tuning::{Cancellation, GoAhead, Lanes, Messages, Tuning};
pub use watcher::Watcher;
pub use window::{Rule, Window};
pub use wires::{Content, Message, MessageKind, Port, ValueMessage};
pub use world::Task;
