//! The optimistic engine: PEs, who steps them, and what comes of them all together.

mod cluster;
mod merge;
mod quiet;
mod record;
mod threads;
mod trace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use warpline_base::record::ProgressSample;
use warpline_base::{Moment, TieBreak};
use warpline_kernel::gvt::{AnyGvt, Asynchronous, Gvt, Synchronous};
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{Lp, Partition, Parts, Pe, Port, Position, Rule, Task, TraceLimits, Tuning, Undoing, Window, balance};
use warpline_memory::{Buffers, PoolFull, buffers};
use warpline_model::engine::Limits;
use warpline_model::{Context, Model, Statistics};
use warpline_transport::{VirtualCluster, ring_ports};

use self::merge::RowMerge;
use self::trace::{About, TraceFile};
use crate::check::Checked;
use crate::conclude::Ended;
use crate::error::{Failure, panic_message};
use crate::finish::Finishing;
use crate::lp;
use crate::rows::Rows;
use crate::{Error, GvtAlgorithm, Place, Progress, Simulation, Undo};

/// The most events of a step, unless told otherwise: enough to pay for a step, which looks into a mailbox per PE, and few enough for
/// messages not to wait long.
const BATCH_PER_PE: u32 = 8;
const BATCH_LEAST: u32 = 32;
const BATCH_MOST: u32 = 128;
/// The most KPs of a PE, unless told otherwise: their table stays in the nearest cache.
const KPS: u32 = 1024;
/// Events of a PE between two computations of GVT, unless told otherwise: with some lookahead most events are certain then.
const GVT_INTERVAL: u32 = 128;
/// The most PEs of a run. Each keeps a mailbox for every other, so that memory grows with the square.
const PES_MOST: u32 = 1024;
/// How many intervals' worth of events a PE may have executed and not committed.
const INTERVALS_MOST: u64 = 64;

/// All settings of a parallel run, chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    pub(crate) pes: u32,
    pub(crate) tuning: Tuning,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) window: Option<f64>,
    pub(crate) devastator: bool,
    pub(crate) cluster: Option<u64>,
}

/// What the PEs of a run have in common.
struct Plan<'m, M: Model> {
    task: Task<'m, M>,
    chosen: Chosen,
    seed: u64,
    limits: Limits,
    statistics: Statistics,
    /// How much of what the PEs do is noted down, if anything.
    trace: Option<TraceLimits>,
}

/// Who steps the PEs has them step until the run is over, and passes rows and progress on meanwhile.
pub(crate) struct Watch<'w> {
    pub(crate) looped: Instant,
    pub(crate) end: f64,
    pub(crate) report: Option<&'w mut dyn FnMut(&Progress)>,
    pub(crate) rows: Rows,
    pub(crate) merge: RowMerge,
}

/// Where memory ran out, and which.
#[derive(Clone, Copy, Debug)]
struct OutOfMemory {
    position: Position,
    why: PoolFull,
}

/// PEs that are done, and where memory ran out, if it did.
struct Driven<M: Model> {
    parts: Vec<Parts<M>>,
    failure: Moment,
    committed: u64,
    full: Option<OutOfMemory>,
    progress: Vec<ProgressSample>,
    rows: Rows,
    merge: RowMerge,
    loop_seconds: f64,
    window: f64,
}

