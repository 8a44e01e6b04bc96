use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::{Map, Value, json};
use warpline_base::VirtualTime;
use warpline_base::record::RunRecord;
use warpline_kernel::pending::{Heap, Ladder, PendingSet};
use warpline_model::engine::{Limits, tie_break};
use warpline_model::{Configure, Context, Declarations, Fault, Model, Outcome, Parameters, Statistics};

use crate::drive::{Log, Pace};
use crate::error::{Failure, panic_message};
use crate::rows::Rows;
use crate::sequential::{Sequential, Step};
use crate::{Error, Pending, Place, Progress, Records, Sync, TableRows, Undo, Verified, VerifyError, lp, memory_use};

/// A run to be: a model and the settings of its run, all with defaults.
///
/// See the [crate documentation](crate) for an example.
pub struct Simulation<'a, M: Model> {
    pub(crate) model: M,
    pub(crate) name: String,
    about: String,
    time_unit: &'static str,
    parameters: Map<String, Value>,
    pub(crate) end: f64,
    warmup: f64,
    pub(crate) seed: u64,
    sync: Sync,
    pub(crate) undo: Undo,
    pending: Pending,
    pub(crate) zero_delay_hops: u32,
    records: Records,
    report: Option<&'a mut dyn FnMut(&Progress)>,
}

/// What a run leaves behind.
pub struct Run<M: Model> {
    /// Digest, rates, results and all settings: what the command prints and the report shows.
    pub record: RunRecord,
    /// The committed statistics.
    pub statistics: Statistics,
    /// The final state of every LP.
    pub states: Vec<M::State>,
    /// The rows of every table, if they were [kept](Records::Keep).
    pub tables: Vec<TableRows>,
    /// Why a file of [written](Records::Write) rows is incomplete, if one is. All else is as it should be.
    pub incomplete: Option<Error>,
}

impl<M: Model> std::fmt::Debug for Run<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("record", &self.record).finish_non_exhaustive()
    }
}

impl<'a, M: Model> Simulation<'a, M> {
    /// A run of `model` to time 100 with seed 1, unless told otherwise.
    pub fn new(model: M) -> Self {
        let name = std::any::type_name::<M>();
        let name = name.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(name).to_owned();
        let (about, time_unit, parameters) = (String::new(), "", Map::new());
        let (end, warmup, seed, zero_delay_hops) = (100.0, 0.0, 1, Limits::ZERO_DELAY_HOPS);
        let (sync, undo, pending, records) = (Sync::default(), Undo::default(), Pending::default(), Records::default());
        Simulation {
            model,
            name,
            about,
            time_unit,
            parameters,
            end,
            warmup,
            seed,
            sync,
            undo,
            pending,
            zero_delay_hops,
            records,
            report: None,
        }
    }

    /// A run of the model that `parameters` describe, to its default end.
    ///
    /// # Errors
    /// If a parameter is out of range, or no model can be made of the parameters.
    pub fn configured(parameters: &M::Parameters) -> Result<Self, Error>
    where
        M: Configure,
    {
        parameters.check().map_err(|cause| Error::Setting(format!("model `{}`: {cause}", M::NAME)))?;
        let model = M::configure(parameters).map_err(Error::Setting)?;
        let (name, about) = (M::NAME.to_owned(), M::ABOUT.to_owned());
        let (time_unit, parameters) = (M::TIME_UNIT, parameters.values());
        Ok(Simulation { name, about, time_unit, parameters, end: M::DEFAULT_END, ..Simulation::new(model) })
    }

    /// The end of the run in model time: events before it are executed, those at it are not.
    pub fn end(self, end: f64) -> Self {
        Simulation { end, ..self }
    }

    /// The time before which nothing is observed, so that statistics do not see the empty start. Default 0.
    pub fn warmup(self, warmup: f64) -> Self {
        Simulation { warmup, ..self }
    }

    /// The seed of all random numbers. Default 1.
    pub fn seed(self, seed: u64) -> Self {
        Simulation { seed, ..self }
    }

