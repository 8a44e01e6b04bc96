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
use warpline_kernel::{
    Delays, Lanes, Lp, Partition, Parts, Pe, Port, Position, Rule, Shortest, Task, TraceLimits, Tuning, Undoing, Window, balance,
};
use warpline_memory::{Buffers, DropEach, PoolFull, buffers};
use warpline_model::engine::Limits;
use warpline_model::{Context, Model, Statistics};
use warpline_transport::{VirtualCluster, ring_ports};

use self::merge::RowMerge;
use self::trace::{About, TraceFile};
use crate::check::Checked;
use crate::conclude::Ended;
use crate::error::{Failure, panic_message};
use crate::finish::Finishing;
use crate::rows::Rows;
use crate::settings::{THREADS_MOST, batch_for};
use crate::{Conservative, Error, GvtAlgorithm, Place, Progress, Simulation, Synchronisation, Undo, Wire};

/// Steps without anything to execute before a PE asks for GVT, where bounds should have moved by then.
const PATIENCE: u32 = 512;
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

/// How many cores there are for the process.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// Whether so many conservative PEs should go in windows: where they all have cores of their own, as each waits for the slowest in every
/// window; and where all least delays between them are equal, as each window is as long as the shortest. A PE alone has nobody to
/// wait for.
fn windows_suit(pes: u32, cores: u32, delays: &Delays) -> bool {
    (2..=cores).contains(&pes) && delays.are_equal()
}

