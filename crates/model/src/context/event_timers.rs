use warpline_base::Sequence;
use warpline_memory::Handle;

use super::timer_table::TimerTable;

/// What the current event knows of timers, and does with them.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// The pending timers of the current LP, if it has ever set one. Boxed, so that lending it is
    /// passing a pointer.
    pub(crate) table: Option<Box<TimerTable>>,
    /// The timer that the current event is, if it is one.
    pub(crate) fired: Option<Sequence>,
    /// What the event has cancelled, with the event of each timer.
    pub(crate) cancelled: Vec<(Sequence, Handle)>,
    /// What the event has set, in reverse order of sending; the engine fills it in.
    pub(crate) set: Vec<(Sequence, Handle)>,
}

impl Timers {
    /// Forgets what the current event has done, and gives the table back as it was.
    pub(crate) fn put_back(&mut self) -> Option<Box<TimerTable>> {
        let mut table = self.table.take()?;
        self.fired = None;
        self.set.clear();
        self.cancelled.drain(..).for_each(|(timer, event)| table.put_back(timer, event));
        Some(table)
    }

    /// Forgets what the current event has done, in an LP that had no table.
    pub(crate) fn forget(&mut self) {
        self.table = None;
        self.fired = None;
        self.cancelled.clear();
        self.set.clear();
    }

    /// Takes the timer that has fired out of the table, adds what the event has set, and gives the
    /// table back.
    pub(crate) fn settle(&mut self) -> Option<Box<TimerTable>> {
        let mut table = self.table.take()?;
        if let Some(fired) = self.fired.take() {
            table.take(fired);
        }
        self.cancelled.clear();
        self.set.drain(..).rev().for_each(|(timer, event)| table.push(timer, event));
        table.tidy();
        Some(table)
    }
}
