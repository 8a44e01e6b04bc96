//! What the PEs of a segment leave, put together: of all processes in the first one.

use serde_json::{Map, Value};
use warpline_base::{Moment, TieBreak, VirtualTime};
use warpline_kernel::{CommittedFault, Parts, balance};
use warpline_model::{Model, Statistics};
use warpline_record::{CommunicationRecord, quantiles};

use super::driven::{Driven, Ended, LoopOutcome};
use super::far::add_counts;
use super::out_of_memory::OutOfMemory;
use super::processes::control_messages::Remains;
use super::processes::{Processes, lost};
use super::record::{self, PeSummary};
use super::trace::{TraceFile, TraceHeader};
use crate::job::Job;
use crate::outcome::error::Failure;
use crate::state::run_state::{ParallelSegment, RunState, SegmentEnd, SegmentSummary};
use crate::{Error, Place, TraceSummary};

/// What is known of a segment beside what its PEs leave.
pub(super) struct SegmentFacts {
    /// Whether its PEs have initialised the LPs.
    pub(super) is_new: bool,
    /// Its planned end.
    pub(super) end: VirtualTime,
    /// What earlier segments have observed, and how many events have committed in them.
    pub(super) statistics: Statistics,
    pub(super) committed: u64,
    /// The engine's settings, for the record.
    pub(super) engine: Map<String, Value>,
    /// Who communicates, if there are far PEs.
    pub(super) communication: Option<CommunicationRecord>,
    /// Its trace, if there was to be one.
    pub(super) traced: Option<Result<TraceSummary, Error>>,
}

impl<M: Model> Job<M> {
    /// Collects what PEs leave: in the first process that of all processes, whose last rows it
    /// passes on.
    ///
    /// # Errors
    /// If a process is gone. If the run has failed, a process other than the first has done its
    /// share.
    pub(super) fn gather_remains(
        &self,
        outcome: &mut LoopOutcome<M>,
        processes: Option<&mut Processes>,
    ) -> Result<Remains, Error> {
        let failed = outcome
            .parts
            .iter_mut()
            .filter_map(|pe| pe.failure.take())
            .find(|failed| failed.moment == outcome.ended.failure);
        let mut all = Remains {
            are_all: true,
            pes: outcome
                .parts
                .iter()
                .map(|pe| PeSummary::of(pe, outcome.driven.oversubscribed))
                .collect(),
            committed: outcome.ended.committed,
            failed,
            couriers: outcome.driven.couriers,
        };
        let Some(processes) = processes else { return Ok(all) };
        all.are_all = processes.group.is_first();
        let gathered = processes.gather(&all).and_then(|others| {
            if outcome.driven.full.is_none() {
                processes.pass_on_last(
                    outcome.merge.take_last(&outcome.ended.failure),
                    &mut outcome.rows,
                )?;
            }
            Ok(others)
        });
        let others = gathered.map_err(|why| lost(&mut processes.group, why))?;
        if outcome.ended.failure != Moment::Never || outcome.driven.full.is_some() {
            // Only the first goes on, and has no results. Payloads may lie in memory of another
            // process, so they are dropped before this one takes leave.
            outcome.parts.clear();
            outcome.pending.clear();
            if !processes.group.is_first() {
                return Err(processes.leave(self.stop.is_on()));
            }
            processes.group.take_leave();
        }
        others.into_iter().for_each(|other| all.add(other));
        Ok(all)
    }

