//! What PEs tell each other to find GVT.

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
    /// Idle steps in which the PE waited for a GVT that was being computed.
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

    /// The verdict that follows from the sum of all shares, if nothing was in flight.
    pub(super) fn verdict(self, epoch: u64, rounds: u32) -> Verdict {
        Verdict {
            epoch,
            rounds,
            gvt: self.least,
            in_transit: Moment::Never,
            failure: self.failure,
            work: self.work,
        }
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
    pub rounds: u32,
    /// Nothing that is pending or in flight, now or later, comes before this moment. It never
    /// decreases.
    pub gvt: Moment,
    /// Nothing that was sent before this verdict arrives for an earlier moment: [`Moment::Never`]
    /// if all of that has arrived.
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
    /// The reduced share of a child and all its descendants, or of a partner and everyone with whom
    /// it has exchanged shares.
    Share {
        /// Which child or partner.
        from: u32,
        /// The epoch being closed.
        epoch: u64,
        /// Which reduction of this epoch, from 0.
        round: u32,
        /// The share.
        share: Share,
    },
    /// The parent asks for another reduction of the epoch, as messages were in flight.
    Again {
        /// The epoch being closed.
        epoch: u64,
        /// The number of that reduction.
        round: u32,
    },
    /// The parent passes on the verdict.
    Verdict(Verdict),
}

impl Control {
    /// The epoch that it is about.
    pub fn epoch(&self) -> u64 {
        match *self {
            Control::Begin { epoch, .. }
            | Control::Share { epoch, .. }
            | Control::Again { epoch, .. } => epoch,
            Control::Verdict(verdict) => verdict.epoch,
        }
    }
}

/// Tells the receiver of a message in which epoch it was sent. One bit is enough, and travels with
/// the message.
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

    /// The tag of the next epoch.
    pub(super) fn other(self) -> Tag {
        Tag(!self.0)
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}
