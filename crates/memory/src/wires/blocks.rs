use std::array::from_fn;

use crate::sync::{AtomicU64, Ordering};
use crate::{Apart, Common, Region, Shareable};

/// The blocks that one PE may write for another.
const BLOCKS: usize = 4;

/// Memory of one PE that another PE writes directly: four blocks of `WORDS` words, and one word to
/// jump-start the reader, with a bell that says when there is something new.
///
/// There is one writer and one reader. The writer must not write a block again before the reader
/// has taken it; how it knows is up to the protocol above. The reader notices if it did.
#[derive(Debug)]
struct Memory<const WORDS: usize> {
    /// How often something was written.
    bell: AtomicU64,
    jump_start: AtomicU64,
    blocks: [Block<WORDS>; BLOCKS],
}

#[derive(Debug)]
struct Block<const WORDS: usize> {
    /// How often it was written.
    version: AtomicU64,
    words: [AtomicU64; WORDS],
}

// SAFETY: these are numbers.
unsafe impl<const WORDS: usize> Shareable for Memory<WORDS> {}

/// The writer's end.
#[derive(Debug)]
pub struct BlockWriter<const WORDS: usize> {
    memory: Common<Apart<Memory<WORDS>>>,
}

/// The reader's end.
#[derive(Debug)]
pub struct BlockReader<const WORDS: usize> {
    memory: Common<Apart<Memory<WORDS>>>,
    /// The bell and the jump start found last.
    bell: u64,
    jump_start: u64,
    /// The versions found last.
    versions: [u64; BLOCKS],
}

/// The two ends of four blocks.
///
/// ```
/// let (mut writer, mut reader) = warpline_memory::blocks::<2>(&warpline_memory::Region::own());
/// writer.write(3, &[40, 50]);
/// writer.jump_start(7);
/// assert!(reader.has_news());
/// assert_eq!((reader.jump_started(), reader.jump_started()), (Some(7), None));
/// assert_eq!((reader.take(0), reader.take(3), reader.take(3)), (None, Some([40, 50]), None));
/// ```
pub fn blocks<const WORDS: usize>(region: &Region) -> (BlockWriter<WORDS>, BlockReader<WORDS>) {
    let block = |_| Block { version: AtomicU64::new(0), words: from_fn(|_| AtomicU64::new(0)) };
    let memory =
        Memory { bell: AtomicU64::new(0), jump_start: AtomicU64::new(0), blocks: from_fn(block) };
    let memory = region.place(Apart(memory));
    (
        BlockWriter { memory: memory.clone() },
        BlockReader { memory, bell: 0, jump_start: 0, versions: [0; BLOCKS] },
    )
}

impl<const WORDS: usize> BlockWriter<WORDS> {
    /// Writes a block, of four.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn write(&mut self, block: usize, words: &[u64; WORDS]) {
        let Block { version, words: cells } = &self.memory.0.blocks[block];
        for (cell, &word) in cells.iter().zip(words) {
            // Relaxed: the version publishes them.
            cell.store(word, Ordering::Relaxed);
        }
        // Release pairs with the Acquire of `take`. Relaxed: this is the only writer.
        version.store(version.load(Ordering::Relaxed) + 1, Ordering::Release);
        self.ring();
    }

    /// Writes the word that jump-starts the reader. It must not decrease.
    pub fn jump_start(&mut self, word: u64) {
        self.memory.0.jump_start.store(word, Ordering::Release);
        self.ring();
    }

    fn ring(&mut self) {
        let bell = &self.memory.0.bell;
        // Release pairs with the Acquire of `has_news`. Relaxed: this is the only writer.
        bell.store(bell.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
}

impl<const WORDS: usize> BlockReader<WORDS> {
    /// Whether something that was written since the last call has become visible.
    #[inline]
    pub fn has_news(&mut self) -> bool {
        let bell = self.memory.0.bell.load(Ordering::Acquire);
        std::mem::replace(&mut self.bell, bell) != bell
    }

    /// The word to jump-start this PE, if it was written since the last call.
    pub fn jump_started(&mut self) -> Option<u64> {
        let word = self.memory.0.jump_start.load(Ordering::Acquire);
        (std::mem::replace(&mut self.jump_start, word) != word).then_some(word)
    }

    /// What was written into a block, if it was since the last call.
    ///
    /// # Panics
    /// If there is no such block, or it was written twice.
    pub fn take(&mut self, block: usize) -> Option<[u64; WORDS]> {
        let Block { version, words } = &self.memory.0.blocks[block];
        // Acquire pairs with the Release of `write`.
        let now = version.load(Ordering::Acquire);
        let seen = std::mem::replace(&mut self.versions[block], now);
        if seen == now {
            return None;
        }
        assert_eq!(seen + 1, now, "block {block} was written again before it was taken");
        Some(from_fn(|word| words[word].load(Ordering::Relaxed)))
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;

    /// Two partners of a butterfly exchange a block per round, in blocks that alternate. Neither is
    /// ever more than one round ahead, so no block is overwritten before it was taken, and each
    /// finds the words of its round. With one block in place of two this fails.
    #[test]
    fn loom_partners_find_the_words_of_their_round() {
        fn exchange(mut writer: BlockWriter<2>, mut reader: BlockReader<2>) {
            for round in 0..3u64 {
                let block = round as usize % 2;
                writer.write(block, &[round + 1, 10 * (round + 1)]);
                // If the other's block is not there yet, it stops: in another schedule it is there.
                let Some(words) = reader.take(block) else { return };
                assert_eq!(words, [round + 1, 10 * (round + 1)]);
            }
        }
        loom::model(|| {
            let (to, from) = blocks::<2>(&Region::own());
            let (back, home) = blocks::<2>(&Region::own());
            let other = thread::spawn(move || exchange(back, from));
            exchange(to, home);
            other.join().unwrap();
        });
    }

    /// A reader that hears the bell finds what was written before it rang, as it does not ring
    /// again.
    #[test]
    fn loom_the_bell_rings_after_the_writing() {
        loom::model(|| {
            let (mut writer, mut reader) = blocks::<1>(&Region::own());
            let other = thread::spawn(move || writer.write(0, &[5]));
            if reader.has_news() {
                assert_eq!(reader.take(0), Some([5]));
            }
            other.join().unwrap();
        });
        loom::model(|| {
            let (mut writer, mut reader) = blocks::<1>(&Region::own());
            let other = thread::spawn(move || writer.jump_start(7));
            if reader.has_news() {
                assert_eq!(reader.jump_started(), Some(7));
            }
            other.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "block 2 was written again before it was taken")]
    fn a_block_that_is_overwritten_is_caught() {
        let (mut writer, mut reader) = blocks::<1>(&Region::own());
        writer.write(2, &[1]);
        writer.write(2, &[2]);
        reader.take(2);
    }
}
