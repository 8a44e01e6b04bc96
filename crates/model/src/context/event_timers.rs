use warpline_base::Sequence;
use warpline_memory::Handle;

use super::timer_table::TimerTable;
use super::timer_tables::{TimerTables, TimersOf};

/// What the current event knows of timers, and does with them.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// The pending timers of all LPs of the engine.
    pub(crate) tables: TimerTables,
    /// Those of the current LP, if it has ever set one.
    current: TimersOf,
    /// Whether the current event has set the first timer of its LP.
    is_new: bool,
    /// The timer that the current event is, if it is one.
    pub(crate) fired: Option<Sequence>,
    /// What the event has cancelled, with the event of each timer.
    pub(crate) cancelled: Vec<(Sequence, Handle)>,
}

impl Timers {
    /// Points at the timers of the LP whose event is coming. `fired`: the event is this one.
    #[inline]
    pub(crate) fn lend(&mut self, of: TimersOf, fired: Option<Sequence>) {
        self.current = of;
        self.fired = fired;
    }

    /// Whether the current LP has ever set a timer.
    #[inline(always)]
    pub(crate) fn are_some(&self) -> bool {
        self.current.is_some()
    }

    /// The table of the current LP, if there is one.
    #[inline]
    pub(crate) fn table(&self) -> Option<&TimerTable> {
        self.tables.get(self.current)
    }

    /// The current LP sets a timer: it has a table from now on.
    #[inline]
    pub(crate) fn need_table(&mut self) {
        if !self.are_some() {
            self.current = self.tables.add(TimerTable::default());
            self.is_new = true;
        }
    }

    /// Takes a pending timer out of the table. Returns its event, if it was there.
    #[inline]
    pub(crate) fn take(&mut self, timer: Sequence) -> Option<Handle> {
        self.tables.change(self.current, |table| table.take(timer)).flatten()
    }

    /// Adds a timer to the table that the current event has set.
    #[inline]
    pub(crate) fn insert(&mut self, timer: Sequence, event: Handle) {
        self.tables.change(self.current, |table| table.insert(timer, event));
    }

    /// Forgets what the current event has done, and puts back what it has cancelled. Returns the
    /// table, if there is one.
    pub(crate) fn put_back(&mut self) -> Option<TimersOf> {
        for (timer, event) in self.cancelled.drain(..) {
            self.tables.change(self.current, |table| table.insert(timer, event));
        }
        self.end()
    }

    /// Forgets what the current event has done, in an LP that had no table.
    pub(crate) fn forget(&mut self) {
        if self.is_new {
            self.tables.remove(self.current);
        }
        self.cancelled.clear();
        self.end();
    }

    /// Takes the timer that has fired out of the table, to which the engine has added what the event
    /// has set. Returns the table, if there is one.
    #[inline]
    pub(crate) fn settle(&mut self) -> Option<TimersOf> {
        let fired = self.fired;
        self.tables.change(self.current, |table| {
            if let Some(fired) = fired {
                table.take(fired);
            }
            table.tidy();
        });
        self.cancelled.clear();
        self.end()
    }

    /// Nothing is lent from now on.
    #[inline]
    fn end(&mut self) -> Option<TimersOf> {
        self.fired = None;
        self.is_new = false;
        let table = std::mem::take(&mut self.current);
        table.is_some().then_some(table)
    }
}
