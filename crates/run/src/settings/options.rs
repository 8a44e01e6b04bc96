//! Settings that are one of a few words.

pub use warpline_kernel::gvt::GvtAlgorithm;
pub use warpline_kernel::{Cancellation, GoAhead, GvtStart};
pub use warpline_memory::PoolOrder;
pub use warpline_transport::CommunicationRing;

use warpline_base::{Word, words};
use warpline_kernel::pending::Ladder;

use super::SettingValue;

/// Makes words values of settings.
macro_rules! values {
    ($($name:ident),+ $(,)?) => {$(
        impl SettingValue for $name {
            const PLACEHOLDER: &'static str = "WORD";
            const WORDS: &'static [&'static str] = <$name as Word>::NAMES;

            fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == text)
            }

            fn text(&self) -> String {
                self.name().to_owned()
            }
        }
    )+};
}

values! {
    Synchronisation, Conservative, GvtAlgorithm, Barrier, GvtIntervalControl, Carrier, Communication, CommunicationRing, GoAhead, GvtStart, Horizon,
    Messages, BufferPool, Mailbox, PoolOrder, FossilCollection, Undo, Cancellation, EventCost, Pending,
}

impl Synchronisation {
    /// Whether PEs execute events ahead.
    pub(crate) fn goes_ahead(self) -> bool {
        matches!(self, Synchronisation::Optimistic | Synchronisation::Mixed)
    }
}

