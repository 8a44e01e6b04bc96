use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::reserve::may_try;

const HUGE_PAGE: usize = 2 << 20;

/// At this many bytes or more, huge pages are worth asking for.
const LARGE: usize = 2 * HUGE_PAGE;

/// Asks the system to back `values` and the spare capacity behind them with huge pages, which saves
/// most TLB misses in large tables. It affects only speed, and does nothing where the system has no
/// huge pages.
pub fn prefer_huge_pages<T>(values: &mut Vec<T>) {
    let bytes = values.capacity() * size_of::<T>();
    advise(values.as_mut_ptr().cast(), bytes);
}

/// Zeroed memory, freed on drop. Pages that are never touched cost nothing; large memory asks for
/// huge pages.
pub(crate) struct Pages {
    start: NonNull<u8>,
    /// The allocation; `start` is an aligned address within it.
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: `Pages` owns its memory alone, as a box does, and the allocator takes memory back from
// any thread. It gives no access but by raw pointers, whose users argue for themselves.
unsafe impl Send for Pages {}

impl Pages {
    /// At least `bytes` of zeros from [`start`](Self::start) on, which is a multiple of `align`, a
    /// power of two. `None` if there is no memory.
    pub(crate) fn zeroed(bytes: usize, align: usize) -> Option<Pages> {
        let (bytes, align) = if bytes < LARGE {
            (bytes, align)
        } else {
            (bytes.checked_next_multiple_of(HUGE_PAGE)?, align.max(HUGE_PAGE))
        };
        // Aligned by hand: asked for a wide alignment, the allocator clears the memory itself, and
        // so touches it.
        let layout = Layout::from_size_align(bytes.checked_add(align)?, size_of::<usize>()).ok()?;
        if !may_try(layout.size()) {
            return None;
        }
        // SAFETY: the layout has at least `align` > 0 bytes.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: at most `align` - 1 bytes are skipped, and there are `bytes` + `align`.
        let start = unsafe { memory.add(memory.align_offset(align)) };
        advise(start.as_ptr(), bytes);
        Some(Pages { start, memory, layout })
    }

    /// The first byte; the pointer may be used for all of them.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `memory` came from the allocator with this layout and is given back once, here.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 4096;
    if bytes < LARGE {
        return;
    }
    let skipped = start.align_offset(PAGE);
    let first = start.wrapping_add(skipped);
    let length = (bytes - skipped) / PAGE * PAGE;
    // SAFETY: the `length` bytes from `first` lie within one allocation that the caller holds
    // exclusively, as `skipped` < PAGE < `bytes`; and `LinuxHugepage` leaves the contents and the
    // mapping of every page as they are.
    let advised = unsafe { madvise(first.cast(), length, Advice::LinuxHugepage) };
    // A kernel built without huge pages, for example, refuses. The memory works all the same.
    let _ = advised;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_stay() {
        let count = if cfg!(miri) { 300 } else { 3_000_000 };
        let mut values: Vec<u32> = (0..count).collect();
        prefer_huge_pages(&mut values);
        values.push(count);
        assert!(values.iter().enumerate().all(|(i, &v)| i == v as usize));
        prefer_huge_pages(&mut Vec::<u64>::new());
    }

    #[test]
    fn pages_are_aligned_zeros() {
        let large = if cfg!(miri) { [640, 650] } else { [LARGE, LARGE + 64] };
        for (bytes, align) in [(1, 1), (100, 64), (5000, 4096), (large[0], 128), (large[1], 128)] {
            let pages = Pages::zeroed(bytes, align).unwrap();
            assert_eq!(
                pages.start().align_offset(if bytes < LARGE { align } else { HUGE_PAGE }),
                0
            );
            assert!(
                bytes >= LARGE || pages.layout.size() < bytes + 2 * align,
                "no huge page for {bytes} bytes"
            );
            // SAFETY: this many zeroed bytes are there, and nobody else reaches them.
            let found = unsafe { std::slice::from_raw_parts_mut(pages.start().as_ptr(), bytes) };
            assert!(found.iter().all(|&byte| byte == 0));
            found.fill(7);
        }
        assert!(Pages::zeroed(usize::MAX - 10, 64).is_none());
        assert!(Pages::zeroed(isize::MAX as usize - 10, 64).is_none());
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn pages_are_given_back() {
        // The size of the address space. Other tests take some of it as well, but not as much.
        let gigabytes = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let size = status
                .lines()
                .find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB"))
                .unwrap();
            size.trim().parse::<u64>().unwrap() >> 20
        };
        let before = gigabytes();
        for _ in 0..100 {
            assert!(Pages::zeroed(1 << 30, 64).is_some());
        }
        assert!(gigabytes() < before + 50);
    }
}
