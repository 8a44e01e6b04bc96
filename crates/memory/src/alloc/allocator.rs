//! An allocator for programs that run simulations. Small requests get memory even when the system
//! has none, so that the run can end with an error. Otherwise the program would abort, as most code
//! cannot handle a request that fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

use super::Exhausted;
use super::reserve::{SMALL, release_reserve_for, released_for};

/// The system's allocator. When that has no memory for something small, this releases the
/// [reserve](crate::keep_reserve) and tries again; the engine finds out at its next step, and ends
/// the run.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: warpline_memory::Allocator = warpline_memory::Allocator;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

impl Allocator {
    /// # Errors
    /// If the reserve had to be released since it was kept.
    #[inline]
    pub fn check() -> Result<(), Exhausted> {
        released_for()
            .map_or(Ok(()), |bytes| Err(Exhausted::Memory { what: "something small", bytes }))
    }
}

/// Tries again a request that has failed, if it is small.
#[cold]
fn with_reserve(bytes: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
    if bytes > SMALL {
        return null_mut();
    }
    release_reserve_for(bytes);
    allocate()
}

// SAFETY: all memory comes from `System` and goes back there, with the layouts that the caller has
// given; `with_reserve` only asks it again.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract of `GlobalAlloc`, which is that of `System`;
        // likewise below.
        let allocate = || unsafe { System.alloc(layout) };
        let memory = allocate();
        if memory.is_null() { with_reserve(layout.size(), allocate) } else { memory }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        let memory = allocate();
        if memory.is_null() { with_reserve(layout.size(), allocate) } else { memory }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; where the first try fails, `old` is still as it was.
        let allocate = || unsafe { System.realloc(old, layout, size) };
        let memory = allocate();
        if memory.is_null() { with_reserve(size, allocate) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_tried_again() {
        let mut place = 0u8;
        let start = std::ptr::from_mut(&mut place);
        assert!(with_reserve(SMALL + 1, || start).is_null());
        assert_eq!(Allocator::check(), Ok(()));
        assert_eq!(with_reserve(SMALL, || start), start);
        assert_eq!(
            Allocator::check(),
            Err(Exhausted::Memory { what: "something small", bytes: SMALL })
        );
        crate::keep_reserve();
        assert_eq!(Allocator::check(), Ok(()));
        // A test that runs out of memory on purpose would release it, and others would get none.
        crate::release_reserve();
    }
}
