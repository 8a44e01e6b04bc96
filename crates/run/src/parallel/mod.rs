//! The parallel engines, optimistic and conservative: their PEs, the threads that step them, and
//! the run that all of them add up to.
//!
//! *Code for each model.* An engine is compiled for every model, and most of the time of a build
//! goes there. So a parallel run has two kinds of PE: one for threads with rings and the ladder,
//! which counts for speed, and one whose pending set and wires are chosen at run time
//! (`AnyPending`, `AnyPort`), for all the rest. What steps them is compiled once, for all models
//! ([`any_pe`]).

mod acts;
mod all_pes;
mod any_couriers;
mod any_pe;
mod cluster;
mod common;
mod driven;
mod ending;
mod far;
mod merge;
mod monitor;
mod out_of_memory;
pub(crate) mod processes;
mod record;
mod room;
mod status;
mod threads;
mod trace;

use std::time::Instant;

use serde_json::{Map, Value};
use warpline_base::{Moment, TieBreak, VirtualTime};
use warpline_kernel::pending::{AnyPending, Heap, Ladder};
use warpline_kernel::{CommittedFault, Parts, Pe, PeTypes, Task, balance};
use warpline_memory::Region;
use warpline_model::{Declarations, Model, Statistics};
use warpline_record::CommunicationRecord;
use warpline_transport::{
    AnyPort, Codec, VirtualCluster, cas_ports, inbox_ports, node_ports, ring_ports,
};

use self::all_pes::AllPes;
use self::common::{Common, Start};
use self::driven::{Driven, Ended, LoopOutcome};
use self::far::work::{CommunicationWork, barrier_of_rank, pacer};
use self::far::{FarWires, add_counts};
use self::merge::RowMerge;
use self::monitor::LoopMonitor;
use self::out_of_memory::OutOfMemory;
use self::processes::control_messages::Remains;
use self::processes::{Processes, lost};
use self::record::PeSummary;
pub(crate) use self::record::add as add_record;
use self::threads::ThreadLayout;
use self::trace::{TraceFile, TraceHeader};
use crate::job::check::RunSpec;
use crate::job::{ForTests, Job};
use crate::outcome::error::Failure;
use crate::plan::{ParallelPlan, TracePlan};
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::{ParallelSegment, RunState, SegmentEnd};
use crate::{Error, Mailbox, Pending, Place, TraceSummary};

/// An empty pending set of this kind.
fn any(pending: Pending) -> AnyPending {
    match pending {
        Pending::Ladder => AnyPending::Ladder(Ladder::default()),
        Pending::Heap => AnyPending::Heap(Heap::default()),
    }
}

impl<M: Model> Job<M> {
    /// Runs a segment of a run in parallel: to the end, or until it is ended early or is to go on
    /// with another engine.
    pub(crate) fn run_in_parallel(
        &self,
        spec: &RunSpec,
        plan: &ParallelPlan,
        mut state: RunState<M>,
        monitor: &mut RunMonitor<'_>,
        mut processes: Option<&mut Processes>,
    ) -> Result<SegmentEnd<M>, Error> {
        let (end, ties, looped) = (spec.end, spec.ties, Instant::now());
        let file = plan.trace.as_ref().map(|trace| TraceFile::create(&trace.path)).transpose()?;
        let limits_of =
            |trace: &TracePlan| trace::limits(looped, plan.pes, spec.limits.lps, trace.bytes);
        let trace = plan.trace.as_ref().map(limits_of);
        let is_new = state.is_new();
        if is_new {
            monitor.begin_loop(looped);
        }
        // Nothing is observed here by the PEs of other processes.
        let local = plan.pes_of(processes.as_ref().map_or(0, |processes| processes.group.number()));
        let nothing = || Statistics::new(Declarations::default(), 0.0, self.end_time());
        let of_pe =
            |pe| if is_new && !local.contains(&pe) { nothing() } else { self.statistics(spec) };
        let mut statistics: Vec<Statistics> = (0..plan.pes as usize).map(of_pe).collect();
        state.statistics.share_open_levels(&mut statistics, |lp| plan.partition.pe(lp) as usize);
        let shares = if is_new { Vec::new() } else { state.take_shares(&plan.partition) };
        let roles = spec.kinds.roles.clone();
        let wires = FarWires::of(processes.as_deref_mut(), plan)?;
        let communication = wires.as_ref().map(FarWires::record);
        let near = wires.as_ref().map_or(0..plan.pes, |wires| wires.plan.places.near.clone());
        let (partition, delays) = (plan.partition.clone(), plan.delays.clone());
        let task = Task { model: &*self.model, partition, ties, end, delays, roles, near };
        let common =
            Common { plan, task, limits: &spec.limits, trace, budget: monitor.budget.clone() };
        let RunState { from, committed, rows, statistics: before, .. } = state;
        let watch = LoopMonitor {
            run: monitor,
            processes: processes.as_deref_mut(),
            looped,
            from,
            until: end,
            committed,
            rows,
            merge: RowMerge::new(ties),
        };
        let mut outcome = self.drive(&common, Start { statistics, shares }, watch, wires)?;
        let remains = self.gather_remains(&mut outcome, processes)?;
        let traced = file.map(|file| self.write_trace(file, &mut outcome, ties));
        let engine_settings = |window| plan.record(&self.settings, spec, window);
        self.end_segment(
            (outcome, remains),
            (before, committed),
            end,
            traced,
            (is_new, communication),
            engine_settings,
        )
    }

