//! The record of one run. It is plain data: whoever makes it fills its fields, and whoever reads it
//! reads them.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::null::number;
use crate::{
    EngineStretch, LostDelays, ParallelRecord, ProgressSample, Provenance, Replications,
    ResultTree, Series, Stuck, Told, View,
};

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
    /// The results with which a report leads, the first first: a name, as in the notes, or a name
    /// and one of its figures, such as `delay.p99`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headlines: Vec<String>,
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
    /// What followed LPs told, in the order of their events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
    /// Sends whose delay was lost to rounding. For several runs: those of the first run that has
    /// any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_delays: Option<LostDelays>,
    /// Whether the run ended because no event was left, not even one after the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran_out: bool,
    /// Who still waited when it ran out of events; `None` if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// Set if the run was stopped early: its history is that of a run to `end_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// The single runs, if this record is about several; see [`Replications`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replications: Option<Replications>,
}

impl RunRecord {
    /// The record without what only the report needs (notes on settings, progress, views, what
    /// was told, and time lines of a modelled machine).
    pub fn summary(&self) -> Map<String, Value> {
        let Ok(Value::Object(all)) = serde_json::to_value(self.streamed_summary()) else {
            unreachable!("a record is always an object")
        };
        all
    }

    /// Like [`summary`](Self::summary), for results that may be larger than memory: they are made
    /// while they are written.
    pub fn streamed_summary(&self) -> RecordSummary<'_> {
        let mut rest = RunRecord {
            settings: Vec::new(),
            progress: Vec::new(),
            views: Vec::new(),
            told: Vec::new(),
            results: ResultTree::default(),
            replications: None,
            ..self.clone()
        };
        if let Some(machine) = rest.parallel.as_mut().and_then(|all| all.machine.as_mut()) {
            machine.time_lines = None;
        }
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

/// Reads the fields of a parallel run, which is recognised by `processed_events`. Fields that an
/// older record lacks get their defaults.
fn parallel<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ParallelRecord>, D::Error> {
    let rest = Map::deserialize(from)?;
    let found =
        rest.contains_key("processed_events").then(|| serde_json::from_value(Value::Object(rest)));
    found.transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests;
