use warpline_base::Sequence;
use warpline_memory::Handle;

use super::few_timers::FewTimers;
use super::many_timers::ManyTimers;

/// The pending timers of an LP, each with the handle by which the engine knows its event. A few lie
/// in the table itself, which is one cache line. So an LP with a few timers costs one cache miss
/// more than one without.
#[derive(Clone, Debug)]
pub struct TimerTable(Timers);

#[derive(Clone, Debug)]
enum Timers {
    Few(FewTimers),
    Many(ManyTimers),
}

impl Default for TimerTable {
    fn default() -> Self {
        TimerTable(Timers::Few(FewTimers::default()))
    }
}

impl TimerTable {
    /// How many timers are pending.
    pub fn len(&self) -> usize {
        match &self.0 {
            Timers::Few(few) => few.len(),
            Timers::Many(many) => many.len(),
        }
    }

    /// Whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory the table takes beside itself, in bytes, in use or free.
    #[inline]
    pub fn bytes_beside(&self) -> usize {
        match &self.0 {
            Timers::Few(_) => 0,
            Timers::Many(many) => many.bytes(),
        }
    }

    /// The event of the timer, if there is only one.
    #[inline]
    pub fn only(&self) -> Option<Handle> {
        match &self.0 {
            Timers::Few(few) => few.only(),
            Timers::Many(_) => None,
        }
    }

    /// The event of a timer, if it is pending.
    #[inline]
    pub fn get(&self, timer: Sequence) -> Option<Handle> {
        match &self.0 {
            Timers::Few(few) => few.get(timer),
            Timers::Many(many) => many.get(timer),
        }
    }

    /// Removes a timer. Returns its event, if it was pending.
    #[inline]
    pub fn take(&mut self, timer: Sequence) -> Option<Handle> {
        match &mut self.0 {
            Timers::Few(few) => few.take(timer),
            Timers::Many(many) => many.take(timer),
        }
    }

    /// Adds a timer, or puts back one that was removed.
    ///
    /// # Panics
    /// If there is no memory for it, it [unwinds](warpline_memory::Exhausted::unwind).
    #[inline]
    pub fn insert(&mut self, timer: Sequence, event: Handle) {
        if !self.insert_into_few(timer, event) {
            self.insert_into_many(timer, event);
        }
    }

    /// Adds a timer if it fits into the table itself. Returns whether it does.
    #[inline]
    fn insert_into_few(&mut self, timer: Sequence, event: Handle) -> bool {
        match &mut self.0 {
            Timers::Few(few) => few.insert(timer, event),
            Timers::Many(_) => false,
        }
    }

    #[inline(never)]
    fn insert_into_many(&mut self, timer: Sequence, event: Handle) {
        self.many().insert(timer, event);
    }

    /// Adds a timer before the table is [sorted](Self::sort). Many are added in less time in this
    /// way, whatever their order.
    ///
    /// # Panics
    /// As [`insert`](Self::insert).
    pub fn push(&mut self, timer: Sequence, event: Handle) {
        if !self.insert_into_few(timer, event) {
            self.many().push(timer, event);
        }
    }

    /// Brings timers that were [pushed](Self::push) into the order of their sequence numbers.
    pub fn sort(&mut self) {
        if let Timers::Many(many) = &mut self.0 {
            many.sort();
        }
    }

    /// Forgets all timers from a sequence number on.
    pub fn forget_from(&mut self, first: Sequence) {
        match &mut self.0 {
            Timers::Few(few) => few.forget_from(first),
            Timers::Many(many) => many.forget_from(first),
        }
    }

    /// Gives back memory that removed timers have left, if there is much of it.
    #[inline]
    pub fn tidy(&mut self) {
        if let Timers::Many(many) = &mut self.0
            && let Some(few) = many.tidy().and_then(FewTimers::of)
        {
            self.0 = Timers::Few(few);
        }
    }

    /// The timers as a list, to which they move if they lie in the table.
    fn many(&mut self) -> &mut ManyTimers {
        if let Timers::Few(few) = &self.0 {
            self.0 = Timers::Many(ManyTimers::of(few.iter()));
        }
        match &mut self.0 {
            Timers::Many(many) => many,
            Timers::Few(_) => unreachable!("they have moved"),
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
        timers.for_each(|number| table.insert(timer(number), Handle::from_bits(number)));
        table
    }

    #[test]
    fn a_timer_is_taken_once_and_can_be_put_back() {
        for timers in [5, 9] {
            let mut table = table(0..timers);
            let len = table.len();
            assert_eq!(table.take(timer(4)), Some(Handle::from_bits(4)));
            assert_eq!((table.take(timer(4)), table.get(timer(4))), (None, None));
            assert_eq!(table.len(), len - 1);
            table.insert(timer(4), Handle::from_bits(40));
            assert_eq!((table.get(timer(4)), table.len()), (Some(Handle::from_bits(40)), len));
            assert_eq!(table.get(timer(9)), None);
        }
    }

    #[test]
    fn a_table_moves_out_of_its_cache_line_and_back() {
        assert_eq!(size_of::<TimerTable>(), 64);
        assert_eq!([0, 1, 2].map(|timers| table(0..timers).only().is_some()), [false, true, false]);
        let mut table = table(0..5);
        assert_eq!(table.bytes_beside(), 0, "five timers fit into the line");
        table.insert(timer(5), Handle::from_bits(5));
        assert!((0..6).all(|number| table.get(timer(number)) == Some(Handle::from_bits(number))));
        assert!(table.bytes_beside() > 0);
        for number in 6..90 {
            table.insert(timer(number), Handle::from_bits(number));
            table.take(timer(number - 4));
            table.tidy();
        }
        assert_eq!((table.len(), table.bytes_beside() > 0), (6, true));
        (0..200).for_each(|number| {
            table.take(timer(number));
            table.tidy();
            table.insert(timer(1000 + number), Handle::from_bits(number));
            table.take(timer(1000 + number));
            table.tidy();
        });
        assert_eq!((table.len(), table.bytes_beside()), (0, 0));
    }

    #[test]
    fn timers_pushed_in_any_order_are_found_once_they_are_sorted() {
        let mut table = TimerTable::default();
        (0..9).for_each(|number| table.push(timer(number * 4 % 9), Handle::from_bits(number)));
        table.sort();
        (0..9).for_each(|number| {
            assert_eq!(table.get(timer(number * 4 % 9)), Some(Handle::from_bits(number)));
        });
    }

    #[test]
    fn timers_of_the_last_events_are_forgotten_with_their_gaps() {
        for timers in [5, 9] {
            let mut table = table(0..timers);
            [1, 4].into_iter().for_each(|number| _ = table.take(timer(number)));
            table.forget_from(timer(3));
            assert_eq!((table.len(), table.get(timer(3))), (2, None));
            assert_eq!(table.get(timer(2)), Some(Handle::from_bits(2)));
            table.insert(timer(1), Handle::from_bits(1));
            table.insert(timer(4), Handle::from_bits(4));
            assert_eq!(table.len(), 4);
        }
    }
}
