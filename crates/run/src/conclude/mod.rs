//! What follows a run: its results and its record, whichever engine ran it.

pub(crate) mod finish;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use warpline_base::{RunDigest, StateDigest, VirtualTime};
use warpline_memory::{Allocator, DropEach, release_reserve};
use warpline_model::{Fault, List, Model, Outcome, Results, Statistics};
use warpline_record::{
    EngineStretch, KindRecord, ParallelRecord, Partial, ProgressSample, ResultList, ResultTree,
    RunRecord, SettingNote, StateDigestRecord, View,
};

use crate::job::Job;
use crate::machine::memory_use;
use crate::outcome::error::{Failure, panic_message};
use crate::outcome::rows::Rows;
use crate::{Error, Place, Run, Settings, provenance};

/// What an engine leaves of a run that reached its end.
pub(crate) struct EngineOutcome<M: Model> {
    pub(crate) committed: u64,
    pub(crate) digest: RunDigest,
    /// Of the final states, if it was wanted.
    pub(crate) state_digest: Option<StateDigest>,
    pub(crate) states: DropEach<M::State>,
    pub(crate) statistics: Statistics,
    pub(crate) rows: Rows,
    pub(crate) progress: Vec<ProgressSample>,
    pub(crate) loop_seconds: f64,
    /// Of the time for which its threads had something to do, the share for which they had a core,
    /// if that is known.
    pub(crate) core_share: Option<f64>,
    pub(crate) engine: Map<String, Value>,
    pub(crate) parallel: Option<ParallelRecord>,
    pub(crate) kinds: Vec<KindRecord>,
    /// The engines of a run that chose them itself.
    pub(crate) engines: Vec<EngineStretch>,
    /// Whether nothing was left to do, at the end and beyond it.
    pub(crate) ran_out: bool,
    /// Where it ended, if it was ended early.
    pub(crate) cut_short: Option<VirtualTime>,
}

impl<M: Model> Job<M> {
    /// Makes results and the record from what an engine left.
    pub(crate) fn conclude(
        self,
        started: Instant,
        outcome: EngineOutcome<M>,
    ) -> Result<Run<M>, Error> {
        let EngineOutcome {
            committed,
            digest,
            state_digest,
            mut states,
            statistics,
            rows,
            progress,
            loop_seconds,
            core_share,
            engine,
            parallel,
            kinds,
            engines,
            ran_out,
            cut_short,
        } = outcome;
        Allocator::check().map_err(|why| Error::Memory { place: None, why })?;
        release_reserve();
        let (tables, files, incomplete) = rows.finish();
        let end_time = cut_short.map_or(self.end_time(), VirtualTime::get);
        statistics.overflow().map_or(Ok(()), |fault| Err(self.results_fault(fault, committed)))?;
        let statistics = Arc::new(statistics);
        let (results, views) = self.outputs(&statistics, end_time, committed)?;
        let seed = self.settings.seed();
        let partial = cut_short.map(|_| Partial { wanted_end: self.end_time(), wanted_runs: 1 });
        let record = RunRecord {
            settings: setting_notes(&engine),
            engine,
            model: self.name,
            about: self.about,
            parameters: self.parameters,
            seed,
            end_time,
            time_unit: self.time_unit.to_owned(),
            committed_events: committed,
            digest: digest.to_string(),
            state_digest: state_digest.map(|states| state_digest_record(states, &statistics)),
            wall_seconds: started.elapsed().as_secs_f64(),
            loop_seconds,
            event_rate: if loop_seconds > 0.0 { committed as f64 / loop_seconds } else { 0.0 },
            core_share,
            peak_rss_bytes: memory_use::peak(),
            result_notes: statistics.result_notes(&results.shape()),
            series: statistics.series(),
            provenance: provenance::of(
                started,
                parallel.as_ref().map_or(1, |parallel| parallel.pes.len()),
            ),
            parallel,
            kinds,
            results,
            tables: files,
            engines,
            progress,
            views,
            lost_delays: statistics.lost_delays(),
            ran_out,
            partial,
            replications: None,
        };
        Ok(Run { record, statistics, states: states.take(), tables, incomplete, trace: None })
    }

    fn outputs(
        &self,
        statistics: &Arc<Statistics>,
        end: f64,
        committed: u64,
    ) -> Result<(ResultTree, Vec<View>), Error> {
        let warmup = self.settings.warmup().min(end);
        let outcome = Outcome { statistics, end, warmup };
        let outputs = || (self.model.results(&outcome).into_parts(), self.model.views(&outcome));
        let outputs = catch_unwind(AssertUnwindSafe(outputs));
        let ((short, lists), views) = outputs
            .map_err(|panic| self.results_fault(Fault::Panic(panic_message(panic)), committed))?;
        let list = |(name, list): (String, List<M>)| {
            let (model, statistics, len) = (self.model.clone(), statistics.clone(), list.entries());
            let entry = move |number| {
                let entry = || {
                    list.entry(&model, &Outcome { statistics: &statistics, end, warmup }, number)
                };
                // Whoever writes the results is no part of the run, which has ended well.
                catch_unwind(AssertUnwindSafe(entry))
                    .unwrap_or_else(|panic| json!({ "panic": panic_message(panic) }))
            };
            (name, ResultList::new(len, entry))
        };
        Ok((ResultTree::new(short, lists.into_iter().map(list).collect::<BTreeMap<_, _>>()), views))
    }

    /// A fault of the run as a whole.
    pub(crate) fn results_fault(&self, fault: Fault, committed: u64) -> Error {
        Error::Fault(Box::new(Failure {
            model: self.name.clone(),
            place: Place::Results,
            time: self.end_time(),
            fault,
            committed,
        }))
    }
}

/// Digests of states and statistics, for the record. Statistics include those that the model's
/// results leave out.
pub(crate) fn state_digest_record(
    states: StateDigest,
    statistics: &Statistics,
) -> StateDigestRecord {
    let statistics = StateDigest::of(&StatisticsText(statistics));
    StateDigestRecord {
        text: states.text(),
        content: states.content(),
        statistics: statistics.text(),
    }
}

/// All statistics and series as text, written piece by piece: as one value in memory they may take
/// more than the run.
struct StatisticsText<'a>(&'a Statistics);

impl fmt::Display for StatisticsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (short, lists) = Results::<()>::of(self.0).into_parts();
        let outcome = Outcome { statistics: self.0, end: 0.0, warmup: 0.0 };
        writeln!(f, "{short} {}", json!(self.0.series()))?;
        lists.iter().try_for_each(|(name, list)| {
            write!(f, "{name}:")?;
            (0..list.entries())
                .try_for_each(|number| writeln!(f, "{}", list.entry(&(), &outcome, number)))
        })
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
