//! Communicators: ranks that send each other messages apart from all others.

mod cartesian;
mod graph;
mod group;
mod making;
mod peer;
mod persistent;
mod point_to_point;
mod probe;
mod request;

use std::sync::Arc;

pub use self::cartesian::Cartesian;
pub use self::graph::Graph;
use self::group::Group;
pub use self::peer::{ANY_SOURCE, ANY_TAG, Peer, Tag};
pub use self::persistent::Persistent;
pub use self::request::{Request, test_all, test_any, test_some, wait_all, wait_any, wait_some};
use crate::progress::WORLD;

/// A communicator, as one of its ranks has it.
#[derive(Clone, Debug)]
pub struct Comm {
    /// Its number, which differs from that of any other of its ranks' communicators.
    number: u32,
    me: u32,
    size: u32,
    /// Its ranks; those of the world if `None`.
    group: Option<Arc<Group>>,
}

impl Comm {
    pub(crate) fn world(me: u32, size: u32) -> Self {
        Comm { number: WORLD, me, size, group: None }
    }

    /// This rank's number in the communicator.
    #[inline]
    pub fn id(&self) -> u32 {
        self.me
    }

    /// The number of ranks.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What messages of programs name it by.
    #[inline]
    pub(crate) fn context(&self) -> u32 {
        self.number << 1
    }

    /// What messages of calls of all ranks name it by.
    #[inline]
    pub(crate) fn collective_context(&self) -> u32 {
        self.number << 1 | 1
    }

    /// A rank's number in the world.
    ///
    /// # Panics
    /// If there is no such rank.
    #[inline]
    #[track_caller]
    pub(crate) fn in_world(&self, rank: u32) -> u32 {
        assert!(
            rank < self.size,
            "there is no rank {rank}: the communicator has {} ranks, from 0 on",
            self.size
        );
        self.group.as_ref().map_or(rank, |group| group.in_world(rank))
    }
}
