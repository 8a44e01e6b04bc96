//! Global virtual time (GVT): a moment before which nothing can be undone any more, found by all PEs together.
//!
//! The algorithms are state machines, one per PE: a PE reports messages to its machine, which answers with control messages to send to
//! other PEs or to write into their memory and, in the end, with a [`Verdict`] to adopt. They know nothing of clocks, threads or wires, and
//! rely on no order among messages of any kind; every control message must arrive exactly once.
//!
//! * [`Asynchronous`]: PEs go on executing while GVT is computed (epochs and colours).
//! * [`OneSided`]: the same, but PEs write straight into each other's memory.
//! * [`Synchronous`]: PEs hold until nothing is in flight (four counters); simpler, slower, and a check on the others. They reduce by messages
//!   or at a [`Barrier`], and from there over all ranks by [`AllReduce`].
//! * [`Gsu`]: registers in shared memory tell GVT without any control message.
//!
//! The README beside this file tells how each of them works, step by step.
//!
//! Reductions go over a [`Hierarchy`] of the PEs. Messages that still wait at their sender count as in flight, so PEs should
//! hand over often while [`Gvt::is_on`]. Fewer reductions are needed if a PE hands messages over before it sends control messages, and
//! takes control messages before it receives other messages.

mod all_reduce;
mod any;
mod asynchronous;
mod barrier;
mod gsu;
mod hierarchy;
mod interval;
mod one_sided;
mod reduction;
mod synchronous;

pub use all_reduce::{ALL_REDUCE_KEY, ALL_REDUCE_SUMS, ALL_REDUCE_WORDS, AllReduce, RankPlaces};
pub use any::{Algorithm, AnyGvt};
pub use asynchronous::Asynchronous;
pub use barrier::Barrier;
pub use gsu::Gsu;
pub use hierarchy::Hierarchy;
pub use interval::{IntervalControl, IntervalHistory, IntervalUnit, Pacer, PacerDriver};
pub use one_sided::{BLOCK_WORDS, OneSided, Put};
pub use synchronous::Synchronous;

use std::ops::Add;

use warpline_base::{Moment, TieBreak};
use warpline_model::Portable;

/// What a PE did since its last share. Windows adapt to the sums over all PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Portable)]
pub struct Work {
    /// Events processed, including those undone later.
    pub processed: u64,
    /// Events rolled back.
    pub rolled_back: u64,
    /// Steps of the PE's loop.
    pub steps: u64,
    /// Steps in which there was nothing to execute.
    pub idle_steps: u64,
    /// Those among them in which the PE was waiting for GVT, as it was being computed.
    pub waiting_steps: u64,
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            processed: self.processed + other.processed,
            rolled_back: self.rolled_back + other.rolled_back,
            steps: self.steps + other.steps,
            idle_steps: self.idle_steps + other.idle_steps,
            waiting_steps: self.waiting_steps + other.waiting_steps,
        }
    }
}

/// What a PE contributes to a reduction, or the reduction of several contributions.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Share {
    /// Messages sent, as far as the algorithm counts them in this epoch.
    pub sent: u64,
    /// Messages received, likewise.
    pub received: u64,
    /// The earliest moment of anything that has yet to be done, or that was received after the cut.
    pub least: Moment,
    /// The earliest committed fault, or [`Moment::Never`].
    pub failure: Moment,
    /// What was done since the last share.
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

/// The common result of closing an epoch: all PEs adopt the same one.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub struct Verdict {
    /// The epoch that is closed now, from 0.
    pub epoch: u64,
    /// How many reductions it took.
    pub trials: u32,
    /// Nothing that is pending or in flight, now or later, comes before this moment. It never decreases.
    pub gvt: Moment,
    /// Nothing that was sent before this verdict arrives for an earlier moment: [`Moment::Never`] if all of that has arrived.
    pub in_transit: Moment,
    /// The earliest fault that any PE knew of, or [`Moment::Never`].
    pub failure: Moment,
    /// What all PEs did, each since its previous share.
    pub work: Work,
}

