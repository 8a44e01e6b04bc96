//! How a sequential run ends.

use warpline_base::RunDigest;
use warpline_memory::{DropEach, Exhausted, Pool};
use warpline_model::engine::Executor;
use warpline_model::{Fault, Model, Statistics};

use crate::{Event, Lp};

/// Why the engine stopped early. It cannot go on, and can only say where it was.
#[derive(Debug, PartialEq)]
pub enum Stop {
    /// The model made a mistake.
    Fault(Fault),
    /// Memory ran out.
    Exhausted(Exhausted),
}

/// What a sequential engine leaves behind.
pub struct SequentialParts<M: Model, R> {
    /// The LPs, by id.
    pub lps: DropEach<Lp<M::State>>,
    /// The context of its events.
    pub executor: Executor<M>,
    /// The statistics of what committed.
    pub statistics: Statistics,
    /// The sink that took the rows.
    pub rows: R,
    /// How many events committed.
    pub committed: u64,
    /// The pending events, from the end on.
    pub pending: Pool<Event<M::Event>>,
}

impl<M: Model, R> SequentialParts<M, R> {
    /// The digest of the run.
    pub fn digest(&self) -> RunDigest {
        let mut digest = RunDigest::default();
        Lp::add_digests(&self.lps, 0, &mut digest);
        digest
    }
}
