//! How buffers pass from PE to PE: with a message, or empty and back to where they came from.
//!
//! The tag of a slot in flight names the PE that is to receive it. Writing that tag publishes
//! everything in the slot.

use super::Buffers;
use crate::Handle;
use crate::events::buffers::pools::FreeSlot;
use crate::events::buffers::slot::{EMPTY, FREE, SENT, tag};

impl<T> Buffers<T> {
    /// Takes over a buffer in flight to this PE, and returns the value in it. The buffer's partner
    /// is the PE that sent it.
    ///
    /// # Panics
    /// If the buffer is not in flight to this PE.
    #[inline]
    pub fn accept(&mut self, handle: Handle) -> &T {
        let slot = self.arena.found(handle);
        if slot.arrived_tag() != tag(SENT, self.me) {
            not_sent(handle, self.me);
        }
        // Only this PE acts on the slot until it passes it on.
        slot.set_tag(self.mine);
        self.counts.accepted += 1;
        // SAFETY: as in `get`: the store above has made the slot live and this PE's, and a slot
        // sent with a message has a value.
        unsafe { slot.value() }
    }

    /// Whether there may ever be a [surplus](Self::give_surplus).
    pub fn returns_surplus(&self) -> bool {
        self.pool.returns_surplus()
    }

    /// Takes out a free buffer to send back to `partner`, if there are more than `most` beyond
    /// those that this PE has made for it, or, where sub-pools have sizes, more than a quarter of
    /// the size beyond those. So a PE that sends more than it receives gets its buffers back, while
    /// each PE keeps as many as it has made, so free buffers do not go back and forth. The buffer
    /// is in flight until that PE [takes it back](Self::accept_empty). Only partitioned pools have
    /// a surplus.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn give_surplus(&mut self, partner: u32, most: usize) -> Option<Handle> {
        // Retired slots count, too. One that is over has been out of use for longest.
        let retired = self.retired_for(partner);
        let retired = if self.pool.has_surplus(partner, most, retired) {
            self.reclaim_one(partner)
        } else {
            None
        };
        let handle =
            Handle::from_bits(retired.or_else(|| self.pool.surplus(partner, most))?.number());
        let slot = self.arena.found(handle);
        // To the receiver, the partner is this PE.
        slot.set_partner(self.me);
        // This PE is done with the slot.
        slot.send(tag(EMPTY, partner));
        self.counts.returned += 1;
        Some(handle)
    }

    /// Takes back a buffer that its partner had no use for.
    ///
    /// # Panics
    /// If the buffer is not in flight to this PE as an empty one.
    pub fn accept_empty(&mut self, handle: Handle) {
        let slot = self.arena.found(handle);
        if slot.arrived_tag() != tag(EMPTY, self.me) {
            not_sent(handle, self.me);
        }
        // Only this PE acts on the slot until it passes it on.
        slot.set_tag(FREE);
        let partner = slot.partner();
        self.pool.give(partner, FreeSlot::new(handle.bits()), &self.arena);
        self.counts.taken_back += 1;
    }
}

#[cold]
#[inline(never)]
fn not_sent(handle: Handle, me: u32) -> ! {
    panic!("nothing in flight to PE {me} at {handle:?}")
}
