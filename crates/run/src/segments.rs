//! A run is a chain of segments, each executed by one engine: at a time that all its PEs agree on,
//! everything before it has committed, and nothing from then on has been executed; and another
//! engine goes on from there. Most runs have one segment.
//!
//! Engines change where an early end would be. PEs that are to end early agree on a time, run to
//! it, and undo what lies beyond; so do PEs whose run another engine is to go on with. Everything
//! that they have sent has arrived by then, so LPs and pending events are all there is. A
//! sequential engine stops at the end of an instant. Counts and statistics add up over segments;
//! open levels go to whoever has their LP next.

use std::time::Instant;

use warpline_base::VirtualTime;
use warpline_base::{RunDigest, StateDigest};
use warpline_kernel::pending::{Heap, Ladder};
use warpline_kernel::{Event, Lp, RoleCounts};
use warpline_memory::{DropEach, MakeRoom, Pool, Region};
use warpline_model::engine::Executor;
use warpline_model::{Model, Statistics};
use warpline_record::{EngineStretch, ParallelRecord};

use crate::conclude::EngineOutcome;
use crate::conclude::finish::{FinishRows, Finisher, finish_failure};
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::machine::budget::RunBudget;
use crate::machine::core_time::CoreTime;
use crate::outcome::rows::{Acts, Rows};
use crate::parallel::add_record;
use crate::parallel::processes::control_messages::Finished;
use crate::parallel::processes::{Processes, lost};
use crate::plan::{RunPlan, cores};
use crate::policy::Facts;
use crate::policy::engine_choice::Engine;
use crate::policy::engine_selector::{Auto, EngineSelector, RandomChanges, Reading};
use crate::processes::ToFirst;
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::{ParallelSegment, RunState, SegmentEnd};
use crate::watch::Control;
use crate::{Error, Pending, Records, Run, Synchronisation};

/// The most PEs of a run that changes its engine at random, unless it is told how many.
const PES_AT_RANDOM: u32 = 4;

impl<M: Model> Job<M> {
    /// Runs it on the engine that its settings ask for.
    pub(crate) fn run(self, control: &Control, first: &ToFirst) -> Result<Run<M>, Error> {
        let started = Instant::now();
        let (part, processes) = self.part()?;
        let sync = self.settings.synchronisation_in(processes.asked(&self.settings))?;
        let control = &if part.is_heard() { control.clone() } else { control.unheard() };
        // Checked first, to catch a model that panics when it is asked for its LPs.
        let spec = self.check()?;
        let run = self.plan_run(sync, processes, &spec)?;
        let mut selector = self.selector(&run, &spec)?;
        let mut choice = selector.next(|pes| self.may_wait(&run, &spec, pes));
        if self.settings.trace.is_some() && (choice.engine.is_sequential() || !selector.is_fixed())
        {
            let why = "a trace shows the PEs of one engine, and a sequential run has none: it needs --sync optimistic or conservative";
            return Err(Error::Setting(why.into()));
        }
        let mut plan = self.plan(choice, &run, &spec, None)?;
        plan.iter().try_for_each(|plan| self.check_room(plan))?;
        let (acts, stop, stack) = (Acts::Perform, self.stop.clone(), self.thread_limits()?.stack);
        // The first process writes rows.
        let records = if part.is_heard() { &self.records } else { &Records::Drop };
        let mut state = self.begin(&spec, acts, records)?;
        let mut processes = self.processes(part, &run, &spec, first)?;
        let budget = self.budget(processes.as_ref())?;
        let mut monitor = RunMonitor::new(control, &stop, stack, self.end_time(), budget, selector);
        let mut totals = RunTotals::new();
        let (ended, cut_short) = loop {
            let (began, from, before) = (Instant::now(), state.from, state.committed);
            let segment = match &plan {
                Some(plan) => {
                    self.run_in_parallel(&spec, plan, state, &mut monitor, processes.as_mut())?
                }
                None if self.settings.pending() == Pending::Heap => {
                    self.run_sequentially::<Heap>(&spec, state, &mut monitor)?
                }
                None => self.run_sequentially::<Ladder>(&spec, state, &mut monitor)?,
            };
            let SegmentEnd { cut_short, goes_on, looped, ended, left, work, parallel, .. } =
                segment;
            totals.work = totals.work.zip(work).map(|(all, more)| [all, more].into_iter().sum());
            state = segment.state;
            let looped = *totals.looped.get_or_insert(looped.unwrap_or(began));
            parallel.into_iter().for_each(|parallel| totals.add(parallel));
            if !monitor.selector.is_fixed() {
                let pending = goes_on.then(|| state.pending.iter().map(Pool::len).sum());
                let at =
                    Reading { pending, ..Reading::new(ended, state.from.get(), state.committed) };
                let (why, event_rate) = monitor.selector.end(at);
                totals.engines.push(EngineStretch {
                    sync: spec.kinds.mixed(choice.engine.sync).name().to_owned(),
                    pes: choice.engine.pes,
                    from: from.get(),
                    to: state.from.get(),
                    began_seconds: began.saturating_duration_since(looped).as_secs_f64(),
                    seconds: (ended - began.max(looped)).as_secs_f64(),
                    committed_events: state.committed - before,
                    event_rate,
                    why,
                });
            }
            if !goes_on {
                totals.ran_out = left == 0 && cut_short.is_none();
                break (ended, cut_short);
            }
            choice = monitor.selector.next(|pes| self.may_wait(&run, &spec, pes));
            plan = self.plan(choice, &run, &spec, Some(&state))?;
        };
        self.end((started, processes), (&run, spec), state, monitor, totals, (ended, cut_short))
    }

