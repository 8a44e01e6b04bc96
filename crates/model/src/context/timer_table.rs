use warpline_base::Sequence;
use warpline_memory::{Handle, MakeRoom};

/// Stands for the event of a timer that is not pending any more.
const GONE: Handle = Handle::from_bits(u32::MAX);
/// So many gaps may stay in a table, however few timers are pending.
const GAPS_MOST: usize = 16;
/// How messages to users call tables.
const TIMERS: &str = "pending timers";

/// The pending timers of an LP, each with the handle by which the engine knows its event.
///
/// Invariant: entries are in the order of their sequence numbers. A timer that is no longer pending
/// leaves a gap, which is closed later, so that setting and cancelling takes O(log n) on average.
/// There are at most as many gaps as timers, plus a few.
#[derive(Clone, Debug, Default)]
pub struct TimerTable {
    entries: Vec<(Sequence, Handle)>,
    gaps: usize,
}

impl TimerTable {
    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.entries.len() - self.gaps
    }

    /// Whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory the table takes, in bytes, in use or free.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of::<(Sequence, Handle)>() * self.entries.capacity()
    }

    fn find(&self, timer: Sequence) -> Option<usize> {
        let place = self.entries.binary_search_by_key(&timer, |entry| entry.0).ok()?;
        (self.entries[place].1 != GONE).then_some(place)
    }

    /// The event of a timer, if it is pending.
    pub fn get(&self, timer: Sequence) -> Option<Handle> {
        self.find(timer).map(|place| self.entries[place].1)
    }

    /// Removes a timer. Returns its event, if it was pending.
    pub fn take(&mut self, timer: Sequence) -> Option<Handle> {
        let place = self.find(timer)?;
        self.gaps += 1;
        Some(std::mem::replace(&mut self.entries[place].1, GONE))
    }

    /// Puts back a timer that was removed.
    pub fn put_back(&mut self, timer: Sequence, event: Handle) {
        match self.entries.binary_search_by_key(&timer, |entry| entry.0) {
            Ok(place) => {
                self.gaps -= usize::from(self.entries[place].1 == GONE);
                self.entries[place].1 = event;
            }
            Err(place) => {
                self.entries.make_room(1, TIMERS);
                self.entries.insert(place, (timer, event));
            }
        }
    }

    /// Adds a timer that comes after all others, or before the table is [sorted](Self::sort).
    pub fn push(&mut self, timer: Sequence, event: Handle) {
        self.entries.make_room(1, TIMERS);
        self.entries.push((timer, event));
    }

    /// Brings timers that were added in any order into the order of their sequence numbers.
    pub fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.0);
    }

    /// Forgets all timers from a sequence number on.
    pub fn forget_from(&mut self, first: Sequence) {
        let from = self.entries.partition_point(|entry| entry.0 < first);
        self.gaps -= self.entries[from..].iter().filter(|entry| entry.1 == GONE).count();
        self.entries.truncate(from);
    }

    /// Closes the gaps if there are many.
    pub fn tidy(&mut self) {
        if self.gaps > GAPS_MOST + self.entries.len() / 2 {
            self.entries.retain(|entry| entry.1 != GONE);
            self.gaps = 0;
            if self.entries.capacity() > 4 * (self.entries.len() + GAPS_MOST) {
                self.entries.shrink_to(2 * (self.entries.len() + GAPS_MOST));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(number: u32) -> Sequence {
        Sequence::first_of(1).nth(number)
    }

    fn table(timers: std::ops::Range<u32>) -> TimerTable {
        let mut table = TimerTable::default();
        timers.for_each(|number| table.push(timer(number), Handle::from_bits(number)));
        table
    }

    #[test]
    fn a_timer_is_taken_once_and_can_be_put_back() {
        let mut table = table(0..9);
        assert_eq!(table.take(timer(4)), Some(Handle::from_bits(4)));
        assert_eq!((table.take(timer(4)), table.get(timer(4)), table.len()), (None, None, 8));
        table.put_back(timer(4), Handle::from_bits(40));
        assert_eq!((table.get(timer(4)), table.len()), (Some(Handle::from_bits(40)), 9));
        assert_eq!(table.get(timer(9)), None);
    }

    #[test]
    fn gaps_are_closed_when_there_are_more_of_them_than_timers() {
        let mut table = table(0..1000);
        for number in 0..990 {
            table.take(timer(number));
            table.tidy();
            assert!(table.entries.len() <= 2 * (table.len() + GAPS_MOST) + 1);
        }
        assert!(table.len() == 10 && table.bytes() < 2000, "{} bytes", table.bytes());
        table.put_back(timer(3), Handle::from_bits(3));
        assert_eq!((table.get(timer(3)), table.len()), (Some(Handle::from_bits(3)), 11));
    }

    #[test]
    fn timers_of_the_last_events_are_forgotten_with_their_gaps() {
        let mut table = table(0..9);
        [2, 7].into_iter().for_each(|number| _ = table.take(timer(number)));
        table.forget_from(timer(6));
        assert_eq!((table.len(), table.gaps, table.get(timer(6))), (5, 1, None));
        assert_eq!(table.get(timer(5)), Some(Handle::from_bits(5)));
    }
}
