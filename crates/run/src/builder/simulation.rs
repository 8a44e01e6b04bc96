use std::sync::Arc;
use std::thread;

use serde_json::Map;
use warpline_model::{Configure, Configured, Model};

use crate::job::{ForTests, Job};
use crate::outcome::error::remember_panics;
use crate::processes::ToFirst;
use crate::watch::{Audience, StopSwitch, watched};
use crate::{Error, Pending, Records, Run, Settings, Synchronisation, Undo};

/// A run in preparation: a model and its settings, all of which have defaults. Nothing is checked
/// before [`run`](Self::run), [`verify`](Self::verify) or [`explain`](Self::explain).
///
/// ```
/// # use warpline::prelude::*;
/// # use warpline_testkit::examples::Clock;
/// // `Clock` ticks at 1, 2, 3, …
/// let run = Simulation::new(Clock).end(10.0).seed(7).run()?;
/// assert_eq!(run.states, [9]); // a run covers [0, end)
/// # Ok::<(), Error>(())
/// ```
pub struct Simulation<'a, M: Model> {
    pub(crate) job: Job<M>,
    pub(crate) audience: Audience<'a>,
}

impl<'a, M: Model> Simulation<'a, M> {
    /// A run of `model`, by default to time 100, with seed 1 and without warm-up. It is named after
    /// the model's type.
    pub fn new(model: M) -> Self {
        let name = std::any::type_name::<M>();
        let name = name
            .split('<')
            .next()
            .and_then(|path| path.rsplit("::").next())
            .unwrap_or(name)
            .to_owned();
        let job = Job {
            model: Arc::new(model),
            name,
            about: String::new(),
            time_unit: "",
            parameters: Map::new(),
            default_end: 100.0,
            settings: Settings::default(),
            for_tests: ForTests::default(),
            records: Records::default(),
            hearer: None,
            stop: StopSwitch::default(),
            budget: None,
        };
        Simulation { job, audience: Audience::default() }
    }

