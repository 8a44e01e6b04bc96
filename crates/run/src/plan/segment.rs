//! The plan of a segment that a parallel engine executes.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use warpline_base::TieBreak;
use warpline_kernel::gvt::{self, AnyGvt, Gvt, Hierarchy};
use warpline_kernel::{Delays, Lanes, Partition, Rule, Tuning};
use warpline_machine::Machine;
use warpline_memory::{PoolSettings, Region};
use warpline_model::Model;
use warpline_transport::{CarrierKind, ControlPlan, Room, parts_of_machine};

use super::reason::{Choices, Chosen};
use super::{Facts, ProcessPlan, RunPlan, choices};
use crate::job::check::RunSpec;
use crate::job::{ForTests, Job};
use crate::machine::boost::boost_carriers;
use crate::policy::engine_choice::{Engine, EngineChoice};
use crate::state::run_state::RunState;
use crate::{
    Barrier, Carrier, Communication, CommunicationRing, Conservative, Error, GvtAlgorithm,
    GvtIntervalControl, Horizon, Mailbox, Pending, Settings, Synchronisation,
};

/// Idle steps before a PE asks for GVT although bounds should have moved by then.
const PATIENCE: u32 = 512;
/// The most executed events of a PE that have not committed, in GVT intervals, or in batches if
/// these are larger: if a batch filled the history, PEs might undo all that they have executed
/// again and again.
const INTERVALS_MOST: u64 = 16;
/// The sizes of groups of PEs in virtual clusters.
const CLUSTER_GROUPS: [u32; 3] = [1, 4, 16];

/// What is settled about a parallel segment before it begins. Nothing changes it.
#[derive(Clone, Debug)]
pub(crate) struct ParallelPlan {
    pub(crate) pes: u32,
    pub(crate) seed: u64,
    pub(crate) pending: Pending,
    /// How PEs execute, undo and cancel events, and how often they look for messages and for GVT.
    pub(crate) tuning: Tuning,
    /// How free buffers are kept.
    pub(crate) pools: PoolSettings,
    /// How messages travel.
    pub(crate) wires: WirePlan,
    pub(crate) gvt: GvtAlgorithm,
    pub(crate) barrier: Barrier,
    /// Whether PEs that are close to each other form groups in reductions.
    pub(crate) gvt_groups: bool,
    /// Whether PEs have their neighbours begin to find GVT.
    pub(crate) jump_start: bool,
    /// How far beyond GVT events may be executed.
    pub(crate) window: Rule,
    /// Whether PEs may move between threads.
    pub(crate) moves: bool,
    pub(crate) trace: Option<TracePlan>,
    pub(crate) processes: ProcessPlan,
    /// The modelled machine, if PEs are on one.
    pub(crate) machine: Option<Arc<Machine>>,
    /// How many threads step them there.
    machine_threads: u32,
    /// Whether PEs on it also make steps in which they would do nothing.
    pub(crate) all_steps: bool,
    /// How many cores they have together.
    pub(crate) cores: u32,
    /// Which LPs each PE has.
    pub(crate) partition: Partition,
    /// The least delays between PEs.
    pub(crate) delays: Delays,
    /// What was chosen, for the record.
    pub(super) choices: Choices,
}

/// How messages travel between PEs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WirePlan {
    /// Where they wait, between threads; none in a virtual cluster.
    pub(crate) mailbox: Option<Mailbox>,
    /// How much rings between PEs hold.
    pub(crate) room: Room,
    /// The seed of the virtual cluster, if PEs are in one.
    pub(crate) cluster: Option<u64>,
    pub(crate) far: FarPlan,
}

/// How messages travel between processes that share no memory, or are told not to use it for
/// messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarPlan {
    /// Whether those that share memory use it for messages.
    pub(crate) shares: bool,
    pub(crate) carrier: CarrierKind,
    /// How PEs hand messages to the thread that sends for them.
    pub(crate) ring: CommunicationRing,
    /// Who sends.
    pub(crate) communication: Communication,
    /// How many threads only send and receive, if any do.
    pub(crate) threads: u32,
    /// The most bytes of a batch; `None` if each message is sent by itself.
    pub(crate) batch: Option<usize>,
    /// How long the first message of a batch waits for more.
    pub(crate) delay: Duration,
}

