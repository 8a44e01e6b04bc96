use warpline_base::{Moment, TieBreak};
use warpline_kernel::{MomentRow, ROWS};
use warpline_memory::{MakeRoom, check_room};

use crate::rows::Rows;

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

    /// Takes out all rows, for whoever puts those of several processes in order.
    pub(crate) fn take(&mut self) -> Vec<MomentRow> {
        std::mem::take(&mut self.waiting)
    }

    /// Passes on all rows before `moment`. There will be no more of them.
    pub(crate) fn emit_before(&mut self, moment: &Moment, rows: &mut Rows) {
        let ties = self.ties;
        self.emit(|row| row.moment.is_before(moment, ties), rows);
    }

    /// Passes on all rows up to and including `moment`, and drops the rest.
    pub(crate) fn emit_through(&mut self, moment: &Moment, rows: &mut Rows) {
        let ties = self.ties;
        self.emit(|row| row.moment.compare(moment, ties).is_le(), rows);
        self.waiting.clear();
    }

    /// Passes on all rows.
    pub(crate) fn emit_all(&mut self, rows: &mut Rows) {
        self.emit(|_| true, rows);
    }

    fn emit(&mut self, due: impl Fn(&MomentRow) -> bool, rows: &mut Rows) {
        // Stable, so that rows of one event keep their order. That takes half as much memory again.
        check_room::<MomentRow>(self.waiting.len() / 2, ROWS);
        self.waiting.sort_by(|a, b| a.moment.compare(&b.moment, self.ties));
        let count = self.waiting.partition_point(due);
        self.waiting.drain(..count).for_each(|row| rows.add(row));
    }
}
