//! Where free buffers wait until they are used again: one type per kind of pool. All of it is safe
//! code: a [`FreeSlot`] is the right to use a slot, and can be passed on or lost, but not
//! duplicated.

mod chain;
mod free_list;
mod fresh;
mod partitioned;
mod partners;
mod receiver;
mod sender;
mod sizes;
mod slots;

use std::ops::Range;

use self::fresh::Fresh;
use self::partitioned::Partitioned;
pub use self::partners::APART_MOST;
pub(super) use self::partners::Partners;
use self::receiver::ReceiverPool;
use self::sender::SenderPool;
pub(super) use self::slots::FreeSlot;
use self::slots::Redistributed;
pub use self::slots::{PoolOrder, SubPool};
use crate::Region;
use crate::events::buffers::arena::Arena;

#[cfg(all(test, not(loom)))]
pub(super) use self::fresh::RUN;
#[cfg(all(test, not(loom)))]
pub(super) use self::partitioned::KEPT;
pub(super) use self::partitioned::PLENTY;
#[cfg(all(test, not(loom)))]
pub(super) use self::sender::FEW;

/// Whose pool a buffer is taken from, and whose pool it goes to when it is free: the three kinds of
/// R. Fujimoto and K. Panesar, "Buffer management in shared-memory Time Warp systems", PADS 1995.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// One pool for each PE, under a lock. A sender takes a buffer from the pool of the receiver,
    /// to which it returns.
    Receiver,
    /// One pool for each PE. A sender takes a buffer from its own pool, and the receiver keeps it.
    /// A PE's surplus goes to a pool that all share.
    Sender,
    /// For each PE, one sub-pool per partner: buffers go back and forth between two PEs. Among more
    /// than 64 PEs, one for itself and one for all others.
    Partitioned(SubPool),
}

/// How free buffers are kept.
///
/// ```
/// use warpline_memory::{PoolKind, PoolSettings, Region, buffers_in};
/// let settings = PoolSettings { kind: PoolKind::Receiver, ..PoolSettings::default() };
/// let mut views = buffers_in(&Region::own(), None, 2, settings);
/// let handle = views[0].insert(1, 'a');
/// views[1].accept(handle);
/// views[1].release(handle);
/// // The buffer is in the receiver's pool, from which senders take it.
/// assert_eq!((views[1].insert(1, 'b'), views[1].books().free), (handle, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// Whose pool a buffer is taken from.
    pub kind: PoolKind,
    /// Which free buffer is used next.
    pub order: PoolOrder,
    /// Whether buffers may be [retired](crate::Buffers::retire) when their message has been
    /// executed, and reused as soon as it is over.
    pub retires: bool,
}

impl Default for PoolSettings {
    /// Sub-pools of unlimited size; the last buffer freed is used first.
    fn default() -> Self {
        PoolSettings {
            kind: PoolKind::Partitioned(SubPool::Unlimited),
            order: PoolOrder::Lifo,
            retires: false,
        }
    }
}

/// A PE's pool, or its view of all pools.
pub(super) enum Pool {
    Partitioned(Partitioned),
    Sender(SenderPool),
    Receiver(ReceiverPool),
}

impl Pool {
    /// The pools of the PEs `mine` of this many, whose common parts lie in a region.
    pub(super) fn of(
        region: &Region,
        (pes, mine): (u32, Range<u32>),
        settings: PoolSettings,
    ) -> Vec<Pool> {
        let order = settings.order;
        match settings.kind {
            PoolKind::Partitioned(size) => Partitioned::of(region, (pes, mine), size, order)
                .into_iter()
                .map(Pool::Partitioned)
                .collect(),
            PoolKind::Sender => {
                SenderPool::of(region, (pes, mine), order).into_iter().map(Pool::Sender).collect()
            }
            PoolKind::Receiver => ReceiverPool::of(region, (pes, mine), order)
                .into_iter()
                .map(Pool::Receiver)
                .collect(),
        }
    }

    /// A free slot for a message to a PE, if there is one without new memory.
    #[inline(always)]
    pub(super) fn take<T>(&mut self, to: u32, arena: &Arena<T>) -> Option<FreeSlot> {
        match self {
            Pool::Partitioned(pool) => pool.take(to),
            Pool::Sender(pool) => pool.take(to, arena),
            Pool::Receiver(pool) => pool.take(to, arena),
        }
    }

    /// A slot for a message to a PE when none is free: a new one.
    #[cold]
    pub(super) fn grow<T>(&mut self, to: u32, arena: &Arena<T>) -> FreeSlot {
        match self {
            Pool::Partitioned(pool) => pool.grow(to, arena),
            Pool::Sender(pool) => pool.grow(arena),
            Pool::Receiver(pool) => pool.grow(to, arena),
        }
    }

    /// Sets whether every free slot is used before a new one is made, and slots that others may
    /// need leave this PE.
    pub(super) fn save_memory(&mut self, saves: bool) {
        if let Pool::Partitioned(pool) = self {
            pool.save_memory(saves);
        }
    }

