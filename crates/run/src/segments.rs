//! A run is a chain of segments, each executed by one engine. A segment ends at a time that all its
//! PEs agree on: everything before it has committed, and nothing from then on has been executed.
//! Another engine goes on from there. Most runs have one segment.
//!
//! Engines change as runs end early. PEs that are to end early agree on a time, run to it, and undo
//! what lies beyond; so do PEs whose run another engine goes on with. All that they have sent has
//! arrived by then, so LPs and pending events are all there is. A sequential engine stops at the
//! end of an instant. Counts and statistics add up over segments. The next engine takes over open
//! levels with their LPs.

use std::thread::ThreadId;
use std::time::Instant;

use warpline_kernel::{Event, Lp};
use warpline_memory::{Pool, Region};
use warpline_model::{Model, Statistics};

use crate::conclude::totals::RunTotals;
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::machine::budget::RunBudget;
use crate::outcome::rows::{Acts, Rows};
use crate::outcome::tellings::Tellings;
use crate::parallel::processes::Processes;
use crate::plan::{ParallelPlan, RunPlan, cores};
use crate::policy::Facts;
use crate::policy::engine_choice::Engine;
use crate::policy::engine_selector::{Auto, EngineSelector, RandomChanges, Reading};
use crate::processes::ToFirst;
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::{RunState, SegmentEnd};
use crate::watch::Control;
use crate::{Error, Records, Run, Synchronisation};

/// The most PEs of a run that changes its engine at random, unless `threads` is given.
const PES_AT_RANDOM: u32 = 4;

impl<M: Model> Job<M> {
    /// Runs the model on the engine that its settings ask for. The program has asked for it in the
    /// thread `caller`.
    pub(crate) fn run(
        self,
        control: &Control,
        first: &ToFirst,
        caller: ThreadId,
    ) -> Result<Run<M>, Error> {
        let mut totals = RunTotals::new(Instant::now());
        let (part, processes) = self.part(caller)?;
        let sync = self.settings.synchronisation_in(processes.asked(&self.settings))?;
        let control = &if part.reports() { control.clone() } else { control.without_listener() };
        // Checked first, to catch a model that panics when it is asked for its LPs.
        let spec = self.check()?;
        let run = self.plan_run(sync, processes, &spec)?;
        let mut selector = self.selector(&run, &spec)?;
        let mut choice = selector.next(|pes| self.may_wait(&run, &spec, pes));
        self.check_trace(choice.engine, &selector)?;
        let mut plan = self.plan(choice, &run, &spec, None)?;
        plan.iter().try_for_each(|plan| self.check_room(plan))?;
        let stop = self.stop.clone();
        let stack = self.thread_limits()?.stack;
        // The first process writes rows.
        let records = if part.reports() { &self.records } else { &Records::Drop };
        let mut state = self.begin(&spec, Acts::Perform, records)?;
        let mut processes = self.processes(part, &run, &spec, first)?;
        let budget = self.budget(processes.as_ref())?;
        let mut monitor = RunMonitor::new(control, &stop, stack, self.end_time(), budget, selector);
        loop {
            let began = Reading::new(Instant::now(), state.from.get(), state.committed);
            let others = processes.as_mut();
            let segment = self.run_segment(&spec, plan.as_ref(), state, &mut monitor, others)?;
            state = segment.state;
            let goes_on = segment.summary.goes_on;
            totals.add(began.now, segment.summary);
            if !monitor.selector.is_fixed() {
                let pending = goes_on.then(|| state.pending.iter().map(Pool::len).sum());
                let ended = Reading::new(totals.ended, state.from.get(), state.committed);
                let ended = Reading { pending, ..ended };
                let engine = Engine { sync: spec.kinds.mixed(choice.engine.sync), ..choice.engine };
                totals.note_engine(engine, began, ended, monitor.selector.end(ended));
            }
            if !goes_on {
                break;
            }
            choice = monitor.selector.next(|pes| self.may_wait(&run, &spec, pes));
            plan = self.plan(choice, &run, &spec, Some(&state))?;
        }
        self.conclude(&run, spec, state, processes, monitor, totals)
    }

    /// Runs a segment: on the sequential engine, if there is no plan for a parallel one.
    fn run_segment(
        &self,
        spec: &RunSpec,
        plan: Option<&ParallelPlan>,
        state: RunState<M>,
        monitor: &mut RunMonitor<'_>,
        processes: Option<&mut Processes>,
    ) -> Result<SegmentEnd<M>, Error> {
        match plan {
            Some(plan) => self.run_in_parallel(spec, plan, state, monitor, processes),
            None => self.run_sequentially(spec, state, monitor),
        }
    }

    /// Checks that a run that is to be traced has PEs of one engine.
    fn check_trace(&self, first: Engine, selector: &EngineSelector) -> Result<(), Error> {
        if self.settings.trace.is_none() || selector.is_fixed() && !first.is_sequential() {
            return Ok(());
        }
        let why = "a trace shows the PEs of one engine, and a sequential run has none: it needs \
                   --sync optimistic or conservative";
        Err(Error::Setting(why.into()))
    }

    /// The memory that the run may take on this machine.
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
                // The processes of this machine that share memory, or all of it if none do.
                (processes.group.region().clone(), processes.group.cpu_share().of)
            },
        );
        Ok(RunBudget::new(self.settings.memory(), &region, here)?)
    }

    /// Who chooses the engines of the run.
    fn selector(&self, run: &RunPlan, spec: &RunSpec) -> Result<EngineSelector, Error> {
        let sync = run.sync.value;
        let lps = spec.limits.lps;
        if let Some(seed) = self.for_tests.changes {
            let first = match sync {
                Synchronisation::Sequential | Synchronisation::Auto => Engine::SEQUENTIAL,
                sync => Engine { sync, pes: run.pes },
            };
            let most = self.settings.threads.unwrap_or(PES_AT_RANDOM).min(lps);
            return Ok(EngineSelector::Random(Box::new(RandomChanges::new(seed, first, most))));
        }
        Ok(match sync {
            Synchronisation::Sequential => EngineSelector::Fixed(Engine::SEQUENTIAL),
            Synchronisation::Auto => EngineSelector::Auto(Box::new(Auto::new(Facts {
                lps,
                end: self.end_time(),
                cores: cores(),
                engines: self.engines(run, spec)?,
                lp_bytes: size_of::<Lp<M::State>>(),
                event_bytes: size_of::<Event<M::Event>>(),
            }))),
            sync => EngineSelector::Fixed(Engine { sync, pes: run.pes }),
        })
    }

    /// A run of which nothing has been simulated, with what becomes of its rows and acts.
    ///
    /// # Errors
    /// If a file of rows cannot be created.
    pub(crate) fn begin(
        &self,
        spec: &RunSpec,
        acts: Acts,
        records: &Records,
    ) -> Result<RunState<M>, Error> {
        let statistics = self.statistics(spec);
        let tellings = Tellings::new(spec.limits.followed.clone(), self.hearer.clone());
        let rows = Rows::new(records, acts, tellings, &statistics)?;
        Ok(RunState::new(statistics, rows))
    }

    /// Empty statistics.
    pub(crate) fn statistics(&self, spec: &RunSpec) -> Statistics {
        Statistics::new(spec.declared.clone(), self.settings.warmup(), self.end_time())
    }
}
