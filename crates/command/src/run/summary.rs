//! The outcome of a run, on one page for people or as one object for programs.

use std::path::Path;

use serde_json::{Value, json};
use warpline_record::{
    KindRecord, Partial, RecordSummary, Replications, RunRecord, StateDigestRecord, Stuck,
};
use warpline_report::Limit;
use warpline_run::TraceSummary;

use super::engine::chosen;
use super::speculation::speculation;
use super::{modelled, results, series};
use crate::failure::Failure;
use crate::output::format;

/// The most limits that are named.
const LIMITS_MOST: usize = 2;
/// The most characters in a line of running text.
const LINE: usize = 100;

/// A finished run and where its report lies.
pub(crate) struct Summary<'a> {
    pub(crate) record: &'a RunRecord,
    /// Notes on parameters and settings.
    pub(crate) notes: &'a [String],
    /// Whether somebody asked for what LPs tell.
    pub(crate) follows: bool,
    /// The names of the model's tables.
    pub(crate) tables: &'a [String],
    /// The directory of the report, if one was wanted.
    pub(crate) directory: Option<&'a Path>,
    /// The report, if there is one.
    pub(crate) report: Option<&'a Path>,
    /// The trace, if there is one.
    pub(crate) trace: Option<&'a TraceSummary>,
}

impl Summary<'_> {
    /// The run as one object, with what `failed`. Its long lists are made while it is written.
    pub(crate) fn json(&self, failed: Option<&Failure>) -> RecordSummary<'_> {
        let mut summary = self.record.streamed_summary();
        let all = &mut summary.fields;
        if !self.notes.is_empty() {
            all.insert("notes".into(), json!(self.notes));
        }
        if let Some(speedup) = warpline_report::estimated_speedup(self.record) {
            all.insert("estimated_speedup".into(), json!(speedup));
        }
        if self.record.parallel.is_some() {
            let limits = warpline_report::limits(self.record);
            let limit = |limit: &Limit| json!({ "title": limit.title, "advice": advice(limit), "cost": limit.cost });
            all.insert("limits".into(), limits.iter().map(limit).collect());
        }
        if self.follows {
            all.insert("told".into(), json!(self.record.told));
        }
        if let Some(report) = self.report {
            all.insert("report".into(), json!(report.display().to_string()));
        }
        if let Some(trace) = self.trace {
            all.insert("trace".into(), trace_json(trace));
        }
        if let Some(failure) = failed {
            all.insert("error".into(), json!(failure.message));
            all.insert("exit_code".into(), json!(failure.code));
        }
        summary
    }

    /// The run on one page.
    pub(crate) fn text(&self) -> String {
        let record = self.record;
        let end = format::time(record.end_time, &record.time_unit);
        let mut text =
            format!("{}: {}, to time {end} with {}\n", record.model, record.about, seeds(record));
        text += &partial(record);
        if record.ran_out && record.replications.is_none() {
            text += "the model had no events left at the end, not even later ones\n";
        }
        text += &record.stuck.as_ref().map_or_else(String::new, stuck);
        text += &record.lost_delays.map_or_else(String::new, |lost| format!("warning: {lost}\n"));
        text += &format::columns(&facts(record), 2);
        text += &kinds(record);
        text += &limits(record);
        text += if record.replications.is_some() {
            "results, with 95 % confidence intervals across the runs\n"
        } else {
            "results\n"
        };
        text += &format::columns(&results::lines(&record.results, &record.result_notes), 2);
        text += &series::text(record);
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
        rows + &report.unwrap_or_default() + &self.trace.map(trace_text).unwrap_or_default()
    }
}

/// Who waits for what can never come.
fn stuck(Stuck { waits, lines }: &Stuck) -> String {
    let mut text = format!(
        "warning: {} for what can never come, as no event is left\n",
        format::counted(*waits as usize, "process still waits", "processes still wait")
    );
    lines.iter().for_each(|line| text += &format!("  {line}\n"));
    let more = waits - lines.len() as u64;
    if more > 0 {
        text += &format!("  and {more} more\n");
    }
    text
}

/// Names and values of what is said of any run, above its results.
fn facts(record: &RunRecord) -> Vec<[String; 2]> {
    let fact = |name: &str, value: String| [name.to_owned(), value];
    let memory = record.peak_rss_bytes.map_or_else(|| "unknown".into(), format::bytes);
    let wall = format::duration(record.wall_seconds);
    let event_loop = format::duration(record.loop_seconds);
    let wall = match record.replications {
        None => format!("{wall}, of which the event loop took {event_loop}"),
        Some(_) => wall,
    };
    let mut facts = Vec::new();
    if let Some(replications) = &record.replications {
        facts.push(fact("replications", several(record.seed, replications)));
    }
    facts.push(fact("committed events", record.committed_events.to_string()));
    facts.push(fact("event rate", format::event_rate(record.event_rate)));
    facts.push(fact("wall time", wall));
    facts.push(fact("peak memory", memory));
    facts.extend(contested(record).map(|contested| fact("cores", contested)));
    facts.extend(chosen(record).map(|chosen| fact("engine", chosen)));
    if let Some(parallel) = &record.parallel {
        facts.extend(speculation(record, parallel));
        facts.extend(modelled::facts(parallel));
    }
    facts.push(fact("digest", record.digest.clone()));
    if let Some(StateDigestRecord { text, content, statistics }) = &record.state_digest {
        let digests = format!("{text}, of its content {content}, of statistics {statistics}");
        facts.push(fact("state digest", digests));
    }
    facts
}

