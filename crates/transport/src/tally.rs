//! Counters to which all processes of a run add, and of which each sees the total.
//!
//! Counters say how many PEs are done, how far each has come in ending early, and whether all are
//! to stop. Processes near each other add to the same counters. Once a millisecond one of them
//! passes sums, minima and maxima on to those that are far. Counters only move in one direction, so
//! it does not matter how late they are.

use std::sync::atomic::{AtomicU64, Ordering};

use warpline_memory::{Common, Region};

/// How what different processes say about a counter becomes one.
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
    /// What a counter is before anybody has said anything.
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

/// Counters to which all processes of a run add: those that share memory at once, the others
/// through their [group](crate::Group), which passes on what it finds, now and then.
///
/// Counters only move in one direction. Whoever reads a counter sees all that was said about
/// counters after it, by those who had their part in what was read: so what counts how many have
/// spoken comes first.
#[derive(Clone, Debug)]
pub struct Tally {
    folds: &'static [Fold],
    /// What processes with which this one shares memory have said.
    near: Common<[AtomicU64]>,
    /// What all others have.
    far: Common<[AtomicU64]>,
}

impl Tally {
    /// Places counters in a region, in which nothing has been said.
    pub fn place(region: &Region, folds: &'static [Fold]) -> Self {
        let counters =
            || region.place_list(folds.len(), |index| AtomicU64::new(folds[index].nothing()));
        Tally { folds, near: counters(), far: counters() }
    }

    /// Says something about a counter. What was said about counters after it before counts as said.
    #[inline]
    pub fn say(&self, counter: usize, value: u64) {
        // Release pairs with the Acquire of `read`, and with that of `near_counters`, as whoever
        // passes it on reads counters in order.
        match self.folds[counter] {
            Fold::Sum => self.near[counter].fetch_add(value, Ordering::Release),
            Fold::Max => self.near[counter].fetch_max(value, Ordering::Release),
            Fold::Min => self.near[counter].fetch_min(value, Ordering::Release),
        };
    }

    /// What all have said about a counter, as far as is known here.
    #[inline]
    pub fn read(&self, counter: usize) -> u64 {
        self.folds[counter].of(
            self.near[counter].load(Ordering::Acquire),
            self.far[counter].load(Ordering::Acquire),
        )
    }

    /// The same, without what was said about others: for a glance in a loop.
    #[inline]
    pub fn glance(&self, counter: usize) -> u64 {
        self.folds[counter].of(
            self.near[counter].load(Ordering::Relaxed),
            self.far[counter].load(Ordering::Relaxed),
        )
    }

    /// What processes with which this one shares memory have said, for those with which it does
    /// not.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn near_counters(&self) -> Vec<u64> {
        self.near.iter().map(|counter| counter.load(Ordering::Acquire)).collect()
    }

    /// Takes over what all those have said that share no memory with this process: each a list of
    /// counters.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn hear<'w>(&self, others: impl Iterator<Item = &'w [u64]> + Clone) {
        // What was said first is stored last.
        for (index, fold) in self.folds.iter().enumerate().rev() {
            let counter = others
                .clone()
                .filter_map(|counters| counters.get(index))
                .fold(fold.nothing(), |all, counter| fold.of(all, *counter));
            self.far[index].store(counter, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_near_and_far_becomes_one() {
        let tally = Tally::place(&Region::own(), &[Fold::Sum, Fold::Max, Fold::Min]);
        assert_eq!([0, 1, 2].map(|counter| tally.read(counter)), [0, 0, u64::MAX]);
        (0..3).for_each(|counter| tally.say(counter, 5));
        tally.say(0, 1);
        tally.say(2, 9);
        assert_eq!(tally.near_counters(), [6, 5, 5]);
        tally.hear([[10, 3, 7].as_slice(), &[20, 8, 4]].into_iter());
        assert_eq!(
            [0, 1, 2].map(|counter| (tally.read(counter), tally.glance(counter))),
            [(36, 36), (8, 8), (4, 4)]
        );
        // It replaces what was heard before.
        tally.hear([[11, 3, 7].as_slice()].into_iter());
        assert_eq!([0, 1, 2].map(|counter| tally.read(counter)), [17, 5, 5]);
    }
}
