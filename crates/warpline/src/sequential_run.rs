//! Runs on the sequential engine: for their results, or to verify the model.

use std::time::Instant;

use warpline_kernel::pending::{Ladder, PendingSet};
use warpline_model::{Context, Model, Statistics};

use crate::check::Checked;
use crate::conclude::Ended;
use crate::drive::{Log, Pace};
use crate::rows::Rows;
use crate::sequential::{Sequential, Step};
use crate::{Error, Records, Run, Simulation, Undo, Verified, VerifyError, lp};

impl<M: Model> Simulation<'_, M> {
    pub(crate) fn run_sequential<Q: PendingSet>(mut self) -> Result<Run<M>, Error> {
        let started = Instant::now();
        if self.settings.trace.is_some() {
            return Err(Error::Setting("a trace shows PEs, and a sequential run has none: it needs --sync optimistic".into()));
        }
        let (mut report, end) = (self.report.take(), self.end_time());
        self.settings.threads = Some(1);
        let mut engine = self.engine::<Q>(false)?;
        let mut beginning = Log::new(started, end, report.as_mut().map(|report| &mut **report as _));
        engine.init(|| beginning.note(Instant::now(), 0.0, 0))?;
        drop(beginning);
        let looped = Instant::now();
        let mut log = Log::new(looped, end, report);
        let mut pace = Pace::new(looped);
        while engine.step(pace.events())? == Step::Worked {
            let now = Instant::now();
            pace.stepped(now);
            log.note(now, engine.now().get(), engine.committed);
        }
        let ended = Instant::now();
        let progress = log.finish(ended, end, engine.committed, None);
        engine.finish()?;
        let (digest, committed) = (lp::digest(&engine.lps), engine.committed);
        let Sequential { lps, context, ties, statistics, rows, .. } = engine;
        let states = lps.into_iter().map(|lp| lp.state).collect();
        let (loop_seconds, engine) = ((ended - looped).as_secs_f64(), self.engine_settings(false, context.limits(), ties));
        let ended = Ended { committed, digest, states, statistics, rows, progress, loop_seconds, engine, parallel: None };
        self.conclude(started, ended)
    }

    pub(crate) fn verify_sequential(mut self, events: u64) -> Result<Verified, VerifyError> {
        let (report, undo, end) = (self.report.take(), self.settings.undo(), self.end_time());
        // Files of an earlier run stay as they are.
        self.records = Records::Drop;
        let mut engine = self.engine::<Ladder>(undo == Undo::Reverse)?;
        engine.verify_init(undo)?;
        engine.init(|| {})?;
        let mut log = Log::new(Instant::now(), end, report);
        let mut step = Step::Worked;
        while step == Step::Worked && engine.committed < events {
            step = engine.verify_step(undo)?;
            // One event takes microseconds: a look at the clock now and then is enough.
            if engine.committed.is_multiple_of(64) {
                log.note(Instant::now(), engine.now().get(), engine.committed);
            }
        }
        if step == Step::Finished {
            engine.finish()?;
        }
        let (events, digest) = (engine.committed, lp::digest(&engine.lps).to_string());
        Ok(Verified { model: self.name.clone(), undo, events, virtual_time: engine.now().get(), digest })
    }

    /// An engine for this run, with nothing simulated yet.
    fn engine<Q: PendingSet>(&self, saving: bool) -> Result<Sequential<'_, M, Q>, Error> {
        let Checked { end, declared, ties, limits } = self.check()?;
        let settings = &self.settings;
        let statistics = Statistics::new(declared, settings.warmup(), self.end_time());
        let rows = Rows::new(&self.records, &statistics)?;
        let context = Context::with_limits(limits, settings.seed(), saving);
        Sequential::new(&self.model, &self.name, context, ties, end, statistics, rows)
    }
}
