use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment};
use warpline_memory::{MakeRoom, list_for};
use warpline_model::statistics::{Row, RowSink};
use warpline_model::{Act, Cell};

/// A committed row or act, and its place in the order of all rows and acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentRow {
    /// The moment at which it was recorded. Rows of one moment keep their order.
    pub moment: Moment,
    /// The time, in model units.
    pub time: f64,
    /// The LP that recorded it.
    pub lp: LpId,
    /// What it contains.
    pub content: RowContent,
}

/// What a committed row contains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RowContent {
    /// A row of a table.
    Cells {
        /// The slot of the table.
        table: u16,
        /// The cells.
        cells: Vec<Cell>,
    },
    /// An act that another process keeps, and performs in its place among the rows.
    ActElsewhere {
        /// The number of the process.
        process: u32,
        /// The number of the act there.
        number: u64,
    },
    /// An act to be performed in its place among the rows. It does not leave its process.
    #[serde(skip)]
    Act(Act),
}

/// How messages to users call the rows.
pub const ROWS: &str = "rows that wait to be written or kept";

/// Collects the rows and acts of one moment.
pub(super) struct RowsOf<'a> {
    pub(super) moment: Moment,
    pub(super) rows: &'a mut Vec<MomentRow>,
}

impl RowSink for RowsOf<'_> {
    fn row(&mut self, row: Row<'_>) {
        let Row { table, time, lp, cells } = row;
        self.rows.make_room(1, ROWS);
        let mut copy = list_for(cells.len(), ROWS);
        copy.extend_from_slice(cells);
        let content = RowContent::Cells { table, cells: copy };
        self.rows.push(MomentRow { moment: self.moment, time, lp, content });
    }

    fn act(&mut self, act: &Act, time: f64, lp: LpId) {
        self.rows.make_room(1, ROWS);
        self.rows.push(MomentRow {
            moment: self.moment,
            time,
            lp,
            content: RowContent::Act(act.clone()),
        });
    }
}