impl FarPlan {
    fn new(settings: &Settings, processes: &ProcessPlan, facts: &Facts) -> Self {
        FarPlan {
            shares: processes.zero_copy.value && facts.is_portable,
            carrier: match processes.carrier.value {
                Carrier::Boost => CarrierKind::Plugged(boost_carriers()),
                Carrier::Mpi => CarrierKind::Mpi,
                Carrier::Rings | Carrier::Auto => CarrierKind::Rings,
            },
            ring: settings.communication_ring(),
            communication: settings.communication(),
            threads: settings.communication_threads(),
            batch: choices::communication_batch(settings, processes.carrier.value),
            delay: Duration::try_from_secs_f64(settings.communication_delay() * 1e-6)
                .unwrap_or(Duration::MAX),
        }
    }
}

/// The trace of a run.
#[derive(Clone, Debug)]
pub(crate) struct TracePlan {
    pub(crate) path: PathBuf,
    /// The largest size of the file.
    pub(crate) bytes: u64,
}

impl TracePlan {
    fn of(settings: &Settings) -> Option<Self> {
        let bytes = u64::from(settings.trace_limit()) * 1_000_000;
        settings.trace.clone().map(|path| TracePlan { path, bytes })
    }
}

impl ParallelPlan {
    /// The parts in finding GVT of the PEs of this process, and how all PEs tell each other about
    /// GVT. The PEs of a rank meet at its barrier, if it has one.
    pub(crate) fn gvts(
        &self,
        region: &Region,
        ties: TieBreak,
        of_rank: Option<&gvt::Barrier>,
        local: &Range<usize>,
    ) -> (Vec<AnyGvt>, ControlPlan) {
        let mut neighbours = Vec::with_capacity(self.pes as usize);
        let parts = self.gvt_parts(region, ties, of_rank).enumerate();
        let gvts = parts.filter_map(|(pe, gvt)| {
            neighbours.push(gvt.neighbours());
            local.contains(&pe).then_some(gvt)
        });
        let gvts = gvts.collect();
        (gvts, ControlPlan { neighbours, one_sided: self.gvt.writes(), room: self.wires.room })
    }

    /// The parts of all PEs in finding GVT, one after the other.
    fn gvt_parts(
        &self,
        region: &Region,
        ties: TieBreak,
        of_rank: Option<&gvt::Barrier>,
    ) -> Box<dyn Iterator<Item = AnyGvt>> {
        if let Some(barrier) = of_rank {
            return AnyGvt::each_at(barrier, self.pes, ties);
        }
        if self.gvt == GvtAlgorithm::Synchronous && self.barrier != Barrier::Tree {
            let sleeps = self.barrier == Barrier::Condvar;
            return AnyGvt::each_at(&gvt::Barrier::new(region, self.pes, sleeps), self.pes, ties);
        }
        if self.gvt == GvtAlgorithm::Gsu && self.machine.is_some() {
            let parts = gvt::Gsu::each_compared(region, self.pes, ties);
            return Box::new(parts.map(AnyGvt::Gsu));
        }
        let hierarchy = Hierarchy::new(self.pes, self.group());
        // Elsewhere some PEs never need GVT themselves.
        let by_gvt = self.tuning.horizon == warpline_kernel::Horizon::Gvt;
        let drives = by_gvt && self.tuning.lanes.has_safe();
        let waits = drives && !self.jump_start;
        let hierarchy = if waits { hierarchy.without_jump_start() } else { hierarchy };
        AnyGvt::each(region, self.gvt, hierarchy, ties)
    }