impl<M: Model> Simulation<'_, M> {
    /// Fills in what the user left to the engine.
    pub(crate) fn choose(&self, limits: &Limits) -> Result<Chosen, Error> {
        let parallel = &self.parallel;
        let fail = |what: &str, value: &dyn std::fmt::Display, takes: &str| {
            Err(Error::Setting(format!("{what} cannot be {value}: it takes {takes}")))
        };
        let counts = [
            ("threads", parallel.threads),
            ("the batch", parallel.batch),
            ("the number of KPs", parallel.kps),
            ("the GVT interval", parallel.gvt_interval),
            ("the copy interval", parallel.copy_interval),
        ];
        if let Some((what, _)) = counts.iter().find(|(_, count)| *count == Some(0)) {
            return fail(what, &0, "a whole number, 1 or more");
        }
        if let Some(threads) = parallel.threads.filter(|threads| *threads > PES_MOST) {
            let takes = "1 to 1024, as every thread keeps room for messages from every other; as many as there are cores do best";
            return fail("threads", &threads, takes);
        }
        if let Some(window) = parallel.window.filter(|window| !(*window > 0.0 && *window < f64::INFINITY)) {
            return fail("the window", &window, "a finite model time greater than 0");
        }
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let pes = parallel.threads.unwrap_or_else(cores).min(limits.lps).min(PES_MOST);
        let undoing = match self.undo {
            Undo::Copy => Undoing::Copy { interval: parallel.copy_interval.unwrap_or(1) },
            Undo::Reverse => Undoing::Reverse,
        };
        let gvt_interval = parallel.gvt_interval.unwrap_or(GVT_INTERVAL);
        let tuning = Tuning {
            batch: parallel.batch.unwrap_or((BATCH_PER_PE * pes).clamp(BATCH_LEAST, BATCH_MOST)),
            kps: parallel.kps.unwrap_or(KPS),
            gvt_interval,
            history_most: INTERVALS_MOST * u64::from(gvt_interval),
            undoing,
            lookahead: (!parallel.ignore_lookahead).then_some(limits.lookahead),
        };
        Ok(Chosen { pes, tuning, gvt: parallel.gvt, window: parallel.window, devastator: parallel.devastator, cluster: parallel.cluster })
    }

    pub(crate) fn run_optimistic<Q: PendingSet + Send>(mut self) -> Result<crate::Run<M>, Error> {
        let started = Instant::now();
        let report = self.report.take();
        // Checked first: a model that panics when it is asked for its LPs is found there.
        let Checked { end, declared, ties, limits } = self.check()?;
        let chosen = self.choose(&limits)?;
        let statistics = Statistics::new(declared, self.warmup, self.end);
        let rows = Rows::new(&self.records, &statistics)?;
        let looped = Instant::now();
        let file = self.trace.as_deref().map(TraceFile::create).transpose()?;
        let trace = file.is_some().then(|| trace::limits(looped, chosen.pes, limits.lps));
        let task = Task { model: &self.model, partition: self.partition(limits.lps, chosen.pes)?, ties, end };
        let plan = Plan { task, chosen, seed: self.seed, limits, statistics, trace };
        let watch = Watch { looped, end: self.end, report, rows, merge: RowMerge::new(ties) };
        let driven = match chosen.cluster {
            None => threads::drive(plan.pes::<Q, _>(ring_ports(chosen.pes))?, watch, self.parallel.crowded)?,
            Some(seed) => {
                let (cluster, ports) = VirtualCluster::new(chosen.pes, seed);
                cluster::drive(plan.pes::<Q, _>(ports)?, cluster, watch)
            }
        };
        let traced = file.map_or(Ok(()), |file| self.write_trace(file, &driven, ties));
        let ended = self.end_of(driven, plan, Q::NAME)?;
        let run = self.conclude(started, ended)?;
        Ok(crate::Run { incomplete: run.incomplete.or(traced.err()), ..run })
    }

    /// Shares the LPs out as the model says how much work they are.
    fn partition(&self, lps: u32, pes: u32) -> Result<Partition, Error> {
        let (model, name) = (&self.model, &self.name);
        let shared = catch_unwind(AssertUnwindSafe(|| Partition::weighted(lps, pes, |lp| model.weight(lp))));
        let shared = shared.map_err(|panic| {
            Error::Setting(format!("model `{name}` panicked while it told of the weights of its LPs: {}", panic_message(panic)))
        })?;
        shared.map_err(|(lp, weight)| {
            Error::Setting(format!("model `{name}` declares the weight {weight} of LP {lp}: it must be a finite number, zero or more"))
        })
    }

    /// Writes what the PEs did, also if the run failed.
    fn write_trace(&self, file: TraceFile, driven: &Driven<M>, ties: TieBreak) -> Result<(), Error> {
        let traces: Vec<_> = driven.parts.iter().filter_map(|pe| pe.trace.as_deref()).collect();
        let about = About { model: &self.name, end: self.end, time_unit: self.time_unit, ties, failure: driven.failure };
        file.write(&traces, &about)
    }

    /// Puts together what the PEs did.
    fn end_of(&self, driven: Driven<M>, plan: Plan<'_, M>, pending: &str) -> Result<Ended<M>, Error> {
        let Plan { task: Task { ties, end, .. }, chosen, seed, limits, mut statistics, .. } = plan;
        let Driven { parts, failure, committed, full, progress, mut rows, mut merge, loop_seconds, window } = driven;
        if let Some(OutOfMemory { position: Position { lp, time, pending }, why }) = full {
            return Err(Error::TooManyPending { lp, time, pending: pending as usize, why });
        }
        if failure != Moment::Never {
            merge.emit_through(&failure, &mut rows);
            let _ = rows.finish();
            return Err(self.failure(parts, failure, committed));
        }
        merge.emit_all(&mut rows);
        balance(parts.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
        let parallel = record::of(&parts);
        let (mut states, mut digest) = (Vec::new(), Default::default());
        states.try_reserve_exact(limits.lps as usize).map_err(|_| Error::too_many_lps(limits.lps, size_of::<M::State>()))?;
        for pe in parts {
            statistics.merge(&pe.statistics);
            lp::add_digest(&mut digest, pe.first_lp, pe.lps.iter().map(|lp| (lp.events, lp.history)));
            states.extend(pe.lps.into_iter().map(|lp| lp.state));
        }
        let mut context = Context::with_limits(limits, seed, false);
        let (model, name) = (&self.model, self.name.as_str());
        let finishing = Finishing { model, name, context: &mut context, statistics: &mut statistics, rows: &mut rows, end, committed };
        finishing.finish(states.iter())?;
        let mut engine = self.engine_settings(pending, &limits, ties);
        record::add_settings(&mut engine, &chosen, window);
        Ok(Ended { committed, digest, states, statistics, rows, progress, loop_seconds, engine, parallel: Some(parallel) })
    }

    fn failure(&self, parts: Vec<Parts<M>>, moment: Moment, committed: u64) -> Error {
        let failed = parts.into_iter().filter_map(|pe| pe.failure).find(|failed| failed.moment == moment);
        let failed = failed.expect("a PE that failed says where");
        let (lp, time) = (failed.lp, failed.time.get());
        let place = failed.event.map_or(Place::Init(lp), |event| Place::Event { lp, time, event });
        Error::Fault(Box::new(Failure { model: self.name.clone(), place, time, fault: failed.fault, committed }))
    }
}

