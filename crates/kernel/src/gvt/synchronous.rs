use warpline_base::{Moment, TieBreak};

use super::tree::Tree;
use super::{Action, Control, Gvt, Local, Share, Tag, Work};

/// GVT while all PEs hold: they receive, but execute nothing, until nothing is in flight. This is detected by the four-counter
/// method of F. Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987; the mode of operation is
/// 2S of K. Perumalla, A. Park and V. Tipparaju, ACM TOMACS 24(3), 2014, §2.5.
///
/// All messages ever sent and received are counted, and the counts are summed in trials. A single trial proves nothing: counts are taken at
/// different times, and a message that arrives may cause a rollback and with it anti-messages. But counts only grow, and a trial begins
/// after the previous one has ended, at time t. So if the number received as of the first trial, R1, equals the number sent as of the
/// second, S2, then R1 ≤ R(t) ≤ S(t) ≤ S2 makes R(t) equal S(t): nothing was in flight at t, and nothing has been since, as PEs that hold
/// send only because of what they receive. The least moment of the second trial is GVT.
#[derive(Debug)]
pub struct Synchronous {
    tree: Tree,
    sent: u64,
    received: u64,
    work: Work,
    /// At the root: the counts of the previous trial.
    before: Option<(u64, u64)>,
}

impl Synchronous {
    fn contribute(&mut self, local: &mut impl Local) {
        if self.tree.trial() == 0 {
            (self.work, self.before) = (local.take_work(), None);
        }
        let (sent, received, work) = (self.sent, self.received, self.work);
        let own = Share { sent, received, least: local.least(), failure: local.failure(), work };
        let Some(sum) = self.tree.give(own) else { return };
        let counts = (sum.sent, sum.received);
        let same = self.before.replace(counts) == Some(counts);
        if same && sum.in_flight() == 0 { self.tree.decide(sum) } else { self.tree.again() }
    }
}

impl Gvt for Synchronous {
    const NAME: &'static str = "synchronous";

    fn new(me: u32, pes: u32, ties: TieBreak) -> Self {
        Synchronous { tree: Tree::new(me, pes, ties), sent: 0, received: 0, work: Work::default(), before: None }
    }

    #[inline]
    fn sent(&mut self) -> Tag {
        debug_assert!(self.tree.pes() > 1, "a message to another PE, but there is only one");
        self.sent += 1;
        Tag::default()
    }

    #[inline]
    fn received(&mut self, _: Tag, _: impl FnOnce() -> Moment) {
        self.received += 1;
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
                None if self.tree.is_called() => self.tree.begin(),
                None if self.tree.is_due() => self.contribute(local),
                None => return None,
            }
        }
    }

    #[inline]
    fn holds(&self) -> bool {
        self.tree.is_on()
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
