//! The outcome of a run, on one page for people or as one object for programs.

use std::path::Path;

use serde_json::{Value, json};
use warpline_record::{
    KindRecord, Partial, RecordSummary, Replications, RunRecord, StateDigestRecord,
};
use warpline_report::Limit;
use warpline_run::TraceSummary;

use super::engine::chosen;
use super::speculation::speculation;
use super::{results, series};
use crate::failure::Failure;
use crate::output::format;

/// The most limits that are named, and how long their lines are.
const LIMITS_MOST: usize = 2;
const LINE: usize = 100;

/// A finished run and where its report lies.
pub(crate) struct Summary<'a> {
    pub(crate) record: &'a RunRecord,
    /// Notes on parameters and settings.
    pub(crate) notes: &'a [String],
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
    /// The run as one object, including the failure of its report if that `failed`. Its long lists
    /// are made while it is written.
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
        let memory = record.peak_rss_bytes.map_or_else(|| "unknown".into(), format::bytes);
        let (wall, event_loop) =
            (format::duration(record.wall_seconds), format::duration(record.loop_seconds));
        let first = [
            ["committed events", &record.committed_events.to_string()],
            ["event rate", &format::event_rate(record.event_rate)],
            ["wall time", &format!("{wall}, of which the event loop took {event_loop}")],
            ["peak memory", &memory],
        ];
        let mut facts: Vec<_> = first.into_iter().map(|fact| fact.map(str::to_owned)).collect();
        if let Some(replications) = &record.replications {
            facts[2][1] = wall.clone();
            facts.insert(0, ["replications".to_owned(), several(record.seed, replications)]);
        }
        facts.extend(contested(record).map(|contested| ["cores".to_owned(), contested]));
        facts.extend(chosen(record).map(|chosen| ["engine".to_owned(), chosen]));
        if let Some(parallel) = &record.parallel {
            facts.extend(speculation(record, parallel));
        }
        facts.push(["digest".to_owned(), record.digest.clone()]);
        if let Some(StateDigestRecord { text, content, statistics }) = &record.state_digest {
            facts.push([
                "state digest".to_owned(),
                format!("{text}, of its content {content}, of statistics {statistics}"),
            ]);
        }
        let end = format::time(record.end_time, &record.time_unit);
        let mut text =
            format!("{}: {}, to time {end} with {}\n", record.model, record.about, seeds(record));
        text += &partial(record);
        if record.ran_out && record.replications.is_none() {
            text += "the model had no events left at the end, not even later ones\n";
        }
        text += &record.lost_delays.map_or_else(String::new, |lost| format!("warning: {lost}\n"));
        text += &format::columns(&facts, 2);
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

/// Where the trace is, and what is missing of it.
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

/// A note that other programs used the cores as well, if so much that the rate says little.
fn contested(record: &RunRecord) -> Option<String> {
    let taken = warpline_report::taken_by_others(record)?;
    Some(format!(
        "others had them for {} of the time for which this run needed them, so its rate says little",
        format::percent(taken)
    ))
}

/// What a run that was ended early lacks.
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
                "PARTIAL RESULTS: the run was ended early; it was to go on to time {wanted}{series}\n"
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
                "{lps} {}, {committed_events} events committed{how}",
                if lps == 1 { "LP" } else { "LPs" }
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

/// A limit in one line, in which settings are options.
fn advice(limit: &Limit) -> String {
    let option = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("--{}", part.replace('_', "-")) } else { part.to_owned() }
    };
    let text: String = limit.text.split('`').enumerate().map(option).collect();
    format!("{}. {text}", limit.title).replace(['\u{a0}', '\u{202f}'], " ")
}

#[cfg(test)]
mod tests {
    use warpline_record::{EngineStretch, ParallelRecord, ProgressSample, SpeculationSample};

    use super::*;
    use crate::run::speculation::phases;
    use crate::sample;

    fn text(record: &RunRecord) -> String {
        Summary { record, notes: &[], tables: &[], directory: None, report: None, trace: None }
            .text()
    }