impl<'m, M: Model> Plan<'m, M> {
    fn pes<Q: PendingSet, P: Port>(&self, ports: Vec<P>) -> Result<Vec<Pe<'m, M, Q, P>>, Error> {
        let Plan { task, chosen, limits, .. } = self;
        let gvt = |me| match chosen.gvt {
            GvtAlgorithm::Asynchronous => AnyGvt::Asynchronous(Asynchronous::new(me, chosen.pes, task.ties)),
            GvtAlgorithm::Synchronous => AnyGvt::Synchronous(Synchronous::new(me, chosen.pes, task.ties)),
        };
        let rule = match chosen.window {
            Some(width) => Rule::Fixed(width),
            None if chosen.devastator => Rule::Devastator,
            None => Rule::Adaptive,
        };
        let saving = chosen.tuning.undoing == Undoing::Reverse;
        let make = |(buffers, port): (Buffers<_>, P)| {
            let (gvt, window) = (gvt(buffers.me()), Window::new(rule, task.end, limits.lookahead, chosen.pes));
            let context = Context::with_limits(*limits, self.seed, saving);
            let mut pe = Pe::new(task, chosen.tuning, (buffers, port), gvt, window, context, self.statistics.clone())?;
            self.trace.into_iter().for_each(|limits| pe.trace(limits));
            Ok(pe)
        };
        let pes: Result<Vec<_>, PoolFull> = buffers(chosen.pes).into_iter().zip(ports).map(make).collect();
        pes.map_err(|_| Error::too_many_lps(limits.lps, size_of::<Lp<M::State>>()))
    }
}
