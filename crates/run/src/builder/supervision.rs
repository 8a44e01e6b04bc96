//! The audience of a run, the switch that ends it, and the limits of its threads and memory.

use warpline_model::Model;
use warpline_record::Told;

use crate::job::Job;
use crate::outcome::tellings::Hearer;
use crate::watch::{Audience, StopSwitch};
use crate::{LongEvent, LpChoice, MemoryLimit, Progress, Simulation};

impl<'a, M: Model> Simulation<'a, M> {
    /// Calls `report` about four times a second during the run, from the thread that called
    /// [`run`](Self::run). A run shorter than a quarter of a second does not call it at all.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Clock;
    /// let mut report = |progress: &warpline::Progress| {
    ///     eprintln!("{:.0} %", 100.0 * progress.virtual_time / progress.end);
    /// #   assert!(progress.virtual_time <= progress.end);
    /// };
    /// let run = Simulation::new(Clock).on_progress(&mut report).run()?;
    /// assert_eq!(run.states, [99]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn on_progress(self, report: &'a mut dyn FnMut(&Progress)) -> Self {
        Simulation { audience: Audience { progress: Some(report), ..self.audience }, ..self }
    }

    /// Calls `report` once for every event that takes longer than five seconds, from the thread
    /// that called [`run`](Self::run), while the event is being executed. Without it, a warning is
    /// printed on stderr. Most such events are loops that do not end, see
    /// [`event_limit`](Self::event_limit).
    pub fn on_long_event(self, report: &'a mut dyn FnMut(&LongEvent)) -> Self {
        Simulation { audience: Audience { long_event: Some(report), ..self.audience }, ..self }
    }

    /// Ends the run early when `switch` is turned on, with the results so far. The new end is a
    /// time that no PE has passed; the run has the history and the digest of one whose
    /// [`end`](Self::end) that is, and [`RunRecord::partial`](crate::record::RunRecord::partial) is
    /// set. What a model observes with [`Context::end`](crate::Context::end) in view refers to the
    /// end that was wanted, and a warm-up that has not passed leaves nothing observed.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Clock;
    /// let switch = warpline::StopSwitch::default();
    /// let from_elsewhere = switch.clone();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(std::time::Duration::from_millis(50));
    ///     from_elsewhere.stop();
    /// });
    /// let run = Simulation::new(Clock).end(1e15).stop_with(&switch).run()?;
    /// assert_eq!(run.record.partial.unwrap().wanted_end, 1e15);
    /// let again = Simulation::new(Clock).end(run.record.end_time).run()?;
    /// assert_eq!((again.states, again.record.digest), (run.states, run.record.digest));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stop_with(self, switch: &StopSwitch) -> Self {
        Simulation { job: Job { stop: switch.clone(), ..self.job }, ..self }
    }

    /// The longest that one event may take, in seconds of wall time; one that takes longer ends the
    /// run with [`Error::LongEvent`](crate::Error::LongEvent). Default 300. The event's thread
    /// cannot be stopped, and goes on until the program ends.
    ///
    /// A parallel run needs this more than a sequential one, as it may execute an event on a state
    /// that no right order of events leads to. See "What speculation guards against" at [`Model`].
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Search;
    /// # impl Model for Search {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 2.5, ()); 7 }
    /// fn handle(&self, missing: &mut u32, _: &(), _: &mut Context<Self>) {
    ///     while *missing != 0 {
    ///         std::thread::sleep(std::time::Duration::from_millis(1)); // and nothing is ever found
    ///     }
    /// }
    /// # }
    /// let error = Simulation::new(Search).event_limit(0.1).run().unwrap_err();
    /// assert!(error.to_string().starts_with("event 1 of LP 0 at time 2.5 has been running for 0 s"), "{error}");
    /// ```
    pub fn event_limit(self, seconds: f64) -> Self {
        self.with(|settings| settings.event_limit = Some(seconds))
    }

    /// The stack of every thread that executes events, in MiB. Default 16. It is touched only as
    /// far as it is used. All code of the model is executed on such a stack, in sequential runs
    /// too, so that a handler with large local variables or deep recursion works in all runs or in
    /// none.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Deep;
    /// # impl Model for Deep {
    /// #     type State = u32; type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u32 { lp.send(0, 1.0, ()); 0 }
    /// fn handle(&self, sum: &mut u32, _: &(), _: &mut Context<Self>) {
    ///     let table = std::hint::black_box([1u8; 20 << 20]); // 20 MiB of locals
    ///     *sum = table.iter().step_by(1 << 20).map(|&one| u32::from(one)).sum();
    /// }
    /// # }
    /// assert_eq!(Simulation::new(Deep).stack(64).run()?.states, [20, 0, 0, 0]);
    /// assert_eq!(Simulation::new(Deep).stack(64).threads(2).run()?.states, [20, 0, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stack(self, mebibytes: u32) -> Self {
        self.with(|settings| settings.stack = Some(mebibytes))
    }

    /// The memory that the run may take on its machine, the program included. Default 90 % of what
    /// the machine has, or of what the process may take there.
    ///
    /// A sequential run that needs more ends with an error. PEs of a parallel run go less far ahead
    /// where memory is short: they execute only what needs no more of it, undo what lies furthest
    /// ahead, send events back to the PEs that sent them, and in the end execute nothing that is
    /// not certain. So a run needs at most a tenth more than a sequential one, and 4 MiB for each
    /// PE.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::MemoryLimit;
    /// # struct Hoard;
    /// # impl Model for Hoard {
    /// #     type State = (); type Event = [u64; 8];
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.0, [0; 8]); }
    /// fn handle(&self, _: &mut (), _: &[u64; 8], lp: &mut Context<Self>) {
    ///     (0..100).for_each(|n| lp.send(0, 1.0, [n; 8])); // a hundred for one
    /// }
    /// # }
    /// let error = Simulation::new(Hoard).end(100.0).memory(MemoryLimit::Bytes(256 << 20)).run().unwrap_err().to_string();
    /// assert!(error.contains("but its budget is"), "{error}");
    /// ```
    pub fn memory(self, limit: MemoryLimit) -> Self {
        self.with(|settings| settings.memory = Some(limit))
    }

    /// Follows some LPs: they tell what their processes do, in the order of their events. Default
    /// none. What they tell is in [`RunRecord::told`](crate::record::RunRecord::told), and in the
    /// charts of the report.
    ///
    /// ```
    /// # use warpline::{prelude::*, record::Deed};
    /// use warpline::LpChoice;
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 4 }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(lp.id(), 1.5, ()); }
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     lp.tell("Ann", Deed::Does, "comes in");
    /// }
    /// # }
    /// let run = Simulation::new(Shop).follow(LpChoice::ids([2])).run()?;
    /// let told: Vec<String> = run.record.told.iter().map(|told| format!("{} {told}", told.time)).collect();
    /// assert_eq!(told, ["1.5 Ann comes in"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn follow(self, lps: LpChoice) -> Self {
        self.with(|settings| settings.follow = Some(lps))
    }

    /// The most that a followed LP tells. Default 1000.
    ///
    /// ```
    /// # use warpline::{prelude::*, record::Deed};
    /// use warpline::LpChoice;
    /// # struct Clock;
    /// # impl Model for Clock {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.0, ()); }
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     lp.tell("the clock", Deed::Does, "ticks");
    ///     lp.send(0, 1.0, ());
    /// }
    /// # }
    /// let run = Simulation::new(Clock).follow(LpChoice::all()).follow_limit(5).end(100.0).run()?;
    /// assert_eq!(run.record.told.len(), 5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn follow_limit(self, deeds: u32) -> Self {
        self.with(|settings| settings.follow_limit = Some(deeds))
    }

    /// Calls a function with everything that followed LPs tell, once it has committed, in the
    /// order of their events: also in a run that fails later. It is called in a thread of the run.
    ///
    /// ```
    /// # use warpline::{prelude::*, record::Deed};
    /// use std::sync::{Arc, Mutex};
    /// use warpline::LpChoice;
    /// # struct Shop;
    /// # impl Model for Shop {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, lp: &mut Init<Self>) { lp.send(0, 1.5, ()); }
    /// fn handle(&self, _: &mut (), _: &(), lp: &mut Context<Self>) {
    ///     lp.tell("Ann", Deed::Does, "comes in");
    ///     lp.send(0, -1.0, ()); // the next event fails
    /// }
    /// # }
    /// let heard = Arc::new(Mutex::new(Vec::new()));
    /// let hears = heard.clone();
    /// let run = Simulation::new(Shop).follow(LpChoice::all()).on_told(move |told| hears.lock().unwrap().push(told.to_string()));
    /// assert!(run.run().is_err());
    /// assert!(heard.lock().unwrap().is_empty(), "the event that told it has failed");
    /// ```
    pub fn on_told(mut self, hears: impl Fn(&Told) + Send + Sync + 'static) -> Self {
        self.job.hearer = Some(Hearer::new(hears));
        self
    }
}