    /// What the run may take of the memory of this machine.
    pub(crate) fn budget(&self, processes: Option<&Processes>) -> Result<RunBudget, Error> {
        if let Some(budget) = &self.budget {
            return Ok(budget.clone());
        }
        if let Some(bytes) = self.for_tests.budget {
            return Ok(RunBudget::of_engine(bytes));
        }
        let (region, here) = processes.map_or_else(
            || (Region::own(), 1),
            |processes| {
                // Those of this machine that share memory, or all of it if none do.
                (processes.group.region().clone(), processes.group.cpu_share().of)
            },
        );
        Ok(RunBudget::new(self.settings.memory(), &region, here)?)
    }

    /// Who chooses the engines of the run.
    fn selector(&self, run: &RunPlan, spec: &RunSpec) -> Result<EngineSelector, Error> {
        let (sync, limits) = (run.sync.value, &spec.limits);
        if let Some(seed) = self.for_tests.changes {
            let first = match sync {
                Synchronisation::Sequential | Synchronisation::Auto => Engine::SEQUENTIAL,
                sync => Engine { sync, pes: run.pes },
            };
            let most = self.settings.threads.unwrap_or(PES_AT_RANDOM).min(limits.lps);
            return Ok(EngineSelector::Random(Box::new(RandomChanges::new(seed, first, most))));
        }
        Ok(match sync {
            Synchronisation::Sequential => EngineSelector::Fixed(Engine::SEQUENTIAL),
            Synchronisation::Auto => {
                let (engines, end) = (self.engines(run, spec)?, self.end_time());
                let (lp_bytes, event_bytes) =
                    (size_of::<Lp<M::State>>(), size_of::<Event<M::Event>>());
                EngineSelector::Auto(Box::new(Auto::new(Facts {
                    lps: limits.lps,
                    end,
                    cores: cores(),
                    engines,
                    lp_bytes,
                    event_bytes,
                })))
            }
            sync => EngineSelector::Fixed(Engine { sync, pes: run.pes }),
        })
    }

    /// A run of which nothing has been simulated, and what becomes of its rows.
    pub(crate) fn begin(
        &self,
        spec: &RunSpec,
        acts: Acts,
        records: &Records,
    ) -> Result<RunState<M>, Error> {
        let statistics = self.statistics(spec);
        let rows = Rows::new(records, acts, &statistics)?;
        Ok(RunState::new(statistics, rows))
    }

    /// Empty statistics.
    pub(crate) fn statistics(&self, spec: &RunSpec) -> Statistics {
        Statistics::new(spec.declared.clone(), self.settings.warmup(), self.end_time())
    }

