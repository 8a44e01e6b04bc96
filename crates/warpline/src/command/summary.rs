//! The outcome of a run, on one page for people or as one object for programs.

use std::path::Path;

use crate::record::{ParallelRecord, RunRecord};
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::format;

/// The longest list that is shown in full.
const LIST_MOST: usize = 8;
/// The most phases of a parallel run that are named.
const PHASES_MOST: usize = 4;

/// A finished run and where its report lies.
pub(crate) struct Summary<'a> {
    pub(crate) record: &'a RunRecord,
    /// What was pointed out about parameters.
    pub(crate) notes: &'a [String],
    /// The names of the model's tables.
    pub(crate) tables: &'a [String],
    /// The directory of the report, if one was wanted.
    pub(crate) directory: Option<&'a Path>,
    /// The report, if there is one.
    pub(crate) report: Option<&'a Path>,
}

impl Summary<'_> {
    /// The run as one object, including the failure of its report if that `failed`.
    pub(crate) fn json(&self, failed: Option<&Failure>) -> Value {
        let mut all = self.record.summary();
        if !self.notes.is_empty() {
            all.insert("notes".into(), json!(self.notes));
        }
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
        let first = [
            ["committed events", &record.committed_events.to_string()],
            ["event rate", &format::event_rate(record.event_rate)],
            ["wall time", &format!("{wall}, of which the event loop took {event_loop}")],
            ["peak memory", &memory],
        ];
        let mut facts: Vec<_> = first.into_iter().map(|fact| fact.map(str::to_owned)).collect();
        if let Some(parallel) = &record.parallel {
            facts.extend(speculation(record, parallel));
        }
        facts.push(["digest".to_owned(), record.digest.clone()]);
        let end = format::time(record.end_time, &record.time_unit);
        let mut text = format!("{}: {}, to time {end} with seed {}\n", record.model, record.about, record.seed);
        text += &format::columns(&facts, 2);
        text += "results\n";
        text += &format::columns(&results(&record.results), 2);
        text + &self.places()
    }

    /// The places of the report and the rows.
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

/// The engine of a run, for people.
pub(crate) fn engine(record: &RunRecord) -> String {
    let sync = record.engine.get("sync").and_then(Value::as_str).unwrap_or("unknown engine");
    match record.engine.get("threads").and_then(Value::as_u64).filter(|_| record.parallel.is_some()) {
        Some(1) => format!("{sync}, 1 thread"),
        Some(threads) => format!("{sync}, {threads} threads"),
        None => sync.to_owned(),
    }
}

/// What parallel execution cost, a line each.
fn speculation(record: &RunRecord, parallel: &ParallelRecord) -> Vec<[String; 2]> {
    let of_committed = parallel.remote_events as f64 / record.committed_events.max(1) as f64;
    let (processed, undone) = (parallel.processed_events, parallel.rolled_back_events);
    let rollbacks = &parallel.rollbacks;
    let lanes = format!("{} certain when executed, {} executed ahead", parallel.certain_events, parallel.ahead_events);
    let facts = [
        ("engine", engine(record)),
        ("events", lanes),
        ("efficiency", format!("{}: {processed} events processed, {undone} rolled back", format::percent(parallel.efficiency))),
        ("rollbacks", format!("{} primary, {} secondary", rollbacks.primary, rollbacks.secondary)),
        ("GVT computations", parallel.gvt_epochs.to_string()),
        ("remote events", format!("{} of those committed", format::percent(of_committed))),
    ];
    let mut facts: Vec<_> = facts.into_iter().map(|(name, fact)| [name.to_owned(), fact]).collect();
    let window = record.progress.last().and_then(|sample| sample.speculation).map(|sample| sample.window);
    // A wider window limits nothing.
    if let Some(window) = window.filter(|window| *window < record.end_time) {
        facts.push(["window".to_owned(), format!("{} beyond GVT, at the end", format::time(window, &record.time_unit))]);
    }
    facts.extend(phases(parallel).map(|phases| ["time went to".to_owned(), phases]));
    facts
}

