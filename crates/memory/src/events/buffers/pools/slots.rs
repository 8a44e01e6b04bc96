//! Free slots, and what all kinds of pools say about them.

/// The right to use a slot that is free. Whoever has it is the slot's keeper.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::events::buffers) struct FreeSlot(u32);

impl FreeSlot {
    /// The right to use a slot that the caller keeps and has just marked as free, or one that has
    /// never been used.
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

/// How many buffers a PE may have for messages to each other, with partitioned pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubPool {
    /// As many as it takes.
    #[default]
    Unlimited,
    /// This many, at least 1.
    Fixed(u32),
    /// This many on average over all other PEs, at least 1, in proportion to what is sent to each.
    Adaptive(u32),
}

impl SubPool {
    /// The usual average of adaptive ones.
    pub const AVERAGE: u32 = 256;
}

warpline_base::words! {
    /// Which free buffer of a pool is used next. The answer does not depend on it.
    ///
    /// ```
    /// use warpline_memory::PoolOrder;
    /// assert_eq!([PoolOrder::Lifo, PoolOrder::Fifo].map(PoolOrder::name), ["lifo", "fifo"]);
    /// ```
    pub enum PoolOrder {
        /// The one that was freed last, as it is probably still in the cache.
        #[default]
        Lifo = "lifo",
        /// The one that was freed first.
        Fifo = "fifo",
    }
}

/// How many slots a PE has moved to and from the pool that all share, for its
/// [books](crate::Books).
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