    /// Has the LPs finish, and makes results and record. The last segment ended at this time of the
    /// clock; before the end of the run, if it was cut short.
    fn end(
        self,
        (started, mut processes): (Instant, Option<Processes>),
        (run, spec): (&RunPlan, RunSpec),
        state: RunState<M>,
        monitor: RunMonitor<'_>,
        totals: RunTotals,
        (ended, cut_short): (Instant, Option<VirtualTime>),
    ) -> Result<Run<M>, Error> {
        let RunState { first_lp, lps, pending, committed, mut statistics, mut rows, .. } = state;
        drop(pending);
        let (mut states, mut digest, mut next) =
            (DropEach::default(), RunDigest::default(), first_lp);
        states.make_room(lps.iter().map(|block| block.len()).sum(), "the states of LPs");
        let mut tally = spec.kinds.tally();
        for block in lps {
            tally.add_lps(next, &block);
            Lp::add_digests(&block, next, &mut digest);
            next += block.len() as u32;
            states.extend(block.into_iter().map(|lp| lp.state));
        }
        let end = cut_short.unwrap_or(spec.end);
        cut_short.iter().for_each(|end| statistics.cut_short(end.get()));
        let loop_seconds = totals.looped.map_or(0.0, |looped| (ended - looped).as_secs_f64());
        let mut executor = Executor::with_limits(spec.limits.clone(), self.settings.seed(), false);
        monitor.control.watch(None, executor.beat());
        let mut state_digest = self.settings.state_digest().then(StateDigest::default);
        let finisher = Finisher {
            model: &*self.model,
            executor: &mut executor,
            statistics: &mut statistics,
            end,
            digest: state_digest.as_mut(),
        };
        let finished = match &mut processes {
            None => finisher.finish(first_lp, states.iter(), &mut rows),
            Some(processes) if !processes.group.is_first() => {
                let mut rows = FinishRows::default();
                let fault = finisher.finish(first_lp, states.iter(), &mut rows).err();
                // What roles did is known from all PEs already.
                let finished = Finished {
                    digest,
                    state_digest,
                    by_role: tally.entries(),
                    statistics,
                    rows: rows.0,
                    fault,
                };
                // What its payloads lie in is not this process's own when it has taken leave.
                drop(states);
                return Err(processes.send_finished(finished, self.stop.is_on()));
            }
            Some(processes) => {
                let own = finisher.finish(first_lp, states.iter(), &mut rows);
                let others =
                    processes.gather_finished().map_err(|why| lost(&mut processes.group, why))?;
                let mut outcome = own;
                for other in others {
                    digest.merge(other.digest);
                    state_digest
                        .iter_mut()
                        .zip(other.state_digest)
                        .for_each(|(all, other)| all.merge(other));
                    tally.add_entries(other.by_role);
                    statistics.merge(&other.statistics);
                    if outcome.is_ok() {
                        processes
                            .pass_on(other.rows.into_iter(), &mut rows)
                            .map_err(|why| lost(&mut processes.group, why))?;
                        outcome = other.fault.map_or(Ok(()), Err);
                    }
                }
                processes.give_up_acts().map_err(|why| lost(&mut processes.group, why))?;
                processes.group.take_leave();
                outcome
            }
        };
        finished.map_err(|fault| finish_failure(&self.name, fault, end, committed))?;
        if let Some(processes) = &mut processes {
            processes.end(self.stop.is_on());
        }
        let (log, speculation) = monitor.into_log();
        let reached = cut_short.map_or(self.end_time(), VirtualTime::get);
        let progress =
            log.finish(ended, reached, committed, totals.parallel.is_some().then_some(speculation));
        let core_share = totals
            .work
            .filter(|work| !work.elapsed.is_zero())
            .map(|work| work.share_since(CoreTime::default()));
        let RunTotals { parallel, engine, engines, traced, by_role, moved, ran_out, .. } = totals;
        by_role.iter().for_each(|counts| tally.add_counts(counts));
        let kinds = tally.records();
        let mut engine = engine.unwrap_or_else(|| run.sequential_record(&self.settings, &spec));
        if parallel.is_some() {
            engine.insert("moved_pes".into(), moved.into());
        }
        let outcome = EngineOutcome {
            committed,
            digest,
            state_digest,
            states,
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
        };
        let run = self.conclude(started, outcome)?;
        let (trace, incomplete) = traced.map_or((None, None), |traced| {
            traced.map_or_else(|error| (None, Some(error)), |trace| (Some(trace), None))
        });
        Ok(Run { incomplete: run.incomplete.or(incomplete), trace, ..run })
    }
}

/// What adds up over the segments of a run.
struct RunTotals {
    /// When all LPs had been initialised.
    looped: Option<Instant>,
    /// How long its threads had something to do, and were on a core then, if that is known of all
    /// segments.
    work: Option<CoreTime>,
    parallel: Option<ParallelRecord>,
    engines: Vec<EngineStretch>,
    /// The settings of the last parallel engine.
    engine: Option<serde_json::Map<String, serde_json::Value>>,
    traced: Option<Result<crate::TraceSummary, Error>>,
    /// What the LPs of each role did, by PE.
    by_role: Vec<Vec<RoleCounts>>,
    /// How often PEs were given to other threads.
    moved: u64,
    /// Whether nothing was left to do, at the end and beyond it.
    ran_out: bool,
}

impl RunTotals {
    fn new() -> Self {
        RunTotals {
            looped: None,
            work: Some(CoreTime::default()),
            parallel: None,
            engines: Vec::new(),
            engine: None,
            traced: None,
            by_role: Vec::new(),
            moved: 0,
            ran_out: false,
        }
    }

    fn add(&mut self, segment: ParallelSegment) {
        match &mut self.parallel {
            None => self.parallel = Some(segment.record),
            Some(parallel) => add_record(parallel, segment.record),
        }
        self.by_role.extend(segment.by_role);
        self.moved += segment.moved;
        self.engine = Some(segment.engine);
        self.traced = self.traced.take().or(segment.traced);
    }
}
