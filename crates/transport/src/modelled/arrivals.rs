//! What is on its way to a PE, by when it arrives.

use std::collections::VecDeque;

use warpline_machine::Time;
use warpline_memory::{Handle, prefetch, prefetch_write};

/// Something that arrives at a time. It lies in a pool of the network, so that keeping arrivals in
/// order moves little memory, and a PE to which nothing is on its way has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arriving {
    pub(super) at: Time,
    /// What copying its payload costs the receiver.
    pub(super) copying: Time,
    /// Where it lies.
    pub(super) handle: Handle,
    /// Whether it comes from another node.
    pub(super) far: bool,
    /// Whether it has a slot of a mailbox in hardware.
    pub(super) in_slot: bool,
}

/// What is on its way to a PE.
///
/// Invariant: later ones arrive no earlier. What arrives at the same time is in the order in which
/// it was added.
#[derive(Debug, Default)]
pub(super) struct Arrivals(VecDeque<Arriving>);

impl Arrivals {
    /// Adds what arrives behind all that arrives no later. Most arrives behind all or nearly all.
    #[inline]
    pub(super) fn add(&mut self, arriving: Arriving) {
        if self.0.back().is_none_or(|last| last.at <= arriving.at) {
            return self.0.push_back(arriving);
        }
        let later = self.0.iter().rev().take_while(|other| other.at > arriving.at).count();
        self.0.insert(self.0.len() - later, arriving);
    }

    /// When the first arrives.
    #[inline]
    pub(super) fn first(&self) -> Option<Time> {
        self.0.front().map(|first| first.at)
    }

    /// What arrives by `now`, in order.
    #[inline]
    pub(super) fn until(&self, now: Time) -> impl Iterator<Item = &Arriving> {
        self.0.iter().take_while(move |arriving| arriving.at <= now)
    }

    /// Takes the first if it has arrived by `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> Option<Arriving> {
        if self.first()? <= now { self.0.pop_front() } else { None }
    }

    /// Prefetches the first.
    #[inline]
    pub(super) fn prefetch_first(&self) {
        self.0.front().into_iter().for_each(prefetch);
    }

    /// Prefetches the last.
    #[inline]
    pub(super) fn prefetch_last(&self) {
        self.0.back().into_iter().for_each(prefetch_write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_first_is_taken_first_and_ties_keep_their_order() {
        let mut arrivals = Arrivals::default();
        for (number, at) in (0..).zip([30, 10, 20, 10, 30, 20]) {
            arrivals.add(Arriving {
                at: Time::nanoseconds(at),
                copying: Time::ZERO,
                handle: Handle::from_bits(number),
                far: false,
                in_slot: false,
            });
        }
        let now = Time::nanoseconds(20);
        assert_eq!(arrivals.until(now).count(), 4);
        let taken: Vec<u32> =
            std::iter::from_fn(|| arrivals.take(now)).map(|one| one.handle.bits()).collect();
        assert_eq!(taken, [1, 3, 2, 5]);
        assert_eq!(arrivals.first(), Some(Time::nanoseconds(30)));
    }
}
