//! Where blocks of one size come from, and go back to when no thread keeps them: chunks of many
//! blocks each. Chunks are large where there are many blocks, so that the system backs them with
//! huge pages; otherwise every access to another payload would be a TLB miss.

use std::ptr::NonNull;

use super::clean::Clean;
use super::free_list::{Block, FreeList};
use super::held;
use crate::alloc::{Exhausted, MakeRoom, Pages};

/// The sizes of the first chunk and of the largest, in bytes. In between, a chunk is as large as
/// all before it together.
const CHUNK_BYTES: [usize; 2] = if cfg!(miri) { [2 << 10, 8 << 10] } else { [64 << 10, 64 << 20] };

/// Chunks of blocks that all have the same size, a multiple of `align`. All calls pass the same two
/// numbers.
pub(super) struct Chunks {
    /// By address.
    chunks: Vec<Chunk>,
}

struct Chunk {
    pages: Pages,
    /// How many blocks there are.
    blocks: usize,
    /// How many of them, from the first on, have ever been given out.
    used: usize,
    /// The blocks that have come back.
    free: FreeList,
}

impl Chunk {
    fn has_free(&self) -> bool {
        self.free.len() > 0 || self.used < self.blocks
    }

    fn pop(&mut self, block_bytes: usize) -> Option<Block> {
        self.free.pop().or_else(|| {
            // SAFETY: there are `blocks` blocks of this size, one after the other.
            let start = (self.used < self.blocks)
                .then(|| unsafe { self.pages.start().add(self.used * block_bytes) })?;
            self.used += 1;
            held::add(block_bytes);
            // All pages are zeros at first.
            Some(Block::new(start, Clean::behind_header(block_bytes)))
        })
    }
}

impl Chunks {
    pub(super) const fn new() -> Self {
        Chunks { chunks: Vec::new() }
    }

    /// Gives out up to `most` blocks, at least one. They hold zeros, or what their last users left.
    ///
    /// # Panics
    /// If there is no memory, it [unwinds](Exhausted::unwind).
    pub(super) fn take(&mut self, block_bytes: usize, align: usize, most: usize) -> FreeList {
        // Low addresses first, so that the other chunks become empty.
        let index = self
            .chunks
            .iter()
            .position(Chunk::has_free)
            .unwrap_or_else(|| self.grow(block_bytes, align));
        let chunk = &mut self.chunks[index];
        let mut taken = FreeList::default();
        while taken.len() < most
            && let Some(block) = chunk.pop(block_bytes)
        {
            // SAFETY: the block is in no other list; it has at least a line, and is aligned to one.
            unsafe { taken.push(block) };
        }
        taken
    }

    /// Makes a chunk, and returns its index.
    #[cold]
    fn grow(&mut self, block_bytes: usize, align: usize) -> usize {
        let all: usize = self.chunks.iter().map(|chunk| chunk.blocks * block_bytes).sum();
        let wanted = (all.clamp(CHUNK_BYTES[0], CHUNK_BYTES[1]) / block_bytes).max(1);
        self.chunks.make_room(1, "the list of chunks");
        let chunk = |blocks: usize| Some((Pages::zeroed(blocks * block_bytes, align)?, blocks));
        let (pages, blocks) = chunk(wanted).or_else(|| chunk(1)).unwrap_or_else(|| {
            Exhausted::Memory { what: "a payload", bytes: block_bytes }.unwind()
        });
        let index = self.place_of(pages.start());
        self.chunks.insert(index, Chunk { pages, blocks, used: 0, free: FreeList::default() });
        index
    }

    /// How many chunks begin at this address or before it.
    fn place_of(&self, address: NonNull<u8>) -> usize {
        self.chunks.partition_point(|chunk| chunk.pages.start() <= address)
    }

    /// Takes blocks back. A chunk is freed when all of its blocks are back.
    ///
    /// # Safety
    /// The blocks are from [`take`](Self::take), and have this size.
    pub(super) unsafe fn give(&mut self, block_bytes: usize, mut blocks: FreeList) {
        while let Some(block) = blocks.pop() {
            let index = self.place_of(block.start()) - 1;
            let chunk = &mut self.chunks[index];
            // SAFETY: the block was in the other list, and is from this chunk, the last one to
            // begin before it.
            unsafe { chunk.free.push(block) };
            if chunk.free.len() == chunk.used {
                held::subtract(chunk.used * block_bytes);
                self.chunks.remove(index);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SIZE: usize = 320;

    #[test]
    fn blocks_are_apart_and_chunks_grow_and_go() {
        let mut chunks = Chunks::new();
        let count = if cfg!(miri) { 40 } else { 2000 };
        let mut all: Vec<FreeList> = (0..count).map(|_| chunks.take(SIZE, 64, 3)).collect();
        let mut addresses = Vec::new();
        for list in &mut all {
            let mut again = FreeList::default();
            assert!((1..=3).contains(&list.len()));
            while let Some(block) = list.pop() {
                addresses.push(block.start().addr().get());
                // SAFETY: the block has just left the other list.
                unsafe { again.push(block) };
            }
            *list = again;
        }
        addresses.sort_unstable();
        assert!(
            addresses.windows(2).all(|pair| pair[1] - pair[0] >= SIZE)
                && addresses.iter().all(|address| address % 64 == 0)
        );
        let grown = chunks.chunks.len();
        assert!((2..20).contains(&grown), "{grown} chunks");
        // Every other one, then the rest.
        for odd in [true, false] {
            for (index, list) in
                all.iter_mut().enumerate().filter(|(index, _)| (index % 2 == 1) == odd)
            {
                assert!(!chunks.chunks.is_empty(), "{index}");
                // SAFETY: the blocks are from these chunks.
                unsafe { chunks.give(SIZE, std::mem::take(list)) };
            }
        }
        assert!(chunks.chunks.is_empty());
    }

    #[test]
    fn blocks_that_came_back_are_given_out_again() {
        let mut chunks = Chunks::new();
        let [first, mut second] = [chunks.take(SIZE, 64, 1), chunks.take(SIZE, 64, 1)];
        let address = second.first_address();
        // SAFETY: the block is from these chunks.
        unsafe { chunks.give(SIZE, std::mem::take(&mut second)) };
        let third = chunks.take(SIZE, 64, 1);
        assert_eq!((third.first_address(), chunks.chunks.len()), (address, 1));
        for list in [first, third] {
            // SAFETY: as above.
            unsafe { chunks.give(SIZE, list) };
        }
    }
}
