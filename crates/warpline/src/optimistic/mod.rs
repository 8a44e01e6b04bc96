//! The parallel engines, optimistic and conservative: their PEs, the threads that step them, and the run that all of them add up to.

mod balance;
mod board;
mod cluster;
mod ending;
mod homes;
mod merge;
mod monitor;
mod record;
mod threads;
mod trace;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::{Map, Value};
use warpline_base::record::Phases;
use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_kernel::gvt::{Algorithm, AnyGvt, Gvt, Hierarchy};
use warpline_kernel::pending::{AnyPending, Heap, Ladder, PendingSet};
use warpline_kernel::{
    Delays, Event, Lanes, Partition, Parts, Pe, Port, Position, Rule, Shortest, Task, TraceLimits, Tuning, Undoing, Window, balance,
};
use warpline_memory::{Buffers, Exhausted, Pool, buffers};
use warpline_model::engine::Limits;
use warpline_model::{Context, Model, Statistics};
use warpline_transport::{AnyPort, ControlPlan, VirtualCluster, inbox_ports, ring_ports};

use self::merge::RowMerge;
use self::monitor::LoopMonitor;
pub(crate) use self::record::add as add_record;
use self::threads::Seating;
use self::trace::{TraceFile, TraceHeader};
use crate::check::RunSpec;
use crate::choice::{Choice, Engine};
use crate::error::{Failure, panic_message};
use crate::job::{ForTests, Job};
use crate::kinds::Kinds;
use crate::rows::Rows;
use crate::run_monitor::RunMonitor;
use crate::run_state::{ParallelSegment, RunState, SegmentEnd, Share};
use crate::settings::{THREADS_MOST, batch_for};
use crate::{Barrier, Conservative, Error, GoAhead, GvtAlgorithm, Pending, Place, Settings, Synchronisation, TraceSummary, Undo, Wire};

/// Idle steps before a PE asks for GVT although bounds should have moved by then.
const PATIENCE: u32 = 512;
/// The most events that a PE may have executed and not committed, in GVT intervals, or in batches if these are larger: a batch must never
/// fill the history, or PEs might undo all that they have executed again and again.
const INTERVALS_MOST: u64 = 16;
/// The largest payload, in bytes, with which a certain event is faster by value: it is copied into the ring and out of it.
const VALUE_BYTES_MOST: usize = 512;
/// With more PEs than this, there are inboxes in place of rings: all rings to and from a PE take about 100 kB then, and twice as many PEs
/// would take four times as much memory.
const RINGS_MOST: u32 = 32;
/// The sizes of groups of PEs in virtual clusters.
const CLUSTER_GROUPS: [u32; 3] = [1, 4, 16];

/// All settings of a parallel run, with the defaults filled in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParallelConfig {
    pub(crate) pes: u32,
    pub(crate) tuning: Tuning,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) barrier: Barrier,
    pub(crate) window: Option<f64>,
    pub(crate) devastator: bool,
    pub(crate) cluster: Option<u64>,
}

impl ParallelConfig {
    /// The parts of all PEs in finding GVT.
    fn gvts(&self, ties: TieBreak) -> Vec<AnyGvt> {
        let algorithm = match (self.gvt, self.barrier) {
            (GvtAlgorithm::Asynchronous, _) => Algorithm::Asynchronous,
            (GvtAlgorithm::Synchronous, Barrier::Tree) => Algorithm::Synchronous,
            (GvtAlgorithm::Synchronous, barrier) => Algorithm::AtBarrier { sleeps: barrier == Barrier::Condvar },
            (GvtAlgorithm::OneSided, _) => Algorithm::OneSided,
            (GvtAlgorithm::Gsu, _) => Algorithm::Gsu,
        };
        AnyGvt::all(algorithm, Hierarchy::new(self.pes, self.group()), ties)
    }

    /// How many PEs are close to each other: those that take turns in one thread; in a virtual cluster, as its seed says.
    fn group(&self) -> u32 {
        match self.cluster {
            None => self.pes.div_ceil(cores()),
            Some(seed) => CLUSTER_GROUPS[(seed % CLUSTER_GROUPS.len() as u64) as usize],
        }
    }

    /// How PEs tell each other about GVT.
    fn controls(&self, gvts: &[AnyGvt]) -> ControlPlan {
        ControlPlan { neighbours: gvts.iter().map(Gvt::neighbours).collect(), one_sided: self.gvt == GvtAlgorithm::OneSided }
    }
}

