//! The vocabulary that every part of Warpline shares: LP ids, virtual time, event keys, the history
//! digest, and random streams.
//!
//! This crate is the bottom of the stack. It knows nothing of models, engines, threads or files.

mod digest;
mod event_kind;
mod figure;
mod id;
mod key;
mod moment;
pub mod random;
mod state_digest;
mod time;
mod words;

pub use digest::{HistoryDigest, RunDigest};
pub use event_kind::EventKind;
pub use figure::{Figure, significant};
pub use id::LpId;
pub use key::{EventKey, Priority, SEND_LIMIT, Sequence, TieBreak};
pub use moment::Moment;
pub use state_digest::{StateDigest, text_hash};
pub use time::VirtualTime;
pub use words::Word;
#[doc(hidden)]
pub use words::read_word;

// For the code that `words!` generates.
#[doc(hidden)]
pub use serde;
