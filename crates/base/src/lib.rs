//! The vocabulary that every part of Warpline shares: LP ids, virtual time, event keys, the history digest, random streams, and the record
//! of a run.
//!
//! This crate is the bottom of the stack. It knows nothing of models, engines, threads or files.

pub mod counters;
mod digest;
mod figure;
mod id;
mod key;
mod moment;
mod null;
mod parallel;
mod provenance;
pub mod random;
pub mod record;
mod state_digest;
mod time;

pub use digest::{HistoryDigest, RunDigest};
pub use figure::Figure;
pub use id::LpId;
pub use key::{EventKey, Priority, SEND_LIMIT, Sequence, TieBreak};
pub use moment::Moment;
pub use state_digest::{StateDigest, text_hash};
pub use time::VirtualTime;
