//! Committed rows and acts, on their way out.

use warpline_base::LpId;

use crate::outside::Act;
use crate::tables::Cell;

/// A committed row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The slot of its table.
    pub table: u16,
    /// The time of the event that wrote it.
    pub time: f64,
    /// The LP that wrote it.
    pub lp: LpId,
    /// Its cells, as many as the table has columns.
    pub cells: &'a [Cell],
}

/// A sink for committed rows.
pub trait RowSink {
    /// Takes one row.
    fn row(&mut self, row: Row<'_>);

    /// Takes an act of an event of `lp` at `time`. By default, drops it.
    fn act(&mut self, act: &Act, time: f64, lp: LpId) {
        let _ = (act, time, lp);
    }
}