    /// Makes the PEs, and steps them until they are done.
    fn drive(
        &self,
        common: &Common<'_, M>,
        start: Start<M>,
        mut watch: LoopMonitor<'_, '_>,
        far: Option<FarWires>,
    ) -> Result<LoopOutcome<M>, Error> {
        let Common { plan, task, .. } = common;
        let pending = plan.pending;
        let region = watch
            .processes
            .as_ref()
            .map_or_else(Region::own, |processes| processes.group.region().clone());
        let portable = M::ABILITIES.wire().and_then(|wire| wire.proof());
        if far.is_some() || M::ABILITIES.wire().is_some_and(|wire| wire.payloads().is_some()) {
            region.share_payloads();
        }
        let _member = region.enter();
        // Where events lie that PEs share.
        let store = far.as_ref().map_or_else(|| region.clone(), |far| far.region(&region));
        let service = far.as_ref().map(|far| far.service);
        let barrier = barrier_of_rank(plan, watch.processes.as_deref(), service, task.ties)?;
        let gvts = plan.gvts(&region, task.ties, barrier.as_ref());
        let pacer = pacer(plan, service);
        let controls = plan.controls(&gvts);
        let ForTests { one_thread_per_pe, migrate_at_random, .. } = self.for_tests;
        let layout = ThreadLayout {
            one_thread_per_pe,
            moves: plan.moves,
            measured: !watch.run.selector.is_fixed(),
            migrate_at_random,
        };
        let local =
            plan.pes_of(watch.processes.as_ref().map_or(0, |processes| processes.group.number()));
        let all = AllPes { region: region.clone(), pes: plan.pes, first: local.start as u32 };
        // What counts for speed has code of its own. All the rest shares some, as every model is
        // compiled into it.
        let _rings = common.account_for_rings(&region);
        let (everybody, own) = (0..plan.pes, local.start as u32..local.end as u32);
        match plan.wires.cluster {
            None if let Some(far) = far => {
                let (codec, group) = (
                    M::ABILITIES.wire().map(Codec::new),
                    watch.processes.as_mut().map(|processes| &mut processes.group),
                );
                let (Some(codec), Some(group)) = (codec, group) else {
                    unreachable!("events of a model without a wire stay in one process")
                };
                let carriers =
                    group.carriers(&far.plan).map_err(|cause| Error::Communication { cause })?;
                let (ports, couriers) = node_ports(
                    &store,
                    portable,
                    &controls,
                    codec,
                    (&far.plan, far.service),
                    carriers,
                );
                let ports = ports.into_iter().map(|port| AnyPort::Node(Box::new(port)));
                let mut pes = common.pes(&store, local, start, gvts, ports, || any(pending));
                for (pe, pacer) in pes.iter_mut().zip(std::iter::repeat(&pacer)) {
                    pacer.iter().for_each(|pacer| pe.follow(pacer.clone()));
                }
                in_threads(
                    pes,
                    watch,
                    layout,
                    &all,
                    CommunicationWork::new(Some(Box::new(couriers)), barrier, pacer),
                )
            }
            None if plan.wires.mailbox == Some(Mailbox::PerSender)
                && pending == Pending::Ladder =>
            {
                let ports = ring_ports(&region, portable, (&everybody, &own), &controls);
                let pes = common.pes(&region, local, start, gvts, ports, Ladder::default);
                in_threads(pes, watch, layout, &all, CommunicationWork::new(None, barrier, None))
            }
            None => {
                // Mailboxes of other kinds than rings are for the PEs of one process, which are
                // all.
                let ports: Vec<AnyPort<M::Event>> = match plan.wires.mailbox {
                    Some(Mailbox::Shared) => inbox_ports(&controls)
                        .into_iter()
                        .map(|port| AnyPort::Inbox(Box::new(port)))
                        .collect(),
                    Some(Mailbox::Cas) => cas_ports(&controls)
                        .into_iter()
                        .map(|port| AnyPort::Cas(Box::new(port)))
                        .collect(),
                    _ => {
                        let ports = ring_ports(&region, portable, (&everybody, &own), &controls);
                        ports.into_iter().map(|port| AnyPort::Ring(Box::new(port))).collect()
                    }
                };
                let pes = common.pes(&region, local, start, gvts, ports, || any(pending));
                in_threads(pes, watch, layout, &all, CommunicationWork::new(None, barrier, None))
            }
            Some(seed) => {
                let (mut cluster, ports) =
                    VirtualCluster::new(plan.pes, seed, M::ABILITIES.wire().map(Codec::new));
                let ports = ports.into_iter().map(AnyPort::Virtual);
                let pes = common.pes(&region, local, start, gvts, ports, || any(pending));
                driven::run(pes, watch, |pes, watch| {
                    cluster::drive(pes, &mut || cluster.next_pe(), watch)
                })
            }
        }
    }

