//! The status of a message: its receiver begins it and may undo that, and its sender may cancel it.
//!
//! Both may write it concurrently. Memory safety does not depend on it: the tag alone decides who may reach a slot's value. An engine that
//! gets the status wrong may lose a cancellation, nothing worse, and debug builds panic then.

use super::{Buffers, found, owned, stale};
use crate::Handle;
use crate::arena::{FREE, Slot};
use crate::sync::Ordering;

pub(super) const PENDING: u8 = 0;
const PROCESSED: u8 = 1;
const CANCELLED: u8 = 2;
/// Cancelled while it was processed, and undone since.
const UNDONE: u8 = 3;
/// In debug builds, a bit beside `PENDING` and `PROCESSED` that the receiver sets when it begins a message as one that its sender will
/// never cancel, and that the sender's `cancel` checks. Release builds have no such bit.
const CERTAIN: u8 = if cfg!(debug_assertions) { 1 << 7 } else { 0 };

/// What [`Buffers::cancel`] found: how far the message had got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Not begun. The receiver will find it cancelled and drop it.
    Pending,
    /// Begun: the receiver must be told to roll it back.
    Processed,
}

impl<T> Buffers<T> {
    /// Marks a pending message as processed. Returns false if it has been cancelled; it stays cancelled then.
    ///
    /// # Panics
    /// Also if the message is processed already.
    #[inline]
    pub fn begin(&self, handle: Handle) -> bool {
        self.turn(handle, PENDING, PROCESSED)
    }

    /// Like [`begin`](Self::begin), but returns the message, or `None` if it has been cancelled. If `sure` decides from the message's mark
    /// that its sender will never cancel it, this saves an atomic read-modify-write, which takes as long as some twenty other instructions.
    /// Debug builds do it all the same, and mark the message as certain.
    ///
    /// # Panics
    /// As for `begin`; in debug builds also if the message is cancelled at the same time.
    #[inline]
    pub fn begin_if(&self, handle: Handle, sure: impl FnOnce(u32) -> bool) -> Option<&T> {
        let slot = owned(&self.arena, self.mine, handle);
        // All Relaxed: the mark was published with the value. An engine that is wrong about `sure` may lose a cancellation, nothing worse.
        if sure(slot.mark.load(Ordering::Relaxed)) {
            let status = slot.status.load(Ordering::Relaxed);
            match status & !CERTAIN {
                PENDING => {
                    if cfg!(debug_assertions) {
                        self.mark_certain(handle, status, PROCESSED);
                    } else {
                        slot.status.store(PROCESSED, Ordering::Relaxed);
                    }
                }
                CANCELLED => return None,
                _ => out_of_turn(handle, PROCESSED),
            }
        } else if !self.turn(handle, PENDING, PROCESSED) {
            return None;
        }
        // SAFETY: as in `get`.
        Some(slot.value.with(|value| unsafe { (*value).assume_init_ref() }))
    }

    /// The message, or `None` if it has been cancelled; for a receiver that knows that the sender will not cancel it from now on. The
    /// message stays pending. Debug builds mark it as certain.
    ///
    /// # Panics
    /// Also if the message is processed already; in debug builds also if it is cancelled at the same time.
    #[inline]
    pub fn get_certain(&self, handle: Handle) -> Option<&T> {
        let slot = owned(&self.arena, self.mine, handle);
        // Acquire pairs with the Release of `cancel`, as in `turn`.
        let status = slot.status.load(Ordering::Acquire);
        match status & !CERTAIN {
            PENDING => {
                if cfg!(debug_assertions) {
                    self.mark_certain(handle, status, PENDING);
                }
            }
            CANCELLED => return None,
            _ => out_of_turn(handle, PROCESSED),
        }
        // SAFETY: as in `get`.
        Some(slot.value.with(|value| unsafe { (*value).assume_init_ref() }))
    }

    /// In debug builds: changes the status of a pending message to `to`, and marks it as certain unless it is local. A local message needs
    /// no atomic read-modify-write in any case, and may still be cancelled.
    fn mark_certain(&self, handle: Handle, pending: u8, to: u8) {
        let slot = owned(&self.arena, self.mine, handle);
        let to = if self.is_local(slot) { to } else { to | CERTAIN };
        // Relaxed: it publishes nothing but the status.
        if slot.status.compare_exchange(pending, to, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            cancelled_though_certain(handle);
        }
    }