    /// Takes back a slot that this PE has freed, which came from or belongs to `partner`.
    #[inline(always)]
    pub(super) fn give<T>(&mut self, partner: u32, slot: FreeSlot, arena: &Arena<T>) {
        match self {
            Pool::Partitioned(pool) => pool.give(partner, slot),
            Pool::Sender(pool) => pool.give(slot),
            Pool::Receiver(pool) => pool.give(slot, arena),
        }
    }

    /// Likewise, several at a time, for the list of a partner.
    pub(super) fn give_all<T>(
        &mut self,
        list: usize,
        slots: impl Iterator<Item = FreeSlot>,
        arena: &Arena<T>,
    ) {
        match self {
            Pool::Partitioned(pool) => slots.for_each(|slot| pool.give_to(list, slot)),
            Pool::Sender(pool) => slots.for_each(|slot| pool.give(slot)),
            Pool::Receiver(pool) => pool.give_all(slots, arena),
        }
    }

    /// Periodic work, such as evening out.
    pub(super) fn tidy<T>(&mut self, arena: &Arena<T>) {
        match self {
            Pool::Partitioned(pool) => pool.tidy(arena),
            Pool::Sender(pool) => pool.tidy(arena),
            Pool::Receiver(pool) => pool.tidy(arena),
        }
    }

    /// A free slot that `partner` needs more than this PE, if there are more than `most`.
    pub(super) fn surplus(&mut self, partner: u32, most: usize) -> Option<FreeSlot> {
        match self {
            Pool::Partitioned(pool) => pool.surplus(partner, most),
            Pool::Sender(_) | Pool::Receiver(_) => None,
        }
    }

    /// Notes that a local slot is used for messages to `partner` from now on.
    pub(super) fn count_for(&mut self, partner: u32) {
        if let Pool::Partitioned(pool) = self {
            pool.count_for(partner);
        }
    }

    /// Whether there is ever a surplus for a partner.
    pub(super) fn returns_surplus(&self) -> bool {
        self.partners().is_some_and(|partners| !partners.are_together())
    }

    /// Whether there would be a surplus for `partner` if so many slots more were free.
    pub(super) fn has_surplus(&self, partner: u32, most: usize, more: usize) -> bool {
        match self {
            Pool::Partitioned(pool) => pool.has_surplus(partner, most, more),
            Pool::Sender(_) | Pool::Receiver(_) => false,
        }
    }

    /// Whether there are free slots for this many messages to a PE, or new ones may be made.
    pub(super) fn has_room(&self, to: u32, messages: u32) -> bool {
        match self {
            Pool::Partitioned(pool) => pool.has_room(to, messages),
            Pool::Sender(_) | Pool::Receiver(_) => true,
        }
    }

    /// Notes that this many messages to a PE want slots.
    pub(super) fn want(&mut self, to: u32, messages: u32) {
        if let Pool::Partitioned(pool) = self {
            pool.want(to, messages);
        }
    }

    /// Whether [`has_room`](Self::has_room) may ever say no.
    pub(super) fn is_bounded(&self) -> bool {
        matches!(self, Pool::Partitioned(pool) if pool.is_bounded())
    }

    /// The partners that are kept apart, if any are.
    pub(super) fn partners(&self) -> Option<Partners> {
        match self {
            Pool::Partitioned(pool) => Some(pool.partners()),
            Pool::Sender(_) | Pool::Receiver(_) => None,
        }
    }

    /// Whether retired slots are kept apart by partner.
    pub(super) fn keeps_partners_apart(&self) -> bool {
        matches!(self, Pool::Partitioned(_))
    }

    /// Whether a PE that needs a slot may take one that it has retired: not if slots are taken from
    /// the pools of others.
    pub(super) fn takes_retired(&self) -> bool {
        !matches!(self, Pool::Receiver(_))
    }

    /// How many slots are free here, not counting those in the pool that all share.
    pub(super) fn free(&self) -> u64 {
        match self {
            Pool::Partitioned(pool) => pool.free(),
            Pool::Sender(pool) => pool.free(),
            Pool::Receiver(pool) => pool.free(),
        }
    }

    /// How many slots could be taken without new memory.
    pub(super) fn available(&self) -> u64 {
        match self {
            Pool::Partitioned(pool) => pool.available(),
            _ => self.free(),
        }
    }

    /// How many slots this PE has made.
    pub(super) fn places(&self) -> u64 {
        self.fresh().taken()
    }

    fn fresh(&self) -> &Fresh {
        match self {
            Pool::Partitioned(pool) => pool.fresh(),
            Pool::Sender(pool) => pool.fresh(),
            Pool::Receiver(pool) => pool.fresh(),
        }
    }

    /// How many slots this PE has moved to the pool that all share, and from there.
    pub(super) fn redistributed(&self) -> Redistributed {
        match self {
            Pool::Sender(pool) => pool.redistributed(),
            Pool::Partitioned(pool) => pool.redistributed(),
            Pool::Receiver(_) => Redistributed::default(),
        }
    }

    /// How many slots have been numbered for this PE, used or not.
    #[cfg(all(test, not(loom)))]
    pub(super) fn numbered(&self) -> u64 {
        self.fresh().numbered()
    }
}
