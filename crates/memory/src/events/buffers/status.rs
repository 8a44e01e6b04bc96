//! The status of a message: its receiver begins it and may undo that, and its sender may cancel it.
//!
//! Both may write it concurrently. Memory safety does not depend on it, as the tag alone decides
//! who may reach a slot's value. An engine that gets the status wrong may lose a cancellation, but
//! nothing worse; debug builds panic then.

use crate::Handle;
use crate::sync::{AtomicU8, Ordering};

const PENDING: u8 = 0;
const PROCESSED: u8 = 1;
const CANCELLED: u8 = 2;
/// Cancelled while it was processed, and undone since.
const UNDONE: u8 = 3;
/// In debug builds, a bit beside `PENDING` and `PROCESSED` that the receiver sets when it begins a
/// message as one that its sender will never cancel, and that the sender's `cancel` checks. Release
/// builds have no such bit.
const CERTAIN: u8 = if cfg!(debug_assertions) { 1 << 7 } else { 0 };

/// What [`Buffers::cancel`](crate::Buffers::cancel) found: how far the message had got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Not begun. The receiver will find it cancelled and drop it.
    Pending,
    /// Begun: the receiver must be told to roll it back.
    Processed,
}

/// How far a message has got. `local` says whether the PE that asks was also its sender: such a
/// message needs no atomic read-modify-write, as nobody else cancels it. If an engine lets another
/// PE cancel it, the cancellation may be lost, but nothing worse: the status guards no memory.
#[repr(transparent)]
pub(super) struct Status(AtomicU8);

impl Status {
    #[cfg(loom)]
    pub(super) fn pending() -> Self {
        Status(AtomicU8::new(PENDING))
    }

    /// Makes a new message pending. Whoever publishes the message publishes this.
    #[inline(always)]
    pub(super) fn reset(&self) {
        self.0.store(PENDING, Ordering::Relaxed);
    }

    /// The receiver begins a pending message, unless it has been cancelled: then it returns false.
    #[inline(always)]
    pub(super) fn begin(&self, local: bool, handle: Handle) -> bool {
        self.turn(PENDING, PROCESSED, local, handle)
    }

    /// Likewise, for a message that the sender will never cancel from now on. Only debug builds ask
    /// whether it is local.
    #[inline(always)]
    pub(super) fn begin_certain(&self, local: impl Fn() -> bool, handle: Handle) -> bool {
        // Relaxed, here and below: whatever made the message certain has also made an earlier
        // cancellation visible. An engine that is wrong about that may lose a cancellation, nothing
        // worse.
        let status = self.0.load(Ordering::Relaxed);
        match status & !CERTAIN {
            PENDING if cfg!(debug_assertions) => {
                self.mark_certain(status, PROCESSED, local(), handle)
            }
            PENDING => self.0.store(PROCESSED, Ordering::Relaxed),
            CANCELLED => return false,
            _ => out_of_turn(handle, PROCESSED),
        }
        true
    }

    /// Whether a message that has not begun is still pending, if the sender will not cancel it from
    /// now on. It stays pending.
    #[inline(always)]
    pub(super) fn is_certain(&self, local: impl Fn() -> bool, handle: Handle) -> bool {
        // Acquire pairs with the Release of `cancel`, as in `turn`.
        let status = self.0.load(Ordering::Acquire);
        match status & !CERTAIN {
            PENDING if cfg!(debug_assertions) => {
                self.mark_certain(status, PENDING, local(), handle)
            }
            PENDING => {}
            CANCELLED => return false,
            _ => out_of_turn(handle, PROCESSED),
        }
        true
    }

    /// In debug builds: changes the status of a pending message to `to`, and marks it as certain
    /// unless it is local, as a local one may still be cancelled.
    fn mark_certain(&self, pending: u8, to: u8, local: bool, handle: Handle) {
        let to = if local { to } else { to | CERTAIN };
        // Relaxed: it publishes nothing but the status.
        if self.0.compare_exchange(pending, to, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            cancelled_though_certain(handle);
        }
    }

    /// The receiver undoes a message, which is pending again, or undone if it has been cancelled:
    /// then it returns false.
    #[inline(always)]
    pub(super) fn undo(&self, local: bool, handle: Handle) -> bool {
        let pending = self.turn(PROCESSED, PENDING, local, handle);
        if !pending {
            // Relaxed: the sender has cancelled the message and is done with it.
            self.0.store(UNDONE, Ordering::Relaxed);
        }
        pending
    }

    #[inline(always)]
    fn turn(&self, from: u8, to: u8, local: bool, handle: Handle) -> bool {
        let status = if local {
            let status = self.0.load(Ordering::Relaxed);
            if status == from {
                self.0.store(to, Ordering::Relaxed);
            }
            status
        } else {
            // Relaxed on success: nothing but the status passes between the PEs. Acquire on failure
            // pairs with the Release of `cancel`: the sender has read the buffer for the last time,
            // and this PE may free and reuse it.
            let certain =
                if cfg!(debug_assertions) { self.0.load(Ordering::Relaxed) & CERTAIN } else { 0 };
            let turned = self.0.compare_exchange(
                from | certain,
                to | certain,
                Ordering::Relaxed,
                Ordering::Acquire,
            );
            turned.unwrap_or_else(|status| status) & !CERTAIN
        };
        if status != from && status != CANCELLED {
            out_of_turn(handle, to);
        }
        status == from
    }

    /// Whether the receiver undid the message after it was cancelled.
    #[inline(always)]
    pub(super) fn is_undone(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNDONE
    }

    /// Whether the message has been cancelled.
    #[inline(always)]
    pub(super) fn is_cancelled(&self) -> bool {
        // Acquire pairs with the Release of `cancel`, as in `turn`.
        matches!(self.0.load(Ordering::Acquire), CANCELLED | UNDONE)
    }

    /// The sender cancels the message.
    #[inline(always)]
    pub(super) fn cancel(&self, local: bool, handle: Handle) -> CancelOutcome {
        let status = if local {
            let status = self.0.load(Ordering::Relaxed);
            self.0.store(CANCELLED, Ordering::Relaxed);
            status
        } else {
            // Release pairs with the Acquires of `turn` and `is_cancelled`: this PE has read all it
            // needs before the receiver reuses the buffer.
            self.0.swap(CANCELLED, Ordering::Release)
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
    panic!(
        "the message at {handle:?} is {} already",
        if to == PENDING { "pending" } else { "processed" }
    )
}

#[cold]
#[inline(never)]
fn cancelled_twice(handle: Handle) -> ! {
    panic!("the message at {handle:?} is cancelled already")
}

#[cold]
#[inline(never)]
fn cancelled_though_certain(handle: Handle) -> ! {
    panic!(
        "the message at {handle:?} is cancelled, but its receiver was certain that it never would \
         be"
    )
}
