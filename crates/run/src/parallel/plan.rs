//! What is settled about a parallel segment before it begins: how many PEs there are, which LPs each of them has, and their settings.

use std::mem::needs_drop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpline_base::{LpId, TieBreak};
use warpline_kernel::gvt::{self, Algorithm, AnyGvt, Gvt, Hierarchy};
use warpline_kernel::{Delays, Groups, Lanes, Partition, ScatteredGroup, Shortest, Tuning, Undoing};
use warpline_memory::{FreeOrder, PoolKind, PoolSettings, Region, SubPoolSize};
use warpline_model::Model;
use warpline_model::engine::Limits;
use warpline_transport::{ControlPlan, Room};

use crate::job::Job;
use crate::job::check::RunSpec;
use crate::job::kinds::Kinds;
use crate::outcome::error::panic_message;
use crate::policy::engine_choice::{Engine, EngineChoice};
use crate::settings::{THREADS_MOST, batch_for};
use crate::state::run_state::RunState;
use crate::{
    Barrier, BufferPool, Cancellation, Carrier, Conservative, CopyInterval, Error, FossilCollection, GoAhead, GvtAlgorithm,
    GvtIntervalControl, Mailbox, Messages, PoolOrder, Settings, SubPool, Synchronisation, Undo,
};

/// Idle steps before a PE asks for GVT although bounds should have moved by then.
const PATIENCE: u32 = 512;
/// The most events that a PE may have executed and not committed, in GVT intervals, or in batches if these are larger: a batch must never
/// fill the history, or PEs might undo all that they have executed again and again.
const INTERVALS_MOST: u64 = 16;
/// The largest payload, in bytes, with which a certain event is faster by value: it is copied into the ring and out of it.
const VALUE_BYTES_MOST: usize = 512;
/// States of up to this size, in bytes, are copied before every event if they own nothing beside: that takes as long as to look up whether a
/// copy is due.
const PLAIN_MOST: usize = 256;
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
    /// How free buffers are kept.
    pub(crate) pools: PoolSettings,
    /// Where messages wait, between threads; none in a virtual cluster.
    pub(crate) mailbox: Option<Mailbox>,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) barrier: Barrier,
    pub(crate) window: Option<f64>,
    pub(crate) devastator: bool,
    /// How much rings between PEs hold.
    pub(crate) room: Room,
    pub(crate) cluster: Option<u64>,
    /// How many processes have the PEs.
    pub(crate) processes: u32,
    /// How many cores they have together.
    pub(crate) cores: u32,
    /// Whether each message to another process is sent by itself, and not in batches.
    pub(crate) sends_singly: bool,
    /// Whether a launcher of MPI programs has started the processes.
    pub(crate) is_launched: bool,
    /// Whether all threads may send messages to other processes, and not only the one that watches the others.
    pub(crate) may_thread: bool,
    /// How many PEs are on each machine, if there are several.
    pub(crate) pes_of_machine: Option<u32>,
}

impl ParallelConfig {
    /// The parts of all PEs in finding GVT; those of a rank meet at its barrier, if it has one.
    pub(super) fn gvts(&self, region: &Region, ties: TieBreak, of_rank: Option<&gvt::Barrier>) -> Vec<AnyGvt> {
        if let Some(barrier) = of_rank {
            return AnyGvt::all_at(barrier, self.pes, ties);
        }
        let algorithm = match (self.gvt, self.barrier) {
            (GvtAlgorithm::Asynchronous, _) => Algorithm::Asynchronous,
            (GvtAlgorithm::Synchronous, Barrier::Tree) => Algorithm::Synchronous,
            (GvtAlgorithm::Synchronous, barrier) => Algorithm::AtBarrier { sleeps: barrier == Barrier::Condvar },
            (GvtAlgorithm::OneSided, _) => Algorithm::OneSided,
            (GvtAlgorithm::Gsu, _) => Algorithm::Gsu,
        };
        AnyGvt::all(region, algorithm, Hierarchy::new(self.pes, self.group()), ties)
    }

