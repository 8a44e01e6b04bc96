//! Global virtual time (GVT): a moment before which nothing can be undone any more, found by all PEs together.
//!
//! Algorithms are pure state machines, one per PE: messages are reported to them, and they answer with what is to be sent
//! to other PEs and, in the end, with a [`Verdict`] to adopt. They know no clocks, threads or wires, and need no order
//! among messages of any kind; every control message must arrive once.
//!
//! * [`Asynchronous`]: PEs go on executing while GVT is computed (epochs and colours).
//! * [`Synchronous`]: PEs hold until nothing is in flight (four counters); simpler, slower, and a check of the other.
//!
//! Both reduce over a binary tree of the PEs, rooted at PE 0. Messages that still wait in an outgoing batch count as in
//! flight: while [`Gvt::is_on`], PEs should flush their batches often. Fewer reductions are needed if a PE hands messages over before it
//! sends control messages, and takes control messages before it receives the others.

mod any;
mod asynchronous;
mod synchronous;
mod tree;

pub use any::AnyGvt;
pub use asynchronous::Asynchronous;
pub use synchronous::Synchronous;

use std::ops::Add;

use warpline_base::{Moment, TieBreak};

/// What a PE did since its last share: for flow control, which looks at the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Events processed, whether they stayed or not.
    pub processed: u64,
    /// Events rolled back.
    pub rolled_back: u64,
    /// Steps of the PE's loop.
    pub steps: u64,
    /// Those in which there was nothing to execute.
    pub idle_steps: u64,
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            processed: self.processed + other.processed,
            rolled_back: self.rolled_back + other.rolled_back,
            steps: self.steps + other.steps,
            idle_steps: self.idle_steps + other.idle_steps,
        }
    }
}

/// What a PE contributes to a reduction, and the reduction of what several did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Messages sent, as far as the algorithm counts them in this epoch.
    pub sent: u64,
    /// Messages of the same kind received.
    pub received: u64,
    /// The earliest thing that is not yet done, or was received late.
    pub least: Moment,
    /// The earliest committed fault, or [`Moment::Never`].
    pub failure: Moment,
    /// What was done since the last epoch.
    pub work: Work,
}

impl Share {
    /// Messages sent minus messages received.
    pub fn in_flight(&self) -> i64 {
        self.sent.wrapping_sub(self.received) as i64
    }

    /// The reduction of two shares.
    pub fn and(self, other: Share, ties: TieBreak) -> Share {
        Share {
            sent: self.sent + other.sent,
            received: self.received + other.received,
            least: self.least.earlier(other.least, ties),
            failure: self.failure.earlier(other.failure, ties),
            work: self.work + other.work,
        }
    }
}

/// What the PEs found together; all of them adopt the same verdict for an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The epoch that is closed now, from 0.
    pub epoch: u64,
    /// How many reductions it took.
    pub trials: u32,
    /// Nothing that is pending or in flight, or will ever be, comes before this moment. It never regresses.
    pub gvt: Moment,
    /// The earliest fault that any PE knew of, or [`Moment::Never`].
    pub failure: Moment,
    /// What all PEs did, each since its last share.
    pub work: Work,
}

/// A message between the PEs of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// A neighbour in the tree has begun to close an epoch: join.
    Begin {
        /// Which neighbour.
        from: u32,
        /// The epoch to close.
        epoch: u64,
    },
    /// The share of a child with all its descendants.
    Share {
        /// Which child.
        from: u32,
        /// The epoch being closed.
        epoch: u64,
        /// Which reduction of this epoch, from 0.
        trial: u32,
        /// The share.
        share: Share,
    },
    /// The parent asks for the next reduction of the epoch, since messages were in flight.
    Again {
        /// The epoch being closed.
        epoch: u64,
        /// Which reduction is to come.
        trial: u32,
    },
    /// The parent passes on what was found.
    Verdict(Verdict),
}

/// What the PE is to do for the algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Passes a control message to another PE, which [receives](Gvt::receive_control) it.
    Send {
        /// The receiver.
        to: u32,
        /// The message.
        control: Control,
    },
    /// Takes note of the verdict: commit what comes before its GVT.
    Adopt(Verdict),
}

/// Travels with each message between PEs and says in which epoch it was sent, as far as needed: one bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(u8);

impl Tag {
    /// The tag as a number, 0 or 1.
    #[inline]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The tag with this number, of which only the lowest bit counts.
    #[inline]
    pub fn from_bits(bits: u8) -> Tag {
        Tag(bits & 1)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0 & 1)
    }
}

/// What an algorithm needs to know of its PE. It asks only when it has to.
pub trait Local {
    /// The earliest thing that is not yet done: pending events, and rollbacks and anti-messages put off till later.
    ///
    /// What counts as [received](Gvt::received) is part of it, unless it is done already.
    fn least(&mut self) -> Moment;

    /// The earliest committed fault, or [`Moment::Never`].
    fn failure(&self) -> Moment;

    /// What was done since the last time this was asked.
    fn take_work(&mut self) -> Work;
}

/// One PE's part in computing GVT.
///
/// What a PE executes or undoes may only cause what comes at or after its own moment; that is all algorithms rely on.
pub trait Gvt: Send {
    /// What the algorithm is called.
    const NAME: &'static str;

    /// The part of PE `me` of `pes`.
    ///
    /// # Panics
    /// Unless `me < pes`.
    fn new(me: u32, pes: u32, ties: TieBreak) -> Self
    where
        Self: Sized;

    /// Counts a message that leaves for another PE, positive or anti, and gives its tag. To be called when the message
    /// is made, even if it then waits in an outgoing batch.
    fn sent(&mut self) -> Tag;

    /// Counts a message that has arrived for the moment `at`, positive or anti. The PE puts it where
    /// [`Local::least`] sees it before it calls [`advance`](Self::advance).
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment);

    /// The PE would like a new GVT: its interval has passed or it is idle. Idempotent. A wish made while a computation is
    /// on is dropped: its verdict may be enough.
    fn wish(&mut self);

    /// Takes a control message that arrived.
    ///
    /// # Panics
    /// If the message was not for this PE, or arrived twice.
    fn receive_control(&mut self, control: Control);

    /// Does at most one action. To be called until there is none, after every `wish` and `receive_control`.
    ///
    /// # Panics
    /// If GVT would regress or more messages were received than sent, which means that some were not counted.
    fn advance(&mut self, local: &mut impl Local) -> Option<Action>;

    /// The PEs that this one sends control messages to, in no particular order.
    fn neighbours(&self) -> Vec<u32>;

    /// Whether the PE must not execute events now. It goes on receiving.
    fn holds(&self) -> bool;

    /// Whether this PE takes part in a computation now.
    fn is_on(&self) -> bool;

    /// How many computations this PE has joined so far.
    fn epoch(&self) -> u64;
}
