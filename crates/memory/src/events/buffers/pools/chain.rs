use super::slots::{FreeSlot, PoolOrder};
use crate::events::buffers::arena::Arena;
use crate::events::buffers::slot::Slot;
use crate::{Apart, Exhausted, Shareable, SpinLock};

/// A linked list of free slots that several PEs share, in memory that processes may share: each
/// slot has the number of the one behind it. It is used under a lock, and is the keeper of its
/// slots.
#[derive(Debug)]
pub(super) struct Chain {
    /// The slot to use next, if there are any.
    first: u32,
    /// The last slot, if there are any. What it says of a slot behind it means nothing.
    last: u32,
    len: u32,
    /// How many slots other PEs asked for when there were none.
    missed: u32,
}

/// A chain under a lock, on cache lines of its own.
pub(super) type LockedChain = Apart<SpinLock<Chain>>;

// SAFETY: these are numbers.
unsafe impl Shareable for Chain {}

impl Chain {
    /// No slots.
    pub(super) fn locked() -> LockedChain {
        Apart(SpinLock::new(Chain { first: 0, last: 0, len: 0, missed: 0 }))
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Adds a slot: as the next one to be used, or as the last one.
    #[inline]
    pub(super) fn push<T>(&mut self, slot: FreeSlot, order: PoolOrder, arena: &Arena<T>) {
        let number = slot.number();
        // The lock orders later readers after this.
        match order {
            PoolOrder::Lifo => {
                made(arena, number).set_behind(self.first);
                if self.len == 0 {
                    self.last = number;
                }
                self.first = number;
            }
            PoolOrder::Fifo => {
                match self.len {
                    0 => self.first = number,
                    _ => made(arena, self.last).set_behind(number),
                }
                self.last = number;
            }
        }
        self.len += 1;
    }

    /// Notes that another PE asked for a slot when there was none.
    #[inline]
    pub(super) fn note_missed(&mut self) {
        self.missed += 1;
    }

    /// How many slots other PEs have asked for in vain since this was last asked.
    pub(super) fn take_missed(&mut self) -> u32 {
        std::mem::take(&mut self.missed)
    }

    /// Takes out the slot to use next.
    #[inline]
    pub(super) fn pop<T>(&mut self, arena: &Arena<T>) -> Option<FreeSlot> {
        if self.len == 0 {
            return None;
        }
        let number = self.first;
        self.first = made(arena, number).behind();
        self.len -= 1;
        Some(FreeSlot::new(number))
    }
}

/// The slot with a number that a PE has made.
#[inline]
fn made<T>(arena: &Arena<T>, number: u32) -> &Slot<T> {
    arena.slot(number).unwrap_or_else(|| Exhausted::Numbers.unwind())
}
