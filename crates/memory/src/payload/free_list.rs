//! Blocks of memory, and lists of free ones that go through the blocks themselves.

use std::ops::Range;
use std::ptr::NonNull;

use super::clean::Clean;

/// Memory for a payload, and what is known of it. Whoever has it last gives it to a list.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    start: NonNull<u8>,
    clean: Clean,
}

impl Block {
    #[inline(always)]
    pub(super) fn new(start: NonNull<u8>, clean: Clean) -> Self {
        Block { start, clean }
    }

    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// What is known to be zeros in it.
    #[inline(always)]
    pub(super) fn clean(&self) -> Clean {
        self.clean
    }

    /// Notes that something was written there.
    #[inline(always)]
    pub(super) fn note_written(&mut self, part: Range<usize>) {
        self.clean = self.clean.without(part);
    }

    /// Makes its first `bytes` zeros.
    ///
    /// # Safety
    /// It has that many, rounded up to lines.
    #[inline]
    pub(super) unsafe fn clear(&mut self, bytes: usize) {
        for dirty in self.clean.dirty_within(bytes).into_iter().filter(|dirty| !dirty.is_empty()) {
            // SAFETY: the lines are among those that the caller has told of, and belong to the
            // block.
            unsafe { self.start.add(dirty.start).write_bytes(0, dirty.len()) };
        }
        self.clean = self.clean.with_cleared(bytes);
    }
}

/// The beginning of a free block.
pub(super) struct FreeBlock {
    next: Option<NonNull<FreeBlock>>,
    clean: Clean,
}

impl FreeBlock {
    /// Writes into a block which one comes after it.
    ///
    /// # Safety
    /// The block has at least a line, is aligned to one, and belongs to the caller.
    #[inline(always)]
    pub(super) unsafe fn link(
        block: Block,
        next: Option<NonNull<FreeBlock>>,
    ) -> NonNull<FreeBlock> {
        let first = block.start.cast::<FreeBlock>();
        // SAFETY: the caller's promise. The first line is never clean.
        unsafe { first.write(FreeBlock { next, clean: block.clean }) };
        first
    }

    /// A block that was [linked](Self::link), and the one that comes after it.
    ///
    /// # Safety
    /// Nobody has written into the block since, and it belongs to the caller.
    #[inline(always)]
    pub(super) unsafe fn unlink(first: NonNull<FreeBlock>) -> (Block, Option<NonNull<FreeBlock>>) {
        // SAFETY: the caller's promise.
        let FreeBlock { next, clean } = unsafe { first.read() };
        (Block { start: first.cast(), clean }, next)
    }
}

/// Free blocks, which belong to the list alone. The one freed last comes first, as it is probably
/// still in the cache.
#[derive(Default)]
pub(crate) struct FreeList {
    first: Option<NonNull<FreeBlock>>,
    len: usize,
}

// SAFETY: nobody else uses the blocks, which are plain memory, wherever the list goes.
unsafe impl Send for FreeList {}

impl FreeList {
    pub(super) const fn new() -> Self {
        FreeList { first: None, len: 0 }
    }

    /// How many blocks there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn first_address(&self) -> Option<usize> {
        self.first.map(|first| first.addr().get())
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Block> {
        // SAFETY: the block belongs to the list, and `push` has linked it.
        let (block, next) = unsafe { FreeBlock::unlink(self.first?) };
        self.first = next;
        self.len -= 1;
        Some(block)
    }

    /// # Safety
    /// The block has at least a line, is aligned to one, has zeros where it is said to be clean,
    /// and belongs to the list from now on.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, block: Block) {
        // SAFETY: the caller's promise.
        self.first = Some(unsafe { FreeBlock::link(block, self.first) });
        self.len += 1;
    }
}
