//! The log of the current event.

use std::num::NonZero;

use super::changing::address;
use super::journaled::{Change, Journal};

/// The changes of the current event: for each the words of the old value, then one word with its
/// offset in the state (upper half) and the number of words (lower half).
#[derive(Debug, Default)]
pub(crate) struct Log {
    words: Vec<u64>,
    /// The place of the LP's state, while changes are logged.
    state: Option<StatePlace>,
}

/// Where a state lies.
#[derive(Clone, Copy, Debug)]
struct StatePlace {
    address: usize,
    bytes: NonZero<usize>,
}

impl Log {
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.state.is_some()
    }

    /// Starts logging changes of this state. A state without bytes cannot change.
    #[inline]
    pub(crate) fn begin<S>(&mut self, state: &S) {
        self.state =
            NonZero::new(size_of::<S>()).map(|bytes| StatePlace { address: address(state), bytes });
    }

    /// Stops logging.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.state = None;
    }

    pub(crate) fn words_mut(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    /// Stops logging, and drops what was logged.
    pub(crate) fn clear(&mut self) {
        self.end();
        self.words.clear();
    }

    /// The offset of this address in the state; `None` if it lies outside, or if the offset does
    /// not fit in half a word.
    pub(crate) fn offset(&self, at: usize) -> Option<u32> {
        let StatePlace { address, bytes } = self.state?;
        let offset = at.wrapping_sub(address);
        if offset < bytes.get() { u32::try_from(offset).ok() } else { None }
    }

    /// Whether there is memory for a change of this many words.
    pub(crate) fn has_room(&mut self, words: usize) -> bool {
        self.words.try_reserve(words + 1).is_ok()
    }

    /// Logs a change of the value at an offset in the state. There must be room.
    pub(crate) fn note(&mut self, offset: u32, words: usize, keep: impl FnOnce(&mut Vec<u64>)) {
        keep(&mut self.words);
        self.words.push(u64::from(offset) << 32 | words as u64);
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