    /// A run of the model with these `parameters`, to its default end.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # /// What a clock needs.
    /// # #[derive(Clone, Parameters)]
    /// # pub struct ClockParameters {
    /// #     /// Time between ticks.
    /// #     #[parameter(unit = "s", default = 1.0, range = 0.1..=10.0)]
    /// #     pub period: f64,
    /// # }
    /// # struct Clock { period: f64 }
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, self.period, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, self.period, ()); }
    /// # }
    /// # impl Configure for Clock {
    /// #     type Parameters = ClockParameters;
    /// #     const NAME: &'static str = "clock";
    /// #     const ABOUT: &'static str = "ticks";
    /// #     const TIME_UNIT: &'static str = "s";
    /// #     const DEFAULT_END: f64 = 60.0;
    /// #     fn configure(parameters: &ClockParameters) -> Result<Self, String> { Ok(Clock { period: parameters.period }) }
    /// # }
    /// // `Clock` has a period of 0.1 s to 10 s, and ends at 60 s by default.
    /// let run = Simulation::<Clock>::configured(&ClockParameters { period: 5.0 })?.run()?;
    /// assert_eq!(run.states, [11]);
    /// let error = Simulation::<Clock>::configured(&ClockParameters { period: 0.0 }).err().unwrap();
    /// assert_eq!(error.to_string(), "model `clock`: `period` cannot be 0: it must lie in [0.1, 10]");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a parameter is out of range, or no model can be made of the parameters.
    pub fn configured(parameters: &M::Parameters) -> Result<Self, Error>
    where
        M: Configure,
    {
        Simulation::of(&Configured::new(parameters))
    }

    /// Prepares a run of a model with its parameters, for programs that learn only at run time
    /// which model is wanted.
    ///
    /// # Errors
    /// As for [`configured`](Self::configured).
    pub fn of(model: &Configured<M>) -> Result<Self, Error> {
        let Simulation { job, audience } = Simulation::new(model.make().map_err(Error::Setting)?);
        let job = Job {
            name: model.name().to_owned(),
            about: model.about().to_owned(),
            time_unit: model.time_unit(),
            parameters: model.values().clone(),
            default_end: model.default_end(),
            ..job
        };
        Ok(Simulation { job, audience })
    }

    /// Sets all settings at once, in place of those set before: for settings that were read as
    /// text.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Clock;
    /// use warpline::Settings;
    /// let mut settings = Settings::default();
    /// settings.set("end", "10")?;
    /// settings.set("pending", "heap")?;
    /// assert_eq!(Simulation::new(Clock).settings(settings.clone()).run()?.states, [9]);
    /// let error = settings.set("pending", "hepa").unwrap_err();
    /// assert_eq!(error.to_string(), "`pending` cannot be `hepa`: it takes one of ladder, heap; did you mean `heap`?");
    /// // The same in words as in code:
    /// let error = settings.set("batch", "0").unwrap_err();
    /// assert_eq!(Simulation::new(Clock).batch(0).run().unwrap_err().to_string(), error.to_string());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn settings(self, settings: Settings) -> Self {
        Simulation { job: Job { settings, ..self.job }, ..self }
    }

    pub(crate) fn with(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(&mut self.job.settings);
        self
    }

    /// The end of the run in model time: events before it are executed, those at it are not.
    /// Default 100, or the model's [`DEFAULT_END`](Configure::DEFAULT_END). It must be finite and
    /// greater than 0.
    pub fn end(self, end: f64) -> Self {
        self.with(|settings| settings.end = Some(end))
    }

    /// The model time before which nothing is observed, so that statistics leave out the empty
    /// start. Default 0. It must not be negative, and must lie before the end. Rows are recorded
    /// from time 0 all the same. [`Run`] has an example.
    pub fn warmup(self, warmup: f64) -> Self {
        self.with(|settings| settings.warmup = Some(warmup))
    }

    /// The seed of all random numbers, and of [unbiased ties](Model::unbiased_ties). Default 1.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Atom;
    /// # impl Model for Atom {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { let delay = lp.random().exponential(1.0); lp.send(0, delay, ()); 0 }
    /// #     fn handle(&self, decays: &mut u32, _: &(), lp: &mut Context<Self>) {
    /// #         *decays += 1;
    /// #         let delay = lp.random().exponential(1.0);
    /// #         lp.send(0, delay, ());
    /// #     }
    /// # }
    /// let digest = |seed| Simulation::new(Atom).seed(seed).run().map(|run| run.record.digest);
    /// assert_eq!(digest(7)?, digest(7)?);
    /// assert_ne!(digest(7)?, digest(8)?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn seed(self, seed: u64) -> Self {
        self.with(|settings| settings.seed = Some(seed))
    }

    /// How LPs are kept in step. The answer does not depend on it. By default the run finds out
    /// which engine suits it best, and [`RunRecord::engines`](crate::record::RunRecord::engines)
    /// says which ones it had and why; but one [thread](Self::threads) means a sequential run, and
    /// several an optimistic one. A sequential run with several threads is refused:
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline::Synchronisation;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
    /// # }
    /// let engine = |simulation: Simulation<Clock>| simulation.run().map(|run| run.record.engine["sync"].clone());
    /// assert_eq!(engine(Simulation::new(Clock))?, "auto");
    /// assert_eq!(engine(Simulation::new(Clock).threads(1))?, "sequential");
    /// assert_eq!(engine(Simulation::new(Clock).threads(2))?, "optimistic");
    /// assert_eq!(engine(Simulation::new(Clock).sync(Synchronisation::Optimistic))?, "optimistic"); // on all cores
    /// let error = engine(Simulation::new(Clock).threads(2).sync(Synchronisation::Sequential)).unwrap_err();
    /// assert!(error.to_string().contains("a sequential run has one thread; leave `threads` out"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sync(self, sync: Synchronisation) -> Self {
        self.with(|settings| settings.sync = Some(sync))
    }

    /// How events that were executed too early are undone, which makes a run optimistic. Default
    /// [`Undo::Copy`]; [`Undo::Reverse`] needs a model with [reverse code](Model::reverse), and
    /// [`Undo::Journal`] one with a [journal](macro@crate::model). The answer does not depend on
    /// it.
    pub fn undo(self, undo: Undo) -> Self {
        self.with(|settings| settings.undo = Some(undo))
    }

    /// Which pending event set is used. The answer does not depend on it.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Clock;
    /// use warpline::{Pending, Synchronisation};
    /// let usual = Simulation::new(Clock).run()?;
    /// let other = Simulation::new(Clock).sync(Synchronisation::Sequential).pending(Pending::Heap).run()?;
    /// assert_eq!(usual.record.digest, other.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn pending(self, pending: Pending) -> Self {
        self.with(|settings| settings.pending = Some(pending))
    }

    /// The most consecutive zero-delay hops at one instant; more count as a loop. Default 1 000
    /// 000.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Stuck;
    /// # impl Model for Stuck {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.0, ()); }
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     lp.send(0, 0.0, ()); // time stands still
    /// }
    /// # }
    /// let error = Simulation::new(Stuck).zero_delay_hops(50).run().unwrap_err();
    /// assert!(error.to_string().contains("is hop 50 in a row without delay"));
    /// ```
    pub fn zero_delay_hops(self, hops: u32) -> Self {
        self.with(|settings| settings.zero_delay_hops = Some(hops))
    }

    /// Whether [`RunRecord::state_digest`](crate::record::RunRecord::state_digest) has digests of
    /// the final states of all LPs and of the statistics, beside the digest of the history: runs of
    /// one simulation that differ in their engines alone have equal ones. They find what the
    /// history does not show, such as wrong reverse code of a state that no event depends on.
    /// Default no.
    ///
    /// States are read by their `Debug`, once, at the end, where they are: in runs of several
    /// processes, each process reads its own.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 2 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(lp.id(), 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(lp.id(), 1.0, ()); }
    /// # }
    /// let sequential = Simulation::new(Clock).threads(1).state_digest(true).run()?;
    /// let parallel = Simulation::new(Clock).threads(2).state_digest(true).run()?;
    /// assert!(sequential.record.state_digest.is_some());
    /// assert_eq!(sequential.record.state_digest, parallel.record.state_digest);
    /// assert_eq!(Simulation::new(Clock).run()?.record.state_digest, None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn state_digest(self, wanted: bool) -> Self {
        self.with(|settings| settings.state_digest = Some(wanted))
    }

    /// What becomes of recorded rows. By default they are kept in memory; see [`Records`] for an
    /// example.
    pub fn records(self, records: Records) -> Self {
        Simulation { job: Job { records, ..self.job }, ..self }
    }

    /// Checks all settings, and runs the model to its end.
    ///
    /// # Errors
    /// If a setting makes no sense, the model makes a mistake or panics, or a file of rows or a
    /// trace cannot be created. What cannot be written later is reported in [`Run::incomplete`], as
    /// everything else is finished. Panics in the model's `declare`, `init`, `handle`, `commit`,
    /// `finish`, `results` and `views` are caught and returned; for those in `Clone` and `Drop` see
    /// [`Model::State`] and [`Model::Event`]. [`Error`] has an example.
    ///
    /// So that errors can say where the model panicked, the first run of a process puts a hook for
    /// panics before the program's own.
    pub fn run(self) -> Result<Run<M>, Error> {
        remember_panics();
        let Simulation { job, audience } = self;
        let first = ToFirst::default();
        let given = first.clone();
        let caller = thread::current().id();
        let outcome = watched(job.thread_limits()?, audience, move |control| {
            job.run(&control, &given, caller)
        });
        outcome.inspect_err(|error| first.tell(error))
    }
}
