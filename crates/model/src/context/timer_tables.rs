use std::num::NonZeroU32;

use warpline_base::Sequence;
use warpline_memory::{Exhausted, Handle, MakeRoom, prefer_huge_pages, prefetch};

use super::many_timers::TIMERS;
use super::timer_table::TimerTable;

/// The table of an LP's pending timers among the [`TimerTables`] of its engine: none if the LP has
/// never set a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimersOf(Option<NonZeroU32>);

impl TimersOf {
    /// Whether there is a table.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.0.is_some()
    }

    #[inline]
    fn place(self) -> Option<usize> {
        self.0.map(|number| number.get() as usize - 1)
    }
}

/// A table never straddles two cache lines.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line(TimerTable);

/// The tables of pending timers of all LPs of an engine.
///
/// They lie together, away from the LPs: without timers, LPs take no room for them, and their memory
/// is known.
///
/// Invariant: `beside` is the sum of what the tables take beside themselves.
#[derive(Debug, Default)]
pub struct TimerTables {
    lines: Vec<Line>,
    /// The tables of LPs by their index in the engine. Those that are left out have none.
    of: Vec<TimersOf>,
    /// Tables that nobody has any more, all empty.
    free: Vec<TimersOf>,
    beside: usize,
}

impl TimerTables {
    /// Whether no LP has ever set a timer.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How much memory all tables take, in bytes, in use or free.
    pub fn bytes(&self) -> usize {
        size_of::<Line>() * self.lines.capacity()
            + size_of::<TimersOf>() * (self.of.capacity() + self.free.capacity())
            + self.beside
    }

    /// The table of the LP with this index in the engine.
    #[inline]
    pub fn of(&self, index: usize) -> TimersOf {
        self.of.get(index).copied().unwrap_or_default()
    }

    /// Sets the table of the LP with this index in the engine.
    ///
    /// # Panics
    /// If there is no memory for it, it [unwinds](Exhausted::unwind).
    #[inline]
    pub fn set(&mut self, index: usize, of: TimersOf) {
        if let Some(place) = self.of.get_mut(index) {
            *place = of;
        } else if of.is_some() {
            self.of.make_room(index + 1 - self.of.len(), TIMERS);
            self.of.resize(index, TimersOf::default());
            self.of.push(of);
        }
    }

    /// Fetches into the cache which table the LP with this index has.
    #[inline]
    pub fn prefetch_of(&self, index: usize) {
        if let Some(of) = self.of.get(index) {
            prefetch(of);
        }
    }

    /// A table, if there is one.
    #[inline]
    pub fn get(&self, of: TimersOf) -> Option<&TimerTable> {
        self.lines.get(of.place()?).map(|line| &line.0)
    }

    /// Fetches a table into the cache.
    #[inline]
    pub fn prefetch(&self, of: TimersOf) {
        if let Some(line) = of.place().and_then(|place| self.lines.get(place)) {
            prefetch(line);
        }
    }

    /// Adds a table.
    ///
    /// # Panics
    /// If there is no memory for it, it [unwinds](Exhausted::unwind).
    pub fn add(&mut self, table: TimerTable) -> TimersOf {
        let of = self.free.pop().unwrap_or_else(|| self.grow());
        self.change(of, |empty| *empty = table);
        of
    }

    #[cold]
    fn grow(&mut self) -> TimersOf {
        if self.lines.len() == self.lines.capacity() {
            self.lines.make_room(1, TIMERS);
            prefer_huge_pages(&mut self.lines);
        }
        self.lines.push(Line::default());
        let number = u32::try_from(self.lines.len()).ok().and_then(NonZeroU32::new);
        TimersOf(Some(number.unwrap_or_else(|| Exhausted::Numbers.unwind())))
    }

    /// Empties a table, if there is one, which nobody may use any more.
    pub fn remove(&mut self, of: TimersOf) {
        if of.is_some() {
            self.change(of, |table| *table = TimerTable::default());
            self.free.make_room(1, TIMERS);
            self.free.push(of);
        }
    }

    /// Adds a timer to the table of the LP with this index, which is made if there is none. The
    /// table is to be [sorted](Self::sort) when all have been added.
    pub fn push(&mut self, index: usize, timer: Sequence, event: Handle) {
        let mut of = self.of(index);
        if !of.is_some() {
            of = self.add(TimerTable::default());
            self.set(index, of);
        }
        self.change(of, |table| table.push(timer, event));
    }

    /// Sorts all tables.
    pub fn sort(&mut self) {
        self.lines.iter_mut().for_each(|line| line.0.sort());
    }

    /// Changes a table, if there is one. Returns what `change` returned.
    #[inline(always)]
    pub fn change<T>(
        &mut self,
        of: TimersOf,
        change: impl FnOnce(&mut TimerTable) -> T,
    ) -> Option<T> {
        let table = &mut self.lines.get_mut(of.place()?)?.0;
        let before = table.bytes_beside();
        let changed = change(table);
        self.beside = self.beside + table.bytes_beside() - before;
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(number: u32) -> Sequence {
        Sequence::first_of(1).nth(number)
    }

    #[test]
    fn tables_know_what_they_take_beside_themselves() {
        let mut tables = TimerTables::default();
        let none = tables.of(7);
        assert!(tables.is_empty() && !none.is_some() && tables.get(none).is_none());
        for number in 0..100 {
            let event = Handle::from_bits(number);
            tables.push(7, timer(100 - number), event);
        }
        (0..4).for_each(|number| tables.push(3, timer(number), Handle::from_bits(0)));
        tables.sort();
        let copy = tables.add(tables.get(tables.of(7)).cloned().unwrap_or_default());
        let all = [tables.of(7), tables.of(3), copy];
        assert_eq!(
            tables.get(all[2]).and_then(|table| table.get(timer(60))),
            Some(Handle::from_bits(40))
        );
        let beside = || all.iter().filter_map(|of| tables.get(*of)).map(TimerTable::bytes_beside);
        let sum: usize = beside().sum();
        assert_eq!(tables.beside, sum);
        assert!(sum > 2 * 100 * 16 && tables.bytes() > sum + 3 * 64);
        assert!([0, 6, 8].iter().all(|index| !tables.of(*index).is_some()));
        tables.set(0, all[1]);
        assert_eq!((tables.of(0), tables.of(7)), (all[1], all[0]));
        all.into_iter().for_each(|of| tables.remove(of));
        assert_eq!(tables.beside, 0);
        assert_eq!(tables.add(TimerTable::default()), all[2], "its memory is used again");
    }

    #[test]
    fn an_lp_with_timers_takes_four_bytes_and_a_line() {
        assert_eq!((size_of::<TimersOf>(), size_of::<Line>()), (4, 64));
    }
}