    #[test]
    fn a_sequential_run_has_nothing_of_a_parallel_one() {
        let text = text(&sample::sequential(1e6));
        let lines: Vec<_> = text
            .lines()
            .map(|line| line.split("  ").find(|part| !part.is_empty()).unwrap_or_default())
            .collect();
        let head = "clock: a clock, to time 10 s with seed 1";
        assert_eq!(
            lines,
            [
                head,
                "committed events",
                "event rate",
                "wall time",
                "peak memory",
                "digest",
                "results",
                "ticks"
            ]
        );
    }

    #[test]
    fn a_parallel_run_shows_what_it_cost() {
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
        let of_parallel = |record: &RunRecord| {
            text(record)
                .lines()
                .skip(5)
                .take_while(|line| *line != "results")
                .map(str::to_owned)
                .collect()
        };
        let lines: Vec<String> = of_parallel(&record);
        assert_eq!(lines, expected);
        assert!(lines.iter().all(|line| line.chars().count() <= 90));
        for (window, line) in [
            (2.5, Some("  window            2.5 s beyond GVT, at the end")),
            (1e40, None),
            (f64::NAN, None),
        ] {
            let speculation = Some(SpeculationSample { window, ..SpeculationSample::default() });
            let (virtual_time, committed_events, rss_bytes) = (10.0, 1000, None);
            record.progress.push(ProgressSample {
                wall_seconds: 1.0,
                virtual_time,
                committed_events,
                rss_bytes,
                speculation,
            });
            let lines: Vec<String> = of_parallel(&record);
            assert_eq!(lines.iter().find(|line| line.contains("window")).map(String::as_str), line);
        }
        let nothing = ParallelRecord::default();
        assert_eq!(phases(&record, &nothing), None);
    }

    #[test]
    fn a_run_that_chose_its_engines_says_which_and_why() {
        let mut record = sample::sequential(1e6);
        let stretch = |sync: &str, pes, (began_seconds, seconds): (f64, f64), rate| EngineStretch {
            sync: sync.into(),
            pes,
            began_seconds,
            seconds,
            event_rate: rate,
            why: if began_seconds > 0.0 { String::new() } else { "every run begins so".into() },
            ..EngineStretch::default()
        };
        let line = |record: &RunRecord| {
            text(record)
                .lines()
                .find(|line| line.contains("engine"))
                .map(|line| line.trim().to_owned())
        };
        assert_eq!(line(&record), None);
        record.engines = vec![stretch("sequential", 1, (0.0, 2.0), None)];
        assert_eq!(
            line(&record).as_deref(),
            Some("engine            auto: sequential, as every run begins so")
        );
        record.engines.push(stretch("optimistic", 2, (2.0, 6.0), Some(3e6)));
        let expected = "engine            auto: optimistic with 2 PEs, 75.0 % of the time, longest from 2.0 s on";
        assert_eq!(line(&record).as_deref(), Some(expected));
        record.engines[0].event_rate = Some(2e6);
        assert_eq!(line(&record), Some(format!("{expected}; 1.50 times the rate of sequential")));
        record.engines[1].why = "tried; kept, as it is 1.50 times as fast".into();
        assert_eq!(
            line(&record),
            Some(format!("{expected}: tried; kept, as it is 1.50 times as fast"))
        );
        let why = "the optimistic engine had only 0.91 times its rate per core, as others use the cores as well".to_owned();
        record.engines.push(EngineStretch {
            why: why.clone(),
            ..stretch("sequential", 1, (8.0, 20.0), Some(1e6))
        });
        let expected =
            "engine            auto: sequential, 78.6 % of the time, longest from 8.0 s on";
        assert_eq!(line(&record), Some(format!("{expected}: {why}")));
    }