    /// Writes what the PEs did, also if the run failed.
    fn write_trace(
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

    /// Merges what the PEs have left into a run that had come `before` them.
    fn end_segment(
        &self,
        (outcome, remains): (LoopOutcome<M>, Remains),
        (mut statistics, before): (Statistics, u64),
        end: VirtualTime,
        traced: Option<Result<TraceSummary, Error>>,
        (is_new, communication): (bool, Option<CommunicationRecord>),
        engine_settings: impl FnOnce(f64) -> Map<String, Value>,
    ) -> Result<SegmentEnd<M>, Error> {
        let LoopOutcome { parts, pending, mut rows, mut merge, driven, ended } = outcome;
        let Driven { full, cut_short, moved, busy, .. } = driven;
        let Ended { failure, looped, at: ended, window, goes_on, .. } = ended;
        let Remains { are_all, pes, committed, failed, couriers } = remains;
        let committed = before + committed;
        if let Some(OutOfMemory { place, why }) = full {
            return Err(Error::Memory { place, why });
        }
        // If there are several processes, they have passed them on together.
        merge.take_last(&failure).for_each(|row| rows.add(row));
        if failure != Moment::Never {
            let _ = rows.finish();
            return Err(self.failure(failed, failure, committed));
        }
        if are_all {
            balance(pes.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
        }
        let left = pes.iter().map(|pe| pe.pending).sum();
        let by_role = pes.iter().map(|pe| pe.by_role.clone()).collect();
        let mut record = record::of(&pes);
        record.communication = communication.zip(couriers).map(|(mut all, (number, counts))| {
            add_counts(&mut all, number, &counts);
            all
        });
        let work = record::work(&record);
        let parallel =
            ParallelSegment { record, engine: engine_settings(window), traced, by_role, moved };
        parts.iter().for_each(|pe| statistics.merge(&pe.statistics));
        let costs = if goes_on { costs(&parts, &busy) } else { Vec::new() };
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
        Ok(SegmentEnd {
            state,
            cut_short,
            goes_on,
            looped: is_new.then_some(looped),
            ended,
            left,
            work,
            parallel: Some(parallel),
        })
    }

    /// What the PEs leave, of all processes in the first one, which passes on their last rows. The
    /// others have done their share here if the run has failed.
    fn gather_remains(
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
            pes: outcome.parts.iter().map(|pe| PeSummary::of(pe, outcome.driven.crowded)).collect(),
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
            // Only the first goes on, and has no results. What payloads lie in is not the others'
            // own.
            outcome.parts.clear();
            outcome.pending.clear();
            if !processes.group.is_first() {
                return Err(processes.leave(self.stop.is_on()));
            }
            processes.group.take_leave();
        }
        for other in others {
            all.pes.extend(other.pes);
            all.committed += other.committed;
            all.failed = all.failed.or(other.failed);
            all.couriers = all
                .couriers
                .zip(other.couriers)
                .map(|(all, other)| (all.0 + other.0, all.1 + other.1));
        }
        Ok(all)
    }

    fn failure(&self, failed: Option<CommittedFault>, moment: Moment, committed: u64) -> Error {
        let failed = failed.expect("a PE that failed says where");
        let (lp, time) = (failed.lp, failed.time.get());
        let place = match (failed.event, moment) {
            (Some(event), _) => Place::event(lp, time, event),
            (None, Moment::Finish(_)) => Place::Finish(lp),
            (None, _) => Place::Init(lp),
        };
        Error::Fault(Box::new(Failure {
            model: self.name.clone(),
            place,
            time,
            fault: failed.fault,
            committed,
        }))
    }
}

/// Steps PEs in threads until all of them are done.
fn in_threads<T: PeTypes<Pending: Send, Port: Send>>(
    pes: Vec<Pe<'_, T>>,
    watch: LoopMonitor<'_, '_>,
    layout: ThreadLayout,
    all: &AllPes,
    mut communication: CommunicationWork<'_>,
) -> Result<LoopOutcome<T::Model>, Error> {
    let mut outcome = driven::run(pes, watch, |pes, watch| {
        threads::drive(pes, watch, layout, all, &mut communication)
    })?;
    // Ports have noted what they know when they were dropped.
    outcome.driven.couriers = communication.counts();
    Ok(outcome)
}

/// By LP: the nanoseconds that an event cost its PE; nothing if that was not measured. `busy` is
/// how long each PE was at work.
fn costs<M: Model>(parts: &[Parts<M>], busy: &[u64]) -> Vec<f32> {
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
