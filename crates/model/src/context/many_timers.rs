use warpline_base::Sequence;
use warpline_memory::{Handle, MakeRoom};

/// Stands for the event of a timer that is not pending any more.
const GONE: Handle = Handle::from_bits(u32::MAX);
/// So many gaps may stay in a list, however few timers are pending.
const GAPS_MOST: usize = 16;
/// How messages to users call tables.
pub(super) const TIMERS: &str = "pending timers";

/// Any number of pending timers.
///
/// Invariant: entries are in the order of their sequence numbers. A timer that is no longer pending
/// leaves a gap, which is closed later, so that setting and cancelling takes O(log n) on average.
/// There are at most as many gaps as timers, plus a few.
#[derive(Clone, Debug, Default)]
pub(super) struct ManyTimers {
    entries: Vec<(Sequence, Handle)>,
    gaps: usize,
}

impl ManyTimers {
    /// The list of these timers.
    pub(super) fn of(timers: impl Iterator<Item = (Sequence, Handle)>) -> Self {
        let mut many = ManyTimers::default();
        timers.for_each(|(timer, event)| many.push(timer, event));
        many.sort();
        many
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.gaps
    }

    /// How much memory the list takes, in bytes, in use or free.
    pub(super) fn bytes(&self) -> usize {
        size_of::<(Sequence, Handle)>() * self.entries.capacity()
    }

    fn find(&self, timer: Sequence) -> Option<usize> {
        let place = self.entries.binary_search_by_key(&timer, |entry| entry.0).ok()?;
        (self.entries[place].1 != GONE).then_some(place)
    }

    pub(super) fn get(&self, timer: Sequence) -> Option<Handle> {
        self.find(timer).map(|place| self.entries[place].1)
    }

    pub(super) fn take(&mut self, timer: Sequence) -> Option<Handle> {
        let place = self.find(timer)?;
        self.gaps += 1;
        Some(std::mem::replace(&mut self.entries[place].1, GONE))
    }

    /// Adds a timer, quickly if few are later.
    pub(super) fn insert(&mut self, timer: Sequence, event: Handle) {
        if self.entries.last().is_none_or(|last| last.0 < timer) {
            return self.push(timer, event);
        }
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

    /// Adds a timer that comes after all others, or before the list is [sorted](Self::sort).
    pub(super) fn push(&mut self, timer: Sequence, event: Handle) {
        self.entries.make_room(1, TIMERS);
        self.entries.push((timer, event));
    }

    pub(super) fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.0);
    }

    pub(super) fn forget_from(&mut self, first: Sequence) {
        let from = self.entries.partition_point(|entry| entry.0 < first);
        self.gaps -= self.entries[from..].iter().filter(|entry| entry.1 == GONE).count();
        self.entries.truncate(from);
    }

    /// Closes the gaps if there are many, and then returns what is left.
    pub(super) fn tidy(&mut self) -> Option<&[(Sequence, Handle)]> {
        if self.gaps <= GAPS_MOST + self.entries.len() / 2 {
            return None;
        }
        self.entries.retain(|entry| entry.1 != GONE);
        self.gaps = 0;
        if self.entries.capacity() > 4 * (self.entries.len() + GAPS_MOST) {
            self.entries.shrink_to(2 * (self.entries.len() + GAPS_MOST));
        }
        Some(&self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(number: u32) -> Sequence {
        Sequence::first_of(1).nth(number)
    }

    #[test]
    fn gaps_are_closed_when_there_are_more_of_them_than_timers() {
        let mut many =
            ManyTimers::of((0..1000).map(|number| (timer(number), Handle::from_bits(number))));
        for number in 0..990 {
            many.take(timer(number));
            many.tidy();
            assert!(many.entries.len() <= 2 * (many.len() + GAPS_MOST) + 1);
        }
        assert!(many.len() == 10 && many.bytes() < 2000, "{} bytes", many.bytes());
        many.insert(timer(3), Handle::from_bits(3));
        assert_eq!((many.get(timer(3)), many.len()), (Some(Handle::from_bits(3)), 11));
    }

    #[test]
    fn a_timer_is_put_back_into_its_gap() {
        let mut many =
            ManyTimers::of((0..9).map(|number| (timer(number), Handle::from_bits(number))));
        assert_eq!(many.take(timer(4)), Some(Handle::from_bits(4)));
        assert_eq!((many.take(timer(4)), many.len()), (None, 8));
        many.insert(timer(4), Handle::from_bits(40));
        assert_eq!(
            (many.get(timer(4)), many.len(), many.entries.len()),
            (Some(Handle::from_bits(40)), 9, 9)
        );
    }
}