impl<M: Model> Simulation<'_, M> {
    /// Fills in what was left to the engine: in the settings, which go into the record, and as types of the kernel.
    pub(crate) fn choose(&mut self, limits: &Limits) -> Chosen {
        let pes = self.pes(limits);
        let settings = &mut self.settings;
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
            history_most: INTERVALS_MOST * u64::from(settings.gvt_interval()),
            undoing,
            lanes: match settings.sync {
                Some(Synchronisation::Conservative) => Lanes::Certain,
                _ if settings.use_lookahead() => Lanes::Both,
                _ => Lanes::Ahead,
            },
            wire: match settings.wire() {
                Wire::Auto => warpline_kernel::Wire::Both,
                Wire::Value => warpline_kernel::Wire::Value,
                Wire::Shared => warpline_kernel::Wire::Shared,
            },
            // Chosen when least delays are known.
            windows: false,
        };
        let (gvt, window, cluster) = (settings.gvt(), settings.window, settings.virtual_cluster);
        Chosen { pes, tuning, gvt, window, devastator: self.for_tests.devastator, cluster }
    }

    fn pes(&self, limits: &Limits) -> u32 {
        self.settings.threads.unwrap_or_else(cores).min(limits.lps).min(THREADS_MOST)
    }

    /// Chooses between windows and free-running PEs, if that was left to the engine.
    fn choose_way(&mut self, chosen: &mut Chosen, delays: &Delays) {
        if chosen.tuning.lanes != Lanes::Certain {
            return;
        }
        // A virtual cluster has one thread.
        let cores = if chosen.cluster.is_some() { 1 } else { cores() };
        let way = match self.settings.conservative() {
            Conservative::Auto if windows_suit(chosen.pes, cores, delays) => Conservative::Windows,
            Conservative::Auto => Conservative::FreeRunning,
            given => given,
        };
        self.settings.conservative = Some(way);
        chosen.tuning.windows = way == Conservative::Windows;
    }

    /// The least delay of anything that one PE would send another in a parallel run with these settings, in model time; infinite if
    /// PEs would have nothing to tell each other. A conservative run needs more than 0.
    ///
    /// It follows from what the model declares of its [lookahead](Model::lookahead_of) and [links](Model::links), and from which LPs would
    /// lie on which PE; links within a PE do not matter. Of a single PE it is the least of all that is declared.
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
    /// If a setting, or what the model says of itself, makes no sense.
    pub fn least_delay(&self) -> Result<f64, Error> {
        let limits = self.check()?.limits;
        let pes = self.pes(&limits);
        let between = |partition| Delays::of(&limits.lookahead, &partition).least();
        if pes == 1 { Ok(limits.lookahead.least()) } else { self.partition(&limits, pes).map(between) }
    }

    pub(crate) fn run_parallel<Q: PendingSet + Send>(mut self) -> Result<crate::Run<M>, Error> {
        let started = Instant::now();
        let report = self.report.take();
        // Checked first: a model that panics when it is asked for its LPs is found there.
        let Checked { end, declared, ties, limits } = self.check()?;
        let mut chosen = self.choose(&limits);
        let partition = self.partition(&limits, chosen.pes)?;
        self.check_conservative(&chosen, &limits, &partition)?;
        let (seed, until) = (self.settings.seed(), self.end_time());
        let statistics = Statistics::new(declared, self.settings.warmup(), until);
        let rows = Rows::new(&self.records, &statistics)?;
        let looped = Instant::now();
        let file = self.settings.trace.as_deref().map(TraceFile::create).transpose()?;
        let trace = file.is_some().then(|| trace::limits(looped, chosen.pes, limits.lps));
        let delays = Delays::of(&limits.lookahead, &partition);
        self.choose_way(&mut chosen, &delays);
        let task = Task { model: &self.model, partition, ties, end, delays };
        let plan = Plan { task, chosen, seed, limits, statistics, trace };
        let watch = Watch { looped, end: until, report, rows, merge: RowMerge::new(ties) };
        let driven = match chosen.cluster {
            None => threads::drive(plan.pes::<Q, _>(ring_ports(chosen.pes))?, watch, self.for_tests.crowded)?,
            Some(seed) => {
                let (cluster, ports) = VirtualCluster::new(chosen.pes, seed);
                cluster::drive(plan.pes::<Q, _>(ports)?, cluster, watch)
            }
        };
        let traced = file.map_or(Ok(()), |file| self.write_trace(file, &driven, ties));
        let ended = self.end_of(driven, plan)?;
        let run = self.conclude(started, ended)?;
        Ok(crate::Run { incomplete: run.incomplete.or(traced.err()), ..run })
    }

    /// Without lookahead between them, conservative PEs would wait for each other for ever.
    fn check_conservative(&self, chosen: &Chosen, limits: &Limits, partition: &Partition) -> Result<(), Error> {
        let waits = chosen.tuning.lanes == Lanes::Certain && chosen.pes > 1;
        if waits && !self.settings.use_lookahead() {
            return Err(Error::Setting(
                "conservative synchronisation lives on lookahead: use --sync optimistic, or leave --use-lookahead at yes".into(),
            ));
        }
        let shortest = if waits { Shortest::of(&limits.lookahead, partition) } else { None };
        let Some(Shortest { from, to, delay: 0.0 }) = shortest else { return Ok(()) };
        let place = |lp| format!("{lp} (on PE {})", partition.pe(lp));
        let (link, advice) = match to {
            _ if limits.lookahead.is_uniform() => (String::new(), "let Model::lookahead tell the least delay between two LPs".into()),
            None => {
                let advice = "let Model::lookahead_of tell its least delay, or Model::links where it sends".into();
                (format!(" from {} to any other LP", place(from)), advice)
            }
            Some(to) => {
                let advice = format!("let Model::links tell its least delay, or number LPs so that {from} and {to} come to lie on one PE");
                (format!(" from {} to {}", place(from), place(to)), advice)
            }
        };
        Err(Error::Setting(format!(
            "model `{}` has no lookahead{link}, and without it conservative threads cannot work at the same time: use --sync optimistic, or \
             {advice}",
            self.name
        )))
    }

    /// Shares the LPs out as the model says how much work they are and how far apart.
    fn partition(&self, limits: &Limits, pes: u32) -> Result<Partition, Error> {
        let (model, name) = (&self.model, &self.name);
        let shared = catch_unwind(AssertUnwindSafe(|| Partition::weighted(limits.lps, pes, &limits.lookahead, |lp| model.weight(lp))));
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
        let about = About { model: &self.name, end: self.end_time(), time_unit: self.time_unit, ties, failure: driven.failure };
        file.write(&traces, &about)
    }

    /// Puts together what the PEs did.
    fn end_of(&self, driven: Driven<M>, plan: Plan<'_, M>) -> Result<Ended<M>, Error> {
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
        let (mut states, mut digest) = (DropEach::default(), Default::default());
        states.try_reserve_exact(limits.lps as usize).map_err(|_| Error::too_many_lps(limits.lps, size_of::<M::State>()))?;
        for pe in parts {
            statistics.merge(&pe.statistics);
            Lp::add_digests(&pe.lps, pe.first_lp, &mut digest);
            states.extend(pe.lps.into_iter().map(|lp| lp.state));
        }
        let mut context = Context::with_limits(limits.clone(), seed, false);
        let (model, name) = (&self.model, self.name.as_str());
        let finishing = Finishing { model, name, context: &mut context, statistics: &mut statistics, rows: &mut rows, end, committed };
        finishing.finish(states.iter())?;
        let mut engine = self.engine_settings(true, &limits, ties);
        record::add_settings(&mut engine, &chosen, window);
        Ok(Ended { committed, digest, states, statistics, rows, progress, loop_seconds, engine, parallel: Some(parallel) })
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

impl<'m, M: Model> Plan<'m, M> {
    fn pes<Q: PendingSet, P: Port<M::Event>>(&self, ports: Vec<P>) -> Result<Vec<Pe<'m, M, Q, P>>, Error> {
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
        // PEs that never talk may go on as far as they like.
        let least = task.delays.least().min(f64::MAX);
        let make = |(buffers, port): (Buffers<_>, P)| {
            let (gvt, window) = (gvt(buffers.me()), Window::new(rule, task.end, least, chosen.pes));
            let context = Context::with_limits(limits.clone(), self.seed, saving);
            let mut pe = Pe::new(task, chosen.tuning, (buffers, port), gvt, window, context, self.statistics.clone())?;
            self.trace.into_iter().for_each(|limits| pe.trace(limits));
            Ok(pe)
        };
        let pes: Result<Vec<_>, PoolFull> = buffers(chosen.pes).into_iter().zip(ports).map(make).collect();
        pes.map_err(|_| Error::too_many_lps(limits.lps, size_of::<Lp<M::State>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_suit_pes_with_cores_and_equal_delays() {
        let suit = |pes, cores| windows_suit(pes, cores, &Delays::uniform(0.5));
        assert_eq!([(1, 8), (2, 2), (8, 8), (2, 1), (9, 8)].map(|(pes, cores)| suit(pes, cores)), [false, true, true, false, false]);
    }
}
