//! One processing element (PE) of a parallel run and what it is made of: events, the pending event set, the history with rollback,
//! GVT, and commit. [`Pe`] puts them together; [`Pe::step`] is the event loop of Time Warp.

mod commit;
mod committed;
mod counts;
mod event;
mod execute;
mod extras;
mod failure;
pub mod gvt;
mod history;
mod lp;
mod partition;
mod pe;
pub mod pending;
mod phases;
mod receive;
mod rollback;
mod rows;
mod trace;
mod undoing;
mod window;
mod wires;

pub use counts::{Counts, balance};
pub use event::Event;
pub use failure::{Failed, event_text, panic_message};
pub use lp::Lp;
pub use partition::Partition;
pub use pe::{Parts, Pe, Position, Step, Task, Tuning};
pub use rows::MomentRow;
pub use trace::{Doing, Level, LpEvent, Span, Thinned, Trace, TraceLimits};
pub use undoing::Undoing;
pub use window::{Rule, Window};
pub use wires::{Message, MessageKind, Port};
