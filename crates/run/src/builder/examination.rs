//! What a simulation is asked without being run for its results.

use warpline_model::Model;

use crate::outcome::error::remember_panics;
use crate::watch::watched;
use crate::{
    Error, EventCost, Explanation, PlannedSetting, Simulation, Verification, VerifyError,
    VerifyLimits,
};

impl<M: Model> Simulation<'_, M> {
    /// Runs the model to its end sequentially, and tries every event out before it is executed:
    /// forward, undone by the chosen method, compared, forward again, compared. State, sends,
    /// observations and random positions must agree. Then it runs the model once more, in another
    /// thread, where hash maps have another order: history, final states and statistics must be the
    /// same.
    ///
    /// States are compared by their `Debug` text. On Linux, it also finds handlers that write to
    /// files, pipes or terminals. It does not find what leaves no trace in any of these, such as
    /// data sent through sockets.
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
    /// # use warpline_testkit::examples::Clock;
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

    /// The settings that the run would have, and why, without running anything. Those of the engine
    /// that will execute it, or, if the run chooses its engine itself, those that all engines have.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(lp.id(), 1.0, ()); 0 }
    /// #     fn handle(&self, ticks: &mut u32, _: &(), lp: &mut Context<Self>) { *ticks += 1; lp.send(lp.id(), 1.0, ()); }
    /// # }
    /// let planned = Simulation::new(Clock).threads(2).gvt_interval(64).plan()?;
    /// let of = |name| planned.iter().find(|setting| setting.name == name).unwrap();
    /// assert_eq!((&of("gvt-interval").value, of("gvt-interval").why.as_str()), (&64.into(), "given"));
    /// assert_eq!((&of("batch").value, of("batch").why.as_str()), (&128.into(), "a step looks into a mailbox per PE"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a setting, or what the model declares, makes no sense.
    pub fn plan(&self) -> Result<Vec<PlannedSetting>, Error> {
        self.job.preview()
    }

    /// The least delay of anything that one PE would send another in a parallel run with these
    /// settings, in model time; infinite if PEs would never send each other anything. A
    /// conservative run needs more than 0.
    ///
    /// It follows from what the model declares of its [lookahead](Model::lookahead_of) and
    /// [links](Model::links), and from which LPs would lie on which PE; links within a PE do not
    /// matter. For a single PE it is the least of all that is declared.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// struct Pairs;
    /// impl Model for Pairs {
    ///     fn lps(&self) -> u32 { 4 }
    ///     /// 0 and 1 are one machine, 2 and 3 another.
    ///     fn links(&self, lp: LpId) -> Option<Vec<Link>> {
    ///         let link = |to, lookahead| Link { to: LpId(to), lookahead };
    ///         Some(vec![link(lp.0 ^ 1, 0.0), link(lp.0 ^ 2, 0.75)])
    ///     }
    /// #   type State = (); type Event = ();
    /// #   fn init(&self, _: &mut Init<Self>) {}
    /// #   fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// }
    /// assert_eq!(Simulation::new(Pairs).threads(2).least_delay()?, 0.75);
    /// assert_eq!(Simulation::new(Pairs).threads(4).least_delay()?, 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a setting, or what the model declares, makes no sense.
    pub fn least_delay(&self) -> Result<f64, Error> {
        self.job.least_delay()
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
}