/// What is settled about a parallel segment before it begins.
pub(crate) struct ParallelPlan {
    settings: Settings,
    config: ParallelConfig,
    partition: Partition,
    delays: Delays,
}

/// What each PE begins with.
struct Start<M: Model> {
    statistics: Vec<Statistics>,
    /// LPs and events of an engine before; none if LPs have yet to be initialised.
    shares: Vec<Share<M>>,
}

/// What PEs have in common.
struct Plan<'m, M: Model> {
    task: Task<'m, M>,
    config: ParallelConfig,
    seed: u64,
    limits: &'m Limits,
    /// The limits of the trace, if there is to be one.
    trace: Option<TraceLimits>,
}

/// Where memory ran out, and which.
#[derive(Clone, Copy, Debug)]
struct OutOfMemory {
    /// `None` for the thread that watches the PEs.
    place: Option<Position>,
    why: Exhausted,
}

/// What the PEs leave when their loops have ended, and where memory ran out, if it did.
struct LoopOutcome<M: Model> {
    parts: Vec<Parts<M>>,
    /// Events for the engine that is to go on, if one is.
    pending: Vec<Pool<Event<M::Event>>>,
    failure: Moment,
    committed: u64,
    full: Option<OutOfMemory>,
    rows: Rows,
    merge: RowMerge,
    /// When all LPs had been initialised.
    looped: Instant,
    /// When the last event had been executed.
    ended: Instant,
    window: f64,
    /// Where the PEs ended, if early.
    cut_short: Option<VirtualTime>,
    /// Whether another engine is to go on from there.
    goes_on: bool,
    /// How often a PE was given to another thread.
    moved: u64,
}

/// How many cores there are for the process.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// Whether this many conservative PEs should advance in windows: if they take turns on fewer cores, as each of them then executes more per
/// turn, and if all least delays between them are equal, as each window is as long as the shortest. PEs with cores of their own would wait
/// for the slowest in every window.
fn windows_suit(pes: u32, cores: u32, delays: &Delays) -> bool {
    pes > cores && delays.are_equal()
}

/// Chooses between windows and free-running PEs, if that was left to the engine.
fn choose_way(settings: &mut Settings, config: &mut ParallelConfig, delays: &Delays) {
    if config.tuning.lanes != Lanes::Certain {
        return;
    }
    // A virtual cluster has one thread.
    let cores = if config.cluster.is_some() { 1 } else { cores() };
    let way = match settings.conservative() {
        Conservative::Auto if windows_suit(config.pes, cores, delays) => Conservative::Windows,
        Conservative::Auto => Conservative::FreeRunning,
        given => given,
    };
    settings.conservative = Some(way);
    config.tuning.windows = way == Conservative::Windows;
}

/// How events with payloads of this size travel between PEs.
fn wire_for(wire: Wire, payload_bytes: usize) -> warpline_kernel::Wire {
    match wire {
        Wire::Auto if payload_bytes > VALUE_BYTES_MOST => warpline_kernel::Wire::Shared,
        Wire::Auto => warpline_kernel::Wire::Both,
        Wire::Value => warpline_kernel::Wire::Value,
        Wire::Shared => warpline_kernel::Wire::Shared,
    }
}

/// An empty pending set of this kind.
fn any(pending: Pending) -> AnyPending {
    match pending {
        Pending::Ladder => AnyPending::Ladder(Ladder::default()),
        Pending::Heap => AnyPending::Heap(Heap::default()),
    }
}

