use std::collections::VecDeque;

use super::slots::{FreeSlot, PoolOrder};
use crate::alloc::MakeRoom;

/// The free slots of one PE, or some of them.
pub(super) enum FreeList {
    Lifo(Vec<FreeSlot>),
    Fifo(VecDeque<FreeSlot>),
}

const WHAT: &str = "the numbers of free buffers";

impl FreeList {
    pub(super) fn new(order: PoolOrder) -> Self {
        match order {
            PoolOrder::Lifo => FreeList::Lifo(Vec::new()),
            PoolOrder::Fifo => FreeList::Fifo(VecDeque::new()),
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, slot: FreeSlot) {
        match self {
            FreeList::Lifo(list) => {
                list.make_room(1, WHAT);
                list.push(slot);
            }
            FreeList::Fifo(list) => {
                list.make_room(1, WHAT);
                list.push_back(slot);
            }
        }
    }

    /// The slot to use next.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<FreeSlot> {
        match self {
            FreeList::Lifo(list) => list.pop(),
            FreeList::Fifo(list) => list.pop_front(),
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        match self {
            FreeList::Lifo(list) => list.len(),
            FreeList::Fifo(list) => list.len(),
        }
    }
}
