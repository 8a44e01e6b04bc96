//! When each PE is due next, in the order of machine time.

use std::cmp::Ordering;

use warpline_base::VirtualTime;
use warpline_kernel::pending::{Entry, Ladder, PendingSet, Ties};
use warpline_machine::Time;
use warpline_memory::Handle;

/// The event list of the machine: each PE is due once at most, or not at all.
///
/// Invariant: the ladder has an entry for each time in `due`. Others are left over from PEs that
/// became due sooner, and are skipped.
pub(super) struct EventList {
    ladder: Ladder,
    /// By PE.
    due: Vec<Option<Time>>,
}

/// PEs that are due at the same time take turns by number.
struct ByNumber;

impl Ties for ByNumber {
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        a.bits().cmp(&b.bits())
    }
}

impl EventList {
    pub(super) fn new(pes: usize) -> Self {
        EventList { ladder: Ladder::default(), due: vec![None; pes] }
    }

    /// A PE is due at this time, or sooner if it is already.
    pub(super) fn schedule(&mut self, pe: u32, at: Time) {
        let due = &mut self.due[pe as usize];
        if due.is_some_and(|due| due <= at) {
            return;
        }
        *due = Some(at);
        // Picoseconds take the place of the bits of a time, which are in the same order.
        let time = VirtualTime::from_bits(at.as_picoseconds());
        self.ladder.push(Entry::new(time, pe, Handle::from_bits(pe)), &ByNumber);
    }

    /// The PE that is due so many places behind the first, if that is known without work, for
    /// prefetching: another one may come before it.
    pub(super) fn upcoming(&self, distance: usize) -> Option<u32> {
        self.ladder.upcoming(distance).map(Handle::bits)
    }

    /// A time before which none is due, if any is.
    pub(super) fn first(&mut self) -> Option<Time> {
        self.ladder.first(&ByNumber).map(|entry| Time::picoseconds(entry.time().bits()))
    }

    /// The PE that is due first, and when, if that is before `until`.
    pub(super) fn pop_before(&mut self, until: Time) -> Option<(Time, u32)> {
        let until = VirtualTime::from_bits(until.as_picoseconds());
        loop {
            let entry = self.ladder.pop_before(until, &ByNumber)?;
            let at = Time::picoseconds(entry.time().bits());
            let pe = entry.handle().bits();
            let due = &mut self.due[pe as usize];
            if *due == Some(at) {
                *due = None;
                return Some((at, pe));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pe_is_due_once_at_the_earliest_time() {
        let mut list = EventList::new(3);
        for (pe, at) in [(2, 50), (1, 50), (0, 70), (2, 10), (0, 90)] {
            list.schedule(pe, Time::nanoseconds(at));
        }
        let popped: Vec<(u64, u32)> = std::iter::from_fn(|| list.pop_before(Time::nanoseconds(80)))
            .map(|(at, pe)| (at.as_picoseconds() / 1000, pe))
            .collect();
        assert_eq!(popped, [(10, 2), (50, 1), (70, 0)]);
        list.schedule(0, Time::nanoseconds(60));
        assert_eq!(list.first(), Some(Time::nanoseconds(60)));
        assert_eq!(list.pop_before(Time::nanoseconds(60)), None);
        let first = list.pop_before(Time::nanoseconds(61));
        assert_eq!(first, Some((Time::nanoseconds(60), 0)), "a PE may be due again");
    }
}
