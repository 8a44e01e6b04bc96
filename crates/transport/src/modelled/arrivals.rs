//! What is on its way to a PE, by when it arrives.

use std::collections::VecDeque;

use warpline_machine::Time;
use warpline_memory::{prefetch, prefetch_behind, prefetch_write};

/// Something that arrives at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arriving<T> {
    pub(super) at: Time,
    pub(super) origin: Origin,
    pub(super) content: T,
}

/// Where something comes from, in one word: every PE has lists of what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin(u32);

impl Origin {
    const FAR: u32 = 1;
    const IN_SLOT: u32 = 2;

    /// It comes from this PE; from another node, if it is far.
    pub(super) fn new(pe: u32, far: bool) -> Self {
        Origin(pe << 2 | if far { Self::FAR } else { 0 })
    }

    /// The same, with a slot of a mailbox in hardware if it has one.
    pub(super) fn with_slot(self, in_slot: bool) -> Self {
        Origin(self.0 | if in_slot { Self::IN_SLOT } else { 0 })
    }

    /// The PE that has sent it.
    pub(super) fn pe(self) -> u32 {
        self.0 >> 2
    }

    /// Whether it comes from another node.
    pub(super) fn is_far(self) -> bool {
        self.0 & Self::FAR > 0
    }

    /// Whether it has a slot of a mailbox in hardware.
    pub(super) fn is_in_slot(self) -> bool {
        self.0 & Self::IN_SLOT > 0
    }
}

/// What is on its way to a PE.
///
/// Invariant: later ones arrive no earlier. What arrives at the same time is in the order of its
/// senders, and what comes from one of them in the order in which it was added.
#[derive(Debug)]
pub(super) struct Arrivals<T>(VecDeque<Arriving<T>>);

/// As many are fetched of those that arrive first. The processor finds out by itself that the others
/// follow.
const FETCHED: usize = 4;

impl<T> Default for Arrivals<T> {
    fn default() -> Self {
        Arrivals(VecDeque::new())
    }
}

impl<T> Arrivals<T> {
    /// Adds something at its place. Most arrives behind all or nearly all.
    #[inline]
    pub(super) fn add(&mut self, arriving: Arriving<T>) {
        let place = |of: &Arriving<T>| (of.at, of.origin.pe());
        let own = place(&arriving);
        if self.0.back().is_none_or(|last| place(last) <= own) {
            return self.0.push_back(arriving);
        }
        let later = self.0.iter().rev().take_while(|other| place(other) > own).count();
        self.0.insert(self.0.len() - later, arriving);
    }

    /// When the first arrives.
    #[inline]
    pub(super) fn first(&self) -> Option<Time> {
        self.0.front().map(|first| first.at)
    }

    /// What arrives by `now`, in order.
    #[inline]
    pub(super) fn until(&self, now: Time) -> impl Iterator<Item = &Arriving<T>> {
        self.0.iter().take_while(move |arriving| arriving.at <= now)
    }

    /// Takes the first if it has arrived by `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> Option<Arriving<T>> {
        let first = if self.first()? <= now { self.0.pop_front() } else { None };
        if self.0.is_empty() {
            // The next ones go to where the first were, which is in the cache.
            self.0.clear();
        }
        first
    }

    /// All that has not been taken.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain(..).map(|arriving| arriving.content)
    }

    /// Prefetches the first ones.
    #[inline]
    pub(super) fn prefetch_first(&self) {
        self.0.iter().take(FETCHED).for_each(prefetch);
    }

    /// Prefetches the last, and the place behind it.
    #[inline]
    pub(super) fn prefetch_last(&self) {
        if let Some(last) = self.0.back() {
            prefetch_write(last);
            prefetch_behind(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_it_was_made_from() {
        for (far, in_slot) in [(false, false), (true, false), (false, true)] {
            let origin = Origin::new((1 << 20) - 1, far).with_slot(in_slot);
            assert_eq!(origin.pe(), (1 << 20) - 1);
            assert_eq!((origin.is_far(), origin.is_in_slot()), (far, in_slot));
        }
    }

    #[test]
    fn what_arrives_first_is_taken_first_and_ties_are_in_the_order_of_senders() {
        let mut arrivals = Arrivals::default();
        let sent = [(30, 4), (10, 9), (20, 7), (10, 9), (30, 5), (20, 6)];
        for (number, (at, from)) in (0..).zip(sent) {
            arrivals.add(Arriving {
                at: Time::nanoseconds(at),
                origin: Origin::new(from, false),
                content: number,
            });
        }
        let now = Time::nanoseconds(20);
        assert_eq!(arrivals.until(now).count(), 4);
        let taken: Vec<u32> =
            std::iter::from_fn(|| arrivals.take(now)).map(|one| one.content).collect();
        assert_eq!(taken, [1, 3, 5, 2]);
        assert_eq!(arrivals.first(), Some(Time::nanoseconds(30)));
        assert_eq!(arrivals.drain().collect::<Vec<_>>(), [0, 4]);
    }
}