/// Where the trace is, and what is missing from it.
fn trace_text(trace: &TraceSummary) -> String {
    let missing: String = if trace.is_thinned() {
        format::wrapped(&trace.to_string(), LINE).iter().map(|line| format!("  {line}\n")).collect()
    } else {
        String::new()
    };
    format!("trace: {}, {}\n{missing}", trace.path.display(), format::bytes(trace.bytes))
}

fn trace_json(trace: &TraceSummary) -> Value {
    let mut json = json!({
        "file": trace.path.display().to_string(),
        "bytes": trace.bytes,
        "spans": trace.spans,
        "spans_left_out": trace.spans_left_out,
        "events": trace.events,
        "events_left_out": trace.events_left_out,
    });
    if trace.is_thinned() {
        json["note"] = json!(trace.to_string());
    }
    json
}

/// A note on other programs that used the cores, if they did so much that the rate says little.
fn contested(record: &RunRecord) -> Option<String> {
    let taken = warpline_report::taken_by_others(record)?;
    Some(format!(
        "others had them for {} of the time for which this run needed them, so its rate says \
         little",
        format::percent(taken)
    ))
}

/// What is missing from a run that was ended early.
fn partial(record: &RunRecord) -> String {
    match record.partial {
        None => String::new(),
        Some(Partial { wanted_runs: 1, wanted_end }) => {
            let goes_on = record
                .series
                .values()
                .any(|series| series.edges.last().is_some_and(|end| *end > record.end_time));
            let series =
                if goes_on { "; some series keep the slices of the whole run" } else { "" };
            let wanted = format::time(wanted_end, &record.time_unit);
            format!(
                "PARTIAL RESULTS: the run was ended early; it was to go on to time \
                 {wanted}{series}\n"
            )
        }
        Some(Partial { wanted_runs, .. }) => {
            format!("PARTIAL RESULTS: the runs were ended early; there were to be {wanted_runs}\n")
        }
    }
}

/// The seed, or the first and the last of several.
fn seeds(record: &RunRecord) -> String {
    let last = record
        .replications
        .as_ref()
        .and_then(|replications| replications.runs.last())
        .map(|run| run.seed);
    match last.filter(|last| *last != record.seed) {
        Some(last) => format!("seeds {} to {last}", record.seed),
        None => format!("seed {}", record.seed),
    }
}

/// How many runs there were, and how long one took.
fn several(first: u64, replications: &Replications) -> String {
    let Replications { at_once, runs } = replications;
    let longest = runs.iter().fold(0.0, |longest: f64, run| longest.max(run.wall_seconds));
    let longest = format::duration(longest);
    format!("{}, from seed {first} on, {at_once} at a time; the longest took {longest}", runs.len())
}

/// What the LPs of each kind did, a line each, if the record tells them apart.
fn kinds(record: &RunRecord) -> String {
    let line = |kind: &KindRecord| {
        let KindRecord { lps, committed_events, rolled_back_events, set_aside_events, .. } = *kind;
        let name = if kind.kind.is_empty() { "no name".to_owned() } else { kind.kind.clone() };
        let how = match (&record.parallel, kind.conservative) {
            (None, _) => String::new(),
            (Some(_), true) => {
                format!("; conservative: {set_aside_events} of them waited while others went ahead")
            }
            (Some(_), false) => format!("; {rolled_back_events} rolled back"),
        };
        [
            name,
            format!(
                "{}, {committed_events} events committed{how}",
                format::counted(lps as usize, "LP", "LPs")
            ),
        ]
    };
    let lines: Vec<_> = record.kinds.iter().map(line).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("kinds of LPs\n{}", format::columns(&lines, 2))
    }
}

/// What limits a parallel run most, and what to try; empty if nothing stands out.
fn limits(record: &RunRecord) -> String {
    let limits = warpline_report::limits(record);
    let lines =
        limits.iter().take(LIMITS_MOST).flat_map(|limit| format::wrapped(&advice(limit), LINE));
    let lines: String = lines.map(|line| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("what limits this run, and what to try\n{lines}") }
}

/// A limit in one line, with settings as options.
fn advice(limit: &Limit) -> String {
    let option = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("--{}", part.replace('_', "-")) } else { part.to_owned() }
    };
    let text: String = limit.text.split('`').enumerate().map(option).collect();
    format!("{}. {text}", limit.title).replace(['\u{a0}', '\u{202f}'], " ")
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
