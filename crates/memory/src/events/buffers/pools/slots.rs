//! Free slots, and what is said of them by and to all kinds of pools.

/// The right to use a slot that is free. Whoever has it is the slot's keeper.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::events::buffers) struct FreeSlot(u32);

impl FreeSlot {
    /// The right to use a slot that the caller keeps and has just marked as free, or one that has never been used.
    pub(in crate::events::buffers) fn new(number: u32) -> Self {
        FreeSlot(number)
    }

    pub(super) fn is_even(&self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The number of the slot, which the caller is about to use.
    pub(in crate::events::buffers) fn number(self) -> u32 {
        self.0
    }
}

/// How many buffers a sub-pool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubPoolSize {
    /// As many as needed.
    Unlimited,
    /// This many, at least 1.
    Fixed(u32),
    /// This many on average over the sub-pools of a PE, in proportion to what it sends.
    Adaptive(u32),
}

/// Which free buffer is used next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeOrder {
    /// The one that was freed last, as it is probably still in the cache.
    Lifo,
    /// The one that was freed first.
    Fifo,
}

/// How many slots a PE has moved to and from the pool that all share, for its [books](crate::Books).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::events::buffers) struct Redistributed {
    deposited: u64,
    withdrawn: u64,
}

impl Redistributed {
    pub(super) fn note_deposited(&mut self) {
        self.deposited += 1;
    }

    pub(super) fn note_withdrawn(&mut self) {
        self.withdrawn += 1;
    }

    /// How many went to that pool.
    pub(in crate::events::buffers) fn deposited(self) -> u64 {
        self.deposited
    }

    /// How many came from there.
    pub(in crate::events::buffers) fn withdrawn(self) -> u64 {
        self.withdrawn
    }
}