    /// How many PEs are close to each other: the PEs of a machine, if there are several machines,
    /// or those that take turns in one thread. In a virtual cluster its seed says. Each PE is by
    /// itself if there are to be no groups.
    fn group(&self) -> u32 {
        if !self.gvt_groups {
            return 1;
        }
        let threads = self.pes.div_ceil(self.processes.count);
        let of_machine = || {
            let machines = self.processes.machines.filter(|machines| machines.count > 1);
            machines.map(|machines| machines.processes * threads)
        };
        if let Some(machine) = &self.machine {
            return machine.cores.min(self.pes);
        }
        match self.wires.cluster {
            None => of_machine().unwrap_or(self.pes.div_ceil(self.cores)),
            Some(seed) => CLUSTER_GROUPS[(seed % CLUSTER_GROUPS.len() as u64) as usize],
        }
    }

    /// The PEs that take turns in each thread of a modelled machine, if there is one.
    pub(crate) fn machine_parts(&self) -> Vec<Range<u32>> {
        let parts =
            |machine: &Arc<Machine>| parts_of_machine(machine, self.pes, self.machine_threads);
        self.machine.as_ref().map(parts).unwrap_or_default()
    }

    /// The PEs of a process: consecutive ones.
    pub(crate) fn pes_of(&self, process: u32) -> Range<usize> {
        self.first_pe(process) as usize..self.first_pe(process + 1) as usize
    }

    /// The first PE of a process; for the number of processes, the number of PEs.
    pub(crate) fn first_pe(&self, process: u32) -> u32 {
        (u64::from(self.pes) * u64::from(process) / u64::from(self.processes.count)) as u32
    }

    /// The plan of PEs with these LPs.
    fn new(
        settings: &Settings,
        for_tests: ForTests,
        run: &RunPlan,
        choice: EngineChoice,
        partition: Partition,
        delays: Delays,
    ) -> Self {
        let RunPlan { processes, facts, machine, .. } = run;
        let pes = partition.pes();
        let mut choices = run.choices(settings);
        if machine.is_some() {
            choices.note("pes", choices::modelled_pes(settings, pes));
        }
        let machines = processes.machines.map_or(1, |machines| machines.count);
        let horizon = choices::horizon(settings, pes, machines);
        let horizon = choices.note("horizon", horizon);
        let tuning = tuning(settings, facts, choice, pes, horizon, &delays, &mut choices);
        let gvt = choices.note("gvt", choices::gvt(settings));
        let threads = match machine {
            Some(machine) => {
                let meets_in_memory =
                    gvt == GvtAlgorithm::Synchronous && settings.barrier() != Barrier::Tree;
                let by_messages =
                    !tuning.has_bounds() && !meets_in_memory && !gvt.needs_shared_memory();
                choices::machine_threads(settings, (machine, pes), facts.cores, by_messages)
            }
            None => choices::threads(settings, pes, processes.count),
        };
        let threads = choices.note("threads", threads);
        let far = FarPlan::new(settings, processes, facts);
        let are_near = far.shares && processes.machines.is_none_or(|machines| machines.count == 1);
        let mailbox = choices::mailbox(settings, pes, processes.count, are_near)
            .map(|mailbox| choices.note("mailbox", mailbox));
        let Chosen { value: window, why } = choices::window(settings, for_tests.devastator);
        if settings.window.is_none() {
            choices.note_as("window", "adaptive".into(), why);
        }
        let wires = WirePlan {
            mailbox,
            room: if for_tests.least_room { Room::Least } else { Room::Ample },
            cluster: settings.virtual_cluster,
            far,
        };
        ParallelPlan {
            pes,
            seed: settings.seed(),
            pending: settings.pending(),
            tuning,
            pools: choices::pools(settings),
            wires,
            gvt,
            barrier: settings.barrier(),
            gvt_groups: settings.gvt_groups(),
            jump_start: settings.jump_start(),
            window,
            moves: settings.move_pes(),
            trace: TracePlan::of(settings),
            processes: *processes,
            machine: machine.clone(),
            machine_threads: threads,
            all_steps: for_tests.all_steps,
            cores: facts.cores,
            partition,
            delays,
            choices,
        }
    }
}

