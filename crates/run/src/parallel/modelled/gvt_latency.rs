//! How much time GVT itself takes from every PE, and how much PEs wait for each other.
//!
//! Between two computations of GVT, each PE spends some time on waiting and on GVT. The one that
//! spends least has most to do otherwise: the others wait for it. What it spends is what the
//! computation takes in any case, its latency. So the least over PEs, added up over computations, is
//! time that no balance of load could spare.

use std::collections::VecDeque;

use warpline_machine::Time;

/// Computations that some PEs know the end of and others do not, at most. More tell that they are
/// not common to all.
const OPEN_MOST: usize = 1024;

/// A computation of GVT that not all PEs know the end of.
#[derive(Clone, Copy)]
struct Open {
    least: Time,
    pes: usize,
}

/// The least time of any PE of a part of the machine without other work between each GVT and the
/// next.
pub(super) struct GvtLatency {
    pes: usize,
    /// By number of the computation, from `first` on.
    open: VecDeque<Open>,
    first: u64,
    /// The least times of those before `first` that have yet to be compared with other parts.
    closed: VecDeque<Time>,
    are_common: bool,
}

impl GvtLatency {
    pub(super) fn new(pes: usize) -> Self {
        GvtLatency {
            pes,
            open: VecDeque::new(),
            first: 0,
            closed: VecDeque::new(),
            are_common: true,
        }
    }

    /// A PE has come to know the ends of the last `more` of `known` computations, and has had no
    /// other work for so long since the end before them.
    pub(super) fn note(&mut self, known: u64, more: u64, without_work: Time) {
        let first = known - more;
        self.note_one(first, without_work);
        (first + 1..known).for_each(|number| self.note_one(number, Time::ZERO));
    }

    fn note_one(&mut self, number: u64, without_work: Time) {
        let place = number.saturating_sub(self.first) as usize;
        self.are_common &= number >= self.first && place < OPEN_MOST;
        if !self.are_common {
            return;
        }
        while self.open.len() <= place {
            self.open.push_back(Open { least: Time::picoseconds(u64::MAX), pes: 0 });
        }
        let open = &mut self.open[place];
        open.least = open.least.min(without_work);
        open.pes += 1;
        while let Some(known) = self.open.front().filter(|open| open.pes == self.pes) {
            self.closed.push_back(known.least);
            self.open.pop_front();
            self.first += 1;
        }
    }

    /// What GVT itself took of the time of each PE, in computations whose end all parts have come to
    /// know since this was last asked.
    pub(super) fn take(mut parts: Vec<&mut GvtLatency>) -> Time {
        let common = parts.iter().map(|part| part.closed.len()).min().unwrap_or(0);
        let mut least = || parts.iter_mut().filter_map(|part| part.closed.pop_front()).min();
        (0..common).filter_map(|_| least()).sum()
    }

    /// Whether computations are common to all PEs of the part.
    pub(super) fn are_common(&self) -> bool {
        self.are_common
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(latency: &mut GvtLatency) -> Time {
        GvtLatency::take(vec![latency])
    }

    #[test]
    fn the_least_time_of_each_computation_counts() {
        let mut latency = GvtLatency::new(3);
        let ns = Time::nanoseconds;
        let noted = [(0, 5), (0, 9), (1, 2), (0, 7), (1, 8), (2, 1), (1, 4), (2, 30)];
        noted.into_iter().for_each(|(number, time)| latency.note(number + 1, 1, ns(time)));
        assert_eq!(take(&mut latency), ns(5 + 2), "the third is still open");
        latency.note(3, 1, ns(6));
        assert_eq!(take(&mut latency), ns(1));
        latency.note(5, 2, ns(7));
        latency.note(5, 2, ns(9));
        latency.note(4, 1, ns(3));
        latency.note(5, 1, ns(3));
        assert_eq!(take(&mut latency), ns(3), "two at once count as one");
    }

    #[test]
    fn nothing_is_told_of_computations_that_pes_do_not_have_in_common() {
        let mut latency = GvtLatency::new(2);
        (1..=OPEN_MOST as u64 + 1).for_each(|known| latency.note(known, 1, Time::nanoseconds(1)));
        assert!(!latency.are_common);
    }

    #[test]
    fn what_several_parts_know_counts_once_all_of_them_know_it() {
        let ns = Time::nanoseconds;
        let mut parts = [GvtLatency::new(1), GvtLatency::new(2)];
        parts[0].note(1, 1, ns(5));
        parts[0].note(2, 1, ns(4));
        parts[1].note(1, 1, ns(3));
        assert_eq!(GvtLatency::take(parts.iter_mut().collect()), ns(0));
        parts[1].note(1, 1, ns(9));
        assert_eq!(GvtLatency::take(parts.iter_mut().collect()), ns(3));
    }
}
