//! Counters to which all processes of a run add, and of which each sees the total.
//!
//! Counters say how many PEs are done, how far each has come in ending early, and whether all are
//! to stop. Processes that share memory add to the same counters. Once a millisecond one of them
//! passes sums, minima and maxima on to the others. Counters only move in one direction, so it does
//! not matter how late they arrive.

use std::sync::atomic::{AtomicU64, Ordering};

use warpline_memory::{Common, Region};

/// How a counter is made of the shares of several processes.
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
    /// The value of a counter before anybody has said anything.
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

/// Counters to which all processes of a run add. Processes that share memory see that at once, the
/// others when their [group](crate::Group) passes it on.
///
/// Counters only move in one direction. Whoever reads a counter, and then one after it in the
/// list, sees in the second all that the contributors to the first had said before. So a counter of
/// how many have spoken comes first in the list.
#[derive(Clone, Debug)]
pub struct Tally {
    folds: &'static [Fold],
    /// The shares of the processes with which this one shares memory.
    near: Common<[AtomicU64]>,
    /// Those of all others.
    far: Common<[AtomicU64]>,
}

impl Tally {
    /// Places new counters in a region.
    pub fn place(region: &Region, folds: &'static [Fold]) -> Self {
        let counters =
            || region.place_list(folds.len(), |index| AtomicU64::new(folds[index].nothing()));
        Tally { folds, near: counters(), far: counters() }
    }

    /// Folds a value into a counter. Whoever sees it also sees what this process has said before
    /// about counters after this one.
    #[inline]
    pub fn say(&self, counter: usize, value: u64) {
        // Release pairs with the Acquire of `read`, and with that of `near_counters`, which reads
        // the counters in order.
        match self.folds[counter] {
            Fold::Sum => self.near[counter].fetch_add(value, Ordering::Release),
            Fold::Max => self.near[counter].fetch_max(value, Ordering::Release),
            Fold::Min => self.near[counter].fetch_min(value, Ordering::Release),
        };
    }

    /// The value of a counter, as far as it is known here.
    #[inline]
    pub fn read(&self, counter: usize) -> u64 {
        self.folds[counter].of(
            self.near[counter].load(Ordering::Acquire),
            self.far[counter].load(Ordering::Acquire),
        )
    }

    /// The same, but it tells nothing about the counters after it: for a glance in a loop.
    #[inline]
    pub fn glance(&self, counter: usize) -> u64 {
        self.folds[counter].of(
            self.near[counter].load(Ordering::Relaxed),
            self.far[counter].load(Ordering::Relaxed),
        )
    }

    /// The shares of the processes with which this one shares memory, for all others.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn near_counters(&self) -> Vec<u64> {
        self.near.iter().map(|counter| counter.load(Ordering::Acquire)).collect()
    }

    /// Takes over the shares of all processes that share no memory with this one: each is a list of
    /// counters.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn hear<'w>(&self, others: impl Iterator<Item = &'w [u64]> + Clone) {
        // In reverse order: a counter is stored after those behind it.
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
