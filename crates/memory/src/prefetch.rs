/// Asks the processor to fetch the cache line of `value`, because it will be needed soon. It
/// affects only speed.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching is a hint: it reads and writes nothing and cannot fault, whatever the
        // address. SSE, the only requirement, is part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}

/// Like [`prefetch`], for all cache lines of `value`.
#[inline]
pub fn prefetch_all<T>(value: &T) {
    /// The bytes of a cache line.
    const LINE: usize = 64;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: as in `prefetch`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(offset)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (value, LINE);
}

/// Like [`prefetch`], for a cache line that will be written: it is claimed from other cores at
/// once.
#[inline(always)]
pub fn prefetch_write<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // For a generic x86-64 target, the intrinsic with a hint to write compiles to a fetch for
        // reading, and the line would have to be fetched twice. Processors without this instruction
        // treat it as a no-op.
        // SAFETY: the instruction changes no memory and no register, and faults at no address.
        unsafe {
            std::arch::asm!(
                "prefetchw byte ptr [{}]",
                in(reg) std::ptr::from_ref(value),
                options(nostack, preserves_flags, readonly),
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}

/// Prefetches the place behind `value`, as another value will be written there, if that place is
/// the next of a list. The value may be the last of its memory: nothing is read or written.
#[inline(always)]
pub fn prefetch_behind<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let behind = std::ptr::from_ref(value).wrapping_add(1).cast::<i8>();
        for offset in [0, size_of::<T>().saturating_sub(1)] {
            // SAFETY: as in `prefetch`, whatever lies at that address, if anything.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(behind.wrapping_add(offset)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    #[test]
    fn prefetching_changes_nothing() {
        let values = [1u64, 2, 3];
        values.iter().for_each(super::prefetch);
        values.iter().for_each(super::prefetch_behind);
        values.iter().for_each(super::prefetch_write);
        assert_eq!(values, [1, 2, 3]);
    }
}