    /// How many PEs are close to each other: those of a machine, if there are several, or those that take turns in one thread; in a virtual cluster, as its seed says.
    fn group(&self) -> u32 {
        match self.cluster {
            None => self.pes_of_machine.unwrap_or(self.pes.div_ceil(self.cores)),
            Some(seed) => CLUSTER_GROUPS[(seed % CLUSTER_GROUPS.len() as u64) as usize],
        }
    }

    /// The PEs of a process: consecutive ones.
    pub(super) fn pes_of(&self, process: u32) -> Range<usize> {
        self.first_pe(process) as usize..self.first_pe(process + 1) as usize
    }

    /// The first PE of a process; for the number of processes, the number of PEs.
    pub(super) fn first_pe(&self, process: u32) -> u32 {
        (u64::from(self.pes) * u64::from(process) / u64::from(self.processes)) as u32
    }

    /// How PEs tell each other about GVT.
    pub(super) fn controls(&self, gvts: &[AnyGvt]) -> ControlPlan {
        let neighbours = gvts.iter().map(Gvt::neighbours).collect();
        ControlPlan { neighbours, one_sided: self.gvt == GvtAlgorithm::OneSided, room: self.room }
    }
}

/// What is settled about a parallel segment before it begins.
pub(crate) struct ParallelPlan {
    pub(super) settings: Settings,
    pub(super) config: ParallelConfig,
    pub(super) partition: Partition,
    pub(super) delays: Delays,
}

/// How many cores there are for the process.
pub(crate) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// As many PEs as there are cores, if nothing else is said, but at least one for each process; and never more than LPs.
fn pes(settings: &Settings, limits: &Limits, cores: u32) -> u32 {
    let processes = settings.processes();
    let threads = settings.threads.unwrap_or_else(|| (cores / processes).max(1));
    threads.saturating_mul(processes).min(limits.lps).min(THREADS_MOST)
}

/// Whether this many conservative PEs should advance in windows: if they take turns on fewer cores, as each of them then executes more per
/// turn, and if all least delays between them are equal, as each window is as long as the shortest. PEs with cores of their own would wait
/// for the slowest in every window.
fn windows_suit(pes: u32, cores: u32, delays: &Delays) -> bool {
    pes > cores && delays.are_equal()
}

/// Chooses between windows and free-running PEs, if that was left to the engine.
fn choose_way(settings: &mut Settings, config: &mut ParallelConfig, delays: &Delays) {
    if config.tuning.lanes != Lanes::Safe {
        return;
    }
    // A virtual cluster has one thread.
    let cores = if config.cluster.is_some() { 1 } else { config.cores };
    let way = match settings.conservative() {
        Conservative::Auto if windows_suit(config.pes, cores, delays) => Conservative::Windows,
        Conservative::Auto => Conservative::FreeRunning,
        given => given,
    };
    settings.conservative = Some(way);
    config.tuning.windows = way == Conservative::Windows;
}

/// How events with payloads of this size travel between PEs.
fn messages_for(messages: Messages, payload_bytes: usize) -> warpline_kernel::Messages {
    match messages {
        Messages::Auto if payload_bytes > VALUE_BYTES_MOST => warpline_kernel::Messages::Shared,
        Messages::Auto | Messages::Value => warpline_kernel::Messages::Value,
        Messages::Copy => warpline_kernel::Messages::Copy,
        Messages::Shared => warpline_kernel::Messages::Shared,
    }
}

/// Where messages wait, between threads and between processes.
fn mailbox_for(settings: &Settings, pes: u32) -> Mailbox {
    match settings.mailbox() {
        // Inboxes do not leave a process.
        Mailbox::Auto if pes > RINGS_MOST && settings.processes() == 1 => Mailbox::Shared,
        Mailbox::Auto => Mailbox::PerSender,
        given => given,
    }
}

/// How free buffers are kept.
fn pools_for(settings: &Settings) -> PoolSettings {
    let size = match settings.sub_pool() {
        SubPool::Unlimited => SubPoolSize::Unlimited,
        SubPool::Fixed(size) => SubPoolSize::Fixed(size),
        SubPool::Adaptive(average) => SubPoolSize::Adaptive(average),
    };
    PoolSettings {
        kind: match settings.pool() {
            BufferPool::Partitioned => PoolKind::Partitioned(size),
            BufferPool::Sender => PoolKind::Sender,
            BufferPool::Receiver => PoolKind::Receiver,
        },
        order: match settings.pool_order() {
            PoolOrder::Lifo => FreeOrder::Lifo,
            PoolOrder::Fifo => FreeOrder::Fifo,
        },
        retires: settings.fossil_collection() == FossilCollection::OnTheFly,
    }
}