    #[test]
    fn cores_that_others_used_come_before_all_advice() {
        let mut record = RunRecord { loop_seconds: 2.0, ..sample::sequential(1e6) };
        assert!(!text(&record).contains("others had"));
        record.core_share = Some(0.6);
        assert!(
            text(&record)
                .contains("\n  cores             others had them for 40.0 % of the time for which"),
            "{}",
            text(&record)
        );
        let parallel =
            RunRecord { loop_seconds: 2.0, core_share: Some(0.6), ..sample::optimistic(1e6) };
        let text = text(&parallel);
        assert!(
            text.contains("others had them for 40.0 %")
                && text.contains("  Others used the cores as well. For 40 %"),
            "{text}"
        );
        assert_eq!(warpline_report::limits(&parallel).len(), 1, "nothing else can be told from it");
    }

    #[test]
    fn proportions_from_few_samples_are_left_out() {
        let mut record = RunRecord { loop_seconds: 2.0, ..sample::optimistic(1e6) };
        let line = |record: &RunRecord| {
            text(record)
                .lines()
                .find(|line| line.contains("time went to"))
                .map(|line| line.trim().to_owned())
        };
        let all = line(&record);
        record.parallel.as_mut().unwrap().phase_samples = Some(9.0);
        let few = line(&record);
        assert!(
            few.as_ref().is_some_and(|few| few.contains("idle")
                && few.contains("work")
                && !few.contains("event processing")),
            "{few:?}"
        );
        record.parallel.as_mut().unwrap().phase_samples = Some(11.0);
        assert_eq!(line(&record), all);
    }

    #[test]
    fn the_costs_of_parallel_execution_stand_at_the_top_of_the_object() {
        let record = sample::optimistic(1e6);
        let summary = Summary {
            record: &record,
            notes: &[],
            tables: &[],
            directory: None,
            report: None,
            trace: None,
        };
        let json = serde_json::to_value(summary.json(None)).unwrap();
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
        assert_eq!(
            (&json["efficiency"], &json["phase_seconds"]["idle"]),
            (&json!(0.8), &json!(0.5))
        );
        assert!(json.get("parallel").is_none() && json.get("progress").is_none(), "{json}");
        let of_sequential = sample::sequential(1e6).summary();
        assert!(
            numbers
                .iter()
                .chain(&["rollbacks", "phase_seconds", "parallel"])
                .all(|key| !of_sequential.contains_key(*key))
        );
    }

    #[test]
    fn records_are_read_back_with_and_without_a_parallel_part() {
        for record in [sample::sequential(1e6), sample::optimistic(1e6)] {
            let read: RunRecord =
                serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
            assert_eq!(read, record);
        }
    }

    #[test]
    fn a_run_slower_than_one_core_says_so() {
        let mut record = sample::optimistic(1e6);
        let json = |record: &RunRecord| {
            let summary = Summary {
                record,
                notes: &[],
                tables: &[],
                directory: None,
                report: None,
                trace: None,
            };
            serde_json::to_value(summary.json(None)).unwrap()
        };
        assert!(!text(&record).contains("what limits"), "1.1 s of work in a quarter of a second");
        assert_eq!(json(&record)["limits"], json!([]));
        record.loop_seconds = 10.0;
        let all = text(&record);
        let start = "what limits this run, and what to try\n  Probably slower than on one core. One core would probably have taken";
        assert!(all.contains(start) && all.contains("Run it with --sync sequential;"), "{all}");
        assert!(all.lines().all(|line| line.chars().count() <= LINE + 2), "{all}");
        let json = json(&record);
        assert_eq!(json["limits"][0]["title"], "Probably slower than on one core");
        assert!(json["estimated_speedup"].as_f64().unwrap() < 0.2, "{json}");
        assert!(json["limits"][0]["advice"].as_str().unwrap().is_ascii(), "{json}");
    }

    #[test]
    fn advice_names_options_as_they_are_typed() {
        let limit = Limit {
            title: "GVT is found often",
            text: "A larger `gvt_interval`\u{a0}helps.".into(),
            cost: 0.5,
        };
        assert_eq!(advice(&limit), "GVT is found often. A larger --gvt-interval helps.");
    }
}