impl<M: Model> Job<M> {
    /// Fills in the settings that were left to the engine, for the record, and translates all of them for the kernel.
    pub(crate) fn choose(&self, settings: &mut Settings, limits: &Limits) -> ParallelConfig {
        let pes = settings.threads.unwrap_or_else(cores).min(limits.lps).min(THREADS_MOST);
        settings.threads = Some(pes);
        let batch = *settings.batch.get_or_insert(batch_for(pes));
        let undoing = match settings.undo() {
            Undo::Copy => Undoing::Copy { interval: settings.copy_interval() },
            Undo::Reverse => Undoing::Reverse,
        };
        let tuning = Tuning {
            batch,
            kps: settings.kps(),
            gvt_interval: settings.gvt_interval(),
            patience: PATIENCE,
            history_most: INTERVALS_MOST * u64::from(settings.gvt_interval().max(batch)),
            undoing,
            lanes: match settings.sync {
                Some(Synchronisation::Conservative) => Lanes::Certain,
                _ if settings.use_lookahead() => Lanes::Both,
                _ => Lanes::Ahead,
            },
            go_ahead: match settings.go_ahead() {
                GoAhead::Auto => warpline_kernel::GoAhead::Auto,
                GoAhead::Always => warpline_kernel::GoAhead::Always,
            },
            wire: wire_for(settings.wire(), size_of::<M::Event>()),
            // Chosen when least delays are known.
            windows: false,
        };
        if settings.barrier.is_some() {
            settings.gvt.get_or_insert(GvtAlgorithm::Synchronous);
        }
        let (gvt, barrier, window, cluster) = (settings.gvt(), settings.barrier(), settings.window, settings.virtual_cluster);
        ParallelConfig { pes, tuning, gvt, barrier, window, devastator: self.for_tests.devastator, cluster }
    }

    /// How many PEs there are if nothing else is said.
    pub(crate) fn pes(&self, limits: &Limits) -> u32 {
        self.settings.threads.unwrap_or_else(cores).min(limits.lps).min(THREADS_MOST)
    }

    /// See [`Simulation::least_delay`](crate::Simulation::least_delay).
    pub(crate) fn least_delay(&self) -> Result<f64, Error> {
        let limits = self.check()?.limits;
        let pes = self.pes(&limits);
        let between = |partition| Delays::of(&limits.lookahead, &partition).least();
        if pes == 1 { Ok(limits.lookahead.least()) } else { self.partition(&limits, pes).map(between) }
    }

    /// Whether conservative PEs, of this number, can be used.
    pub(crate) fn may_wait(&self, spec: &RunSpec, pes: u32) -> bool {
        let engine = Engine { sync: Synchronisation::Conservative, pes };
        self.plan(engine.into(), spec, None).is_ok()
    }

    /// The engines that may be used beside the sequential one if the choice is left to us, each with the least delay between its PEs: with
    /// as many PEs as there are threads, half as many, and so on.
    pub(crate) fn engines(&self, spec: &RunSpec) -> Result<Vec<(Engine, f64)>, Error> {
        let (mut engines, mut pes) = (Vec::new(), self.pes(&spec.limits));
        while pes > 1 {
            let least = match spec.limits.lookahead.is_uniform() {
                true => spec.limits.lookahead.least(),
                false => Delays::of(&spec.limits.lookahead, &self.partition(&spec.limits, pes)?).least(),
            };
            let engine = |sync| (Engine { sync, pes }, least);
            if least > 0.0 && self.settings.use_lookahead() {
                engines.push(engine(Synchronisation::Conservative));
            }
            engines.push(engine(Synchronisation::Optimistic));
            pes /= 2;
        }
        Ok(engines)
    }

    /// What a segment on this engine needs to know beforehand, if the engine is parallel.
    ///
    /// # Errors
    /// If it is conservative and there is no lookahead, or the model panics.
    pub(crate) fn plan(
        &self,
        Choice { engine, batch }: Choice,
        spec: &RunSpec,
        state: Option<&RunState<M>>,
    ) -> Result<Option<ParallelPlan>, Error> {
        if engine.is_sequential() {
            return Ok(None);
        }
        let mut settings = Settings { sync: Some(engine.sync), threads: Some(engine.pes), ..self.settings.clone() };
        if let Some(batch) = batch {
            settings.batch.get_or_insert(batch);
            settings.gvt_interval.get_or_insert(batch);
        }
        let mut config = self.choose(&mut settings, &spec.limits);
        let known = state.and_then(|state| self.partition_by(&spec.limits, config.pes, &state.weights()));
        // With other blocks, there may be no lookahead between them.
        let known = known.filter(|partition| self.check_conservative(&config, &spec.limits, partition).is_ok());
        let partition = known.map_or_else(|| self.partition(&spec.limits, config.pes), Ok)?;
        self.check_conservative(&config, &spec.limits, &partition)?;
        let delays = Delays::of(&spec.limits.lookahead, &partition);
        choose_way(&mut settings, &mut config, &delays);
        Ok(Some(ParallelPlan { settings, config, partition, delays }))
    }