    /// How LPs are kept in step.
    pub fn sync(self, sync: Sync) -> Self {
        Simulation { sync, ..self }
    }

    /// How events are undone.
    pub fn undo(self, undo: Undo) -> Self {
        Simulation { undo, ..self }
    }

    /// Which pending event set is used.
    pub fn pending(self, pending: Pending) -> Self {
        Simulation { pending, ..self }
    }

    /// How many zero-delay hops there may be at one instant before they count as a loop. Default 1 000 000.
    pub fn zero_delay_hops(self, hops: u32) -> Self {
        Simulation { zero_delay_hops: hops, ..self }
    }

    /// What becomes of recorded rows. By default they are kept in memory.
    pub fn records(self, records: Records) -> Self {
        Simulation { records, ..self }
    }

    /// Calls `report` about four times a second while the run goes on.
    pub fn on_progress(self, report: &'a mut dyn FnMut(&Progress)) -> Self {
        Simulation { report: Some(report), ..self }
    }

    /// Checks all settings, and runs the model to its end.
    ///
    /// # Errors
    /// If a setting makes no sense, the model does what it must not or panics, or a file of rows cannot be made. Rows that
    /// cannot be written later are told in [`Run::incomplete`], as all else is finished.
    pub fn run(self) -> Result<Run<M>, Error> {
        match (self.sync, self.pending) {
            (Sync::Sequential, Pending::Heap) => self.run_sequential::<Heap>(),
            (Sync::Sequential, Pending::Auto | Pending::Ladder) => self.run_sequential::<Ladder>(),
        }
    }

    fn run_sequential<Q: PendingSet>(mut self) -> Result<Run<M>, Error> {
        let started = Instant::now();
        let report = self.report.take();
        let mut engine = self.engine::<Q>(false)?;
        engine.init()?;
        let looped = Instant::now();
        let mut log = Log::new(looped, self.end, report);
        let mut pace = Pace::new(looped);
        while engine.step(pace.events())? == Step::Worked {
            let now = Instant::now();
            pace.stepped(now);
            log.note(now, engine.now().get(), engine.committed);
        }
        let ended = Instant::now();
        let progress = log.finish(ended, self.end, engine.committed);
        engine.finish()?;
        let (digest, committed) = (lp::digest(&engine.lps), engine.committed);
        let (lps, statistics, rows) = (engine.lps, engine.statistics, engine.rows);
        let (tables, files, incomplete) = rows.finish();
        let (results, views) = self.outputs(&statistics, committed)?;
        let loop_seconds = (ended - looped).as_secs_f64();
        let record = RunRecord {
            engine: self.engine_settings(Q::NAME),
            model: self.name,
            about: self.about,
            parameters: self.parameters,
            seed: self.seed,
            end_time: self.end,
            time_unit: self.time_unit.to_owned(),
            committed_events: committed,
            digest: digest.to_string(),
            wall_seconds: started.elapsed().as_secs_f64(),
            loop_seconds,
            event_rate: if loop_seconds > 0.0 { committed as f64 / loop_seconds } else { 0.0 },
            peak_rss_bytes: memory_use::peak(),
            results,
            tables: files,
            progress,
            views,
        };
        Ok(Run { record, statistics, states: lps.into_iter().map(|lp| lp.state).collect(), tables, incomplete })
    }

    /// Runs the model to its end sequentially, and tries every event out before it: forward, undone by the chosen
    /// method, compared, forward again, compared. State, sends, observations and random positions must agree.
    ///
    /// # Errors
    /// At the first event that does not come back as it was, or sends where [`Model::neighbours`] does not
    /// lead; and where [`run`](Self::run) fails.
    pub fn verify(mut self) -> Result<Verified, VerifyError> {
        let report = self.report.take();
        let mut engine = self.engine::<Ladder>(self.undo == Undo::Reverse)?;
        engine.verify_init(self.undo)?;
        engine.init()?;
        let mut log = Log::new(Instant::now(), self.end, report);
        while engine.verify_step(self.undo)? == Step::Worked {
            // One event takes microseconds: a look at the clock now and then is enough.
            if engine.committed.is_multiple_of(64) {
                log.note(Instant::now(), engine.now().get(), engine.committed);
            }
        }
        engine.finish()?;
        let (events, digest) = (engine.committed, lp::digest(&engine.lps).to_string());
        if let (.., Some(error)) = engine.rows.finish() {
            return Err(VerifyError::Run(error));
        }
        Ok(Verified { model: self.name.clone(), undo: self.undo, events, digest })
    }