/// The phases that took most of the time, the largest first; `None` if none took any.
fn phases(parallel: &ParallelRecord) -> Option<String> {
    let mut phases = parallel.phase_seconds.list();
    let total: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    phases.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let shares = phases.iter().map(|(name, seconds)| (name, (100.0 * seconds / total).round())).filter(|(_, share)| *share >= 1.0);
    let texts: Vec<_> = shares.take(PHASES_MOST).map(|(name, share)| format!("{name} {share} %")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
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
    use crate::record::{ProgressSample, SpeculationSample};

    use super::*;
    use crate::command::sample;

    fn text(record: &RunRecord) -> String {
        Summary { record, notes: &[], tables: &[], directory: None, report: None }.text()
    }

    #[test]
    fn a_sequential_run_has_nothing_of_a_parallel_one() {
        let text = text(&sample::sequential(1e6));
        let lines: Vec<_> = text.lines().map(|line| line.split("  ").find(|part| !part.is_empty()).unwrap_or_default()).collect();
        let head = "clock: a clock, to time 10 s with seed 1";
        assert_eq!(lines, [head, "committed events", "event rate", "wall time", "peak memory", "digest", "results", "ticks"]);
    }

    #[test]
    fn a_parallel_run_tells_what_it_cost() {
        let mut record = sample::optimistic(1e6);
        let expected = [
            "  engine            optimistic, 2 threads",
            "  events            600 certain when executed, 650 executed ahead",
            "  efficiency        80.0 %: 1250 events processed, 250 rolled back",
            "  rollbacks         40 primary, 2 secondary",
            "  GVT computations  17",
            "  remote events     25.0 % of those committed",
            "  time went to      event processing 50 %, idle 25 %, rollback 13 %, pending set 10 %",
            "  digest            00000000000000aa",
        ];
        let of_parallel =
            |record: &RunRecord| text(record).lines().skip(5).take_while(|line| *line != "results").map(str::to_owned).collect();
        let lines: Vec<String> = of_parallel(&record);
        assert_eq!(lines, expected);
        assert!(lines.iter().all(|line| line.chars().count() <= 90));
        for (window, line) in [(2.5, Some("  window            2.5 s beyond GVT, at the end")), (1e40, None), (f64::NAN, None)] {
            let speculation = Some(SpeculationSample { window, ..SpeculationSample::default() });
            let (virtual_time, committed_events, rss_bytes) = (10.0, 1000, None);
            record.progress.push(ProgressSample { wall_seconds: 1.0, virtual_time, committed_events, rss_bytes, speculation });
            let lines: Vec<String> = of_parallel(&record);
            assert_eq!(lines.iter().find(|line| line.contains("window")).map(String::as_str), line);
        }
        let nothing = ParallelRecord::default();
        assert_eq!(phases(&nothing), None);
    }

    #[test]
    fn what_parallel_execution_cost_stands_at_the_top_of_the_object() {
        let record = sample::optimistic(1e6);
        let json = Summary { record: &record, notes: &[], tables: &[], directory: None, report: None }.json(None);
        let numbers = [
            "processed_events",
            "certain_events",
            "ahead_events",
            "rolled_back_events",
            "efficiency",
            "anti_messages",
            "gvt_epochs",
            "remote_events",
        ];
        assert!(numbers.iter().all(|key| json[key].is_number()), "{json}");
        let rollbacks = ["primary", "secondary", "max_per_pe", "mean_per_pe"];
        assert!(rollbacks.iter().all(|key| json["rollbacks"][key].is_number()), "{json}");
        assert_eq!((&json["certain_events"], &json["ahead_events"]), (&json!(600), &json!(650)));
        assert_eq!((&json["efficiency"], &json["phase_seconds"]["idle"]), (&json!(0.8), &json!(0.5)));
        assert!(json.get("parallel").is_none() && json.get("progress").is_none(), "{json}");
        let of_sequential = sample::sequential(1e6).summary();
        assert!(numbers.iter().chain(&["rollbacks", "phase_seconds", "parallel"]).all(|key| !of_sequential.contains_key(*key)));
    }

    #[test]
    fn records_are_read_back_with_and_without_a_parallel_part() {
        for record in [sample::sequential(1e6), sample::optimistic(1e6)] {
            let read: RunRecord = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
            assert_eq!(read, record);
        }
    }

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
