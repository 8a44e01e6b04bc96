//! The record of a run.

use serde_json::{Map, Value};
use warpline_base::{RunDigest, StateDigest, VirtualTime};
use warpline_model::Statistics;
use warpline_record::{
    KindRecord, Partial, ProgressSample, ResultTree, RunRecord, SettingNote, Stuck, Told, View,
};

use super::state_digests::state_digest_record;
use super::totals::RunTotals;
use crate::machine::memory_use;
use crate::{Settings, provenance};

/// What was run: a model with its parameters.
pub(super) struct Described {
    pub(super) model: String,
    pub(super) about: String,
    pub(super) parameters: Map<String, Value>,
    pub(super) time_unit: &'static str,
    pub(super) seed: u64,
    /// The planned end, in model time.
    pub(super) end: f64,
}

/// What came of it, beside what adds up over its segments.
pub(super) struct Findings<'r> {
    pub(super) committed: u64,
    pub(super) digest: RunDigest,
    /// Of the final states, if it was wanted.
    pub(super) state_digest: Option<StateDigest>,
    pub(super) statistics: &'r Statistics,
    pub(super) results: ResultTree,
    pub(super) views: Vec<View>,
    pub(super) kinds: Vec<KindRecord>,
    pub(super) progress: Vec<ProgressSample>,
    /// The settings of the engine.
    pub(super) engine: Map<String, Value>,
    /// The files of tables.
    pub(super) tables: Vec<String>,
    /// What followed LPs told.
    pub(super) told: Vec<Told>,
    /// Who still waits for what cannot come any more.
    pub(super) stuck: Option<Stuck>,
}

pub(super) fn run_record(
    described: Described,
    findings: Findings<'_>,
    totals: RunTotals,
) -> RunRecord {
    let Findings { committed, statistics, state_digest, results, engine, .. } = findings;
    let loop_seconds = totals.loop_seconds();
    let planned = described.end;
    let pes = totals.parallel.as_ref().map_or(1, |parallel| parallel.pes.len());
    RunRecord {
        settings: setting_notes(&engine),
        engine,
        model: described.model,
        about: described.about,
        parameters: described.parameters,
        seed: described.seed,
        end_time: totals.cut_short.map_or(planned, VirtualTime::get),
        time_unit: described.time_unit.to_owned(),
        committed_events: committed,
        digest: findings.digest.to_string(),
        state_digest: state_digest.map(|states| state_digest_record(states, statistics)),
        wall_seconds: totals.started.elapsed().as_secs_f64(),
        loop_seconds,
        event_rate: if loop_seconds > 0.0 { committed as f64 / loop_seconds } else { 0.0 },
        core_share: totals.core_share(),
        peak_rss_bytes: memory_use::peak(),
        result_notes: statistics.result_notes(&results.shape()),
        headlines: statistics.headlines(),
        series: statistics.series(),
        provenance: provenance::of(totals.started, pes),
        parallel: totals.parallel,
        kinds: findings.kinds,
        results,
        tables: findings.tables,
        engines: totals.engines,
        progress: findings.progress,
        views: findings.views,
        lost_delays: statistics.lost_delays(),
        ran_out: totals.ran_out,
        stuck: findings.stuck,
        told: findings.told,
        partial: totals.cut_short.map(|_| Partial { wanted_end: planned, wanted_runs: 1 }),
        replications: None,
    }
}

/// What the table of settings says about those in a record.
fn setting_notes(engine: &Map<String, Value>) -> Vec<SettingNote> {
    let recorded = |key: &str| engine.contains_key(key) || ["seed", "end"].contains(&key);
    let notes =
        Settings::table().iter().filter(|setting| recorded(&setting.key())).map(|setting| {
            SettingNote {
                name: setting.key(),
                unit: setting.unit.to_owned(),
                meaning: setting.meaning.clone(),
                hurts: setting.hurts.to_owned(),
            }
        });
    notes.collect()
}
