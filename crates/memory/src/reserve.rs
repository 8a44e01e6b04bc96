//! Memory set aside for what follows a run: its results, or the error that says that there is no memory.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How much is set aside, in bytes.
#[cfg(all(target_os = "linux", not(miri)))]
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
        let Some(start) = map() else { return };
        // Release and Acquire, here and below, pass the mapping from thread to thread.
        if self.0.compare_exchange(null_mut(), start, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            unmap(start);
        }
    }

    fn release(&self) {
        let start = self.0.swap(null_mut(), Ordering::AcqRel);
        if !start.is_null() {
            unmap(start);
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn map() -> Option<*mut c_void> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    // SAFETY: the system chooses where, so that no memory in use is mapped over.
    unsafe { mmap_anonymous(null_mut(), BYTES, ProtFlags::READ, MapFlags::PRIVATE | MapFlags::NORESERVE) }.ok()
}

#[cfg(all(target_os = "linux", not(miri)))]
fn unmap(start: *mut c_void) {
    // SAFETY: `start` came from `map`, this thread has just taken it out of the only place that knew it, and nobody has a pointer into it.
    let unmapped = unsafe { rustix::mm::munmap(start, BYTES) };
    // It fails only if the system cannot split a mapping, and this one is whole.
    let _ = unmapped;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn map() -> Option<*mut c_void> {
    None
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn unmap(_: *mut c_void) {}

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
