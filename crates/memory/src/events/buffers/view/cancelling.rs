//! The receiver begins a message and may undo that, and its sender may cancel it. The
//! [status](super::super::status) decides who was first.

use super::Buffers;
use crate::Handle;
use crate::events::buffers::arena::stale;
use crate::events::buffers::slot::{FREE, Slot};
use crate::events::buffers::status::CancelOutcome;

impl<T> Buffers<T> {
    /// Marks a pending message as processed. Returns false if it has been cancelled; it stays
    /// cancelled then.
    ///
    /// # Panics
    /// Also if the message is processed already.
    #[inline]
    pub fn begin(&self, handle: Handle) -> bool {
        let slot = self.slot(handle);
        slot.status().begin(self.is_local(slot), handle)
    }

    /// Like [`begin`](Self::begin), but returns the message, or `None` if it has been cancelled. If
    /// `sure` decides from the message's mark that its sender will never cancel it, this saves an
    /// atomic read-modify-write, which takes as long as some twenty other instructions. Debug
    /// builds do it all the same, and mark the message as certain.
    ///
    /// # Panics
    /// As for `begin`; in debug builds also if the message is cancelled at the same time.
    #[inline]
    pub fn begin_if(&self, handle: Handle, sure: impl FnOnce(u32) -> bool) -> Option<&T> {
        let slot = self.slot(handle);
        let local = || self.is_local(slot);
        let begun = if sure(slot.mark()) {
            slot.status().begin_certain(local, handle)
        } else {
            slot.status().begin(local(), handle)
        };
        // SAFETY: as in `get`.
        begun.then(|| unsafe { slot.value() })
    }

    /// The message, or `None` if it has been cancelled; for a receiver that knows that the sender
    /// will not cancel it from now on. The message stays pending. Debug builds mark it as certain.
    ///
    /// # Panics
    /// Also if the message is processed already; in debug builds also if it is cancelled at the
    /// same time.
    #[inline]
    pub fn get_certain(&self, handle: Handle) -> Option<&T> {
        let slot = self.slot(handle);
        let pending = slot.status().is_certain(|| self.is_local(slot), handle);
        // SAFETY: as in `get`.
        pending.then(|| unsafe { slot.value() })
    }

    /// Marks a processed message as pending again. Returns false if it has been cancelled; it stays
    /// cancelled then, and is [undone](Self::is_undone).
    ///
    /// # Panics
    /// Also if the message is pending already.
    #[inline]
    pub fn undo(&self, handle: Handle) -> bool {
        let slot = self.slot(handle);
        slot.status().undo(self.is_local(slot), handle)
    }

    /// Whether a processed message was cancelled and then [undone](Self::undo). It is kept only
    /// until the receiver has learned of the cancellation.
    pub fn is_undone(&self, handle: Handle) -> bool {
        self.slot(handle).status().is_undone()
    }

    /// Whether a message has been cancelled. Any PE may ask.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn is_cancelled(&self, handle: Handle) -> bool {
        self.arena.found(handle).status().is_cancelled()
    }

    /// Cancels a message and returns how far it had got. Only its sender may do this, wherever the
    /// buffer is now. Unless the message is local, the receiver may free the buffer from then on,
    /// so the sender has to read whatever it needs from it first, such as the [next](Self::next)
    /// message.
    ///
    /// # Panics
    /// If the buffer is free, or the message is cancelled already; in debug builds also if the
    /// receiver has [begun](Self::begin_if) it as one that is never cancelled.
    #[inline]
    pub fn cancel(&self, handle: Handle) -> CancelOutcome {
        let slot = self.arena.found(handle);
        // This PE sees the tags that it wrote itself. Of another PE's slot, it only matters that
        // the tag differs.
        let tag = slot.tag();
        let local = tag == self.mine && self.is_local(slot);
        if tag == FREE {
            stale(handle);
        }
        slot.status().cancel(local, handle)
    }

    /// Whether a message that this PE has was also sent by it.
    #[inline(always)]
    fn is_local(&self, slot: &Slot<T>) -> bool {
        slot.partner() == self.me
    }
}
