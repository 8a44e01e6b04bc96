use std::path::PathBuf;

use warpline_model::Model;

use crate::{
    Barrier, BufferPool, Cancellation, Conservative, CopyInterval, FossilCollection, GoAhead,
    GvtAlgorithm, GvtIntervalControl, GvtStart, Horizon, LpChoice, MachineScale, Mailbox, Messages,
    PoolOrder, Simulation, SubPool,
};

/// # Settings of parallel runs
/// None of them changes the answer, and each has an automatic default. Setting any of them but
/// [`threads`](Self::threads) to 1 asks for a parallel run, unless [`sync`](Self::sync) says
/// otherwise; a run that is told to be sequential refuses them.
/// [`Settings::table`](crate::Settings::table) says for each when it hurts.
///
/// ```
/// # use warpline::prelude::*;
/// use warpline::GvtAlgorithm;
/// # use warpline_testkit::examples::Hops;
/// let sequential = Simulation::new(Hops).end(20.0).run()?;
/// let simulation = Simulation::new(Hops).end(20.0).threads(2);
/// let parallel = simulation.batch(16).kps(10).gvt(GvtAlgorithm::Asynchronous).gvt_interval(500).window(3.0).copy_interval(4).run()?;
/// assert_eq!(parallel.record.digest, sequential.record.digest);
/// assert_eq!(parallel.states, sequential.states);
/// # Ok::<(), Error>(())
/// ```
impl<M: Model> Simulation<'_, M> {
    /// The number of processing elements (PEs): event loops with a share of the LPs each. Each has
    /// a thread of its own as far as there are cores; further ones take turns within a thread, as
    /// the operating system would switch between threads more slowly. More than one means a
    /// parallel run, unless [`sync`](Self::sync) says which. Default: the cores that the process
    /// may use. From 1 to 262144; with fewer LPs than that, as many as there are LPs.
    pub fn threads(self, threads: u32) -> Self {
        self.with(|settings| settings.threads = Some(threads))
    }

    /// The most events that a PE executes in one step, before it looks at its messages again. At
    /// least 1.
    pub fn batch(self, events: u32) -> Self {
        self.with(|settings| settings.batch = Some(events))
    }

    /// The number of kernel processes (KPs), groups of LPs that roll back together, in each PE. At
    /// least 1; an upper bound, as all KPs but the last have the same size.
    pub fn kps(self, kps: u32) -> Self {
        self.with(|settings| settings.kps = Some(kps))
    }

    /// How events travel between PEs; by default [as suits each event](Messages::Auto). PEs that
    /// share no memory copy all of them, but keep no copies of their own unless told to.
    ///
    /// One copy that both sides share, and copies in the queue to compare it with, are from D.
    /// Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization of parallel discrete event simulator
    /// for multi-core systems", IPDPS 2012.
    pub fn messages(self, messages: Messages) -> Self {
        self.with(|settings| settings.messages = Some(messages))
    }

    /// Where messages between threads wait until their PE receives them. By default in a ring for
    /// each sender, or, with more than 32 PEs, in a queue for each PE.
    ///
    /// The queue under a lock is that of D. Jagtap, N. Abu-Ghazaleh and D. Ponomarev, "Optimization
    /// of parallel discrete event simulator for multi-core systems", IPDPS 2012, and the ring for
    /// each sender what they replaced it by; the ring with compare-and-swap is the buffer of B.
    /// Williams, A. Eker, K. Chiu and D. Ponomarev, "High-performance PDES on manycore clusters",
    /// SIGSIM-PADS 2021. How often senders were refused there is in the record, as `mailbox`.
    pub fn mailbox(self, mailbox: Mailbox) -> Self {
        self.with(|settings| settings.mailbox = Some(mailbox))
    }

    /// From whose pool a buffer for a message between PEs is taken, and to whose it returns when it
    /// is free; by default [partitioned](BufferPool::Partitioned). The three are those of R.
    /// Fujimoto and K. Panesar, "Buffer management in shared-memory Time Warp systems", PADS 1995.
    pub fn pool(self, pool: BufferPool) -> Self {
        self.with(|settings| settings.pool = Some(pool))
    }

    /// Which free buffer of a pool is used next; by default the one that was [freed
    /// last](PoolOrder::Lifo).
    pub fn pool_order(self, order: PoolOrder) -> Self {
        self.with(|settings| settings.pool_order = Some(order))
    }

    /// How many buffers a PE of an optimistic run may have for messages to each other PE, where
    /// pools are [partitioned](BufferPool::Partitioned). By default as many as it takes.
    ///
    /// An event that is executed ahead and would need more is undone. Its PE then executes nothing
    /// ahead until buffers have come back, once others have received and committed what was sent.
    /// Certain events and the event at GVT may take more, so that every run comes to an end.
    /// `parked_events` in the record says how often events had to wait.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::SubPool;
    /// # use warpline_testkit::examples::Hops;
    /// let free = Simulation::new(Hops).end(20.0).threads(2).run()?;
    /// let limited = Simulation::new(Hops).end(20.0).threads(2).sub_pool(SubPool::Fixed(4)).run()?;
    /// assert_eq!(limited.record.digest, free.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sub_pool(self, buffers: SubPool) -> Self {
        self.with(|settings| settings.sub_pool = Some(buffers))
    }

    /// When the memory of executed events goes back to its pool: by default when they
    /// [commit](FossilCollection::Batch).
    ///
    /// [On the fly](FossilCollection::OnTheFly) is after Fujimoto and Panesar as well. In their
    /// system a buffer may be used again when GVT has passed its event. Here an event before GVT
    /// still has to commit, as only then its observations and rows count. So the stamp of a buffer
    /// is the place of its event in the order of execution, and a commit says up to which place all
    /// is over. A payload that has to be dropped is dropped when its event commits, as a panic in
    /// that belongs to the event. Events that arrived by value go back when they commit.
    pub fn fossil_collection(self, when: FossilCollection) -> Self {
        self.with(|settings| settings.fossil_collection = Some(when))
    }

    /// How the PEs of a [conservative](crate::Synchronisation::Conservative) run advance: in
    /// windows, all in step, or each as far as it may. By default the engine chooses, and the
    /// record says which. Other runs refuse the setting.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::{Conservative, Synchronisation};
    /// # use warpline_testkit::examples::Ring;
    /// let simulation = || Simulation::new(Ring).sync(Synchronisation::Conservative).threads(2);
    /// let windows = simulation().conservative(Conservative::Windows).run()?;
    /// let free_running = simulation().conservative(Conservative::FreeRunning).run()?;
    /// assert_eq!((&windows.record.engine["conservative"], windows.record.digest), (&"windows".into(), free_running.record.digest));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn conservative(self, way: Conservative) -> Self {
        self.with(|settings| settings.conservative = Some(way))
    }

    /// Which LPs of a [mixed](crate::Synchronisation::Mixed) run wait until their events are
    /// certain, while others go ahead. By default those that the [model
    /// declares](Model::is_conservative). It means a mixed run.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::LpChoice;
    /// # struct Hops;
    /// # impl Model for Hops {
    /// #     type State = u64; type Event = ();
    /// #     fn lps(&self) -> u32 { 100 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u64 { lp.send(lp.id(), 1.0, ()); 0 }
    /// #     fn handle(&self, seen: &mut u64, _: &(), lp: &mut Context<Self>) {
    /// #         *seen += 1;
    /// #         let to = lp.random().below(100);
    /// #         let delay = 1.0 + lp.random().exponential(1.0);
    /// #         lp.send(to, delay, ());
    /// #     }
    /// # }
    /// let run = Simulation::new(Hops).end(20.0).threads(2).conservative_lps(LpChoice::ids([7, 8])).run()?;
    /// assert_eq!(run.record.engine["sync"], "mixed");
    /// let [_, waiting] = &run.record.kinds[..] else { panic!() };
    /// assert_eq!((waiting.conservative, waiting.lps, waiting.rolled_back_events), (true, 2, 0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn conservative_lps(self, lps: LpChoice) -> Self {
        self.with(|settings| settings.conservative_lps = Some(lps))
    }

    /// How global virtual time (GVT) is found.
    pub fn gvt(self, algorithm: GvtAlgorithm) -> Self {
        self.with(|settings| settings.gvt = Some(algorithm))
    }

    /// How PEs meet when GVT is found synchronously. Setting it also selects synchronous GVT,
    /// unless [`gvt`](Self::gvt) says otherwise.
    pub fn barrier(self, barrier: Barrier) -> Self {
        self.with(|settings| settings.barrier = Some(barrier))
    }

    /// About how many events a PE executes before it asks for a new GVT. At least 1. A PE that has
    /// nothing to do asks sooner.
    pub fn gvt_interval(self, events: u32) -> Self {
        self.with(|settings| settings.gvt_interval = Some(events))
    }

    /// Whether this interval stays as it is, or is only the first, and adapts during the run.
    pub fn gvt_interval_control(self, control: GvtIntervalControl) -> Self {
        self.with(|settings| settings.gvt_interval_control = Some(control))
    }

    /// How far beyond GVT events may be executed, in model time; more than 0. By default the engine
    /// adapts it to how much has to be undone. It is a limit: PEs that undo far more than they
    /// commit stay closer together, and `throttle` in the record says so.
    pub fn window(self, time: f64) -> Self {
        self.with(|settings| settings.window = Some(time))
    }

    /// When what an undone event had sent is cancelled. At once, by default: [`Cancellation::Lazy`]
    /// waits until the event has been executed again, and cancels only what was not sent again,
    /// which needs events that can be [compared](macro@crate::model). It pays where events that are
    /// undone mostly send the same again; [`Cancellation::Dynamic`] lets each PE find that out.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::Cancellation;
    /// # use warpline_testkit::examples::Hops;
    /// let lazy = Simulation::new(Hops).end(20.0).threads(2).cancellation(Cancellation::Lazy).run()?;
    /// assert_eq!(lazy.record.digest, Simulation::new(Hops).end(20.0).run()?.record.digest);
    /// let costs = lazy.record.parallel.unwrap();
    /// assert_eq!(costs.kept_messages, costs.sent_again + costs.cancelled_late);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cancellation(self, when: Cancellation) -> Self {
        self.with(|settings| settings.cancellation = Some(when))
    }

    /// Under [`Undo::Copy`](crate::Undo::Copy), the number of events of an LP between copies of its
    /// state, at least 1. Events in between are undone by executing others again from the previous
    /// copy. Larger intervals suit large states; `repeated_events` in the record says how many
    /// events were executed again. By default [each PE finds out](CopyInterval::Auto) what pays.
    ///
    /// A copy is renewed after 1024 events of its PE, so that a PE with many LPs makes more copies
    /// than asked for.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::CopyInterval;
    /// # struct Hops;
    /// # impl Model for Hops {
    /// #     type State = Vec<u64>; type Event = ();
    /// #     fn lps(&self) -> u32 { 100 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> Vec<u64> { lp.send(lp.id(), 1.0, ()); vec![0; 100] }
    /// #     fn handle(&self, seen: &mut Vec<u64>, _: &(), lp: &mut Context<Self>) {
    /// #         seen[0] += 1;
    /// #         let to = lp.random().below(100);
    /// #         let delay = lp.random().exponential(1.0);
    /// #         lp.send(to, delay, ());
    /// #     }
    /// # }
    /// let simulation = || Simulation::new(Hops).end(20.0).threads(2);
    /// let four = simulation().copy_interval(4).run()?;
    /// let auto = simulation().copy_interval(CopyInterval::Auto).run()?;
    /// assert_eq!(four.record.digest, auto.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn copy_interval(self, events: impl Into<CopyInterval>) -> Self {
        self.with(|settings| settings.copy_interval = Some(events.into()))
    }

    /// Whether the model's [lookahead](warpline_model::Model::lookahead) is used. Default yes:
    /// events within the lookahead are certain, and are executed without the means to undo them.
    /// Without it everything is speculation, for studies of Time Warp alone.
    pub fn use_lookahead(self, used: bool) -> Self {
        self.with(|settings| settings.use_lookahead = Some(used))
    }

    /// What tells PEs how far they may execute events for good: the bounds that they publish for
    /// each other, which is the default among few PEs, GVT alone, or both: bounds among PEs that
    /// share memory, and GVT for all others. Conservative runs need GVT again and again then, about
    /// once for each stretch of the model's lookahead.
    ///
    /// Lookahead counts once: GVT is found without it, and PEs go on to GVT plus the least delay. K.
    /// Perumalla, A. Park and V. Tipparaju count it within the reduction (Algorithm 1), which comes
    /// to the same.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// use warpline::{Horizon, Synchronisation};
    /// # use warpline_testkit::examples::Ring;
    /// let simulation = || Simulation::new(Ring).sync(Synchronisation::Conservative).threads(2);
    /// let [by_bounds, by_gvt] = [Horizon::Bounds, Horizon::Gvt].map(|by| simulation().horizon(by).run());
    /// assert_eq!(by_bounds?.record.digest, by_gvt?.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn horizon(self, follows_from: Horizon) -> Self {
        self.with(|settings| settings.horizon = Some(follows_from))
    }

    /// When PEs ask for GVT if [that](Self::horizon) tells them how far they may go.
    pub fn gvt_start(self, when: GvtStart) -> Self {
        self.with(|settings| settings.gvt_start = Some(when))
    }

    /// Whether a PE that begins to find GVT calls its neighbours, which is the default. Otherwise PEs
    /// whose [horizon](Self::horizon) follows from GVT alone begin when they need it themselves.
    pub fn jump_start(self, calls: bool) -> Self {
        self.with(|settings| settings.jump_start = Some(calls))
    }

    /// Whether PEs that are close to each other form groups in reductions of GVT, which is the
    /// default.
    pub fn gvt_groups(self, form: bool) -> Self {
        self.with(|settings| settings.gvt_groups = Some(form))
    }

    /// When events are executed ahead, that is, before they are certain: where waiting would take
    /// longer, which is the default, or whenever nothing certain is left. Conservative runs never
    /// do, and runs that do not [use lookahead](Self::use_lookahead) always.
    pub fn go_ahead(self, when: GoAhead) -> Self {
        self.with(|settings| settings.go_ahead = Some(when))
    }

    /// Whether PEs move to threads that have less to do, or a core to themselves, where there are
    /// more PEs than threads. By default they do, by what the run itself has measured; `moved_pes`
    /// in the record says how often. PEs that find GVT for every few events share one thread if
    /// more commits that way. If the load is uneven, ask for more PEs than there are cores, such as
    /// four for each.
    pub fn move_pes(self, moved: bool) -> Self {
        self.with(|settings| settings.move_pes = Some(moved))
    }

    /// Writes a trace of what every PE did to a file for <https://ui.perfetto.dev> or
    /// `chrome://tracing`. On wall time there is a track for each PE, with its batches, rollbacks,
    /// commits and idle times, and below it GVT, the window, pending and uncommitted events over
    /// time. On virtual time there is a track for each LP, or for every n-th if there are more than
    /// a thousand, with the events that it committed. It is written when the run is over, even if
    /// the model failed.
    ///
    /// However long the run, the file stays within a [limit](Self::trace_limit), 20 MB by default.
    /// Then the spans of a PE are shown in part: the beginning, the end, and in between the
    /// stretches with most time in rollbacks, in commits, or without work; each other stretch is
    /// one span, `left out`, which says from when to when it lasts and sums up what the PE did.
    /// Events are thinned out evenly. File and [`Run::trace`](crate::Run::trace) tell how much was
    /// left out.
    ///
    /// A trace does not change the answer, and takes about a tenth of the run's time; without one
    /// nothing is traced. A sequential run has no PEs, and a run that chooses its engine may be
    /// sequential: both refuse to be traced. [Verification](Self::verify) writes none.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline::Synchronisation;
    /// # use warpline_testkit::examples::Clock;
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let file = directory.join("trace.json");
    /// Simulation::new(Clock).end(10.0).sync(Synchronisation::Optimistic).trace(&file).run()?;
    /// let trace = std::fs::read_to_string(file)?;
    /// assert_eq!(trace.matches(r#""name":"event""#).count(), 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(self, path: impl Into<PathBuf>) -> Self {
        self.with(|settings| settings.trace = Some(path.into()))
    }

    /// The largest size of the [trace](Self::trace)'s file, in MB: default 20; from 4 to 100000.
    /// About half as much memory is needed for it during the run; if it cannot be had, less is
    /// shown.
    pub fn trace_limit(self, megabytes: u32) -> Self {
        self.with(|settings| settings.trace_limit = Some(megabytes))
    }

    /// Runs the PEs on a modelled machine: in this thread, in the order of the machine's time, one
    /// PE on each core. The machine is a profile, such as `cray-xt5`, or a TOML file. The record
    /// [says](crate::record::ParallelRecord::machine) how the run would go there; the answer is that
    /// of any other run.
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # struct Hops;
    /// # impl Model for Hops {
    /// #     type State = u64; type Event = ();
    /// #     fn lps(&self) -> u32 { 100 }
    /// #     fn lookahead(&self) -> f64 { 0.5 }
    /// #     fn init(&self, lp: &mut Init<Self>) -> u64 { lp.send(lp.id(), 1.0, ()); 0 }
    /// #     fn handle(&self, seen: &mut u64, _: &(), lp: &mut Context<Self>) {
    /// #         *seen += 1;
    /// #         let to = lp.random().below(100);
    /// #         let delay = 0.5 + lp.random().exponential(1.0);
    /// #         lp.send(to, delay, ());
    /// #     }
    /// # }
    /// let record = Simulation::new(Hops).end(20.0).machine("cray-xt5").pes(50).run()?.record;
    /// assert_eq!(record.digest, Simulation::new(Hops).end(20.0).run()?.record.digest);
    /// let machine = record.parallel.and_then(|parallel| parallel.machine).unwrap();
    /// assert_eq!((machine.pes, machine.nodes), (50, 5));
    /// assert!(machine.seconds > 0.0 && machine.efficiency < 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn machine(self, machine: impl Into<PathBuf>) -> Self {
        self.with(|settings| settings.machine = Some(machine.into()))
    }

    /// Figures of a [modelled machine](Self::machine) times factors: to see what a prediction depends
    /// on, or for events that cost more than those of its file. By default, they are as they are.
    pub fn machine_scale(self, scale: MachineScale) -> Self {
        self.with(|settings| settings.machine_scale = Some(scale))
    }

    /// How many PEs a [modelled machine](Self::machine) has: by default as many as a node of it has
    /// cores, and never more than LPs.
    pub fn pes(self, pes: u32) -> Self {
        self.with(|settings| settings.pes = Some(pes))
    }

    /// Runs all PEs, as many as there would be [threads](Self::threads), in this thread, in an
    /// order drawn from `seed`, with messages that are late and overtake each other: a torture test
    /// of engine and model, slow and reproducible. Events that go to other PEs by value are written
    /// as bytes and read back, if they [can be](macro@crate::model).
    ///
    /// ```
    /// # use warpline::prelude::*;
    /// # use warpline_testkit::examples::Hops;
    /// let simulation = Simulation::new(Hops).end(20.0).threads(32).virtual_cluster(7);
    /// assert_eq!(simulation.run()?.record.digest, Simulation::new(Hops).end(20.0).run()?.record.digest);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn virtual_cluster(self, seed: u64) -> Self {
        self.with(|settings| settings.virtual_cluster = Some(seed))
    }
}
