//! What a run came to, in one page for people or one object for programs.

use std::path::Path;

use serde_json::{Map, Value, json};
use warpline::record::RunRecord;

use crate::failure::Failure;
use crate::format;

/// The longest list that is shown in full.
const LIST_MOST: usize = 8;

/// A finished run and where its report lies.
pub(crate) struct Summary<'a> {
    pub(crate) record: &'a RunRecord,
    /// The names of the model's tables.
    pub(crate) tables: &'a [String],
    /// The directory of the report, if one was wanted.
    pub(crate) directory: Option<&'a Path>,
    /// The report, if there is one.
    pub(crate) report: Option<&'a Path>,
}

impl Summary<'_> {
    /// The run as one object; if its report `failed`, that is told in it.
    pub(crate) fn json(&self, failed: Option<&Failure>) -> Value {
        let mut all = self.record.summary();
        if let Some(report) = self.report {
            all.insert("report".into(), json!(report.display().to_string()));
        }
        if let Some(failure) = failed {
            all.insert("error".into(), json!(failure.message));
            all.insert("exit_code".into(), json!(failure.code));
        }
        Value::Object(all)
    }

    /// The run on one page.
    pub(crate) fn text(&self) -> String {
        let record = self.record;
        let memory = record.peak_rss_bytes.map_or_else(|| "unknown".into(), format::bytes);
        let (wall, event_loop) = (format::duration(record.wall_seconds), format::duration(record.loop_seconds));
        let facts = [
            ["committed events", &record.committed_events.to_string()],
            ["event rate", &format::event_rate(record.event_rate)],
            ["wall time", &format!("{wall}, of which the event loop took {event_loop}")],
            ["peak memory", &memory],
            ["digest", &record.digest],
        ];
        let facts: Vec<_> = facts.into_iter().map(|fact| fact.map(str::to_owned)).collect();
        let end = format::time(record.end_time, &record.time_unit);
        let mut text = format!("{}: {}, to time {end} with seed {}\n", record.model, record.about, record.seed);
        text += &format::columns(&facts, 2);
        text += "results\n";
        text += &format::columns(&results(&record.results), 2);
        text + &self.places()
    }

    /// Where the report and the rows are.
    fn places(&self) -> String {
        let tables = self.tables.join(", ");
        let rows = match self.directory {
            _ if self.tables.is_empty() => String::new(),
            Some(directory) => format!("rows of {tables} are in {}\n", directory.display()),
            None => format!("rows of {tables} were dropped; --report DIR keeps them\n"),
        };
        let report = self.report.map(|report| format!("report: {}\n", report.display()));
        rows + &report.unwrap_or_default()
    }
}

/// The main results, a line each.
fn results(results: &Value) -> Vec<[String; 2]> {
    match results {
        Value::Null => Vec::new(),
        Value::Object(all) => all.iter().map(|(name, value)| [name.clone(), one(value)]).collect(),
        other => vec![["result".to_owned(), one(other)]],
    }
}

fn one(value: &Value) -> String {
    match value {
        Value::Array(list) if list.len() > LIST_MOST || !list.iter().all(is_scalar) => {
            let noun = if list.len() == 1 { "entry" } else { "entries" };
            format!("{} {noun} (see --json or --report)", list.len())
        }
        Value::Array(list) => list.iter().map(scalar).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => object(fields),
        value => scalar(value),
    }
}

/// An estimate as `mean ± half-width`; any other object field by field.
fn object(fields: &Map<String, Value>) -> String {
    const ORDER: [&str; 9] = ["count", "mean", "min", "p50", "p90", "p95", "p99", "max", "deviation"];
    if fields.contains_key("ci95") {
        let mean = fields.get("mean").map_or_else(|| "none".into(), scalar);
        let half = fields.get("ci95").filter(|half| half.is_number());
        return half.map_or_else(|| mean.clone(), |half| format!("{mean} ± {}", scalar(half)));
    }
    if !fields.values().all(is_scalar) {
        return format!("{} fields (see --json or --report)", fields.len());
    }
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()));
    fields.iter().map(|(name, value)| format!("{name} {}", scalar(value))).collect::<Vec<_>>().join(", ")
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(whole) if !whole.is_f64() => whole.to_string(),
        value => value.as_f64().map_or_else(|| value.to_string(), format::number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_lines_and_long_lists_are_counted() {
        let values = json!({
            "count": 12_345_678_901u64, "delay": { "max": 2.5, "count": 3, "mean": 0.1234567, "p50": null },
            "links": [{ "a": 1 }], "list": [1, 2.5], "load": { "mean": 0.5, "ci95": 0.01, "count": 3, "min": 0, "max": 1 },
            "unsure": { "mean": 2.0, "ci95": null }, "word": "yes", "deep": { "a": [1], "b": 2 },
        });
        let lines: Vec<String> = results(&values).into_iter().map(|line| line.join(": ")).collect();
        let expected = [
            "count: 12345678901",
            "deep: 2 fields (see --json or --report)",
            "delay: count 3, mean 0.123457, p50 none, max 2.5",
            "links: 1 entry (see --json or --report)",
            "list: 1, 2.5",
            "load: 0.5 ± 0.01",
            "unsure: 2",
            "word: yes",
        ];
        assert_eq!(lines, expected);
        assert_eq!(results(&json!(4)), [["result".to_owned(), "4".to_owned()]]);
        assert!(results(&Value::Null).is_empty());
        assert!(one(&json!(vec![0; 312])).starts_with("312 entries"));
    }
}
