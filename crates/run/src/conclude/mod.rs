//! What follows a run, whichever engine ran it: LPs finish, and results and record are made.

pub(crate) mod finish;
mod gather;
mod record;
pub(crate) mod state_digests;
pub(crate) mod totals;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use warpline_base::VirtualTime;
use warpline_memory::{Allocator, catch_exhausted, release_reserve};
use warpline_model::{Fault, List, Model, Outcome, Statistics};
use warpline_record::{ProgressSample, ResultList, ResultTree, View};

use self::gather::{LastLps, Left};
use self::record::{Described, Findings, run_record};
use self::totals::RunTotals;
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::outcome::error::{Failure, catch_message};
use crate::outcome::rows::FinishedRows;
use crate::parallel::processes::Processes;
use crate::plan::RunPlan;
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::RunState;
use crate::{Error, Place, Run, TraceSummary};

impl<M: Model> Job<M> {
    /// Has the LPs finish, and makes results and record. The last segment has left `state`.
    pub(crate) fn conclude(
        self,
        run: &RunPlan,
        spec: RunSpec,
        state: RunState<M>,
        mut processes: Option<Processes>,
        monitor: RunMonitor<'_>,
        mut totals: RunTotals,
    ) -> Result<Run<M>, Error> {
        let RunState { first_lp, lps, pending, committed, mut statistics, mut rows, .. } = state;
        drop(pending);
        totals.cut_short.iter().for_each(|end| statistics.cut_short(end.get()));
        let end = totals.cut_short.unwrap_or(spec.end);
        let lps = LastLps { first: first_lp, blocks: lps, end, committed };
        let (mut states, left) = self.finish_everywhere(
            &spec,
            lps,
            statistics,
            &mut rows,
            processes.as_mut(),
            monitor.control,
        )?;
        if let Some(processes) = &mut processes {
            processes.end(self.stop.is_on());
        }
        let end_time = totals.cut_short.map_or(self.end_time(), VirtualTime::get);
        let progress = progress(monitor, &totals, end_time, committed);
        let Left { digest, state_digest, mut tally, statistics, stuck } = left;
        totals.by_role.iter().for_each(|counts| tally.add_counts(counts));
        let kinds = tally.records();
        let sequential = || run.sequential_record(&self.settings, &spec);
        let engine = engine_settings(&mut totals, sequential);
        let (trace, untraced) = trace(totals.traced.take());
        Allocator::check().map_err(|why| Error::Memory { place: None, why })?;
        release_reserve();
        let FinishedRows { tables, files, told, incomplete } = rows.finish();
        statistics.overflow().map_or(Ok(()), |fault| Err(self.results_fault(fault, committed)))?;
        let statistics = Arc::new(statistics);
        let (results, views) = self.outputs(&statistics, end_time, committed)?;
        let findings = Findings {
            committed,
            digest,
            state_digest,
            statistics: &statistics,
            results,
            views,
            kinds,
            progress,
            engine,
            tables: files,
            told,
            stuck: Some(stuck).filter(|stuck| totals.ran_out && stuck.waits > 0),
        };
        let record = run_record(self.described(), findings, totals);
        let incomplete = incomplete.or(untraced);
        Ok(Run { record, statistics, states: states.take(), tables, incomplete, trace })
    }

    fn described(self) -> Described {
        Described {
            seed: self.settings.seed(),
            end: self.end_time(),
            model: self.name,
            about: self.about,
            parameters: self.parameters,
            time_unit: self.time_unit,
        }
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
        let ((short, lists), views) = catch_message(outputs)
            .map_err(|message| self.results_fault(Fault::Panic(message), committed))?;
        let list = |(name, list): (String, List<M>)| {
            let model = self.model.clone();
            let statistics = statistics.clone();
            let len = list.entries();
            let entry = move |number| {
                let entry = || {
                    list.entry(&model, &Outcome { statistics: &statistics, end, warmup }, number)
                };
                // Results are written after the run, which has ended well.
                catch_exhausted(|| catch_message(entry))
                    .unwrap_or_else(|why| Err(why.to_string()))
                    .unwrap_or_else(|message| json!({ "panic": message }))
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

/// The settings of the last parallel engine, or of the sequential one of a run that has had no
/// other.
fn engine_settings(
    totals: &mut RunTotals,
    sequential: impl FnOnce() -> Map<String, Value>,
) -> Map<String, Value> {
    let mut engine = totals.engine.take().unwrap_or_else(sequential);
    if totals.parallel.is_some() {
        engine.insert("moved_pes".into(), totals.moved.into());
    }
    engine
}

/// The samples of a run that has reached this time.
fn progress(
    monitor: RunMonitor<'_>,
    totals: &RunTotals,
    reached: f64,
    committed: u64,
) -> Vec<ProgressSample> {
    let (log, speculation) = monitor.into_log();
    let speculation = totals.parallel.is_some().then_some(speculation);
    log.finish(totals.ended, reached, committed, speculation)
}

/// The trace, or why there is none though there was to be one.
fn trace(traced: Option<Result<TraceSummary, Error>>) -> (Option<TraceSummary>, Option<Error>) {
    match traced {
        None => (None, None),
        Some(Ok(trace)) => (Some(trace), None),
        Some(Err(why)) => (None, Some(why)),
    }
}