    /// An engine for this run, with nothing simulated yet.
    fn engine<Q: PendingSet>(&self, saving: bool) -> Result<Sequential<'_, M, Q>, Error> {
        let (end, declared) = self.check()?;
        let statistics = Statistics::new(declared, self.warmup, self.end);
        let rows = Rows::new(&self.records, &statistics)?;
        let context = Context::new(&self.model, self.seed, self.zero_delay_hops, saving);
        let ties = tie_break(&self.model, self.seed);
        Sequential::new(&self.model, &self.name, context, ties, end, statistics, rows)
    }

    /// Checks what the user and the model say before anything is simulated.
    pub(crate) fn check(&self) -> Result<(VirtualTime, Declarations), Error> {
        let fail = |message: String| Err(Error::Setting(message));
        let (end, warmup, lookahead) = (self.end, self.warmup, self.model.lookahead());
        let Some(time) = VirtualTime::new(end).filter(|_| end > 0.0) else {
            return fail(format!("the end time is {end}: it must be a finite number greater than 0"));
        };
        if !(warmup >= 0.0 && warmup < end) {
            return fail(format!("the warm-up is {warmup}: it must lie between 0 and the end time, {end}"));
        }
        if !(0.0..f64::INFINITY).contains(&lookahead) {
            return fail(format!("model `{}` declares the lookahead {lookahead}: it must be a finite number, zero or more", self.name));
        }
        if self.model.lps() == 0 {
            return fail(format!("model `{}` has no LPs: Model::lps must return at least 1", self.name));
        }
        if self.undo == Undo::Reverse && !M::REVERSIBLE {
            return fail(format!("model `{}` has no reverse code: use --undo copy, or write Model::reverse and set REVERSIBLE", self.name));
        }
        let mut declared = Declarations::default();
        catch_unwind(AssertUnwindSafe(|| self.model.declare(&mut declared)))
            .map_err(|panic| Error::Setting(format!("model `{}`: declare panicked: {}", self.name, panic_message(panic))))?;
        let declared = declared.checked().map_err(|why| Error::Setting(format!("model `{}`: {why}", self.name)))?;
        Ok((time, declared))
    }

    fn outputs(&self, statistics: &Statistics, committed: u64) -> Result<(Value, Vec<warpline_base::record::View>), Error> {
        let outcome = Outcome { statistics, end: self.end, warmup: self.warmup };
        let outputs = || (self.model.results(&outcome), self.model.views(&outcome));
        catch_unwind(AssertUnwindSafe(outputs)).map_err(|panic| {
            let (model, fault) = (self.name.clone(), Fault::Panic(panic_message(panic)));
            Error::Fault(Box::new(Failure { model, place: Place::Results, time: self.end, fault, committed }))
        })
    }

    fn engine_settings(&self, pending: &str) -> Map<String, Value> {
        let ties = if self.model.unbiased_ties() { "unbiased" } else { "by-sender" };
        let settings = json!({
            "sync": "sequential",
            "threads": 1,
            "undo": self.undo.name(),
            "pending": pending,
            "ties": ties,
            "lookahead": self.model.lookahead(),
            "lps": self.model.lps(),
            "warmup": self.warmup,
            "zero_delay_hops": self.zero_delay_hops,
            "version": env!("CARGO_PKG_VERSION"),
        });
        settings.as_object().cloned().unwrap_or_default()
    }
}