/// A message between the PEs of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Portable)]
pub enum Control {
    /// A neighbour has begun to close an epoch: join.
    Begin {
        /// Which neighbour.
        from: u32,
        /// The epoch to close.
        epoch: u64,
    },
    /// The reduced share of a child and all its descendants, or of a partner and all with whom it has exchanged shares already.
    Share {
        /// Which child or partner.
        from: u32,
        /// The epoch being closed.
        epoch: u64,
        /// Which reduction of this epoch, from 0.
        trial: u32,
        /// The share.
        share: Share,
    },
    /// The parent asks for another reduction of the epoch, as messages were in flight.
    Again {
        /// The epoch being closed.
        epoch: u64,
        /// The number of that reduction.
        trial: u32,
    },
    /// The parent passes on the verdict.
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
    /// Writes into the memory of another PE, which [receives](Gvt::receive_control) what it [reads](Put::read) there.
    Write {
        /// Whose memory.
        to: u32,
        /// What.
        put: Put,
    },
    /// Adopts the verdict: commits what comes before its GVT.
    Adopt(Verdict),
}

/// The epoch in which a message was sent, as far as its receiver needs to know it: one bit, which travels with the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Portable)]
pub struct Tag(bool);

impl Tag {
    /// The tag as a number, 0 or 1.
    #[inline]
    pub fn bits(self) -> u8 {
        u8::from(self.0)
    }

    /// The tag with this number. Only the lowest bit counts.
    #[inline]
    pub fn from_bits(bits: u8) -> Tag {
        Tag(bits & 1 == 1)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What an algorithm needs to know of its PE. It asks only when it has to.
pub trait Local {
    /// The earliest moment of anything that has yet to be done: of pending events, and of rollbacks and anti-messages that were put off.
    ///
    /// It covers every message reported as [received](Gvt::received) that has not been dealt with yet.
    fn least(&mut self) -> Moment;

    /// The earliest committed fault, or [`Moment::Never`].
    fn failure(&self) -> Moment;

    /// What was done since the last call.
    fn take_work(&mut self) -> Work;
}

/// One PE's part in computing GVT.
///
/// All that algorithms rely on is that whatever a PE executes or undoes causes nothing before its own moment.
pub trait Gvt: Send {
    /// The name of the algorithm.
    fn name(&self) -> &'static str;

    /// Counts a message to PE `to`, positive or anti, for an event at the moment `at` or later, and returns its tag. To be called when the
    /// message is made, even if it still has to wait before it is handed over.
    fn sent(&mut self, to: u32, at: impl FnOnce() -> Moment) -> Tag;

    /// Announces all messages counted since the last call. To be called before any of them is handed over.
    fn announce(&mut self) {}

    /// Counts a message that has arrived, positive or anti, for an event at the moment `at`. Before the PE calls
    /// [`advance`](Self::advance), it must put the message where [`Local::least`] covers it.
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment);

    /// Asks for a new GVT, because the interval has passed or the PE is idle. Idempotent. Ignored while a computation is under way, as its
    /// verdict may be enough.
    fn wish(&mut self);

    /// Takes a control message that has arrived.
    ///
    /// # Panics
    /// If the message was not meant for this PE, or arrived twice.
    fn receive_control(&mut self, control: Control);

    /// The next action for the PE, if any. To be called until there is none, after every `wish` and `receive_control`.
    ///
    /// # Panics
    /// If GVT would decrease, or more messages were received than sent: some were not counted.
    fn advance(&mut self, local: &mut impl Local) -> Option<Action>;

    /// The PEs that this one exchanges control messages with, in no particular order.
    fn neighbours(&self) -> Vec<u32>;

    /// Whether the PE must not execute events now. It still has to receive messages.
    fn holds(&self) -> bool;

    /// Whether this PE is taking part in a computation.
    fn is_on(&self) -> bool;

    /// How many computations this PE has joined so far.
    fn epoch(&self) -> u64;
}