    /// Writes what the PEs did, even if the run failed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write_trace(
        &self,
        file: TraceFile,
        outcome: &mut LoopOutcome<M>,
        ties: TieBreak,
    ) -> Result<TraceSummary, Error> {
        let header = TraceHeader {
            model: &self.name,
            end: self.end_time(),
            time_unit: self.time_unit,
            ties,
            failure: outcome.ended.failure,
        };
        let mut traces: Vec<_> =
            outcome.parts.iter_mut().filter_map(|pe| pe.trace.as_deref_mut()).collect();
        file.write(&mut traces, &header)
    }

    /// Merges what the PEs have left into the run so far.
    ///
    /// # Errors
    /// If the run has failed or run out of memory.
    pub(super) fn end_segment(
        &self,
        outcome: LoopOutcome<M>,
        remains: Remains,
        facts: SegmentFacts,
    ) -> Result<SegmentEnd<M>, Error> {
        let LoopOutcome { parts, pending, mut rows, mut merge, driven, ended } = outcome;
        let Driven { full, cut_short, moved, busy, machine, .. } = driven;
        let Ended { failure, looped, at: ended, goes_on, .. } = ended;
        let committed = facts.committed + remains.committed;
        if let Some(OutOfMemory { place, why }) = full {
            return Err(Error::Memory { place, why });
        }
        // If there are several processes, they have passed them on together.
        merge.take_last(&failure).for_each(|row| rows.add(row));
        if failure != Moment::Never {
            let _ = rows.finish();
            let failed = remains.failed.expect("a PE that failed says where");
            let model = self.name.clone();
            return Err(Error::Fault(Box::new(failed_event(model, failed, failure, committed))));
        }
        let SegmentFacts { is_new, end, mut statistics, engine, communication, traced, .. } = facts;
        let left = remains.pes.iter().map(|pe| pe.pending).sum();
        let mut parallel = parallel_segment(remains, communication, engine, traced, moved);
        parallel.record.machine = machine.map(|mut machine| {
            let buffers = parallel.record.pes.iter().map(|pe| pe.buffers as f64);
            machine.distribution.buffers = quantiles(buffers.collect());
            machine
        });
        parts.iter().for_each(|pe| statistics.merge(&pe.statistics));
        let costs = if goes_on { event_costs(&parts, &busy) } else { Vec::new() };
        let first_lp = parts.first().map_or(0, |pe| pe.first_lp);
        let lps = parts.into_iter().map(|pe| pe.lps).collect();
        let state = RunState {
            first_lp,
            from: cut_short.unwrap_or(end),
            lps,
            pending,
            committed,
            statistics,
            rows,
            costs,
        };
        let summary = SegmentSummary {
            cut_short,
            goes_on,
            looped: is_new.then_some(looped),
            ended,
            left,
            work: record::work(&parallel.record),
            parallel: Some(parallel),
        };
        Ok(SegmentEnd { state, summary })
    }
}

/// Balances the books of all PEs, and makes their part of the record.
fn parallel_segment(
    remains: Remains,
    communication: Option<CommunicationRecord>,
    engine: Map<String, Value>,
    traced: Option<Result<TraceSummary, Error>>,
    moved: u64,
) -> ParallelSegment {
    let Remains { are_all, pes, couriers, .. } = remains;
    if are_all {
        balance(pes.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
    }
    let mut record = record::of(&pes);
    record.communication = communication.zip(couriers).map(|(mut all, (number, counts))| {
        add_counts(&mut all, number, &counts);
        all
    });
    let by_role = pes.into_iter().map(|pe| pe.by_role).collect();
    ParallelSegment { record, engine, traced, by_role, moved }
}

/// The error of a run that fails at this moment.
fn failed_event(model: String, failed: CommittedFault, moment: Moment, committed: u64) -> Failure {
    let lp = failed.lp;
    let time = failed.time.get();
    let place = match (failed.event, moment) {
        (Some(event), _) => Place::event(lp, time, event),
        (None, Moment::Finish(_)) => Place::Finish(lp),
        (None, _) => Place::Init(lp),
    };
    Failure { model, place, time, fault: failed.fault, committed }
}

/// By LP: the nanoseconds that an event cost its PE; nothing if that was not measured. `busy` is
/// how long each PE was at work.
fn event_costs<M: Model>(parts: &[Parts<M>], busy: &[u64]) -> Vec<f32> {
    let costs: Vec<f32> = parts
        .iter()
        .zip(busy)
        .map(|(pe, busy)| *busy as f32 / pe.counts.processed.max(1) as f32)
        .collect();
    // A PE that was hardly measured counts as the cheapest.
    let Some(least) = costs.iter().copied().filter(|cost| *cost > 0.0).reduce(f32::min) else {
        return Vec::new();
    };
    parts
        .iter()
        .zip(costs)
        .flat_map(|(pe, cost)| std::iter::repeat_n(cost.max(least), pe.lps.len()))
        .collect()
}
