//! The table of settings.

use std::path::PathBuf;

use warpline_model::engine::Limits;

use super::{
    Barrier, BufferPool, Cancellation, Carrier, Communication, CommunicationRing, Conservative,
    CopyInterval, ENGINE, FossilCollection, GoAhead, GvtAlgorithm, GvtIntervalControl, GvtStart,
    Horizon, LpChoice, MachineScale, Mailbox, MemoryLimit, Messages, OUTPUT, PARALLEL, Pending,
    PoolOrder, RUN, Range, Recorded, SubPool, Synchronisation, Undo,
};
use crate::settings;

/// The most PEs of a run.
pub const THREADS_MOST: u32 = 1 << 18;

/// The most PEs of a modelled machine.
const PES_MOST: u32 = 1 << 20;

/// The most threads of a process that only send and receive messages.
const COMMUNICATION_THREADS_MOST: u32 = 64;
/// The most processes of a run.
pub(crate) const PROCESSES_MOST: u32 = 64;

/// The largest trace, in MB.
const TRACE_MOST: u32 = 100_000;

/// The largest stack of a thread, in MiB.
const STACK_MOST: u32 = 1 << 16;

settings! {
    /// The values given for the settings of a run;
    /// [`Simulation::settings`](crate::Simulation::settings) has an example.
    pub struct Settings {
        /// Model time at which the run ends; events at this time are not executed.
        end: f64, Range::Above(0.0), {
            heading: RUN,
            placeholder: "TIME",
            unit: "model time",
            reason: "as a run covers the times from 0 to the end time",
            rule: "the model's",
            hurts: "a short run has wide confidence intervals, and its empty start weighs heavily",
        }
        /// Seed of all random numbers, a whole number.
        seed: u64 = 1, Range::Any, {
            heading: RUN,
            hurts: "one seed is one sample: what it alone shows may be chance",
        }
        /// Model time before which no statistics are taken.
        warmup: f64 = 0.0, Range::Any, {
            heading: RUN,
            placeholder: "TIME",
            unit: "model time",
            reason: "at least 0 and less than the end time",
            recorded: Recorded::Always,
            hurts: "too short, and the empty start biases all means; too long, and little is left \
                    to observe",
        }
        /// Consecutive zero-delay hops at one instant that count as a loop.
        zero_delay_hops: u32 = Limits::ZERO_DELAY_HOPS, Range::Any, {
            heading: RUN,
            placeholder: "HOPS",
            unit: "hops",
            recorded: Recorded::Always,
            hurts: "too few, and a model that is merely busy at one instant is stopped; too many, \
                    and a loop is found late",
        }
        /// File for a trace of what every PE did, for ui.perfetto.dev or chrome://tracing.
        trace: PathBuf, Range::Any, {
            heading: OUTPUT,
            hurts: "tracing takes about a tenth of the run's time",
        }
        /// Largest size of the trace's file; a longer run is shown in part.
        trace_limit: u32 = 20, Range::Between(4, TRACE_MOST), {
            heading: OUTPUT,
            placeholder: "MB",
            unit: "MB",
            hurts: "a small file shows little of a long run; viewers take long to open one of \
                    hundreds of megabytes, and memory is needed for it during the run",
        }
        /// Whether the record has digests of final states and statistics, beside that of the
        /// history, so that runs can be compared by them.
        state_digest: bool = false, Range::Any, {
            heading: OUTPUT,
            hurts: "the text of all states is made once at the end; states of many megabytes take \
                    seconds",
        }
        /// LPs that tell what their processes do: who queues for which resource, takes it and gives
        /// it back, and what else the model tells.
        follow: LpChoice, Range::Any, {
            heading: OUTPUT,
            rule: "none; with --report, first-16, for its charts",
            hurts: "an event takes several times as long while its LP tells",
        }
        /// The most that a followed LP tells.
        follow_limit: u32 = 1000, Range::From(1), {
            heading: OUTPUT,
            placeholder: "LINES",
            unit: "lines",
            hurts: "few lines show only the beginning; charts of very many are hard to read",
        }
        /// Pending event set; the answer does not depend on it.
        pending: Pending = Pending::default(), Range::Any, {
            heading: ENGINE,
            recorded: Recorded::Always,
            hurts: "a heap is slow if many events are pending; a ladder hardly ever is, as it \
                    keeps few events in a heap",
        }
        /// Stack of every thread that executes events, touched only as far as it is used.
        stack: u32 = 16, Range::Between(1, STACK_MOST), {
            heading: ENGINE,
            placeholder: "MIB",
            unit: "MiB",
            hurts: "too small, and a handler with large local variables or deep recursion ends the \
                    program; too large, and a limit on virtual memory refuses it",
        }
        /// Memory that the run may take on each machine, the program included; parallel runs go
        /// less far ahead where it is short.
        memory: MemoryLimit = MemoryLimit::Share(0.9), Range::Any, {
            heading: ENGINE,
            recorded: Recorded::Always,
            hurts: "a run needs what a sequential one does, a tenth more, and 4 MiB for each PE; \
                    near that, PEs wait for each other; with less, it ends with an error",
        }
        /// Wall time after which an event that is still being executed ends the run with an error;
        /// a warning comes after 5 s.
        event_limit: f64 = 300.0, Range::Above(0.0), {
            heading: ENGINE,
            placeholder: "SECONDS",
            unit: "s",
            hurts: "too short, and an event that takes its time counts as one that never ends",
        }
        /// How LPs are kept in step; the answer does not depend on it.
        sync: Synchronisation, Range::Any, {
            heading: PARALLEL,
            rule: "auto; sequential with one thread; optimistic, or mixed if the model has \
                   conservative LPs, with more, or if a setting is given that only such runs have \
                   a use for",
            recorded: Recorded::Always,
            hurts: "auto spends some time on finding out, and what it chooses differs from run to \
                    run; a parallel run of tiny events without lookahead may be slower than a \
                    sequential one",
        }
        /// PEs, each an event loop with its share of the LPs, on a thread of its own as far as
        /// there are cores; the most that auto may use; without --sync, more than 1 means an
        /// optimistic run. With --machine: threads that share the nodes of the machine.
        threads: u32, Range::Between(1, THREADS_MOST), {
            heading: PARALLEL,
            reason: "as each PE takes memory; as many as there are cores run best",
            rule: "as many as there are cores",
            recorded: Recorded::Always,
            hurts: "more PEs than cores take turns and exchange more messages; with few events \
                    between messages, PEs mostly wait",
        }
        /// Processes among which the PEs are divided, and which share memory; each has as many PEs
        /// as --threads says, by default its share of the cores.
        processes: u32 = 1, Range::Between(1, PROCESSES_MOST), {
            heading: PARALLEL,
            reason: "as each takes address space in all others",
            recorded: Recorded::InParallel,
            hurts: "processes take longer to start than threads, each has a copy of the model, and \
                    PEs do not move between them",
        }
        /// Whether processes of a machine share the memory of messages; otherwise they are copied,
        /// by MPI if a launcher has started the processes.
        zero_copy: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "only when off, which is for comparisons: every message to another process is \
                    then written and read once more",
        }
        /// Who carries messages that are copied between processes: rings in shared memory, MPI, or,
        /// for comparison, Boost.Interprocess; rings and boost mean --zero-copy no.
        carrier: Carrier = Carrier::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "with boost, all processes allocate and free every message under one lock, and \
                    if one is killed while it holds it, the others end 5 s later",
        }
        /// Who sends messages to processes that share no memory: the first PE of a process, every
        /// PE, or threads that do nothing else.
        communication: Communication = Communication::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "one PE that sends for many becomes the slowest of them; every PE that sends \
                    pays for calls of MPI; threads that do nothing else need cores of their own",
        }
        /// With --communication dedicated: threads of each process that do nothing but send and
        /// receive messages.
        communication_threads: u32 = 1, Range::Between(1, COMMUNICATION_THREADS_MOST), {
            heading: PARALLEL,
            reason: "as each has PEs of its own",
            recorded: Recorded::InParallel,
            hurts: "each takes a core from PEs; too few of them become the bottleneck of many PEs",
        }
        /// How PEs hand messages to the thread that sends them.
        communication_ring: CommunicationRing = CommunicationRing::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "in one ring for all, PEs wait for each other; with a ring for each, the thread \
                    looks into many",
        }
        /// Most bytes of a batch of messages to a process that shares no memory; with --carrier
        /// boost, each message is sent by itself unless this is given.
        communication_batch: u32 = 16_384, Range::Between(256, 1 << 20), {
            heading: PARALLEL,
            placeholder: "BYTES",
            unit: "bytes",
            reason: "as every process keeps many of them ready",
            recorded: Recorded::InParallel,
            hurts: "small batches cost more calls of MPI; large ones take memory",
        }
        /// How long the first message of a batch waits for more of them.
        communication_delay: f64 = 10.0, Range::Between(0.0, 1e6), {
            heading: PARALLEL,
            placeholder: "US",
            unit: "µs",
            reason: "as others wait for it",
            recorded: Recorded::InParallel,
            hurts: "with little delay, batches are small; with much, others wait, and more events \
                    are undone",
        }
        /// Most events that a PE executes before it looks at its messages again.
        batch: u32, Range::From(1), {
            heading: PARALLEL,
            placeholder: "EVENTS",
            unit: "events",
            rule: "8 for each PE, but at least 128 and at most 256",
            recorded: Recorded::InParallel,
            hurts: "too small, and looking for messages costs more than the events; too large, and \
                    messages wait and more events are undone",
        }
        /// Most kernel processes (KPs) of each PE: groups of LPs that roll back together.
        kps: u32 = 1024, Range::From(1), {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "too few, and a rollback undoes events of many other LPs; too many, and their \
                    table exceeds the nearest cache",
        }
        /// How global virtual time (GVT) is found: whether PEs go on meanwhile, or stop; by
        /// messages, by writing into each other's memory, or from registers.
        gvt: GvtAlgorithm = GvtAlgorithm::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "if PEs stop, each waits for the slowest every time; registers are written all \
                    the time, and all PEs read all of them",
        }
        /// With --gvt synchronous: how PEs meet.
        barrier: Barrier = Barrier::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "at one counter, many cores contend; PEs that sleep wake up late, but leave \
                    their cores to others; MPI reductions need ranks, and take a message even \
                    between neighbours",
        }
        /// About how many events a PE executes before it asks for a new GVT; 32 times as many if
        /// lookahead makes them certain.
        gvt_interval: u32 = 128, Range::From(1), {
            heading: PARALLEL,
            placeholder: "EVENTS",
            unit: "events",
            recorded: Recorded::InParallel,
            hurts: "too small, and PEs spend their time finding GVT; too large, and memory is \
                    reclaimed late and fewer events are certain",
        }
        /// Whether --gvt-interval is fixed, or only the start of an interval that adapts to how
        /// busy PEs are while GVT is found; with --communication dedicated, the thread that sends
        /// then asks for GVT, at an interval in its own passes, and PEs only if idle.
        gvt_interval_control: GvtIntervalControl = GvtIntervalControl::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "finding a good interval takes several computations of GVT, more than a short \
                    run has; a good fixed one is no worse",
        }
        /// How far beyond GVT events may be executed, in model time.
        window: f64, Range::Above(0.0), {
            heading: PARALLEL,
            placeholder: "TIME",
            unit: "model time",
            rule: "chosen by the engine, and adapted during the run to the costs of undoing and \
                   waiting",
            recorded: Recorded::InParallel,
            hurts: "too small, and PEs wait; too large, and many events are undone; PEs that undo \
                    far more than they commit stay closer together",
        }
        /// How events that were executed too early are undone.
        undo: Undo = Undo::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "copies are expensive if states are large; a journal is if an event changes \
                    most of its state; wrong reverse code, or changes without the journal, give \
                    wrong answers, so try `verify` first",
        }
        /// With --undo copy: number of an LP's events between copies of its state; auto copies
        /// before every event if states are small and plain, and otherwise as often as pays, by
        /// what copies cost and how often events are undone.
        copy_interval: CopyInterval = CopyInterval::default(), Range::Any, {
            heading: PARALLEL,
            unit: "events",
            recorded: Recorded::InParallel,
            hurts: "more than 1 pays only for large states: undoing executes events between two \
                    copies again; copies over 1024 events of their PE old are renewed",
        }
        /// When what an undone event had sent is cancelled: at once; or when the event, executed
        /// again, does not send the same; or whichever pays.
        cancellation: Cancellation = Cancellation::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "with lazy, wrong messages stay longer, and what they cause has to be undone as \
                    well; what goes to other PEs is copied; it pays only where events that are \
                    executed again send the same",
        }
        /// How events travel between PEs: by value where nobody can cancel them, as copies of which
        /// the sender keeps its own, or in buffers that both share; auto takes value for payloads
        /// of up to 512 bytes, and shared for larger ones.
        messages: Messages = Messages::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "a copy takes an anti-message for every cancellation, and memory twice; in \
                    shared buffers, certain events move more cache lines",
        }
        /// Where messages between threads wait: in a ring for each sender, in one queue per PE
        /// under a lock, or in one ring per PE in which senders reserve places by compare-and-swap;
        /// auto takes a ring for each sender with up to 32 PEs, and with more a queue, or between
        /// processes the one ring per PE.
        mailbox: Mailbox = Mailbox::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "rings for each sender take memory that grows with the square of the PEs; in \
                    one for all, senders wait for each other, and with cas all wait for one that \
                    has lost its core",
        }
        /// Whose pool a message's buffer is taken from, and whose it goes to when free: that of the
        /// pair of PEs, the sender's and then the receiver's, or the receiver's.
        pool: BufferPool = BufferPool::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "a receiver's pool takes two locks for every message, and its buffers go \
                    through the caches twice; buffers of senders drift from PE to PE; sub-pools \
                    take more memory if there are dozens of PEs",
        }
        /// Which free buffer of a pool is used next: the one that was freed last, or first.
        pool_order: PoolOrder = PoolOrder::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "what was freed first has probably left the cache, so fifo is there for \
                    comparisons",
        }
        /// With --pool partitioned: buffers for messages from one PE to another; when none is left,
        /// a PE executes nothing ahead until some have come back.
        sub_pool: SubPool = SubPool::default(), Range::Any, {
            heading: PARALLEL,
            unit: "buffers",
            recorded: Recorded::InParallel,
            hurts: "with few buffers PEs mostly wait for them, and for GVT; with many or unlimited \
                    ones, a PE that others wait for can be flooded with messages",
        }
        /// When the memory of executed events goes back to its pool: when they commit, or at once,
        /// to be reused once they have committed.
        fossil_collection: FossilCollection = FossilCollection::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "on the fly, buffers are reused in the order of execution, when they have left \
                    the cache",
        }
        /// With --sync conservative: whether PEs advance in step, from window to window, or each as
        /// far as it may; auto takes windows if PEs outnumber cores and all least delays between
        /// them are equal.
        conservative: Conservative = Conservative::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "in windows all wait for the slowest, and the shortest of all delays counts; \
                    free-running ones look at each other all the time",
        }
        /// Whether events that lookahead makes certain are executed without the means to undo them.
        use_lookahead: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "without it every event bears the cost of undo; meant for studies of Time Warp \
                    alone",
        }
        /// What tells PEs how far they may execute events for good: the bounds that they publish
        /// for each other, GVT alone, or both, bounds within a process and GVT for all others; auto
        /// takes bounds with up to 1024 PEs, GVT with more, and both on several machines.
        horizon: Horizon = Horizon::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "with bounds, every PE reads those of all others at every step; with gvt, PEs \
                    wait for each computation of GVT, the more often, the less lookahead there is",
        }
        /// With --horizon gvt or both: whether a PE asks for a new GVT when it may execute nothing
        /// more for good, or as soon as the last one has been found.
        gvt_start: GvtStart = GvtStart::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "on demand, PEs run dry before the next one is there; at once, there are more \
                    computations of GVT",
        }
        /// Whether a PE that begins to find GVT calls its neighbours, so that all begin at once; with
        /// --horizon gvt alone.
        jump_start: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "without it, all wait until the last of them needs GVT itself; meant for \
                    studies",
        }
        /// Whether PEs that are close to each other, in a thread or on a node, form groups of which
        /// one PE takes part in reductions of GVT among all.
        gvt_groups: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "without groups, all PEs send each other messages of GVT across threads and \
                    nodes; meant for studies",
        }
        /// In optimistic and mixed runs, when events that may have to be undone are executed: where
        /// waiting until they are certain would take longer, or whenever nothing certain is left.
        go_ahead: GoAhead = GoAhead::default(), Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "with always, PEs execute and then undo what a short wait would have spared \
                    them",
        }
        /// With --sync mixed: the LPs that wait until their events are certain, while others go
        /// ahead.
        conservative_lps: LpChoice = LpChoice::default(), Range::Any, {
            heading: PARALLEL,
            rule: "those that the model declares",
            recorded: Recorded::InParallel,
            hurts: "with little lookahead such LPs wait long, and without any each of their events \
                    takes a computation of GVT",
        }
        /// Whether PEs move to threads that have less to do, where there are more PEs than threads.
        move_pes: bool = true, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "a PE that moves leaves behind what it has in the caches of a core; it seldom \
                    moves where the load is even",
        }
        /// Step all PEs in the time of a modelled machine: a profile, or a TOML file. Its nodes are
        /// divided among the threads, in each of which PEs take turns.
        machine: PathBuf, Range::Any, {
            heading: PARALLEL,
            placeholder: "MACHINE",
            recorded: Recorded::InParallel,
            hurts: "it tells how a run would go elsewhere, and takes far longer here than a \
                    sequential run; most figures of a profile are assumed",
        }
        /// With --machine: its figures times factors, to see what a prediction depends on, or for
        /// events that cost more than those of its file.
        machine_scale: MachineScale, Range::Any, {
            heading: PARALLEL,
            recorded: Recorded::InParallel,
            hurts: "what runs on a scaled machine is no prediction for the machine itself",
        }
        /// With --machine: PEs, one on each core of the machine.
        pes: u32, Range::Between(1, PES_MOST), {
            heading: PARALLEL,
            rule: "as many as a node of the machine has cores",
            recorded: Recorded::InParallel,
            hurts: "every PE takes memory, whether or not it has anything to do",
        }
        /// Step all PEs in one thread, in an order drawn from this seed, with messages that
        /// overtake each other.
        virtual_cluster: u64, Range::Any, {
            heading: PARALLEL,
            placeholder: "SEED",
            hurts: "it is slow, and meant for tests",
        }
    }
}
