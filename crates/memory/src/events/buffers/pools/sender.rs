use std::ops::Range;

use super::chain::{Chain, LockedChain};
use super::free_list::FreeList;
use super::fresh::{Fresh, RUN};
use super::slots::{FreeSlot, PoolOrder, Redistributed};
use crate::events::buffers::arena::Arena;
use crate::{Common, Exhausted, Region};

/// A pool with fewer free slots than this takes some from the common pool.
pub(in crate::events::buffers) const FEW: usize = 5;

/// The sender pool: a PE takes slots from a list of its own, without a lock, and keeps those that
/// it receives. So they drift to PEs that receive more than they send. When fossils are collected,
/// a PE with more than it has made gives the excess to a pool that all share; a PE with fewer than
/// five takes some from there.
pub(in crate::events::buffers) struct SenderPool {
    /// How many PEs there are.
    pes: u32,
    own: FreeList,
    order: PoolOrder,
    common: Common<LockedChain>,
    /// The common pool was empty when this PE last looked. It looks again after the next tidying,
    /// or when it has no slots left.
    dry: bool,
    fresh: Fresh,
    redistributed: Redistributed,
}

impl SenderPool {
    pub(super) fn of(
        region: &Region,
        (pes, mine): (u32, Range<u32>),
        order: PoolOrder,
    ) -> Vec<Self> {
        let common = region.place(Chain::locked());
        let pool = |_| SenderPool {
            pes,
            own: FreeList::new(order),
            order,
            common: common.clone(),
            dry: false,
            fresh: Fresh::default(),
            redistributed: Redistributed::default(),
        };
        mine.map(pool).collect()
    }

    /// # Panics
    /// If there is no PE `to`.
    #[inline]
    pub(super) fn take<T>(&mut self, to: u32, arena: &Arena<T>) -> Option<FreeSlot> {
        assert!(to < self.pes, "there is no PE {to}, as there are {}", self.pes);
        if self.own.len() < FEW && !self.dry {
            self.refill(arena);
        }
        self.own.pop()
    }

    #[inline]
    pub(super) fn give(&mut self, slot: FreeSlot) {
        self.own.push(slot);
    }

    /// Takes slots from the common pool, until this PE has as many as it has made, and at least a
    /// few.
    #[cold]
    fn refill<T>(&mut self, arena: &Arena<T>) {
        let enough = self.fresh.taken().max(FEW as u64) as usize;
        let mut common = self.common.0.lock();
        while self.own.len() < enough {
            let Some(slot) = common.pop(arena) else {
                self.dry = true;
                break;
            };
            self.own.push(slot);
            self.redistributed.note_withdrawn();
        }
    }

    pub(super) fn grow<T>(&mut self, arena: &Arena<T>) -> FreeSlot {
        self.dry = false;
        self.refill(arena);
        if self.own.len() == 0 {
            self.fresh.run(RUN, arena).for_each(|slot| self.own.push(slot));
        }
        self.own.pop().unwrap_or_else(|| Exhausted::Numbers.unwind())
    }

    /// Gives the excess to the common pool.
    pub(super) fn tidy<T>(&mut self, arena: &Arena<T>) {
        self.dry = false;
        let excess = (self.own.len() as u64).saturating_sub(self.fresh.taken());
        if excess == 0 {
            return;
        }
        let mut common = self.common.0.lock();
        for _ in 0..excess {
            let Some(slot) = self.own.pop() else { break };
            common.push(slot, self.order, arena);
            self.redistributed.note_deposited();
        }
    }

    /// The slots that this PE has made.
    pub(super) fn fresh(&self) -> &Fresh {
        &self.fresh
    }

    pub(super) fn redistributed(&self) -> Redistributed {
        self.redistributed
    }

    pub(super) fn free(&self) -> u64 {
        self.own.len() as u64
    }
}
