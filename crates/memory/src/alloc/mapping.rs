//! Memory straight from the system, past the allocator. After so large a piece is freed, the
//! allocator would keep later ones in its heap, where they cannot grow in place.

use std::ffi::c_void;

/// Maps memory without touching it; `None` if the system refuses, or if we do not know how to ask
/// it.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn map(bytes: usize) -> Option<*mut c_void> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    // SAFETY: the system chooses where, so that no memory in use is mapped over.
    unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    }
    .ok()
}

/// Whether the system would give this much.
pub(crate) fn can_map(bytes: usize) -> bool {
    // SAFETY: it has just been mapped, with this length, and nobody has seen it.
    map(bytes).map(|start| unsafe { unmap(start, bytes) }).is_some()
}

/// Unmaps memory.
///
/// # Safety
/// The memory was mapped by [`map`] with this length, and nobody will use it any more.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) unsafe fn unmap(start: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise.
    let unmapped = unsafe { rustix::mm::munmap(start, bytes) };
    // It fails only if the system cannot split a mapping, and this one is whole.
    let _ = unmapped;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn map(_: usize) -> Option<*mut c_void> {
    None
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) unsafe fn unmap(_: *mut c_void, _: usize) {}
