use warpline_base::{Moment, TieBreak};

use super::tree::Tree;
use super::{Action, Control, Gvt, Local, Share, Tag, Work};

/// GVT by epochs, while execution goes on: K. Perumalla, A. Park and V. Tipparaju, "Discrete event execution with
/// one-sided and two-sided GVT algorithms on 216,000 processor cores", ACM TOMACS 24(3), 2014, Algorithm 1 in its
/// two-sided asynchronous mode (§2.6); after F. Mattern, "Efficient algorithms for distributed snapshots and global
/// virtual time approximation", J. Parallel and Distributed Computing 18, 1993.
///
/// To close epoch d, each PE makes a cut: from then on it sends in epoch d + 1. It contributes its least moment at the
/// cut, lowered by every message of epoch d that arrives after it. Reductions are repeated until as many messages
/// of epoch d have been received as were sent. One or two are usually enough, as a PE contributes only when its parent in the tree
/// has made its cut and its children have contributed.
///
/// Why that is a bound. A PE contributes after its cut, when its sends of epoch d are final, so the sums are equal only if
/// every message of epoch d had been received when its receiver contributed. So the minimum, G, is at or before all that
/// was pending at any cut, and all messages of epoch d received after one. By induction over what happens after
/// the cuts: whatever a PE then executes, undoes or sends was pending at its cut, came in epoch d, was caused on the same
/// PE by such, or came in epoch d + 1 from a PE after its cut; in each case it is at or after G. No message of epoch d
/// is left. That a message of epoch d + 1 may arrive before its receiver's cut does no harm: it is pending at that cut.
///
/// One bit tells epochs apart: a PE makes the cut of d + 1 only after the verdict on d, for which all made
/// that of d and all messages of d were received. So what arrives is of the epoch in which the receiver sends or of one
/// of its two neighbours; d + 2 comes to a PE that still waits for the verdict on d only when that verdict no longer
/// depends on it. The counts are never set back: those of an epoch start from equal sums.
#[derive(Debug)]
pub struct Asynchronous {
    tree: Tree,
    /// The tag of the epoch in which this PE sends.
    tag: Tag,
    sent: [u64; 2],
    received: [u64; 2],
    /// The least moment of the epoch being closed. That of the next is not known before its cut, which takes in all that
    /// has arrived by then.
    least: Moment,
    /// What was done up to the cut.
    work: Work,
}

impl Asynchronous {
    /// The epoch being closed is the one before that in which this PE sends.
    fn closing(&self) -> usize {
        1 - self.tag.index()
    }

    fn cut(&mut self, local: &mut impl Local) {
        self.tag = Tag(1 - self.tag.0);
        (self.least, self.work) = (local.least(), local.take_work());
        self.tree.begin();
    }

    fn contribute(&mut self, local: &impl Local) {
        let (sent, received) = (self.sent[self.closing()], self.received[self.closing()]);
        let own = Share { sent, received, least: self.least, failure: local.failure(), work: self.work };
        let Some(sum) = self.tree.give(own) else { return };
        assert!(sum.in_flight() >= 0, "{} messages received, but only {} sent", sum.received, sum.sent);
        if sum.in_flight() == 0 { self.tree.decide(sum) } else { self.tree.again() }
    }
}

impl Gvt for Asynchronous {
    const NAME: &'static str = "asynchronous";

    fn new(me: u32, pes: u32, ties: TieBreak) -> Self {
        let (least, work) = (Moment::Never, Work::default());
        Asynchronous { tree: Tree::new(me, pes, ties), tag: Tag(0), sent: [0; 2], received: [0; 2], least, work }
    }

    #[inline]
    fn sent(&mut self) -> Tag {
        debug_assert!(self.tree.pes() > 1, "the only PE sends to another");
        self.sent[self.tag.index()] += 1;
        self.tag
    }

    #[inline]
    fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        self.received[tag.index()] += 1;
        if tag != self.tag && self.tree.is_on() {
            self.least = self.least.earlier(at(), self.tree.ties());
        }
    }

    fn neighbours(&self) -> Vec<u32> {
        self.tree.neighbours()
    }

    fn wish(&mut self) {
        self.tree.wish();
    }

    fn receive_control(&mut self, control: Control) {
        self.tree.receive_control(control);
    }

    fn advance(&mut self, local: &mut impl Local) -> Option<Action> {
        loop {
            match self.tree.next_action() {
                Some(action) => return Some(action),
                None if self.tree.is_called() => self.cut(local),
                None if self.tree.is_due() => self.contribute(local),
                None => return None,
            }
        }
    }

    #[inline]
    fn holds(&self) -> bool {
        false
    }

    #[inline]
    fn is_on(&self) -> bool {
        self.tree.is_on()
    }

    #[inline]
    fn epoch(&self) -> u64 {
        self.tree.epochs()
    }
}