/// Whether copying such a state takes hardly longer than looking up whether to copy it: then it is copied before every event.
fn copies_cheaply<S>() -> bool {
    !needs_drop::<S>() && size_of::<S>() <= PLAIN_MOST
}

impl<M: Model> Job<M> {
    /// Fills in the settings that were left to the engine, for the record, and translates all of them for the kernel.
    pub(crate) fn choose(&self, settings: &mut Settings, limits: &Limits) -> ParallelConfig {
        let pes = pes(settings, limits, self.cores());
        settings.threads = Some(pes.div_ceil(settings.processes()));
        let batch = *settings.batch.get_or_insert(batch_for(pes));
        let undoing = match settings.undo() {
            Undo::Copy => match settings.copy_interval() {
                CopyInterval::Every(interval) => Undoing::Copy { interval },
                CopyInterval::Auto if copies_cheaply::<M::State>() => Undoing::Copy { interval: 1 },
                CopyInterval::Auto => Undoing::CopyAdaptively,
            },
            Undo::Reverse => Undoing::Reverse,
            Undo::Journal => Undoing::Journal,
        };
        let tuning = Tuning {
            batch,
            kps: settings.kps(),
            gvt_interval: settings.gvt_interval(),
            adapts_interval: settings.gvt_interval_control() == GvtIntervalControl::Adaptive,
            patience: PATIENCE,
            history_most: INTERVALS_MOST * u64::from(settings.gvt_interval().max(batch)),
            undoing,
            cancellation: match settings.cancellation() {
                Cancellation::Aggressive => warpline_kernel::Cancellation::Aggressive,
                Cancellation::Lazy => warpline_kernel::Cancellation::Lazy,
                Cancellation::Dynamic => warpline_kernel::Cancellation::Dynamic,
            },
            lanes: match settings.sync {
                Some(Synchronisation::Conservative) => Lanes::Safe,
                _ if settings.use_lookahead() => Lanes::Both,
                _ => Lanes::Speculative,
            },
            go_ahead: match settings.go_ahead() {
                GoAhead::Auto => warpline_kernel::GoAhead::Auto,
                GoAhead::Always => warpline_kernel::GoAhead::Always,
            },
            messages: messages_for(settings.messages(), size_of::<M::Event>()),
            // Chosen when least delays are known.
            windows: false,
        };
        if settings.barrier.is_some() {
            settings.gvt.get_or_insert(GvtAlgorithm::Synchronous);
        }
        let (gvt, barrier, window, cluster) = (settings.gvt(), settings.barrier(), settings.window, settings.virtual_cluster);
        ParallelConfig {
            pes,
            tuning,
            pools: pools_for(settings),
            mailbox: settings.virtual_cluster.is_none().then(|| mailbox_for(settings, pes)),
            gvt,
            barrier,
            window,
            devastator: self.for_tests.devastator,
            room: if self.for_tests.least_room { Room::Least } else { Room::Ample },
            cluster,
            processes: settings.processes(),
            cores: self.cores(),
            sends_singly: settings.carrier() == Carrier::Boost && settings.communication_batch.is_none(),
            is_launched: self.machines.is_some(),
            may_thread: self.machines.is_none_or(|machines| machines.may_thread),
            pes_of_machine: self
                .machines
                .filter(|machines| machines.count > 1)
                .map(|machines| machines.processes * settings.threads.unwrap_or(1)),
        }
    }

    /// How many PEs there are.
    pub(crate) fn pes(&self, limits: &Limits) -> u32 {
        pes(&self.settings, limits, self.cores())
    }

