//! What a run leaves behind: one serialisable record, which the command, the report and other
//! programs read.

pub mod counters;
mod deferred;
mod lost_delays;
mod null;
mod parallel;
mod provenance;
mod replications;
mod results;
mod series;
mod stretches;
mod study;
mod views;

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use self::deferred::Deferred;
pub use self::lost_delays::LostDelays;
pub use self::replications::{Replication, Replications};
pub use self::results::{ResultField, ResultList, ResultTree};
pub use self::series::{Series, SeriesKind};
pub use self::stretches::EngineStretch;
pub use self::study::{Fact, StudyRecord};
pub use self::views::{
    Bar, BarsView, GridView, HistogramView, LinesView, MapLink, MapNode, MapView, TableView, View,
};
use crate::null::number;
pub use crate::parallel::{
    CommunicationRecord, GvtIntervalRecord, MachineRecord, MachineShares, MemoryRecord,
    ParallelRecord, PeCounter, PeRecord, Phases, Rollbacks, SharedRingRecord, Spread,
    ThrottleRecord,
};
pub use crate::provenance::Provenance;

/// The whole outcome of one run.
///
/// [`RunRecord::summary`] is the part that `--json` prints; the rest feeds the report.
///
/// JSON cannot represent numbers that are not finite; they are written as `null`, and read back as
/// NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The model's name, such as `network`.
    pub model: String,
    /// One line on what the model is.
    pub about: String,
    /// Every parameter of the model with the value in force.
    pub parameters: Map<String, Value>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The end of the run in model time; events at this time are not executed.
    #[serde(deserialize_with = "number")]
    pub end_time: f64,
    /// Every engine setting in force.
    pub engine: Map<String, Value>,
    /// Notes on the engine's settings, the seed and the end time.
    #[serde(default)]
    pub settings: Vec<SettingNote>,
    /// The unit of model time, such as `s`; empty where time is a pure number.
    #[serde(default)]
    pub time_unit: String,
    /// Events executed for good.
    pub committed_events: u64,
    /// The history digest: 16 hexadecimal digits, equal for equal histories.
    pub digest: String,
    /// Digests of the final state, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_digest: Option<StateDigestRecord>,
    /// Wall time of the whole run in seconds, start-up included.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// Wall time of the event loop alone in seconds.
    #[serde(deserialize_with = "number")]
    pub loop_seconds: f64,
    /// Committed events per second of the event loop.
    #[serde(deserialize_with = "number")]
    pub event_rate: f64,
    /// The share of their busy time in which the threads of the event loop had a core: less than 1
    /// if other programs used the cores as well. `None` if unknown, for instance with more threads
    /// than cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_share: Option<f64>,
    /// The most memory that the process ever held, in bytes; `None` where the system does not
    /// report it.
    pub peak_rss_bytes: Option<u64>,
    /// The cost and gain of parallel execution; `None` for a sequential run. In JSON its fields are
    /// those of the record itself.
    #[serde(flatten, deserialize_with = "parallel")]
    pub parallel: Option<ParallelRecord>,
    /// What the LPs of each kind did, if the model has kinds, or if some LPs were conservative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindRecord>,
    /// The model's outputs.
    pub results: ResultTree,
    /// What the results mean, by name, where the model says so. `links.load` is the field `load` of
    /// `links`, or of every entry if `links` is a list.
    #[serde(default)]
    pub result_notes: BTreeMap<String, ResultNote>,
    /// The model's statistics over virtual time, by name.
    #[serde(default)]
    pub series: BTreeMap<String, Series>,
    /// Where the run comes from.
    #[serde(default)]
    pub provenance: Provenance,
    /// The files of rows that the run wrote, such as `arrivals.csv`.
    #[serde(default)]
    pub tables: Vec<String>,
    /// The engines that executed the run in turn, if it chose them itself; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<EngineStretch>,
    /// The progress of the run, in equal steps of wall time.
    pub progress: Vec<ProgressSample>,
    /// What the model adds to the report.
    pub views: Vec<View>,
    /// Sends whose delay was lost to rounding. For several runs: those of the first run that has
    /// any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_delays: Option<LostDelays>,
    /// Whether the run ended because no event was left, not even one after the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran_out: bool,
    /// Set if the run was stopped early: its history is that of a run to `end_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// The single runs, if this record is about several; see [`Replications`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replications: Option<Replications>,
}

