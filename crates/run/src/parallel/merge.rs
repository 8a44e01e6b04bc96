use std::vec::Drain;

use warpline_base::{Moment, TieBreak};
use warpline_kernel::{MomentRow, ROWS};
use warpline_memory::{MakeRoom, check_room};

/// Puts the committed rows of all PEs in the order of their events.
pub(crate) struct RowMerge {
    ties: TieBreak,
    waiting: Vec<MomentRow>,
}

impl RowMerge {
    pub(crate) fn new(ties: TieBreak) -> Self {
        RowMerge { ties, waiting: Vec::new() }
    }

    /// The earlier of two moments.
    pub(crate) fn earlier(&self, a: Moment, b: Moment) -> Moment {
        a.earlier(b, self.ties)
    }

    pub(crate) fn add(&mut self, rows: Vec<MomentRow>) {
        self.waiting.make_room(rows.len(), ROWS);
        self.waiting.extend(rows);
    }

    /// Takes out all rows in no order, as another process puts those of several in order.
    pub(crate) fn take(&mut self) -> Vec<MomentRow> {
        std::mem::take(&mut self.waiting)
    }

    /// Takes out all rows before `moment`, in order. No more of them may come.
    pub(crate) fn take_before(&mut self, moment: &Moment) -> Drain<'_, MomentRow> {
        let ties = self.ties;
        self.take_due(|row| row.moment.is_before(moment, ties))
    }

    /// Takes out the last rows, in order: those up to and including the `failure` of the run, or
    /// all if there was none.
    pub(crate) fn take_last(&mut self, failure: &Moment) -> Drain<'_, MomentRow> {
        let ties = self.ties;
        self.take_due(|row| row.moment.compare(failure, ties).is_le())
    }

    fn take_due(&mut self, due: impl Fn(&MomentRow) -> bool) -> Drain<'_, MomentRow> {
        // Stable, so that rows of one event keep their order. That takes half as much memory again.
        check_room::<MomentRow>(self.waiting.len() / 2, ROWS);
        self.waiting.sort_by(|a, b| a.moment.compare(&b.moment, self.ties));
        let count = self.waiting.partition_point(due);
        self.waiting.drain(..count)
    }
}