words! {
    /// How LPs are kept in step; see [`Simulation::sync`](crate::Simulation::sync).
    ///
    /// ```
    /// use warpline::Synchronisation;
    /// assert_eq!([Synchronisation::Sequential, Synchronisation::Optimistic].map(Synchronisation::name), ["sequential", "optimistic"]);
    /// ```
    #[non_exhaustive]
    pub enum Synchronisation {
        /// Whichever of the others turns out to be fastest, with as many PEs as suit it: the run
        /// tries them out when enough of it is left, and may change its engine again while it goes
        /// on.
        #[default]
        Auto = "auto",
        /// One event after the other, in one thread.
        Sequential = "sequential",
        /// Every PE executes only events that nothing can precede any more, given the model's
        /// [lookahead](crate::Model::lookahead).
        Conservative = "conservative",
        /// Time Warp: every PE executes events ahead, and undoes those that turn out to have been
        /// too early.
        Optimistic = "optimistic",
        /// Time Warp, in which [conservative LPs](crate::Model::is_conservative) wait until their
        /// events are certain, while others go ahead.
        Mixed = "mixed",
    }

    /// How the PEs of a conservative run find out how far they may go; see
    /// [`Simulation::conservative`](crate::Simulation::conservative). The answer does not depend on
    /// it.
    ///
    /// ```
    /// use warpline::Conservative;
    /// assert_eq!([Conservative::Auto, Conservative::Windows, Conservative::FreeRunning].map(Conservative::name), ["auto", "windows", "free-running"]);
    /// ```
    #[non_exhaustive]
    pub enum Conservative {
        /// In windows if PEs outnumber cores and all least delays between them are equal, otherwise
        /// free-running.
        #[default]
        Auto = "auto",
        /// All in step: when all have executed what lies within the least delay of the earliest
        /// event of all, they go on to the next window.
        Windows = "windows",
        /// Each by itself, as far as the bounds allow that the others published last.
        FreeRunning = "free-running",
    }

    /// What tells PEs how far they may execute events for good; see
    /// [`Simulation::horizon`](crate::Simulation::horizon). The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Horizon;
    /// let names = [Horizon::Auto, Horizon::Bounds, Horizon::Gvt, Horizon::Both].map(Horizon::name);
    /// assert_eq!(names, ["auto", "bounds", "gvt", "both"]);
    /// ```
    #[non_exhaustive]
    pub enum Horizon {
        /// Bounds among few PEs, GVT among many, and both on several machines.
        #[default]
        Auto = "auto",
        /// The bounds that each PE publishes and all others read.
        Bounds = "bounds",
        /// GVT alone: PEs go on to the last GVT plus the least delay, and then need the next one.
        Gvt = "gvt",
        /// The bounds of PEs that share memory, and GVT for all others.
        Both = "both",
    }

    /// How the PEs of a parallel run with [synchronous GVT](GvtAlgorithm::Synchronous) meet; see
    /// [`Simulation::barrier`](crate::Simulation::barrier). The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Barrier;
    /// assert_eq!([Barrier::Tree, Barrier::Central, Barrier::Condvar].map(Barrier::name), ["tree", "central", "condvar"]);
    /// assert_eq!(Barrier::AllReduce.name(), "all-reduce");
    /// ```
    #[non_exhaustive]
    pub enum Barrier {
        /// By messages along a tree.
        #[default]
        Tree = "tree",
        /// At one counter in shared memory, which all of them watch.
        Central = "central",
        /// Likewise, but those who wait sleep, on a condition variable.
        Condvar = "condvar",
        /// Those of each rank at a counter, and ranks by collective reductions of MPI; only for
        /// processes that `mpirun` has started.
        AllReduce = "all-reduce",
    }

    /// Whether the interval between computations of GVT changes during the run; see
    /// [`Simulation::gvt_interval_control`](crate::Simulation::gvt_interval_control). The answer
    /// does not depend on it.
    ///
    /// ```
    /// use warpline::GvtIntervalControl;
    /// assert_eq!([GvtIntervalControl::Fixed, GvtIntervalControl::Adaptive].map(GvtIntervalControl::name), ["fixed", "adaptive"]);
    /// ```
    #[non_exhaustive]
    pub enum GvtIntervalControl {
        /// It stays as it is.
        #[default]
        Fixed = "fixed",
        /// It follows how busy PEs are while GVT is computed; threads that only send and receive
        /// messages have an interval of their own.
        Adaptive = "adaptive",
    }

    /// Who carries messages between processes that share no memory, or not that of messages; see
    /// [`Simulation::carrier`](crate::Simulation::carrier). The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Carrier;
    /// assert_eq!([Carrier::Rings, Carrier::Boost].map(Carrier::name), ["rings", "boost"]);
    /// ```
    #[non_exhaustive]
    pub enum Carrier {
        /// MPI between processes that a launcher has started, otherwise rings.
        #[default]
        Auto = "auto",
        /// Copies through rings in memory that the processes share.
        Rings = "rings",
        /// MPI.
        Mpi = "mpi",
        /// Copies in a segment of Boost.Interprocess, for comparison. It takes the feature `boost`.
        Boost = "boost",
    }

    /// Who writes, sends and receives messages between processes that share no memory; see
    /// [`Simulation::communication`](crate::Simulation::communication). The answer does not depend
    /// on it.
    ///
    /// ```
    /// use warpline::Communication;
    /// assert_eq!([Communication::Worker, Communication::Dedicated].map(Communication::name), ["worker", "dedicated"]);
    /// ```
    #[non_exhaustive]
    pub enum Communication {
        /// Threads that do nothing else if PEs keep their speed beside them in a probe, which takes
        /// some 50 ms before the run; otherwise every PE, or one of each process if they hinder
        /// each other.
        #[default]
        Auto = "auto",
        /// The first PE of each process, for all of them.
        Worker = "worker",
        /// Every PE.
        Distributed = "distributed",
        /// Threads that do nothing else.
        Dedicated = "dedicated",
    }

    /// How events travel between the PEs of a parallel run; see
    /// [`Simulation::messages`](crate::Simulation::messages). The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Messages;
    /// let names = [Messages::Auto, Messages::Value, Messages::Copy, Messages::Shared].map(Messages::name);
    /// assert_eq!(names, ["auto", "value", "copy", "shared"]);
    /// ```
    #[non_exhaustive]
    pub enum Messages {
        /// As `value` if payloads have at most 512 bytes, and as `shared` if they have more.
        #[default]
        Auto = "auto",
        /// By value if they can no longer be cancelled, otherwise in a buffer that sender and
        /// receiver share.
        Value = "value",
        /// Copied into the receiver's queue; the sender keeps a copy of its own of what may have to
        /// be cancelled, which takes an anti-message.
        Copy = "copy",
        /// All in buffers that sender and receiver share, where they can be cancelled in place.
        Shared = "shared",
    }

    /// From whose pool a buffer for a message between PEs is taken, and to whose it returns when it
    /// is free; see [`Simulation::pool`](crate::Simulation::pool). The answer does not depend on
    /// it.
    ///
    /// ```
    /// use warpline::BufferPool;
    /// let names = [BufferPool::Partitioned, BufferPool::Sender, BufferPool::Receiver].map(BufferPool::name);
    /// assert_eq!(names, ["partitioned", "sender", "receiver"]);
    /// ```
    #[non_exhaustive]
    pub enum BufferPool {
        /// Each PE has a sub-pool for each other. Free buffers return to where they came from, so
        /// that each stays with two PEs for life.
        #[default]
        Partitioned = "partitioned",
        /// The sender's own pool. The receiver keeps the buffer; what a PE has too many of goes to
        /// a pool that all share.
        Sender = "sender",
        /// The receiver's pool, under a lock, to which the buffer returns.
        Receiver = "receiver",
    }

    /// Where messages between threads wait until their PE receives them; see
    /// [`Simulation::mailbox`](crate::Simulation::mailbox). The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Mailbox;
    /// let names = [Mailbox::Auto, Mailbox::PerSender, Mailbox::Shared, Mailbox::Cas].map(Mailbox::name);
    /// assert_eq!(names, ["auto", "per-sender", "shared", "cas"]);
    /// ```
    #[non_exhaustive]
    pub enum Mailbox {
        /// Per sender with up to 32 PEs, and shared with more, as rings between all of them would
        /// take much memory then.
        #[default]
        Auto = "auto",
        /// In one ring for every sender, so that only two PEs ever meet.
        PerSender = "per-sender",
        /// In one queue for each PE, under a lock.
        Shared = "shared",
        /// In one ring for each PE, in which senders reserve places by compare-and-swap.
        Cas = "cas",
    }

    /// When the memory of executed events goes back to its pool; see
    /// [`Simulation::fossil_collection`](crate::Simulation::fossil_collection). The answer does not
    /// depend on it.
    ///
    /// ```
    /// use warpline::FossilCollection;
    /// assert_eq!([FossilCollection::Batch, FossilCollection::OnTheFly].map(FossilCollection::name), ["batch", "on-the-fly"]);
    /// ```
    #[non_exhaustive]
    pub enum FossilCollection {
        /// When they commit: all that a new GVT makes certain, one after the other.
        #[default]
        Batch = "batch",
        /// As soon as they have been executed, with a stamp; buffers are used again when what their
        /// stamps stand for has committed.
        OnTheFly = "on-the-fly",
    }

    /// How a speculative event is undone; see [`Simulation::undo`](crate::Simulation::undo).
    /// [Verification](crate::Simulation::verify), which has an example, tries the method out.
    ///
    /// ```
    /// use warpline::Undo;
    /// assert_eq!([Undo::Copy, Undo::Reverse, Undo::Journal].map(Undo::name), ["copy", "reverse", "journal"]);
    /// ```
    #[non_exhaustive]
    pub enum Undo {
        /// By a copy of the state before the event: works for every model.
        #[default]
        Copy = "copy",
        /// By the model's own [`reverse`](crate::Model::reverse) code.
        Reverse = "reverse",
        /// By a [journal](macro@crate::model) of what the event has changed.
        Journal = "journal",
    }

    /// What an event costs in an [explanation](crate::Simulation::explain).
    ///
    /// ```
    /// use warpline::EventCost;
    /// assert_eq!([EventCost::Counted, EventCost::Measured].map(EventCost::name), ["counted", "measured"]);
    /// ```
    #[non_exhaustive]
    pub enum EventCost {
        /// As much as any other: the answer is the same everywhere, and right where all events do
        /// about the same work.
        #[default]
        Counted = "counted",
        /// The time that its handler took in this run.
        Measured = "measured",
    }

    /// Which pending event set is used; see [`Simulation::pending`](crate::Simulation::pending),
    /// which has an example. The answer does not depend on it.
    ///
    /// ```
    /// use warpline::Pending;
    /// assert_eq!([Pending::Ladder, Pending::Heap].map(Pending::name), ["ladder", "heap"]);
    /// ```
    #[non_exhaustive]
    pub enum Pending {
        /// A ladder queue, which is a heap as long as few events are pending.
        #[default]
        Ladder = "ladder",
        /// A 4-ary heap.
        Heap = "heap",
    }
}

impl Pending {
    /// An empty set of this kind.
    pub(crate) fn empty(self) -> Ladder {
        match self {
            Pending::Ladder => Ladder::default(),
            Pending::Heap => Ladder::without_rungs(),
        }
    }
}