    /// Runs a segment of a run in parallel: to the end, or until it is ended early or is to go on with another engine.
    pub(crate) fn run_in_parallel(
        &self,
        spec: &RunSpec,
        plan: ParallelPlan,
        mut state: RunState<M>,
        monitor: &mut RunMonitor<'_>,
    ) -> Result<SegmentEnd<M>, Error> {
        let ParallelPlan { mut settings, config, partition, delays } = plan;
        let (end, ties, looped) = (spec.end, spec.ties, Instant::now());
        let file = settings.trace.as_deref().map(TraceFile::create).transpose()?;
        let trace_bytes = u64::from(settings.trace_limit()) * 1_000_000;
        let trace = file.is_some().then(|| trace::limits(looped, config.pes, spec.limits.lps, trace_bytes));
        let is_new = state.is_new();
        if is_new {
            monitor.begin_loop(looped);
        }
        let empty = if is_new { state.statistics.clone() } else { self.statistics(spec) };
        let mut statistics = vec![empty; config.pes as usize];
        state.statistics.share_open_levels(&mut statistics, |lp| partition.pe(lp) as usize);
        let shares = if is_new { Vec::new() } else { state.take_shares(&partition) };
        let roles = spec.kinds.roles.clone();
        let task = Task { model: &*self.model, partition, ties, end, delays, roles };
        let plan = Plan { task, config, seed: settings.seed(), limits: &spec.limits, trace };
        let RunState { from, committed, rows, statistics: before, .. } = state;
        let watch = LoopMonitor { run: monitor, looped, from, until: end, committed, rows, merge: RowMerge::new(ties) };
        let mut outcome = self.drive(&plan, Start { statistics, shares }, watch, settings.pending())?;
        let traced = file.map(|file| self.write_trace(file, &mut outcome, ties));
        let engine_settings = |window| {
            settings.sync = self.settings.sync;
            let mut engine = self.engine_settings(&settings, true, &spec.limits, ties);
            record::add_settings(&mut engine, &config, window);
            engine
        };
        self.end_segment(outcome, (before, committed), end, traced, is_new, engine_settings)
    }

    /// Makes the PEs, and steps them until they are done.
    fn drive(&self, plan: &Plan<'_, M>, start: Start<M>, watch: LoopMonitor<'_, '_>, pending: Pending) -> Result<LoopOutcome<M>, Error> {
        let config = plan.config;
        let gvts = config.gvts(plan.task.ties);
        let controls = config.controls(&gvts);
        let ForTests { crowded, restless, .. } = self.for_tests;
        let seating = Seating { crowded, moves: self.settings.move_pes(), measured: !watch.run.chooser.is_fixed(), restless };
        // What counts for speed has code of its own. All the rest shares some, as every model is compiled into it.
        match config.cluster {
            None if config.pes <= RINGS_MOST && pending == Pending::Ladder => {
                threads::drive(plan.pes(start, gvts, ring_ports(&controls), Ladder::default), watch, seating)
            }
            None => {
                let ports: Vec<AnyPort<M::Event>> = if config.pes <= RINGS_MOST {
                    ring_ports(&controls).into_iter().map(|port| AnyPort::Ring(Box::new(port))).collect()
                } else {
                    inbox_ports(&controls).into_iter().map(|port| AnyPort::Inbox(Box::new(port))).collect()
                };
                threads::drive(plan.pes(start, gvts, ports, || any(pending)), watch, seating)
            }
            Some(seed) => {
                let (cluster, ports) = VirtualCluster::new(config.pes, seed);
                cluster::drive(plan.pes(start, gvts, ports.into_iter().map(AnyPort::Virtual), || any(pending)), cluster, watch)
            }
        }
    }

    /// An optimistic run is mixed if some LPs are conservative, unless it was asked for.
    pub(crate) fn mix(&mut self, asked: bool, kinds: &Kinds) -> Result<(), Error> {
        if self.settings.sync != Some(Synchronisation::Optimistic) || kinds.conservative == 0 {
            return Ok(());
        }
        if asked {
            let (name, lps) = (&self.name, kinds.conservative);
            return Err(Error::Setting(format!(
                "in an optimistic run every LP goes ahead, but {lps} of model `{name}` are conservative: use --sync mixed, or \
                 --conservative-lps none if they can stand it"
            )));
        }
        self.settings.sync = self.settings.sync.map(|sync| kinds.mixed(sync));
        Ok(())
    }

