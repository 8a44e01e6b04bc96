//! Which engines a run chose, when, and why.

use crate::format;
use crate::html::escape;
use crate::table::Table;
use crate::views::behind;
use serde_json::Value;
use warpline_record::{EngineStretch, RunRecord, TableView};

const TITLE: &str = "Which engine ran when, and why";

/// The section as HTML, and its table, which the script finds under `key`. `None` for a run that did
/// not choose its engine.
pub(crate) fn section(record: &RunRecord, key: usize) -> Option<(String, Table)> {
    if record.engines.is_empty() {
        return None;
    }
    let column = |name: &str, unit: &str| (name.to_owned(), unit.to_owned());
    let columns = vec![
        column("begins", "s"),
        column("from model time", &record.time_unit),
        column("to model time", &record.time_unit),
        column("engine", ""),
        column("PEs", ""),
        column("takes", "s"),
        column("committed", "events"),
        column("rate when warm", "events/s"),
    ];
    let rows = record.engines.iter().map(row).collect();
    let table = Table::of_table(&TableView { title: TITLE.into(), columns, rows });
    let remark = "The run chose its engines itself: at each of these times, everything that the \
                  engine held was handed to the next one.";
    let html = format!(
        "<section class=\"card whole engines\"><h2>{TITLE}</h2><p class=\"muted\">{}</p><ol \
         class=\"hints\">{}</ol>{}</section>\n",
        escape(remark),
        record.engines.iter().map(item).collect::<String>(),
        behind(&table, key)
    );
    Some((html, table))
}

/// A stretch of one engine in words.
fn item(stretch: &EngineStretch) -> String {
    let EngineStretch { sync, pes, began_seconds, seconds, event_rate, why, .. } = stretch;
    let pes = if *pes > 1 { format!(", {pes} PEs") } else { String::new() };
    let rate = event_rate
        .map_or_else(String::new, |rate| format!(", {}", format::quantity(rate, "events/s")));
    let from = format::duration(*began_seconds);
    let took = format::duration(*seconds);
    format!(
        "<li><strong>{}{pes}</strong> from {from} on, for {took}{rate}: {}.</li>",
        escape(sync),
        escape(why)
    )
}

fn row(stretch: &EngineStretch) -> Vec<Value> {
    let EngineStretch {
        sync,
        pes,
        from,
        to,
        began_seconds,
        seconds,
        committed_events,
        event_rate,
        ..
    } = stretch;
    vec![
        Value::from(*began_seconds),
        Value::from(*from),
        Value::from(*to),
        Value::from(sync.as_str()),
        Value::from(*pes),
        Value::from(*seconds),
        Value::from(*committed_events),
        event_rate.map_or(Value::Null, Value::from),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_stretch_has_a_row_with_its_reason() {
        let mut record: RunRecord = serde_json::from_value(json!({"model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 9.0,
            "engine": {}, "committed_events": 10, "digest": "", "wall_seconds": 1.0, "loop_seconds": 1.0, "event_rate": 10,
            "peak_rss_bytes": null, "results": {}, "progress": [], "views": []}))
        .expect("a record");
        assert!(section(&record, 0).is_none());
        let stretch = |sync: &str, why: &str| EngineStretch {
            sync: sync.into(),
            pes: 2,
            why: why.into(),
            ..EngineStretch::default()
        };
        record.engines =
            vec![stretch("sequential", "every run begins so"), stretch("optimistic", "1 < 2")];
        let (html, _) = section(&record, 3).expect("a section");
        assert!(
            ["Which engine ran when", "every run begins so", "optimistic", "1 &lt; 2"]
                .iter()
                .all(|text| html.contains(text)),
            "{html}"
        );
    }
}
