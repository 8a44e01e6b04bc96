//! A message in a segment.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use crate::heap::Heap;

/// Bytes in a segment, with no other holder in any process. Dropping it gives them back to the
/// segment's one allocator.
pub struct Message<'s> {
    heap: &'s Heap,
    bytes: NonNull<u8>,
    length: usize,
}

impl<'s> Message<'s> {
    /// # Safety
    /// `bytes` must lead to `length` bytes in a block from this heap that nobody else holds.
    pub(crate) unsafe fn holding(heap: &'s Heap, bytes: NonNull<u8>, length: usize) -> Self {
        Message { heap, bytes, length }
    }

    /// Whether it lies in this heap.
    pub(crate) fn is_in(&self, heap: &Heap) -> bool {
        std::ptr::eq(self.heap, heap)
    }

    /// Its bytes and their number. The caller has to free the bytes or pass them on.
    pub(crate) fn into_parts(self) -> (NonNull<u8>, usize) {
        let parts = (self.bytes, self.length);
        std::mem::forget(self);
        parts
    }
}

impl Deref for Message<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the heap stays mapped while it is borrowed, and the bytes are in a block that
        // only this message holds. They lie in a file in memory, which has zeros where nobody has
        // written, so they are initialised.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr(), self.length) }
    }
}

impl DerefMut for Message<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; and this message is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_ptr(), self.length) }
    }
}

impl Drop for Message<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the block is from this heap, and this message, which was its only holder, does
        // not use it any more.
        unsafe { self.heap.free(self.bytes) };
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes)", self.length)
    }
}
