use std::sync::Arc;

use serde_json::Map;
use warpline_model::{Configure, Model, Parameters};

use crate::job::{ForTests, Job};
use crate::outcome::error::remember_panics;
use crate::processes::ToFirst;
use crate::watch::{Audience, StopSwitch, watched};
use crate::{
    Error, EventCost, Explanation, Pending, Records, Run, Settings, Synchronisation, Undo,
    Verification, VerifyError, VerifyLimits,
};

/// A run in preparation: a model and its settings, all of which have defaults. Nothing is checked
/// before [`run`](Self::run), [`verify`](Self::verify) or [`explain`](Self::explain).
///
/// ```
/// # use warpline::prelude::*;
/// # struct Clock;
/// # impl Model for Clock {
/// #     type State = u32; type Event = ();
/// #     fn lps(&self) -> u32 { 1 }
/// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
/// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
/// # }
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
        let (about, time_unit, parameters) = (String::new(), "", Map::new());
        let (model, default_end, settings) = (Arc::new(model), 100.0, Settings::default());
        let (for_tests, records, stop) =
            (ForTests::default(), Records::default(), StopSwitch::default());
        let job = Job {
            model,
            name,
            about,
            time_unit,
            parameters,
            default_end,
            settings,
            for_tests,
            records,
            stop,
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
        parameters
            .check()
            .map_err(|cause| Error::Setting(format!("model `{}`: {cause}", M::NAME)))?;
        let model = M::configure(parameters).map_err(Error::Setting)?;
        let (name, about) = (M::NAME.to_owned(), M::ABOUT.to_owned());
        let (time_unit, parameters) = (M::TIME_UNIT, parameters.values());
        let Simulation { job, audience } = Simulation::new(model);
        Ok(Simulation {
            job: Job { name, about, time_unit, parameters, default_end: M::DEFAULT_END, ..job },
            audience,
        })
    }

    /// Sets all settings at once, in place of those set before: for settings that were read as
    /// text.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
    /// # }
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

    /// The time before which nothing is observed, in model time, so that statistics do not see the
    /// empty start. Default 0. It must not be negative, and must lie before the end. Rows are
    /// recorded from time 0 all the same. [`Run`] has an example.
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
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
    /// # }
    /// use warpline::{Pending, Synchronisation};
    /// let usual = Simulation::new(Clock).run()?;
    /// let other = Simulation::new(Clock).sync(Synchronisation::Sequential).pending(Pending::Heap).run()?;
    /// assert_eq!(usual.record.digest, other.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn pending(self, pending: Pending) -> Self {
        self.with(|settings| settings.pending = Some(pending))
    }

    /// The most consecutive zero-delay hops at one instant; more count as a loop. Default 1 000 000.
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
        let outcome =
            watched(job.thread_limits()?, audience, move |control| job.run(&control, &given));
        outcome.inspect_err(|error| first.tell(error))
    }

    /// Runs the model to its end sequentially, and tries every event out before it is executed:
    /// forward, undone by the chosen method, compared, forward again, compared. State, sends,
    /// observations and random positions must agree. Then it runs the model once more, in another
    /// thread, where hash maps have another order: history, final states and statistics must be the
    /// same.
    ///
    /// What is compared of a state is its `Debug` text. On Linux, it also finds handlers that write
    /// to files, pipes or terminals. It does not find what leaves no trace in any of these, such as
    /// what is sent through sockets.
    ///
    /// # Errors
    /// At the first event whose effects are not undone exactly, if the second run differs, and
    /// wherever [`run`](Self::run) fails.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::VerifyError;
    /// # struct Shop;
    /// #[model]
    /// # impl Model for Shop {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 5 }
    /// fn handle(&self, stock: &mut u32, _: &(), lp: &mut Context<Self>) {
    ///     *stock = stock.saturating_sub(3);
    ///     lp.send(0, 1.0, ());
    /// }
    /// fn reverse(&self, stock: &mut u32, _: &(), _: &mut Reverse<Self>) {
    ///     *stock += 3; // wrong where fewer than 3 were left
    /// }
    /// # }
    /// assert_eq!(Simulation::new(Shop).end(10.0).verify()?.events, 9); // by copies all is well
    /// let error = Simulation::new(Shop).end(10.0).undo(Undo::Reverse).verify().unwrap_err();
    /// let VerifyError::Mismatch(found) = error else { panic!("{error}") };
    /// assert_eq!((found.events, found.field.as_str()), (1, "state")); // the second event
    /// assert_eq!((found.expected.as_str(), found.found.as_str()), ("2", "3"));
    /// # Ok::<(), VerifyError>(())
    /// ```
    pub fn verify(self) -> Result<Verification, VerifyError> {
        self.verify_within(VerifyLimits::default())
    }

    /// Like [`verify`](Self::verify), but tries only as many events as there is time for, drawn
    /// from the whole run.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(0, 1.0, ()); }
    /// # }
    /// use warpline::VerifyLimits;
    /// let limits = VerifyLimits { each: Some(100), ..VerifyLimits::default() };
    /// let verified = Simulation::new(Clock).end(10_000.5).verify_within(limits)?;
    /// assert!(verified.events == 10_000 && verified.tried > 300 && verified.tried < 1000);
    /// # Ok::<(), warpline::VerifyError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`verify`](Self::verify).
    pub fn verify_within(self, limits: VerifyLimits) -> Result<Verification, VerifyError> {
        self.verify_and_repeat(limits, true)
    }

    /// Like [`verify_within`](Self::verify_within), but does not run the model once more. For a
    /// program that does so in another process.
    ///
    /// # Errors
    /// Like [`verify`](Self::verify), but for runs that differ.
    pub fn verify_once(self, limits: VerifyLimits) -> Result<Verification, VerifyError> {
        self.verify_and_repeat(limits, false)
    }

    fn verify_and_repeat(
        self,
        limits: VerifyLimits,
        repeats: bool,
    ) -> Result<Verification, VerifyError> {
        remember_panics();
        let Simulation { job, audience } = self;
        watched(job.thread_limits()?, audience, move |control| {
            job.verify(limits, repeats, &control)
        })
    }

    /// How many LPs are conservative, as the model and the settings say.
    ///
    /// # Errors
    /// If a setting, or what the model declares, makes no sense.
    pub fn conservative_count(&self) -> Result<u32, Error> {
        Ok(self.job.check()?.kinds.conservative)
    }

    /// Runs the model to its end sequentially, and follows the chains of events that have to wait
    /// for each other: how fast could engines be on more cores, and what stands in the way?
    /// Statistics and rows are dropped, and settings that concern engines are ignored.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::EventCost;
    /// # struct Ball;
    /// # impl Model for Ball {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, lp: &mut Init<Self>) { if lp.id() == LpId(0) { lp.send(1, 1.0, ()); } }
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     lp.send((lp.id().0 + 1) % 4, 1.0, ()); // a ball goes round four players
    /// }
    /// # }
    /// let found = Simulation::new(Ball).explain(EventCost::Counted)?.findings;
    /// assert_eq!((found.events, found.path.length), (99, 99)); // every event waits for the one before it
    /// assert!(found.cores.iter().all(|cores| cores.any_engine == 1.0)); // so that no core can help another
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Wherever [`run`](Self::run) fails, or if there is no memory for what is to be remembered of
    /// LPs and pending events.
    pub fn explain(self, cost: EventCost) -> Result<Explanation, Error> {
        remember_panics();
        let Simulation { job, audience } = self;
        watched(job.thread_limits()?, audience, move |control| {
            job.explain_sequential(cost, &control)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    /// A clock with the parameters `P`.
    struct Clock<P>(P);

    /// What a clock needs.
    #[derive(Clone, Parameters)]
    struct Period {
        /// Time between ticks.
        #[parameter(default = 2.0, range = 0.5..)]
        period: f64,
    }

    trait Ticks: Parameters + 'static {
        fn period(&self) -> f64;
    }

    impl Ticks for Period {
        fn period(&self) -> f64 {
            self.period
        }
    }

    impl Ticks for () {
        fn period(&self) -> f64 {
            1.0
        }
    }

    impl<P: Ticks> Model for Clock<P> {
        type State = u32;
        type Event = ();

        fn lps(&self) -> u32 {
            1
        }

        fn init(&self, lp: &mut Init<Self>) -> u32 {
            lp.send(0, self.0.period(), ());
            0
        }

        fn handle(&self, ticks: &mut u32, (): &(), lp: &mut Context<Self>) {
            *ticks += 1;
            lp.send(0, self.0.period(), ());
        }
    }

    impl<P: Ticks> Configure for Clock<P> {
        type Parameters = P;

        const NAME: &'static str = "clock";
        const ABOUT: &'static str = "ticks";
        const TIME_UNIT: &'static str = "s";
        const DEFAULT_END: f64 = 9.0;

        fn configure(parameters: &P) -> Result<Self, String> {
            Ok(Clock(parameters.clone()))
        }
    }

    fn run<P: Ticks>(parameters: &P) -> Result<Run<Clock<P>>, Error> {
        Simulation::configured(parameters)?.run()
    }

    #[test]
    fn a_model_has_derived_parameters_or_none() {
        let derived = run(&Period::default()).expect("a run");
        assert_eq!(
            (derived.states, derived.record.parameters["period"].as_f64()),
            (vec![4], Some(2.0))
        );
        let error = run(&Period { period: 0.0 }).expect_err("no run");
        assert_eq!(
            error.to_string(),
            "model `clock`: `period` cannot be 0: it must lie in [0.5, ∞)"
        );
        let none = run(&()).expect("a run");
        assert_eq!((none.states, none.record.parameters.len()), (vec![8], 0));
    }
}
