//! Memory set aside for what follows a run: its results, or the error that says that there is no
//! memory.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::mapping::{can_map, map, unmap};

/// How much is set aside, in bytes, and how much if there is no room for that: results of some
/// models take more than 8 MB while they are printed.
const BYTES: [usize; 2] = [16 << 20, 8 << 20];

/// The largest request, in bytes, that the reserve is released for. Code that asks for more can
/// handle a failure, or asks for too much.
pub(super) const SMALL: usize = 64 << 10;

/// The size of the request that the reserve was released for in the middle of a run; 0 if it was
/// not.
static RELEASED_FOR: AtomicUsize = AtomicUsize::new(0);

static RESERVE: Reserve = Reserve::none();

/// Sets some memory aside, unless that has been done already. It is never touched, and so takes
/// addresses only.
pub fn keep_reserve() {
    RESERVE.keep();
    // Relaxed, here and elsewhere: it publishes nothing else.
    RELEASED_FOR.store(0, Ordering::Relaxed);
}

/// Gives the memory set aside to whoever needs it: the run is over.
pub fn release_reserve() {
    RESERVE.release();
}

/// Releases the reserve in the middle of a run, so that it can end with an error.
pub(crate) fn release_reserve_to_end() {
    RESERVE.release_in_run();
}

/// Releases the reserve in the middle of a run, for a request of this size.
pub(crate) fn release_reserve_for(bytes: usize) {
    RELEASED_FOR.store(bytes.max(1), Ordering::Relaxed);
    release_reserve_to_end();
}

/// Whether a request of this size may be tried. When memory has run out in one thread, the others
/// must leave what was in the reserve for the end of the run. Other runs of the program go on if
/// there is more: one that asked for too much has not taken anything.
pub(super) fn may_try(bytes: usize) -> bool {
    RESERVE.may_try(bytes, can_map)
}

/// The size of the request that the reserve was released for since it was kept, if it was.
#[inline]
pub(crate) fn released_for() -> Option<usize> {
    Some(RELEASED_FOR.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
}

/// Memory set aside, straight from the [system](super::mapping).
struct Reserve {
    /// Its first byte; null if there is none.
    start: AtomicPtr<c_void>,
    /// Its length; 0 if there is none. Written before `start`, and read after it.
    bytes: AtomicUsize,
    /// It has been released in the middle of a run, whose end needs it.
    needed: AtomicBool,
}

impl Reserve {
    const fn none() -> Self {
        Reserve {
            start: AtomicPtr::new(null_mut()),
            bytes: AtomicUsize::new(0),
            needed: AtomicBool::new(false),
        }
    }

    fn keep(&self) {
        self.needed.store(false, Ordering::Relaxed);
        // If there is no memory even for this, the run will soon find out.
        let Some((start, bytes)) = BYTES.into_iter().find_map(|bytes| Some((map(bytes)?, bytes)))
        else {
            return;
        };
        // Only the thread that finds 0 here keeps it. Acquire and Release, here and below, pass the
        // mapping from thread to thread.
        let first =
            self.bytes.compare_exchange(0, bytes, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if first {
            self.start.store(start, Ordering::Release);
        } else {
            // SAFETY: it was mapped above, with this length, and was never shown to anybody.
            unsafe { unmap(start, bytes) };
        }
    }

    /// Whether a request of this size may be tried, or leaves too little for the end of a run.
    /// `is_there` says whether the system has so many bytes.
    fn may_try(&self, bytes: usize, is_there: impl FnOnce(usize) -> bool) -> bool {
        bytes <= SMALL
            || !self.needed.load(Ordering::Relaxed)
            || is_there(bytes.saturating_add(BYTES[0]))
    }

    /// Releases it, if there is one: the run is over.
    fn release(&self) {
        self.needed.store(false, Ordering::Relaxed);
        self.unmap_after(|| {});
    }

    /// Releases it, if there is one, in the middle of a run.
    fn release_in_run(&self) {
        self.unmap_after(|| self.needed.store(true, Ordering::Relaxed));
    }

    /// Gives the memory back, if there is any. Calls `first` before others can have it.
    fn unmap_after(&self, first: impl FnOnce()) {
        let start = self.start.swap(null_mut(), Ordering::AcqRel);
        if !start.is_null() {
            first();
            let bytes = self.bytes.load(Ordering::Relaxed);
            // SAFETY: it was mapped by `keep`, with this length, and nobody else has it, as it has
            // just been taken out of the only place that knew it. The length is that of this
            // mapping: nobody else writes another before it is 0 again.
            unsafe { unmap(start, bytes) };
            self.bytes.store(0, Ordering::Release);
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_kept_once_and_released_once() {
        let reserve = Reserve::none();
        reserve.keep();
        let start = reserve.start.load(Ordering::Relaxed);
        assert!(!start.is_null());
        reserve.keep();
        assert_eq!(reserve.start.load(Ordering::Relaxed), start);
        reserve.release();
        reserve.release();
        assert!(reserve.start.load(Ordering::Relaxed).is_null());
    }

    #[test]
    fn when_memory_has_run_out_only_small_requests_may_be_tried() {
        let reserve = Reserve::none();
        let is_there = |bytes| bytes <= BYTES[0] + SMALL + 2;
        let large = || reserve.may_try(SMALL + 3, is_there);
        reserve.release_in_run();
        assert!(large(), "nothing was set aside that others could take");
        reserve.keep();
        assert!(large());
        reserve.release_in_run();
        reserve.release_in_run();
        assert!(!large() && reserve.may_try(SMALL, |_| false));
        assert!(reserve.may_try(SMALL + 2, is_there), "as much is left besides");
        reserve.release();
        assert!(large(), "the run is over");
        reserve.keep();
        reserve.release_in_run();
        reserve.keep();
        assert!(large(), "a new run begins");
        reserve.release();
    }
}
