//! What the LPs of each kind did, as a table.

use serde_json::Value;
use warpline_record::{KindRecord, RunRecord, TableView, View};

/// The table, if the record tells kinds apart.
pub(crate) fn view(record: &RunRecord) -> Option<View> {
    if record.kinds.is_empty() {
        return None;
    }
    let parallel = record.parallel.is_some();
    let column = |name: &str, unit: &str| (name.to_owned(), unit.to_owned());
    let mut columns = vec![column("kind", ""), column("LPs", ""), column("committed", "events")];
    if parallel {
        columns.insert(1, column("events are executed", ""));
        columns.extend([column("undone", "events"), column("waited until certain", "events")]);
    }
    let row = |kind: &KindRecord| {
        let name = if kind.kind.is_empty() { "no name" } else { &kind.kind };
        let mut row: Vec<Value> = vec![name.into(), kind.lps.into(), kind.committed_events.into()];
        if parallel {
            let when = if kind.conservative { "when certain" } else { "ahead as well" };
            row.insert(1, when.into());
            row.extend([kind.rolled_back_events.into(), kind.set_aside_events.into()]);
        }
        row
    };
    Some(View::Table(TableView {
        title: "Kinds of LPs".into(),
        columns,
        rows: record.kinds.iter().map(row).collect(),
    }))
}