    /// How many cores all processes have together.
    fn cores(&self) -> u32 {
        self.machines.map_or_else(cores, |machines| machines.cores)
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
        EngineChoice { engine, batch }: EngineChoice,
        spec: &RunSpec,
        state: Option<&RunState<M>>,
    ) -> Result<Option<ParallelPlan>, Error> {
        if engine.is_sequential() {
            return Ok(None);
        }
        let threads = engine.pes.div_ceil(self.settings.processes());
        let mut settings = Settings { sync: Some(engine.sync), threads: Some(threads), ..self.settings.clone() };
        if let Some(batch) = batch {
            settings.batch.get_or_insert(batch);
            settings.gvt_interval.get_or_insert(batch);
        }
        let mut config = self.choose(&mut settings, &spec.limits);
        let known = state.map_or(Ok(None), |state| self.partition_by(&spec.limits, config.pes, &state.weights()))?;
        // With other blocks, there may be no lookahead between them.
        let known = known.filter(|partition| self.check_conservative(&config, &spec.limits, partition).is_ok());
        let partition = known.map_or_else(|| self.partition(&spec.limits, config.pes), Ok)?;
        self.check_conservative(&config, &spec.limits, &partition)?;
        let delays = Delays::of(&spec.limits.lookahead, &partition);
        choose_way(&mut settings, &mut config, &delays);
        Ok(Some(ParallelPlan { settings, config, partition, delays }))
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
        let waits = config.tuning.lanes == Lanes::Safe && config.pes > 1;
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

    /// Shares the LPs out by the weights, groups and distances that the model declares.
    pub(crate) fn partition(&self, limits: &Limits, pes: u32) -> Result<Partition, Error> {
        let (model, name, groups) = (&*self.model, &self.name, self.groups(limits)?);
        let shared =
            catch_unwind(AssertUnwindSafe(|| Partition::weighted(limits.lps, pes, &limits.lookahead, &groups, |lp| model.weight(lp))));
        let shared = shared.map_err(|panic| {
            Error::Setting(format!("model `{name}` panicked when it was asked for the weights of its LPs: {}", panic_message(panic)))
        })?;
        shared.map_err(|(lp, weight)| {
            Error::Setting(format!("model `{name}` declares the weight {weight} of {lp}: it must be a finite number, zero or more"))
        })
    }

    /// Shares the LPs out by what they have been doing so far, if that is known.
    fn partition_by(&self, limits: &Limits, pes: u32, weights: &[f64]) -> Result<Option<Partition>, Error> {
        if weights.is_empty() {
            return Ok(None);
        }
        let weight = |lp: LpId| weights.get(lp.index()).copied().unwrap_or_default();
        Ok(Partition::weighted(limits.lps, pes, &limits.lookahead, &self.groups(limits)?, weight).ok())
    }

    /// The groups of LPs that the model wants on one PE.
    pub(crate) fn groups(&self, limits: &Limits) -> Result<Groups, Error> {
        let (model, name) = (&*self.model, &self.name);
        let asked = catch_unwind(AssertUnwindSafe(|| Groups::of(limits.lps, |lp| model.group(lp))));
        let asked = asked.map_err(|panic| {
            Error::Setting(format!("model `{name}` panicked when it was asked for the groups of its LPs: {}", panic_message(panic)))
        })?;
        asked.map_err(|ScatteredGroup { number, before, after }| {
            Error::Setting(format!(
                "model `{name}` has {before} and {after} in group {number}, but not all LPs between them: PEs have LPs with consecutive numbers, so \
                 number LPs so that those of a group follow each other, or give each part a group of its own in Model::group"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_stay_where_they_are() {
        use warpline_kernel::Messages::{Copy, Shared, Value};
        assert_eq!([0, VALUE_BYTES_MOST, VALUE_BYTES_MOST + 1].map(|bytes| messages_for(Messages::Auto, bytes)), [Value, Value, Shared]);
        for bytes in [0, 10 * VALUE_BYTES_MOST] {
            let given = [Messages::Value, Messages::Copy, Messages::Shared].map(|messages| messages_for(messages, bytes));
            assert_eq!(given, [Value, Copy, Shared]);
        }
    }

    #[test]
    fn windows_suit_pes_that_take_turns() {
        let suit = |pes, cores| windows_suit(pes, cores, &Delays::uniform(0.5));
        assert_eq!([(1, 8), (2, 2), (8, 8), (2, 1), (9, 8)].map(|(pes, cores)| suit(pes, cores)), [false, false, false, true, true]);
    }
}
