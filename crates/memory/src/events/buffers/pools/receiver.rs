use std::ops::Range;

use super::chain::{Chain, LockedChain};
use super::fresh::{Fresh, RUN};
use super::slots::{FreeSlot, PoolOrder};
use crate::events::buffers::arena::Arena;
use crate::{Common, Exhausted, Region};

/// The receiver pool: whoever sends to a PE takes a slot from that PE's pool, under its lock, and
/// the PE gives it back there. So slots stay with their receiver, and every message takes a lock
/// twice, even one from a PE to itself.
pub(in crate::events::buffers) struct ReceiverPool {
    me: usize,
    order: PoolOrder,
    /// By receiver.
    pools: Common<[LockedChain]>,
    fresh: Fresh,
}

impl ReceiverPool {
    pub(super) fn of(
        region: &Region,
        (pes, mine): (u32, Range<u32>),
        order: PoolOrder,
    ) -> Vec<Self> {
        let pools = region.place_list(pes as usize, |_| Chain::locked());
        let pool = |me| {
            let me = me as usize;
            ReceiverPool { me, order, pools: pools.clone(), fresh: Fresh::default() }
        };
        mine.map(pool).collect()
    }

    #[inline]
    pub(super) fn take<T>(&mut self, to: u32, arena: &Arena<T>) -> Option<FreeSlot> {
        let mut pool = self.pools[to as usize].0.lock();
        let slot = pool.pop(arena);
        if slot.is_none() && to as usize != self.me {
            pool.note_missed();
        }
        slot
    }

    #[inline]
    pub(super) fn give<T>(&mut self, slot: FreeSlot, arena: &Arena<T>) {
        self.pools[self.me].0.lock().push(slot, self.order, arena);
    }

    /// Gives several slots back under one lock.
    pub(super) fn give_all<T>(
        &mut self,
        mut slots: impl Iterator<Item = FreeSlot>,
        arena: &Arena<T>,
    ) {
        let Some(first) = slots.next() else { return };
        let mut pool = self.pools[self.me].0.lock();
        pool.push(first, self.order, arena);
        slots.for_each(|slot| pool.push(slot, self.order, arena));
    }

    /// A new slot for a message to a PE whose pool is empty. Memory of a pool should be touched
    /// first by its own PE. Another PE cannot wait for that, so it uses one slot of its own memory,
    /// which stays with the receiver; the receiver adds as many when it next tidies.
    pub(super) fn grow<T>(&mut self, to: u32, arena: &Arena<T>) -> FreeSlot {
        let mut added = self.fresh.run(if to as usize == self.me { RUN } else { 1 }, arena);
        let slot = added.next().unwrap_or_else(|| Exhausted::Numbers.unwind());
        if added.len() > 0 {
            self.give_all(added, arena);
        }
        slot
    }

    /// Adds as many slots as other PEs have missed.
    pub(super) fn tidy<T>(&mut self, arena: &Arena<T>) {
        let mut missed = self.pools[self.me].0.lock().take_missed();
        while missed > 0 {
            let added = self.fresh.run(missed, arena);
            missed -= added.len() as u32;
            self.give_all(added, arena);
        }
    }

    /// The slots that this PE has made.
    pub(super) fn fresh(&self) -> &Fresh {
        &self.fresh
    }

    pub(super) fn free(&self) -> u64 {
        self.pools[self.me].0.lock().len().into()
    }
}
