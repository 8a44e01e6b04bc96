//! Memory set aside for what follows a run: its results, or the error that says that there is no memory.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::mapping::{map, unmap};

/// How much is set aside, in bytes.
const BYTES: usize = 8 << 20;

/// The size of what the reserve was released for in the middle of a run; 0 if it was not.
static RELEASED_FOR: AtomicUsize = AtomicUsize::new(0);

static RESERVE: Reserve = Reserve(AtomicPtr::new(null_mut()));

/// Sets some memory aside, unless that has been done already. It is never touched, and so takes addresses only.
pub fn keep_reserve() {
    RESERVE.keep();
    RELEASED_FOR.store(0, Ordering::Relaxed);
}

/// Gives the memory set aside to whoever needs it.
pub fn release_reserve() {
    RESERVE.release();
}

/// Releases the reserve in the middle of a run, for something of this size.
pub(crate) fn release_reserve_for(bytes: usize) {
    // Relaxed, here and elsewhere: it publishes nothing else.
    RELEASED_FOR.store(bytes.max(1), Ordering::Relaxed);
    RESERVE.release();
}

/// The size of what the reserve was released for since it was kept, if it was.
#[inline]
pub(crate) fn released_for() -> Option<usize> {
    Some(RELEASED_FOR.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
}

/// Its first byte; null if there is none. It does not come from the allocator, which would change its ways after so large a piece is freed.
struct Reserve(AtomicPtr<c_void>);

impl Reserve {
    fn keep(&self) {
        // If there is no memory even for this, the run will soon find out.
        let Some(start) = map(BYTES) else { return };
        // Release and Acquire, here and below, pass the mapping from thread to thread.
        if self.0.compare_exchange(null_mut(), start, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: it was mapped by `keep`, with this length, and nobody else has it: here it was never shown to anybody, and in `release`
            // it has just been taken out of the only place that knew it.
            unsafe { unmap(start, BYTES) };
        }
    }

    fn release(&self) {
        let start = self.0.swap(null_mut(), Ordering::AcqRel);
        if !start.is_null() {
            // SAFETY: it was mapped by `keep`, with this length, and nobody else has it: here it was never shown to anybody, and in `release`
            // it has just been taken out of the only place that knew it.
            unsafe { unmap(start, BYTES) };
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_kept_once_and_released_once() {
        let reserve = Reserve(AtomicPtr::new(null_mut()));
        reserve.keep();
        let start = reserve.0.load(Ordering::Relaxed);
        assert!(!start.is_null());
        reserve.keep();
        assert_eq!(reserve.0.load(Ordering::Relaxed), start);
        reserve.release();
        reserve.release();
        assert!(reserve.0.load(Ordering::Relaxed).is_null());
    }
}
