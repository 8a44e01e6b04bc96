use warpline_base::{Moment, TieBreak};

use super::algorithm::GvtAlgorithm;
use super::hierarchy::Hierarchy;
use super::messages::{Control, Share, Tag, Work};
use super::protocol::{Action, Gvt, Local};
use super::reduction::Reduction;

/// GVT by epochs, while execution goes on: K. Perumalla, A. Park and V. Tipparaju, "Discrete event
/// execution with one-sided and two-sided GVT algorithms on 216,000 processor cores", ACM TOMACS
/// 24(3), 2014, Algorithm 1 in its two-sided asynchronous mode (§2.6); after F. Mattern, "Efficient
/// algorithms for distributed snapshots and global virtual time approximation", J. Parallel and
/// Distributed Computing 18, 1993.
///
/// To close epoch d, each PE makes a cut: from then on it sends in epoch d + 1. It contributes its
/// least moment at the cut, lowered by every message of epoch d that arrives after it. Reductions
/// are repeated until as many messages of epoch d have been received as were sent. One or two are
/// usually enough, as a PE contributes only when its parent in the hierarchy, or its first partner,
/// has made its cut and its children have contributed.
///
/// Why the result is a bound. A PE contributes after its cut, when it sends nothing more in epoch
/// d, so the sums are equal only if every message of epoch d had been received by the time its
/// receiver contributed. So the minimum, G, comes at or before everything that was pending at any
/// cut, and every message of epoch d received after a cut. By induction over what happens after the
/// cuts: whatever a PE then executes, undoes or sends was pending at its cut, arrived in a message
/// of epoch d, was caused by either on the same PE, or arrived in a message of epoch d + 1 that its
/// sender sent after its own cut. In each case it comes at or after G. No message of epoch d is
/// left. A message of epoch d + 1 may arrive before its receiver's cut, but is pending at that cut
/// then.
///
/// One bit distinguishes the epochs: a PE makes the cut of d + 1 only after the verdict on d, for
/// which all PEs have made the cut of d and all messages of d have been received. So a message is
/// of the epoch in which its receiver sends, or of the one before or after it. Even a message of
/// epoch d + 2 can reach a PE that still waits for the verdict on d, but that verdict no longer
/// depends on it. Counts are never reset: those of a new epoch start from equal sums.
#[derive(Debug)]
pub struct Asynchronous {
    reduction: Reduction,
    /// The tag of the epoch in which this PE sends.
    tag: Tag,
    sent: [u64; 2],
    received: [u64; 2],
    /// The least moment of the epoch being closed. That of the next epoch is found at its cut, and
    /// covers everything that has arrived by then.
    least: Moment,
    /// What was done up to the cut.
    work: Work,
}

impl Asynchronous {
    /// The part of PE `me`.
    ///
    /// # Panics
    /// If there is no such PE.
    pub fn new(me: u32, hierarchy: Hierarchy, ties: TieBreak) -> Self {
        Asynchronous {
            reduction: Reduction::new(me, hierarchy, ties),
            tag: Tag::default(),
            sent: [0; 2],
            received: [0; 2],
            least: Moment::Never,
            work: Work::default(),
        }
    }

    #[inline(always)]
    pub(super) fn count_sent(&mut self) -> Tag {
        debug_assert!(self.reduction.pes() > 1, "a message to another PE, but there is only one");
        self.sent[self.tag.index()] += 1;
        self.tag
    }

    /// Counts a message that has arrived. Returns whether it [lowers](Self::lower) this PE's share:
    /// it is of the epoch being closed, and has arrived after the cut.
    #[inline]
    fn count_received(&mut self, tag: Tag) -> bool {
        self.received[tag.index()] += 1;
        tag != self.tag && self.reduction.is_on()
    }

    #[inline]
    fn lower(&mut self, at: Moment) {
        self.least = self.least.earlier(at, self.reduction.ties());
    }

    /// The index of the epoch being closed: the one before that in which this PE sends.
    fn closing(&self) -> usize {
        1 - self.tag.index()
    }

    fn cut(&mut self, local: &mut dyn Local) {
        self.tag = self.tag.other();
        self.least = local.least();
        self.work = local.take_work();
        self.reduction.begin();
    }

    fn contribute(&mut self, local: &dyn Local) {
        let own = Share {
            sent: self.sent[self.closing()],
            received: self.received[self.closing()],
            least: self.least,
            failure: local.failure(),
            work: self.work,
        };
        self.reduction.give(own);
    }

    fn judge(&mut self, sum: Share) {
        assert!(
            sum.in_flight() >= 0,
            "{} messages received, but only {} sent",
            sum.received,
            sum.sent
        );
        if sum.in_flight() == 0 { self.reduction.decide(sum) } else { self.reduction.again() }
    }
}

impl Gvt for Asynchronous {
    fn algorithm(&self) -> GvtAlgorithm {
        GvtAlgorithm::Asynchronous
    }

    #[inline(always)]
    fn sent(&mut self, _: u32, _: impl FnOnce() -> Moment) -> Tag {
        self.count_sent()
    }

    #[inline]
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        if self.count_received(tag) {
            self.lower(at());
        }
    }

    fn neighbours(&self) -> Vec<u32> {
        self.reduction.neighbours()
    }

    fn wish(&mut self) {
        self.reduction.wish();
    }

    fn receive_control(&mut self, control: Control) {
        self.reduction.receive_control(control);
    }

    fn advance(&mut self, local: &mut dyn Local) -> Option<Action> {
        loop {
            if let Some(action) = self.reduction.next_action() {
                return Some(action);
            } else if self.reduction.is_called() {
                self.cut(local);
            } else if self.reduction.is_due() {
                self.contribute(local);
            } else {
                match self.reduction.exchange() {
                    Some(sum) => self.judge(sum),
                    None => return self.reduction.next_action(),
                }
            }
        }
    }

    #[inline]
    fn is_paused(&self) -> bool {
        false
    }

    #[inline]
    fn is_on(&self) -> bool {
        self.reduction.is_on()
    }

    #[inline]
    fn epoch(&self) -> u64 {
        self.reduction.epochs()
    }
}
