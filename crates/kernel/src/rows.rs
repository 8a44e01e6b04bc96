use warpline_base::{LpId, Moment};
use warpline_memory::{MakeRoom, list_for};
use warpline_model::Cell;
use warpline_model::statistics::{Row, RowSink};

/// A committed row, and its place in the order of rows of all PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentRow {
    /// When it was recorded. Rows of one moment keep their order.
    pub moment: Moment,
    /// The slot of its table.
    pub table: u16,
    /// The time, in model units.
    pub time: f64,
    /// The LP.
    pub lp: LpId,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// What rows are to whoever runs a model.
pub const ROWS: &str = "rows that wait to be written or kept";

/// Collects the rows of one moment.
pub(crate) struct RowsOf<'a> {
    pub(crate) moment: Moment,
    pub(crate) rows: &'a mut Vec<MomentRow>,
}

impl RowSink for RowsOf<'_> {
    fn row(&mut self, row: Row<'_>) {
        let Row { table, time, lp, cells } = row;
        self.rows.make_room(1, ROWS);
        let mut copy = list_for(cells.len(), ROWS);
        copy.extend_from_slice(cells);
        self.rows.push(MomentRow { moment: self.moment, table, time, lp, cells: copy });
    }
}
