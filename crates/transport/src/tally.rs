//! Words to which all processes of a run add, and of which each sees the total.
//!
//! Words say how many PEs are done, how far each has come in ending early, and whether all are to
//! stop. Processes near each other add to the same words. Once a millisecond one of them passes
//! sums, minima and maxima on to those that are far. Words only move in one direction, so it does
//! not matter how late they are.

use std::sync::atomic::{AtomicU64, Ordering};

use warpline_memory::{Common, Region};

/// How what different processes say about a word becomes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum.
    Sum,
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl Fold {
    /// What a word is before anybody has said anything.
    fn nothing(self) -> u64 {
        if self == Fold::Min { u64::MAX } else { 0 }
    }

    fn of(self, a: u64, b: u64) -> u64 {
        match self {
            Fold::Sum => a.wrapping_add(b),
            Fold::Max => a.max(b),
            Fold::Min => a.min(b),
        }
    }
}

/// Words to which all processes of a run add: those that share memory at once, the others through their [group](crate::Group), which passes
/// on what it finds, now and then.
///
/// Words only move in one direction. Whoever reads a word sees all that was said about words after it, by those who had their part in what
/// was read: so what counts how many have spoken comes first.
#[derive(Clone, Debug)]
pub struct Tally {
    folds: &'static [Fold],
    /// What processes with which this one shares memory have said.
    near: Common<[AtomicU64]>,
    /// What all others have.
    far: Common<[AtomicU64]>,
}

impl Tally {
    /// Places words in a region, in which nothing has been said.
    pub fn place(region: &Region, folds: &'static [Fold]) -> Self {
        let words = || region.place_list(folds.len(), |index| AtomicU64::new(folds[index].nothing()));
        Tally { folds, near: words(), far: words() }
    }

    /// Says something about a word. What was said about words after it before counts as said.
    #[inline]
    pub fn say(&self, word: usize, value: u64) {
        // Release pairs with the Acquire of `read`, and with that of `near_words`, as whoever passes it on reads words in order.
        match self.folds[word] {
            Fold::Sum => self.near[word].fetch_add(value, Ordering::Release),
            Fold::Max => self.near[word].fetch_max(value, Ordering::Release),
            Fold::Min => self.near[word].fetch_min(value, Ordering::Release),
        };
    }

    /// What all have said about a word, as far as is known here.
    #[inline]
    pub fn read(&self, word: usize) -> u64 {
        self.folds[word].of(self.near[word].load(Ordering::Acquire), self.far[word].load(Ordering::Acquire))
    }

    /// The same, without what was said about others: for a glance in a loop.
    #[inline]
    pub fn glance(&self, word: usize) -> u64 {
        self.folds[word].of(self.near[word].load(Ordering::Relaxed), self.far[word].load(Ordering::Relaxed))
    }

    /// What processes with which this one shares memory have said, for those with which it does not.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn near_words(&self) -> Vec<u64> {
        self.near.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Takes over what all those have said that share no memory with this process: each a list of words.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn hear<'w>(&self, others: impl Iterator<Item = &'w [u64]> + Clone) {
        // What was said first is stored last.
        for (index, fold) in self.folds.iter().enumerate().rev() {
            let word = others.clone().filter_map(|words| words.get(index)).fold(fold.nothing(), |all, word| fold.of(all, *word));
            self.far[index].store(word, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_near_and_far_becomes_one() {
        let tally = Tally::place(&Region::own(), &[Fold::Sum, Fold::Max, Fold::Min]);
        assert_eq!([0, 1, 2].map(|word| tally.read(word)), [0, 0, u64::MAX]);
        (0..3).for_each(|word| tally.say(word, 5));
        tally.say(0, 1);
        tally.say(2, 9);
        assert_eq!(tally.near_words(), [6, 5, 5]);
        tally.hear([[10, 3, 7].as_slice(), &[20, 8, 4]].into_iter());
        assert_eq!([0, 1, 2].map(|word| (tally.read(word), tally.glance(word))), [(36, 36), (8, 8), (4, 4)]);
        // It replaces what was heard before.
        tally.hear([[11, 3, 7].as_slice()].into_iter());
        assert_eq!([0, 1, 2].map(|word| tally.read(word)), [17, 5, 5]);
    }
}
