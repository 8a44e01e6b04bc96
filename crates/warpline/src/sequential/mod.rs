//! Runs on the sequential engine: for their results, to verify the model, or to follow its critical path.

mod explain;
mod trial;

use std::time::Instant;

use warpline_base::{LpId, VirtualTime};
use warpline_kernel::pending::{Ladder, PendingSet};
use warpline_kernel::{DROPPED_EVENT, Lp, Position, Sequential, SequentialParts, Step, Stop};
use warpline_model::{Context, Model, Statistics};

use crate::check::RunSpec;
use crate::conclude::EngineOutcome;
use crate::drive::{Log, Pace};
use crate::error::{Failure, event_text};
use crate::finish::Finisher;
use crate::job::Job;
use crate::rows::{Acts, Rows};
use crate::watch::Control;
use crate::{Error, Place, Records, Run, Undo, Verification, VerifyError};

/// The engine of a run, and what is needed to say where the model went wrong.
struct Engine<'m, M: Model, Q> {
    name: &'m str,
    engine: Sequential<'m, M, Q, Rows>,
}

impl<M: Model> Job<M> {
    pub(crate) fn run_sequential<Q: PendingSet>(mut self, control: &Control) -> Result<Run<M>, Error> {
        let started = Instant::now();
        if self.settings.trace.is_some() {
            return Err(Error::Setting("a trace shows PEs, and a sequential run has none: it needs --sync optimistic".into()));
        }
        let until = self.end_time();
        self.settings.threads = Some(1);
        let checked = self.check()?;
        let (end, ties, kinds) = (checked.end, checked.ties, checked.kinds.clone());
        let mut run = self.engine::<Q>(checked, Acts::Perform, false)?;
        control.watch(None, run.engine.context().beat());
        let mut beginning = Log::new(started, until, control.listener());
        run.initialise(|| {
            beginning.note(Instant::now(), 0.0, 0);
            control.go_on()
        })?;
        let looped = Instant::now();
        let mut log = Log::new(looped, until, control.listener());
        let (mut pace, mut cut_short) = (Pace::new(looped), None);
        while run.step(pace.events())? == Step::Worked {
            let now = Instant::now();
            pace.stepped(now);
            log.note(now, run.engine.now(), run.engine.committed());
            control.go_on()?;
            if cut_short.is_none() && self.stop.is_on() {
                cut_short = Some(run.engine.end_soon()).filter(|earlier| *earlier < end);
            }
        }
        let ended = Instant::now();
        let reached = cut_short.map_or(until, VirtualTime::get);
        let progress = log.finish(ended, reached, run.engine.committed(), None);
        run.engine.balance();
        let mut done = run.engine.into_parts();
        cut_short.iter().for_each(|end| done.statistics.cut_short(end.get()));
        self.finish(&mut done, cut_short.unwrap_or(end))?;
        let SequentialParts { lps, digest, context, statistics, rows, committed } = done;
        let mut tally = kinds.tally();
        tally.add_lps(0, &lps);
        let kinds = tally.records();
        let states = lps.into_iter().map(|lp| lp.state).collect::<Vec<_>>().into();
        let (loop_seconds, engine) = ((ended - looped).as_secs_f64(), self.engine_settings(false, context.limits(), ties));
        let outcome =
            EngineOutcome { committed, digest, states, statistics, rows, progress, loop_seconds, engine, parallel: None, kinds, cut_short };
        self.conclude(started, outcome)
    }

    pub(crate) fn verify_sequential(mut self, events: u64, control: &Control) -> Result<Verification, VerifyError> {
        let (undo, until) = (self.settings.undo(), self.end_time());
        // Files of an earlier run are left alone.
        self.records = Records::Drop;
        let checked = self.check()?;
        let end = checked.end;
        let mut run = self.engine::<Ladder>(checked, Acts::Ignore, undo == Undo::Reverse)?;
        control.watch(None, run.engine.context().beat());
        run.verify_init(undo)?;
        run.initialise(|| control.go_on())?;
        let mut log = Log::new(Instant::now(), until, control.listener());
        let mut step = Step::Worked;
        while step == Step::Worked && run.engine.committed() < events {
            step = run.verify_step(undo)?;
            // An event takes microseconds, so it is enough to read the clock now and then.
            if run.engine.committed().is_multiple_of(64) {
                log.note(Instant::now(), run.engine.now(), run.engine.committed());
                control.go_on()?;
            }
        }
        let mut virtual_time = run.engine.now();
        if step == Step::Finished {
            run.engine.balance();
            virtual_time = until;
        }
        let mut done = run.engine.into_parts();
        if step == Step::Finished {
            self.finish(&mut done, end)?;
        }
        let (events, digest) = (done.committed, done.digest.to_string());
        Ok(Verification { model: self.name.clone(), undo, events, virtual_time, digest })
    }

    /// An engine for this run that has not simulated anything yet.
    fn engine<Q: PendingSet>(&self, spec: RunSpec, acts: Acts, saving: bool) -> Result<Engine<'_, M, Q>, Error> {
        let RunSpec { end, declared, ties, limits, .. } = spec;
        Error::check_states::<Lp<M::State>>(limits.lps)?;
        let settings = &self.settings;
        let statistics = Statistics::new(declared, settings.warmup(), self.end_time());
        let rows = Rows::new(&self.records, acts, &statistics)?;
        let context = Context::with_limits(limits, settings.seed(), saving);
        Ok(Engine { name: &self.name, engine: Sequential::new(&*self.model, context, ties, end, statistics, rows) })
    }
}

impl<M: Model> Job<M> {
    /// Calls `finish` for all LPs.
    fn finish(&self, done: &mut SequentialParts<M, Rows>, end: VirtualTime) -> Result<(), Error> {
        let SequentialParts { lps, context, statistics, rows, committed, .. } = done;
        let (model, name, committed) = (&*self.model, self.name.as_str(), *committed);
        Finisher { model, name, context, statistics, rows, end, committed }.finish(lps.iter().map(|lp| &lp.state))
    }
}

impl<M: Model, Q: PendingSet> Engine<'_, M, Q> {
    /// Initialises all LPs, in the order of their ids, and reports progress now and then.
    fn initialise(&mut self, mut go_on: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        while let Some(id) = self.engine.next_lp() {
            if id.0.is_multiple_of(64) {
                go_on()?;
            }
            self.engine.initialise_next().map_err(|stop| self.error(stop, Place::Init(id)))?;
        }
        Ok(())
    }

    /// Executes up to `most` events.
    fn step(&mut self, most: u32) -> Result<Step, Error> {
        self.engine.step(most).map_err(|stop| self.error(stop, self.current_place()))
    }

    /// The event executed last.
    fn current_place(&self) -> Place {
        let event = self.engine.running();
        let text = event.map_or_else(|| DROPPED_EVENT.into(), |event| event_text(&event.payload));
        Place::Event { lp: self.lp(), time: self.engine.now(), event: text }
    }

    /// The LP whose code ran last.
    fn lp(&self) -> LpId {
        self.engine.context().id()
    }

    #[cold]
    fn error(&self, stop: Stop, place: Place) -> Error {
        let (time, committed, model) = (self.engine.now(), self.engine.committed(), self.name.to_owned());
        match stop {
            Stop::Fault(fault) => Error::Fault(Box::new(Failure { model, place, time, fault, committed })),
            Stop::Exhausted(why) => {
                let place = Position { lp: self.lp(), time, pending: self.engine.pending() as u64 };
                Error::Memory { place: Some(place), why }
            }
        }
    }
}
