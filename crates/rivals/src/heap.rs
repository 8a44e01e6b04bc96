//! The memory of a segment.

use std::ptr::NonNull;

use crate::ffi::{self, Opened};

/// The segment as this process has mapped it, and its allocator.
pub(crate) struct Heap(pub(crate) NonNull<Opened>);

// SAFETY: between two calls, nothing of Boost's belongs to a thread, and each call locks what it
// uses. No one else has the pointer.
unsafe impl Send for Heap {}

impl Heap {
    /// # Safety
    /// `bytes` must be the start of a block from this heap that nobody uses any more.
    #[inline]
    pub(crate) unsafe fn free(&self, bytes: NonNull<u8>) {
        // SAFETY: the segment is open; the rest is the caller's promise.
        unsafe { ffi::warpline_boost_free(self.0.as_ptr(), bytes.as_ptr()) };
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: it was opened once and is closed once; messages borrow it, so there are none left
        // in this process.
        unsafe { ffi::warpline_boost_close(self.0.as_ptr()) };
    }
}