/// How PEs execute, undo and cancel events.
fn tuning(
    settings: &Settings,
    facts: &Facts,
    EngineChoice { engine, event_rate }: EngineChoice,
    pes: u32,
    horizon: Horizon,
    delays: &Delays,
    choices: &mut Choices,
) -> Tuning {
    let batch = choices.note("batch", choices::batch(settings, pes, event_rate));
    let gvt_interval = choices.note("gvt_interval", choices::gvt_interval(settings, event_rate));
    let lanes = choices::lanes(settings, engine.sync);
    // A virtual cluster has one thread.
    let cores = match (settings.virtual_cluster, &settings.machine) {
        (Some(_), _) => 1,
        // PEs of a modelled machine have cores of their own.
        (None, Some(_)) => pes,
        (None, None) => facts.cores,
    };
    let windows = lanes == Lanes::Safe && {
        let way = choices::conservative(settings, pes, cores, delays, horizon);
        choices.note("conservative", way) == Conservative::Windows
    };
    Tuning {
        batch,
        kps: settings.kps(),
        gvt_interval,
        adapts_interval: settings.gvt_interval_control() == GvtIntervalControl::Adaptive,
        patience: PATIENCE,
        history_most: INTERVALS_MOST * u64::from(gvt_interval.max(batch)),
        undoing: choices::undoing(settings, facts.copies_cheaply),
        cancellation: settings.cancellation(),
        lanes,
        go_ahead: settings.go_ahead(),
        horizon: match horizon {
            Horizon::Bounds | Horizon::Auto => warpline_kernel::Horizon::Bounds,
            Horizon::Gvt => warpline_kernel::Horizon::Gvt,
            Horizon::Both => warpline_kernel::Horizon::Both,
        },
        gvt_start: settings.gvt_start(),
        messages: match settings.machine {
            Some(_) => warpline_kernel::Messages::Copy,
            None => choices::messages(settings.messages(), facts.payload_bytes),
        },
        windows,
        measures: true,
        crowded: false,
    }
}

impl<M: Model> Job<M> {
    /// Whether this many conservative PEs can be used.
    pub(crate) fn may_wait(&self, run: &RunPlan, spec: &RunSpec, pes: u32) -> bool {
        let engine = Engine { sync: Synchronisation::Conservative, pes };
        self.plan(engine.into(), run, spec, None).is_ok()
    }

    /// The plan of a segment on this engine, if the engine is parallel.
    ///
    /// # Errors
    /// If it is conservative and there is no lookahead, or the model panics.
    pub(crate) fn plan(
        &self,
        choice: EngineChoice,
        run: &RunPlan,
        spec: &RunSpec,
        state: Option<&RunState<M>>,
    ) -> Result<Option<ParallelPlan>, Error> {
        let engine = choice.engine;
        if engine.is_sequential() {
            return Ok(None);
        }
        let limits = &spec.limits;
        let processes = run.processes.count;
        let pes = match run.machine {
            Some(_) => engine.pes.min(limits.lps),
            None => choices::pes(engine.pes.div_ceil(processes), processes, limits.lps),
        };
        let waits = choices::lanes(&self.settings, engine.sync) == Lanes::Safe && pes > 1;
        let known =
            state.map_or(Ok(None), |state| self.partition_by(limits, pes, &state.weights()))?;
        // With other blocks, there may be no lookahead between them.
        let known =
            known.filter(|partition| !waits || self.check_conservative(limits, partition).is_ok());
        let partition = known.map_or_else(|| self.partition(limits, pes), Ok)?;
        if waits {
            self.check_conservative(limits, &partition)?;
        }
        let delays = Delays::of(&limits.lookahead, &partition);
        let settings = &self.settings;
        Ok(Some(ParallelPlan::new(settings, self.for_tests, run, choice, partition, delays)))
    }
}
