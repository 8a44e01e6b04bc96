//! The log of the current event.

use super::changing::address;
use super::journaled::{Change, Journal};

/// The changes of the current event: for each the words of the old value, then one word with its
/// offset in the state (upper half) and the number of words (lower half).
#[derive(Debug, Default)]
pub(crate) struct Log {
    words: Vec<u64>,
    /// The address of the LP's state.
    start: usize,
    /// The size of the state in bytes; 0 if nothing is logged.
    bytes: usize,
}

impl Log {
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.bytes > 0
    }

    /// Starts logging changes of this state.
    #[inline]
    pub(crate) fn begin<S>(&mut self, state: &S) {
        self.start = address(state);
        self.bytes = size_of::<S>();
    }

    /// Stops logging.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.bytes = 0;
    }

    pub(crate) fn words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    /// Stops logging, and drops what was logged.
    pub(crate) fn clear(&mut self) {
        self.end();
        self.words.clear();
    }

    /// Whether this address lies in the state, at an offset that fits in half a word.
    pub(crate) fn covers(&self, at: usize) -> bool {
        at.wrapping_sub(self.start) < self.bytes.min(1 << 32)
    }

    /// Whether there is memory for a change of this many words.
    pub(crate) fn has_room(&mut self, words: usize) -> bool {
        self.words.try_reserve(words + 1).is_ok()
    }

    /// Logs a change of the value at an address in the state. There must be room.
    pub(crate) fn note(&mut self, at: usize, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        keep(&mut self.words);
        self.words.push(((at - self.start) as u64) << 32 | words as u64);
    }

    /// Undoes all logged changes, the last one first, on the state that they left behind, and stops
    /// logging. Returns whether all changed parts were found again.
    pub(crate) fn undo<S>(&mut self, state: &mut S, journal: &Journal<S>) -> bool {
        self.end();
        let start = address(state);
        let mut all_found = true;
        while let Some(head) = self.words.pop() {
            let (offset, words) = ((head >> 32) as usize, head as u32 as usize);
            let rest = self.words.len().saturating_sub(words);
            all_found &= (journal.restore)(
                state,
                &mut Change { at: start + offset, words, log: &mut self.words },
            );
            self.words.truncate(rest);
        }
        all_found
    }
}
