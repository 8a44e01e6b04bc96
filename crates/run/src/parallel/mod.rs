//! The parallel engines, optimistic and conservative: their PEs, the threads that step them, and
//! the run that all of them add up to.
//!
//! A segment begins and ends here. [`wiring`] makes its PEs, [`threads`] or [`cluster`] steps them,
//! and [`remains`] puts together what they leave.

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
mod modelled;
mod monitor;
mod out_of_memory;
pub(crate) mod processes;
mod record;
mod remains;
mod room;
mod status;
mod threads;
mod trace;
mod wiring;

use std::ops::Range;
use std::time::Instant;

use warpline_kernel::Task;
use warpline_model::{Declarations, Model, Statistics};

use self::common::{Common, Start};
use self::far::FarWires;
use self::merge::RowMerge;
use self::monitor::LoopMonitor;
use self::processes::Processes;
pub(crate) use self::record::add as add_record;
use self::remains::SegmentFacts;
use self::threads::ThreadLayout;
use self::trace::TraceFile;
use crate::Error;
use crate::job::check::RunSpec;
use crate::job::{ForTests, Job};
use crate::plan::ParallelPlan;
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::{RunState, SegmentEnd};

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
        let looped = Instant::now();
        let file = plan.trace.as_ref().map(|trace| TraceFile::create(&trace.path)).transpose()?;
        let is_new = state.is_new();
        if is_new {
            monitor.begin_loop(looped);
        }
        let process = processes.as_ref().map_or(0, |processes| processes.group.number());
        let local = plan.pes_of(process);
        let start = self.start(spec, plan, &mut state, &local);
        let far = FarWires::of(processes.as_deref_mut(), plan)?;
        let communication = far.as_ref().map(FarWires::record);
        let task = Task {
            model: &*self.model,
            partition: plan.partition.clone(),
            ties: spec.ties,
            end: spec.end,
            delays: plan.delays.clone(),
            roles: spec.kinds.roles.clone(),
            near: far.as_ref().map_or(0..plan.pes, |far| far.plan.places.near.clone()),
        };
        let trace = plan.trace.as_ref();
        let common = Common {
            plan,
            task,
            limits: &spec.limits,
            trace: trace.map(|trace| trace::limits(looped, plan.pes, spec.limits.lps, trace.bytes)),
            budget: monitor.budget.clone(),
            local,
        };
        let layout = self.thread_layout(plan, monitor);
        let RunState { from, committed, rows, statistics, .. } = state;
        let watch = LoopMonitor {
            run: monitor,
            processes: processes.as_deref_mut(),
            looped,
            from,
            until: spec.end,
            committed,
            rows,
            merge: RowMerge::new(spec.ties),
        };
        let mut outcome = wiring::drive(&common, start, watch, far, layout)?;
        let remains = self.gather_remains(&mut outcome, processes)?;
        let traced = file.map(|file| self.write_trace(file, &mut outcome, spec.ties));
        let engine = plan.record(&self.settings, spec, outcome.ended.window);
        let end = spec.end;
        let facts =
            SegmentFacts { is_new, end, statistics, committed, engine, communication, traced };
        self.end_segment(outcome, remains, facts)
    }

    /// What the PEs begin with, taken out of `state`.
    fn start(
        &self,
        spec: &RunSpec,
        plan: &ParallelPlan,
        state: &mut RunState<M>,
        local: &Range<usize>,
    ) -> Start<M> {
        let is_new = state.is_new();
        // Nothing is observed here by the PEs of other processes.
        let nothing = || Statistics::new(Declarations::default(), 0.0, self.end_time());
        let of_pe =
            |pe| if is_new && !local.contains(&pe) { nothing() } else { self.statistics(spec) };
        let mut statistics: Vec<Statistics> = (0..plan.pes as usize).map(of_pe).collect();
        state.statistics.share_open_levels(&mut statistics, |lp| plan.partition.pe(lp) as usize);
        let shares = if is_new { Vec::new() } else { state.take_shares(&plan.partition) };
        Start { statistics, shares }
    }

    fn thread_layout(&self, plan: &ParallelPlan, monitor: &RunMonitor<'_>) -> ThreadLayout {
        let ForTests { one_thread_per_pe, migrate_at_random, .. } = self.for_tests;
        ThreadLayout {
            one_thread_per_pe,
            moves: plan.moves,
            measured: !monitor.selector.is_fixed(),
            migrate_at_random,
        }
    }
}
