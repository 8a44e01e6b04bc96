//! The ways to run a simulation, none of which may change its answer.

use warpline::base::LpId;
use warpline::base::random::Random;
use warpline::{
    Barrier, BufferPool, Cancellation, Communication, CommunicationRing, CopyInterval,
    FossilCollection, GoAhead, GvtAlgorithm, GvtStart, Horizon, Mailbox, Messages, Pending,
    PoolOrder, SubPool, Undo,
};

/// One way to run a simulation that must not change its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configuration {
    /// The pending event set.
    pub pending: Pending,
    /// The settings of a parallel run; `None` for a sequential one.
    pub parallel: Option<Parallel>,
    /// The seed of changes of the engine during the run; `None` if the engine stays the same.
    pub changes: Option<u64>,
}

/// One way to run a simulation in parallel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallel {
    /// The number of PEs of each process, if there are as many LPs.
    pub pes: u32,
    /// The number of processes.
    pub processes: u32,
    /// How messages are copied between processes; `None` if processes share them.
    pub copies: Option<Copies>,
    /// The seed of the virtual cluster; `None` for threads.
    pub cluster: Option<u64>,
    /// Whether the run is conservative, if there is lookahead between the PEs; optimistic
    /// otherwise.
    pub conservative: bool,
    /// If it is, whether PEs advance in windows; they run freely otherwise.
    pub windows: bool,
    /// How events travel between PEs.
    pub messages: Messages,
    /// How events are undone, if the model can do that; by copies otherwise.
    pub undo: Undo,
    /// How what undone events had sent is cancelled, if events can be compared; aggressively
    /// otherwise.
    pub cancellation: Cancellation,
    /// The number of events between copies of a state.
    pub copy_interval: CopyInterval,
    /// Whether lookahead is used.
    pub lookahead: bool,
    /// When events are executed ahead of the horizon.
    pub go_ahead: GoAhead,
    /// What the horizon follows from; bounds in windows.
    pub horizon: Horizon,
    /// When PEs ask for GVT if the horizon follows from it.
    pub gvt_start: GvtStart,
    /// Events per step.
    pub batch: u32,
    /// KPs per PE.
    pub kps: u32,
    /// How GVT is found.
    pub gvt: GvtAlgorithm,
    /// How PEs meet for GVT, if they do.
    pub barrier: Barrier,
    /// Events between two computations of GVT.
    pub gvt_interval: u32,
    /// Whether that interval is only the first, and adapts during the run.
    pub adapts_interval: bool,
    /// The optimism window, as a share of the end time; `None` if it adapts.
    pub window: Option<f64>,
    /// If the run is not conservative, which LPs are: a seed and a share; `None` if no LP is.
    pub waiting: Option<(u64, f64)>,
    /// How buffers are kept.
    pub buffers: BufferUse,
    /// Where messages wait, between threads of one process.
    pub mailbox: Mailbox,
    /// Whether rings between PEs have as little room as possible.
    pub least_room: bool,
}

/// One way to keep the buffers of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferUse {
    /// Whose pools they are in.
    pub pool: BufferPool,
    /// Which buffer is used next.
    pub order: PoolOrder,
    /// If pools are partitioned, and the run is not conservative: how many buffers they have.
    pub sub_pool: SubPool,
    /// If the run is not conservative: when buffers go back.
    pub collection: FossilCollection,
}

impl Default for BufferUse {
    fn default() -> Self {
        BufferUse {
            pool: BufferPool::default(),
            order: PoolOrder::default(),
            sub_pool: SubPool::Unlimited,
            collection: FossilCollection::default(),
        }
    }
}

impl BufferUse {
    /// Draws one.
    pub fn draw(random: &mut Random) -> Self {
        let pools = [
            BufferPool::Partitioned,
            BufferPool::Partitioned,
            BufferPool::Sender,
            BufferPool::Receiver,
        ];
        let sizes = [
            SubPool::Unlimited,
            SubPool::Fixed(1),
            SubPool::Fixed(1),
            SubPool::Fixed(5),
            SubPool::Adaptive(1),
            SubPool::Adaptive(4),
        ];
        BufferUse {
            pool: pools[random.below(4) as usize],
            order: [PoolOrder::Lifo, PoolOrder::Fifo][random.below(2) as usize],
            sub_pool: sizes[random.below(6) as usize],
            collection: [FossilCollection::Batch, FossilCollection::OnTheFly]
                [random.below(2) as usize],
        }
    }
}

/// One way to copy messages between processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copies {
    /// Who copies.
    pub communication: Communication,
    /// How many threads of a process copy, if threads do.
    pub threads: u32,
    /// How PEs hand messages over to these threads.
    pub ring: CommunicationRing,
    /// The most bytes of a batch.
    pub batch: u32,
    /// How long a batch waits for more messages, in microseconds.
    pub delay: f64,
}

