//! The sizes of blocks for payloads.

/// The bytes of a cache line. Every block begins with one, so that cores that count different
/// payloads do not write the same line.
pub(super) const LINE: usize = 64;

/// Classes of sizes: one line, or one more than a power of two up to 1024. So 64 KiB fit behind a
/// header; and since the number of lines is odd, headers of large blocks are spread over all sets
/// of the caches. Under loom there are none, so that it follows each block.
pub(super) const CLASSES: usize = if cfg!(loom) { 0 } else { 12 };

/// Classes of blocks in memory that processes share, where no allocator helps with large ones: up
/// to 1 GiB.
pub(super) const SHARED_CLASSES: usize = 26;

/// The class of a block for this many bytes, if one of the first `classes` is large enough.
#[inline(always)]
pub(super) fn class_for(bytes: usize, classes: usize) -> Option<usize> {
    let behind = (bytes - 1) / LINE;
    let class = (2 * behind).checked_next_power_of_two()?.trailing_zeros() as usize;
    (class < classes).then_some(class)
}

/// The size of all blocks of a class, in bytes.
#[inline(always)]
pub(super) const fn block_bytes(class: usize) -> usize {
    (1 + (1 << class) / 2) * LINE
}