impl RunRecord {
    /// The record without what only the report needs (notes on settings, progress and views).
    pub fn summary(&self) -> Map<String, Value> {
        let Ok(Value::Object(all)) = serde_json::to_value(self.streamed_summary()) else {
            unreachable!("a record is always an object")
        };
        all
    }

    /// Like [`summary`](Self::summary), for results that may be larger than memory: they are made
    /// while they are written.
    pub fn streamed_summary(&self) -> RecordSummary<'_> {
        let rest = RunRecord {
            settings: Vec::new(),
            progress: Vec::new(),
            views: Vec::new(),
            results: ResultTree::default(),
            replications: None,
            ..self.clone()
        };
        let Ok(Value::Object(mut fields)) = serde_json::to_value(rest) else {
            unreachable!("a record is always an object")
        };
        ["settings", "progress", "views", "results"]
            .iter()
            .for_each(|name| _ = fields.remove(*name));
        RecordSummary { fields, results: &self.results, replications: self.replications.as_ref() }
    }
}

/// Digests of a run's final state, 16 hexadecimal digits each. Runs with the same answer have equal
/// digests, whatever their engines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateDigestRecord {
    /// The digest of the `Debug` text of all final states. The text of equal states may differ
    /// between runs in the order of hash maps and in addresses.
    pub text: String,
    /// The digest of the same text without addresses and without the order of entries within
    /// braces.
    pub content: String,
    /// The digest of all statistics, as JSON, with their series.
    pub statistics: String,
}

/// A [summary](RunRecord::streamed_summary) of a record.
#[derive(Clone, Debug, Serialize)]
pub struct RecordSummary<'a> {
    /// All fields but the results. More may be added.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    results: &'a ResultTree,
    #[serde(skip_serializing_if = "Option::is_none")]
    replications: Option<&'a Replications>,
}

/// What the conservative LPs of one kind did, or the others of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindRecord {
    /// The name of the kind; empty if the model gives none.
    pub kind: String,
    /// Whether these LPs executed only events that were certain to happen.
    pub conservative: bool,
    /// How many LPs there are.
    pub lps: u32,
    /// Events executed for good.
    pub committed_events: u64,
    /// Events undone.
    pub rolled_back_events: u64,
    /// Events set aside until they were certain, while other LPs went ahead.
    pub set_aside_events: u64,
}

/// What was requested of a run that was stopped early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partial {
    /// The requested end, in model time.
    #[serde(deserialize_with = "number")]
    pub wanted_end: f64,
    /// The requested number of replications; 1 for a single run.
    pub wanted_runs: u32,
}

/// The meaning of a setting, whatever its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettingNote {
    /// Its name in [`RunRecord::engine`], or `seed` or `end`, which are fields of the record.
    pub name: String,
    /// The unit of its value; empty for a pure number or a word.
    pub unit: String,
    /// What it does, in one sentence without a full stop.
    pub meaning: String,
    /// When it does harm, in one sentence without a full stop.
    pub hurts: String,
}

/// The meaning of a result, whatever its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultNote {
    /// The unit of its value; empty for a pure number or a word.
    pub unit: String,
    /// What it means, in a few words without a full stop.
    pub meaning: String,
    /// Whether it is a name, such as the number of a node, rather than a quantity.
    pub label: bool,
}

/// The state of a run at one moment of wall time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressSample {
    /// Seconds since the event loop began.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// How far the run had come, in model time.
    #[serde(deserialize_with = "number")]
    pub virtual_time: f64,
    /// Events committed so far.
    pub committed_events: u64,
    /// Resident memory of the process, in bytes; `None` where the system does not report it.
    pub rss_bytes: Option<u64>,
    /// The state of speculation; `None` for a sequential run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculationSample>,
}