    /// Without lookahead between them, conservative PEs would wait for each other for ever.
    fn check_conservative(&self, config: &ParallelConfig, limits: &Limits, partition: &Partition) -> Result<(), Error> {
        let waits = config.tuning.lanes == Lanes::Certain && config.pes > 1;
        if waits && !self.settings.use_lookahead() {
            return Err(Error::Setting(
                "conservative synchronisation needs lookahead: use --sync optimistic, or leave --use-lookahead at yes".into(),
            ));
        }
        let shortest = if waits { Shortest::of(&limits.lookahead, partition) } else { None };
        let Some(Shortest { from, to, delay: 0.0 }) = shortest else { return Ok(()) };
        let place = |lp| format!("{lp} (on PE {})", partition.pe(lp));
        let (link, advice) = match to {
            _ if limits.lookahead.is_uniform() => (String::new(), "declare the least delay between two LPs in Model::lookahead".into()),
            None => {
                let advice = "declare its least delay in Model::lookahead_of, or where it sends in Model::links".into();
                (format!(" from {} to any other LP", place(from)), advice)
            }
            Some(to) => {
                let advice = format!("declare its least delay in Model::links, or number LPs so that {from} and {to} are on the same PE");
                (format!(" from {} to {}", place(from), place(to)), advice)
            }
        };
        Err(Error::Setting(format!(
            "model `{}` has no lookahead{link}, and without it conservative threads cannot work at the same time: use --sync optimistic, or \
             {advice}",
            self.name
        )))
    }

    /// Shares the LPs out by the weights and the distances that the model declares.
    pub(crate) fn partition(&self, limits: &Limits, pes: u32) -> Result<Partition, Error> {
        let (model, name) = (&*self.model, &self.name);
        let shared = catch_unwind(AssertUnwindSafe(|| Partition::weighted(limits.lps, pes, &limits.lookahead, |lp| model.weight(lp))));
        let shared = shared.map_err(|panic| {
            Error::Setting(format!("model `{name}` panicked when it was asked for the weights of its LPs: {}", panic_message(panic)))
        })?;
        shared.map_err(|(lp, weight)| {
            Error::Setting(format!("model `{name}` declares the weight {weight} of {lp}: it must be a finite number, zero or more"))
        })
    }

    /// Shares the LPs out by what they have been doing so far, if that is known.
    fn partition_by(&self, limits: &Limits, pes: u32, weights: &[f64]) -> Option<Partition> {
        let weight = |lp: LpId| weights.get(lp.index()).copied().unwrap_or_default();
        if weights.is_empty() { None } else { Partition::weighted(limits.lps, pes, &limits.lookahead, weight).ok() }
    }

    /// Writes what the PEs did, also if the run failed.
    fn write_trace(&self, file: TraceFile, outcome: &mut LoopOutcome<M>, ties: TieBreak) -> Result<TraceSummary, Error> {
        let header = TraceHeader { model: &self.name, end: self.end_time(), time_unit: self.time_unit, ties, failure: outcome.failure };
        let mut traces: Vec<_> = outcome.parts.iter_mut().filter_map(|pe| pe.trace.as_deref_mut()).collect();
        file.write(&mut traces, &header)
    }