    /// Marks a processed message as pending again. Returns false if it has been cancelled; it stays cancelled then, and is
    /// [undone](Self::is_undone).
    ///
    /// # Panics
    /// Also if the message is pending already.
    #[inline]
    pub fn undo(&self, handle: Handle) -> bool {
        let pending = self.turn(handle, PROCESSED, PENDING);
        if !pending {
            // Relaxed: the sender has cancelled the message and is done with it.
            found(&self.arena, handle).status.store(UNDONE, Ordering::Relaxed);
        }
        pending
    }

    /// Whether a processed message was cancelled and then [undone](Self::undo). It is kept only until the receiver has learned of the
    /// cancellation.
    pub fn is_undone(&self, handle: Handle) -> bool {
        owned(&self.arena, self.mine, handle).status.load(Ordering::Relaxed) == UNDONE
    }

    /// Whether a message that this PE has was also sent by it.
    #[inline(always)]
    fn is_local(&self, slot: &Slot<T>) -> bool {
        slot.partner.load(Ordering::Relaxed) == self.me
    }

    #[inline(always)]
    fn turn(&self, handle: Handle, from: u8, to: u8) -> bool {
        let slot = owned(&self.arena, self.mine, handle);
        let status = if self.is_local(slot) {
            // Only this PE cancels a local message, so no atomic read-modify-write is needed. An engine that lets another PE cancel it may
            // lose the cancellation, nothing worse: the status guards no memory.
            let status = slot.status.load(Ordering::Relaxed);
            if status == from {
                slot.status.store(to, Ordering::Relaxed);
            }
            status
        } else {
            // Relaxed on success: nothing but the status passes between the PEs. Acquire on failure pairs with the Release of `cancel`: the
            // sender has read the buffer for the last time, and this PE may free and reuse it.
            let certain = if cfg!(debug_assertions) { slot.status.load(Ordering::Relaxed) & CERTAIN } else { 0 };
            let turned = slot.status.compare_exchange(from | certain, to | certain, Ordering::Relaxed, Ordering::Acquire);
            turned.unwrap_or_else(|status| status) & !CERTAIN
        };
        if status != from && status != CANCELLED {
            out_of_turn(handle, to);
        }
        status == from
    }

    /// Whether a message has been cancelled. Any PE may ask.
    ///
    /// # Panics
    /// Only if there has never been such a buffer.
    #[inline]
    pub fn is_cancelled(&self, handle: Handle) -> bool {
        // Acquire pairs with the Release of `cancel`, as in `begin`.
        matches!(found(&self.arena, handle).status.load(Ordering::Acquire), CANCELLED | UNDONE)
    }

    /// Cancels a message and returns how far it had got. Only its sender may do this, wherever the buffer is now. Unless the message is
    /// local, the receiver may free the buffer from then on, so the sender has to read whatever it needs from it first, such as the
    /// [next](Self::next) message.
    ///
    /// # Panics
    /// If the buffer is free, or the message is cancelled already; in debug builds also if the receiver has [begun](Self::begin_if) it as
    /// one that is never cancelled.
    #[inline]
    pub fn cancel(&self, handle: Handle) -> CancelOutcome {
        let slot = found(&self.arena, handle);
        // Relaxed: this PE sees what it wrote itself, and of another PE's slot it only matters that the tag differs.
        let found = slot.tag.load(Ordering::Relaxed);
        let status = if found == self.mine && self.is_local(slot) {
            // Local: as in `turn`.
            let status = slot.status.load(Ordering::Relaxed);
            slot.status.store(CANCELLED, Ordering::Relaxed);
            status
        } else if found == FREE {
            stale(handle)
        } else {
            // Release pairs with the Acquires of `turn` and `is_cancelled`: this PE has read all it needs before the receiver reuses the
            // buffer.
            slot.status.swap(CANCELLED, Ordering::Release)
        };
        match status {
            PENDING => CancelOutcome::Pending,
            PROCESSED => CancelOutcome::Processed,
            status if status & CERTAIN != 0 => cancelled_though_certain(handle),
            _ => cancelled_twice(handle),
        }
    }
}

#[cold]
#[inline(never)]
fn out_of_turn(handle: Handle, to: u8) -> ! {
    panic!("the message at {handle:?} is {} already", if to == PENDING { "pending" } else { "processed" })
}

#[cold]
#[inline(never)]
fn cancelled_twice(handle: Handle) -> ! {
    panic!("the message at {handle:?} is cancelled already")
}

#[cold]
#[inline(never)]
fn cancelled_though_certain(handle: Handle) -> ! {
    panic!("the message at {handle:?} is cancelled, but its receiver was certain that it never would be")
}
