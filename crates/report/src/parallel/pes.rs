//! The table of PEs.

use serde_json::Value;
use warpline_record::{ParallelRecord, PeRecord, Phases, TableView};

use super::shares::share;
use crate::table::Table;

/// A column, with a cell for every PE.
struct Column {
    name: &'static str,
    unit: &'static str,
    cells: Vec<Value>,
}

/// Every PE with everything that the record says about it.
pub(super) fn pes(parallel: &ParallelRecord) -> Table {
    let columns = columns(&parallel.pes);
    let row = |pe: usize| columns.iter().map(|column| column.cells[pe].clone()).collect();
    let rows = (0..parallel.pes.len()).map(row).collect();
    let columns =
        columns.iter().map(|column| (column.name.to_owned(), column.unit.to_owned())).collect();
    Table::of_table(&TableView { title: "Every PE".into(), columns, rows })
}

/// All counters, each followed by what is computed from it.
fn columns(pes: &[PeRecord]) -> Vec<Column> {
    let column = |name: &'static str, unit: &'static str, cell: &dyn Fn(&PeRecord) -> Value| {
        Column { name, unit, cells: pes.iter().map(cell).collect() }
    };
    let mut columns = vec![
        Column { name: "PE", unit: "", cells: (0..pes.len()).map(Value::from).collect() },
        column("first LP", "", &|pe| pe.first_lp.into()),
        column("LPs", "", &|pe| pe.lps.into()),
    ];
    for counter in PeRecord::COUNTERS {
        columns.push(column(counter.label, counter.unit, &|pe| cell(counter.value(pe))));
        columns.extend(match counter.name {
            "certain_events" => Some(column("ahead", "events", &|pe| pe.ahead_events.into())),
            "rolled_back_events" => Some(column("efficiency", "%", &efficiency)),
            "mailbox_depth_max" => {
                Some(column("mailbox, mean", "messages", &|pe| pe.mailbox_depth_mean.into()))
            }
            _ => None,
        });
    }
    let phases = Phases::default().list().into_iter().enumerate();
    columns.extend(phases.map(|(phase, (name, _))| {
        column(name, "s", &|pe| pe.phase_seconds.list()[phase].1.into())
    }));
    columns
}

/// A value as it stands in the table.
fn cell(value: Value) -> Value {
    match value {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        value => value,
    }
}

/// Committed by processed events, in percent.
fn efficiency(pe: &PeRecord) -> Value {
    let committed = pe.processed_events.saturating_sub(pe.rolled_back_events) as f64;
    share(committed, pe.processed_events as f64).map_or(Value::Null, |share| (100.0 * share).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_a_column() {
        let pe = PeRecord {
            processed_events: 8,
            rolled_back_events: 2,
            own_pool: true,
            ..PeRecord::default()
        };
        let columns = columns(&[pe, PeRecord::default()]);
        let of = |name: &str| &columns.iter().find(|column| column.name == name).expect(name).cells;
        for counter in PeRecord::COUNTERS {
            assert_eq!(of(counter.label).len(), 2);
        }
        assert_eq!(of("executed")[..], [8, 0]);
        assert_eq!(of("own pool")[..], ["yes", "no"]);
        assert_eq!(of("efficiency")[..], [Value::from(75.0), Value::Null]);
        let names: Vec<_> = columns.iter().map(|column| column.name).collect();
        let start = [
            "PE",
            "first LP",
            "LPs",
            "executed",
            "certain",
            "ahead",
            "committed",
            "undone",
            "efficiency",
        ];
        assert_eq!(names[..start.len()], start);
    }
}