impl Copies {
    /// Draws one.
    pub fn draw(random: &mut Random) -> Self {
        let ways = [Communication::Worker, Communication::Distributed, Communication::Dedicated];
        Copies {
            communication: ways[random.below(3) as usize],
            threads: 1 + random.below(2),
            ring: [CommunicationRing::PerSender, CommunicationRing::Cas][random.below(2) as usize],
            batch: [256, 300, 4096, 16_384][random.below(4) as usize],
            delay: [0.0, 10.0, 500.0][random.below(3) as usize],
        }
    }
}

/// Both sequential configurations.
pub const SEQUENTIAL: [Configuration; 2] = [
    Configuration { pending: Pending::Heap, parallel: None, changes: None },
    Configuration { pending: Pending::Ladder, parallel: None, changes: None },
];

/// All ways to find GVT.
pub const ALGORITHMS: &[GvtAlgorithm] = GvtAlgorithm::ALL;

impl Parallel {
    /// Draws a virtual cluster. Clusters of many PEs take long, as most PEs idle and some stand
    /// still until others ask for GVT. So they are rare, and ask for GVT less often.
    pub fn cluster(random: &mut Random) -> Self {
        let any = |random: &mut Random, values: &[u32]| {
            values[random.below(values.len() as u32) as usize]
        };
        let pes = any(random, &[1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 8]);
        let pes = if random.below(25) == 0 { any(random, &[16, 64]) } else { pes };
        let gvt_interval = any(random, if pes > 8 { &[100, 512] } else { &[1, 10, 100, 512] });
        let cluster = random.next_u64();
        // The settings of memory have a stream of their own.
        let memory = &mut Random::new(cluster, LpId(0), 0);
        Parallel {
            pes,
            processes: 1,
            copies: None,
            cluster: Some(cluster),
            buffers: BufferUse::draw(memory),
            mailbox: [Mailbox::PerSender, Mailbox::Shared, Mailbox::Cas][memory.below(3) as usize],
            least_room: memory.below(4) == 0,
            horizon: match memory.below(6) {
                0 => Horizon::Gvt,
                1 => Horizon::Both,
                _ => Horizon::Auto,
            },
            // The more PEs, the longer each GVT takes.
            gvt_start: match memory.below(2) {
                1 if pes <= 8 => GvtStart::AtOnce,
                _ => GvtStart::OnDemand,
            },
            conservative: random.bernoulli(0.3),
            messages: [Messages::Auto, Messages::Copy, Messages::Shared, Messages::Value]
                [random.below(4) as usize],
            undo: [Undo::Copy, Undo::Reverse, Undo::Journal][random.below(3) as usize],
            cancellation: [Cancellation::Aggressive, Cancellation::Lazy, Cancellation::Dynamic]
                [random.below(3) as usize],
            copy_interval: match any(random, &[1, 2, 5, 100, 0]) {
                0 => CopyInterval::Auto,
                events => CopyInterval::Every(events),
            },
            lookahead: random.bernoulli(0.5),
            go_ahead: if random.bernoulli(0.7) { GoAhead::Always } else { GoAhead::Auto },
            batch: any(random, &[1, 3, 16, 64]),
            kps: any(random, &[1, 2, 7, 1000]),
            gvt: ALGORITHMS[random.below(ALGORITHMS.len() as u32) as usize],
            barrier: [Barrier::Tree, Barrier::Central, Barrier::Condvar][random.below(3) as usize],
            gvt_interval,
            window: [None, None, Some(0.01), Some(0.2), Some(1.0)][random.below(5) as usize],
            windows: random.bernoulli(0.5),
            adapts_interval: random.bernoulli(0.3),
            waiting: random
                .bernoulli(0.4)
                .then(|| (random.next_u64(), [0.05, 0.3, 0.7, 1.0][random.below(4) as usize])),
        }
    }

    /// The same with threads, seldom more than there are cores. If many take turns, they do not
    /// have the least room, as that would take too long.
    pub fn threads(self) -> Self {
        let pes = if self.pes > 4 { 8 } else { self.pes.min(3) };
        Parallel { pes, cluster: None, least_room: self.least_room && pes < 8, ..self }
    }
}

/// Both sequential configurations, `clusters` virtual clusters, one run by threads, and two runs
/// that change the engine again and again, in a virtual cluster and by threads. All are drawn from
/// `seed`.
pub fn configurations(seed: u64, clusters: usize) -> Vec<Configuration> {
    let mut random = Random::new(seed, LpId(0), 0);
    let mut all = SEQUENTIAL.to_vec();
    for number in 0..=clusters {
        let pending = if random.bernoulli(0.5) { Pending::Heap } else { Pending::Ladder };
        let parallel = Parallel::cluster(&mut random);
        let parallel = if number == clusters { parallel.threads() } else { parallel };
        all.push(Configuration { pending, parallel: Some(parallel), changes: None });
    }
    let changing = |parallel: Parallel, changes: u64| {
        let pending = if changes.is_multiple_of(2) { Pending::Heap } else { Pending::Ladder };
        Configuration { pending, parallel: Some(parallel), changes: Some(changes) }
    };
    let parallel = Parallel { pes: 1 + random.below(5), ..Parallel::cluster(&mut random) };
    all.extend([
        changing(parallel, random.next_u64()),
        changing(parallel.threads(), random.next_u64()),
    ]);
    all
}