    /// Merges what the PEs have left into a run that had come `before` them.
    fn end_segment(
        &self,
        outcome: LoopOutcome<M>,
        (mut statistics, before): (Statistics, u64),
        end: VirtualTime,
        traced: Option<Result<TraceSummary, Error>>,
        is_new: bool,
        engine_settings: impl FnOnce(f64) -> Map<String, Value>,
    ) -> Result<SegmentEnd<M>, Error> {
        let LoopOutcome { parts, pending, failure, committed, full, mut rows, mut merge, looped, ended, window, cut_short, goes_on, moved } =
            outcome;
        let committed = before + committed;
        if let Some(OutOfMemory { place, why }) = full {
            return Err(Error::Memory { place, why });
        }
        if failure != Moment::Never {
            merge.emit_through(&failure, &mut rows);
            let _ = rows.finish();
            return Err(self.failure(parts, failure, committed));
        }
        merge.emit_all(&mut rows);
        balance(parts.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
        let by_role = parts.iter().map(|pe| pe.by_role.clone()).collect();
        let parallel = ParallelSegment { record: record::of(&parts), engine: engine_settings(window), traced, by_role, moved };
        parts.iter().for_each(|pe| statistics.merge(&pe.statistics));
        let costs = if goes_on { costs(&parts) } else { Vec::new() };
        let lps = parts.into_iter().map(|pe| pe.lps).collect();
        let state = RunState { from: cut_short.unwrap_or(end), lps, pending, committed, statistics, rows, costs };
        Ok(SegmentEnd { state, cut_short, goes_on, looped: is_new.then_some(looped), ended, parallel: Some(parallel) })
    }

    fn failure(&self, parts: Vec<Parts<M>>, moment: Moment, committed: u64) -> Error {
        let failed = parts.into_iter().filter_map(|pe| pe.failure).find(|failed| failed.moment == moment);
        let failed = failed.expect("a PE that failed says where");
        let (lp, time) = (failed.lp, failed.time.get());
        let place = match (failed.event, moment) {
            (Some(event), _) => Place::Event { lp, time, event },
            (None, Moment::Finish(_)) => Place::Finish(lp),
            (None, _) => Place::Init(lp),
        };
        Error::Fault(Box::new(Failure { model: self.name.clone(), place, time, fault: failed.fault, committed }))
    }
}

/// By LP: the seconds that a committed event cost its PE.
fn costs<M: Model>(parts: &[Parts<M>]) -> Vec<f32> {
    let cost = |pe: &Parts<M>| {
        let Phases { event_processing, pending_set, send, .. } = pe.phases;
        ((event_processing + pending_set + send) / pe.counts.processed.max(1) as f64) as f32
    };
    // A PE that was hardly measured does not count.
    let least = parts.iter().map(cost).filter(|cost| *cost > 0.0).fold(f32::INFINITY, f32::min);
    parts.iter().flat_map(|pe| std::iter::repeat_n(cost(pe).max(least), pe.lps.len())).collect()
}

impl<'m, M: Model> Plan<'m, M> {
    fn pes<Q: PendingSet, P: Port<M::Event>>(
        &self,
        start: Start<M>,
        gvts: Vec<AnyGvt>,
        ports: impl IntoIterator<Item = P>,
        pending: impl Fn() -> Q,
    ) -> Vec<Pe<'m, M, Q, P>> {
        let Plan { task, config, limits, .. } = self;
        let rule = match config.window {
            Some(width) => Rule::Fixed(width),
            None if config.devastator => Rule::Devastator,
            None => Rule::Adaptive,
        };
        let saving = config.tuning.undoing == Undoing::Reverse;
        // PEs that send each other nothing may go on without limit.
        let least = task.delays.least().min(f64::MAX);
        let mut shares = start.shares.into_iter();
        let make = |(((buffers, port), gvt), statistics): (((Buffers<_>, P), AnyGvt), Statistics)| {
            let window = Window::new(rule, task.end, least, config.pes);
            let context = Context::with_limits((*limits).clone(), self.seed, saving);
            let mut pe = Pe::new(task, config.tuning, (buffers, port, pending()), gvt, window, context, statistics);
            self.trace.into_iter().for_each(|limits| pe.trace(limits));
            if let Some(Share { lps, pending }) = shares.next() {
                pe.take_over(lps, pending);
            }
            pe
        };
        buffers(config.pes).into_iter().zip(ports).zip(gvts).zip(start.statistics).map(make).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_stay_where_they_are() {
        use warpline_kernel::Wire::{Both, Shared, Value};
        assert_eq!([0, VALUE_BYTES_MOST, VALUE_BYTES_MOST + 1].map(|bytes| wire_for(Wire::Auto, bytes)), [Both, Both, Shared]);
        assert_eq!([Wire::Value, Wire::Shared].map(|wire| wire_for(wire, 10 * VALUE_BYTES_MOST)), [Value, Shared]);
        assert_eq!([Wire::Value, Wire::Shared].map(|wire| wire_for(wire, 0)), [Value, Shared]);
    }

    #[test]
    fn windows_suit_pes_that_take_turns() {
        let suit = |pes, cores| windows_suit(pes, cores, &Delays::uniform(0.5));
        assert_eq!([(1, 8), (2, 2), (8, 8), (2, 1), (9, 8)].map(|(pes, cores)| suit(pes, cores)), [false, false, false, true, true]);
    }
}