/// The state of optimistic execution at one moment of wall time. Fields that are missing on
/// reading, as in older records, have their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpeculationSample {
    /// Events executed so far, including those undone again.
    pub processed_events: u64,
    /// Events undone so far.
    pub rolled_back_events: u64,
    /// How far beyond GVT events may be executed, in model time.
    #[serde(deserialize_with = "number")]
    pub window: f64,
    /// GVT computations so far.
    pub gvt_epochs: u64,
    /// GVT computations that found PEs undoing far more events than they commit, and so kept the
    /// window narrow.
    pub throttled_epochs: u64,
    /// How often all PEs of a process were moved to one thread, because they computed GVT every few
    /// events.
    pub gathered: u64,
    /// The mean number of messages found in a mailbox that is not empty, for the PE where it is
    /// greatest.
    #[serde(deserialize_with = "number")]
    pub mailbox_depth: f64,
}

/// Reads the fields of a parallel run, which is recognised by `processed_events`. Fields that an
/// older record lacks get their defaults.
fn parallel<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ParallelRecord>, D::Error> {
    let rest = Map::deserialize(from)?;
    let found =
        rest.contains_key("processed_events").then(|| serde_json::from_value(Value::Object(rest)));
    found.transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A record with these fields beside those of a sequential run.
    fn record(more: Value) -> Result<RunRecord, String> {
        let mut all = json!({
            "model": "m", "about": "", "parameters": {}, "seed": 1, "end_time": 10.0, "engine": {}, "committed_events": 4, "digest": "0",
            "wall_seconds": 1.0, "loop_seconds": 1.0, "event_rate": 4.0, "peak_rss_bytes": 9, "results": {}, "progress": [], "views": [],
        });
        let (Value::Object(fields), Value::Object(more)) = (&mut all, more) else {
            panic!("objects")
        };
        fields.extend(more);
        serde_json::from_str(&all.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_summary_lacks_what_only_the_report_needs() {
        let record =
            record(json!({ "processed_events": 6, "certain_events": 2, "ahead_events": 4 }))
                .unwrap();
        let summary = record.summary();
        let Value::Object(mut all) = serde_json::to_value(&record).unwrap() else {
            panic!("an object")
        };
        assert!(["settings", "progress", "views"].iter().all(|name| all.remove(*name).is_some()));
        assert_eq!(summary, all);
        assert_eq!(
            (&summary["committed_events"], &summary["processed_events"]),
            (&4.into(), &6.into())
        );
        assert_eq!((&summary["certain_events"], &summary["ahead_events"]), (&2.into(), &4.into()));
    }

    /// Older records have neither notes nor provenance.
    #[test]
    fn notes_and_provenance_are_kept_and_may_be_missing() {
        let older = record(json!({})).unwrap();
        assert_eq!((older.result_notes.len(), &older.provenance), (0, &Provenance::default()));
        let provenance = json!({ "command_line": ["warpline", "run"], "cores": 4, "commit": null, "unheard_of": 1 });
        let newer = record(
            json!({ "result_notes": { "stay": { "unit": "h" } }, "provenance": provenance }),
        )
        .unwrap();
        assert_eq!(
            (newer.result_notes["stay"].unit.as_str(), newer.result_notes["stay"].meaning.as_str()),
            ("h", "")
        );
        assert_eq!(
            (&newer.provenance.command_line[1], newer.provenance.cores, newer.provenance.pes),
            (&"run".to_owned(), Some(4), 0)
        );
        assert_eq!(
            serde_json::from_str::<RunRecord>(&serde_json::to_string(&newer).unwrap()).unwrap(),
            newer
        );
        assert!(
            ["result_notes", "provenance"].iter().all(|name| newer.summary().contains_key(*name))
        );
    }

    #[test]
    fn a_sequential_record_has_no_parallel_part() {
        for more in [json!({}), json!({ "gvt_epochs": 3, "unheard_of": [1] })] {
            let record = record(more).unwrap();
            assert_eq!(record.parallel, None);
            assert_eq!(
                serde_json::from_str::<RunRecord>(&serde_json::to_string(&record).unwrap())
                    .unwrap(),
                record
            );
        }
    }

    #[test]
    fn a_parallel_record_reads_back_as_it_was() {
        let pe = PeRecord {
            first_lp: 1,
            lps: 2,
            mailbox_depth_mean: 0.5,
            phase_seconds: Phases { idle: 0.1, ..Phases::default() },
            ..PeRecord::default()
        };
        let rollbacks =
            Rollbacks { primary: 3, mean_per_pe: 1.5, lengths: vec![2, 1], ..Rollbacks::default() };
        let part = ParallelRecord {
            processed_events: 6,
            certain_events: 1,
            ahead_events: 5,
            efficiency: 2.0 / 3.0,
            rollbacks,
            pes: vec![pe.clone(), pe],
            ..ParallelRecord::default()
        };
        let settings = vec![SettingNote {
            name: "batch".into(),
            unit: "events".into(),
            ..SettingNote::default()
        }];
        let record = RunRecord { parallel: Some(part), settings, ..record(json!({})).unwrap() };
        assert_eq!(
            serde_json::from_str::<RunRecord>(&serde_json::to_string(&record).unwrap()).unwrap(),
            record
        );
    }

    #[test]
    fn missing_and_null_fields_leave_the_others_intact() {
        let more = json!({
            "processed_events": 6, "efficiency": null, "unheard_of": true, "rollbacks": { "primary": 3, "mean_per_pe": null },
            "phase_seconds": { "idle": null, "send": 0.5 }, "pes": [{ "lps": 7, "mailbox_depth_mean": null, "phase_seconds": {} }, {}],
        });
        let part = record(more).unwrap().parallel.unwrap();
        assert_eq!((part.processed_events, part.gvt_epochs, part.rollbacks.primary), (6, 0, 3));
        assert_eq!((part.certain_events, part.ahead_events), (0, 0));
        assert!(
            part.efficiency.is_nan()
                && part.rollbacks.mean_per_pe.is_nan()
                && part.phase_seconds.idle.is_nan()
        );
        assert_eq!(
            (part.phase_seconds.send, part.pes[0].lps, &part.pes[1]),
            (0.5, 7, &PeRecord::default())
        );
        assert!(part.pes[0].mailbox_depth_mean.is_nan());
        assert_eq!(
            record(json!({ "processed_events": 0 })).unwrap().parallel,
            Some(ParallelRecord::default())
        );
    }

    #[test]
    fn views_keep_null_numbers() {
        let views = json!([
            { "view": "histogram", "title": "t", "quantity": "delay", "unit": "s", "counted": "links",
                "bars": [{ "low": null, "high": 2.0, "count": 3 }], "marks": [["p50", 1.5], ["p99", null]] },
            { "view": "lines", "title": "t", "x": "time", "y": "share", "lines": [["one", [[1.0, null], [2.0, 3.0]]]] },
        ]);
        let record = record(json!({ "views": views })).unwrap();
        assert_eq!(serde_json::to_value(&record.views).unwrap(), views);
    }

    #[test]
    fn a_sample_of_speculation_may_lack_any_field() {
        let sample = |speculation: Value| {
            let sample = json!({ "wall_seconds": 1.0, "virtual_time": 2.0, "committed_events": 3, "speculation": speculation });
            record(json!({ "progress": [sample] })).unwrap().progress[0].speculation
        };
        let some = json!({ "processed_events": 7, "window": null, "unheard_of": 1 });
        let read = sample(some).unwrap();
        assert_eq!((read.processed_events, read.gvt_epochs, read.mailbox_depth), (7, 0, 0.0));
        assert!(read.window.is_nan());
        assert_eq!(
            (sample(json!({})), sample(json!(null))),
            (Some(SpeculationSample::default()), None)
        );
    }

    #[test]
    fn an_invalid_parallel_part_is_an_error() {
        let error = record(json!({ "processed_events": "many" })).unwrap_err();
        assert!(error.contains("many"), "{error}");
    }
}
