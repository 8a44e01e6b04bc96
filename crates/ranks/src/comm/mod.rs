//! Communicators: ranks that send each other messages apart from all others.

mod group;
mod peer;
mod persistent;
mod point_to_point;
mod probe;
mod request;

use std::sync::Arc;

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

    /// A communicator of the same ranks.
    pub(crate) fn with_number(&self, number: u32) -> Comm {
        Comm { number, ..self.clone() }
    }

    /// A communicator of these ranks of this one; `None` if this rank is not among them.
    ///
    /// # Panics
    /// If a rank is listed twice or does not exist.
    pub(crate) fn with_members(&self, number: u32, ranks: Vec<u32>) -> Option<Comm> {
        let me = ranks.iter().position(|rank| *rank == self.me)?;
        let members: Vec<u32> = ranks.into_iter().map(|rank| self.in_world(rank)).collect();
        let size = members.len() as u32;
        Some(Comm { number, me: me as u32, size, group: Some(Arc::new(Group::of(members))) })
    }

    /// The ranks in the world, in the order of this communicator.
    pub fn world_ranks(&self) -> Vec<u32> {
        (0..self.size).map(|rank| self.in_world(rank)).collect()
    }

    /// The number in this communicator of a rank of another one: `MPI_Group_translate_ranks`. `None`
    /// if it is not among its ranks.
    ///
    /// # Panics
    /// If the other communicator has no such rank.
    #[track_caller]
    pub fn translate(&self, rank: u32, of: &Comm) -> Option<u32> {
        let rank = of.in_world(rank);
        match &self.group {
            None => Some(rank),
            Some(group) => group.place_of(rank),
        }
    }
}
