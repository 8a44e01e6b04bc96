use std::collections::VecDeque;

use warpline_base::{Moment, TieBreak};

use super::{Action, Control, Share, Verdict};

/// How far a PE has come in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReductionState {
    /// There is no trial.
    Off,
    /// It has yet to give its share of the trial.
    Due,
    /// It has given its share and waits for the outcome.
    Given,
}

/// One PE's place in the binary tree of PEs, and its part in the reductions over it.
///
/// What the shares mean, and when the root accepts their sum, is up to the algorithm. Any PE can begin to close an epoch; this
/// spreads up and down the tree at once (the jump start of Perumalla, Park and Tipparaju, §2.7), so that all PEs have joined after one
/// traversal of the tree.
#[derive(Debug)]
pub(super) struct Tree {
    me: u32,
    pes: u32,
    ties: TieBreak,
    /// The epoch that is being closed, or will be next.
    epoch: u64,
    trial: u32,
    state: ReductionState,
    /// Some PE has asked to close all epochs below this.
    asked: u64,
    /// The parent has begun to close all epochs below this, as far as this PE knows.
    called: u64,
    /// The children's shares of this trial. A child gives its next share only after it has received the outcome.
    shares: [Option<Share>; 2],
    gvt: Option<Moment>,
    outbox: VecDeque<Action>,
}

impl Tree {
    pub(super) fn new(me: u32, pes: u32, ties: TieBreak) -> Self {
        assert!(me < pes, "PE {me} of {pes}");
        let (state, shares) = (ReductionState::Off, [None; 2]);
        Tree { me, pes, ties, epoch: 0, trial: 0, state, asked: 0, called: 0, shares, gvt: None, outbox: VecDeque::new() }
    }

    pub(super) fn ties(&self) -> TieBreak {
        self.ties
    }

    pub(super) fn pes(&self) -> u32 {
        self.pes
    }

    pub(super) fn trial(&self) -> u32 {
        self.trial
    }

    pub(super) fn is_on(&self) -> bool {
        self.state != ReductionState::Off
    }

    /// How many epochs this PE has begun to close.
    pub(super) fn epochs(&self) -> u64 {
        self.epoch + u64::from(self.is_on())
    }

    pub(super) fn wish(&mut self) {
        if !self.is_on() {
            self.asked = self.asked.max(self.epoch + 1);
        }
    }

    pub(super) fn receive_control(&mut self, control: Control) {
        match control {
            // A late call for an epoch that is closed already has no effect.
            Control::Begin { from, epoch } => {
                self.asked = self.asked.max(epoch + 1);
                if Some(from) == self.parent() {
                    self.called = self.called.max(epoch + 1);
                }
            }
            Control::Share { from, epoch, trial, share } => {
                self.expect(epoch, trial);
                let left = 2 * u64::from(self.me) + 1;
                let slot = u64::from(from).checked_sub(left).and_then(|child| self.shares.get_mut(child as usize));
                let slot = slot.unwrap_or_else(|| panic!("PE {from} is no child of PE {}", self.me));
                assert!(slot.replace(share).is_none(), "two shares of PE {from} in epoch {epoch}, trial {trial}");
            }
            Control::Again { epoch, trial } => {
                self.expect(epoch, trial - 1);
                self.again();
            }
            Control::Verdict(verdict) => {
                self.expect(verdict.epoch, verdict.trials - 1);
                self.conclude(verdict);
            }
        }
    }

    fn expect(&self, epoch: u64, trial: u32) {
        let now = (self.epoch, self.trial);
        assert_eq!((epoch, trial), now, "PE {} received a control message of another (epoch, trial) than its own", self.me);
    }

    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.outbox.pop_front()
    }

    /// Whether it is time to [`begin`](Self::begin).
    pub(super) fn is_called(&self) -> bool {
        !self.is_on() && self.asked > self.epoch
    }

    /// Joins the computation and calls the children, and also the parent if it may not know of it yet.
    pub(super) fn begin(&mut self) {
        debug_assert!(self.is_called());
        self.state = ReductionState::Due;
        let control = Control::Begin { from: self.me, epoch: self.epoch };
        let parent = self.parent().filter(|_| self.called <= self.epoch);
        self.outbox.extend(parent.into_iter().chain(self.children()).map(|to| Action::Send { to, control }));
    }

    /// Whether it is time to [`give`](Self::give) this PE's share: once the parent has begun and all children have given theirs. A share
    /// given before the parent began would not include what the parent sent in between, and so be useless.
    pub(super) fn is_due(&self) -> bool {
        self.state == ReductionState::Due
            && (self.me == 0 || self.called > self.epoch)
            && self.children().all(|child| self.shares[slot(child)].is_some())
    }

    /// Adds this PE's share to those of its children. Returns the sum at the root; any other PE passes it on to its parent.
    pub(super) fn give(&mut self, own: Share) -> Option<Share> {
        debug_assert!(self.is_due());
        self.state = ReductionState::Given;
        let shares = std::mem::take(&mut self.shares);
        let share = shares.into_iter().flatten().fold(own, |sum, share| sum.and(share, self.ties));
        let Some(to) = self.parent() else { return Some(share) };
        let control = Control::Share { from: self.me, epoch: self.epoch, trial: self.trial, share };
        self.outbox.push_back(Action::Send { to, control });
        None
    }

    /// Starts the next trial in the whole subtree.
    pub(super) fn again(&mut self) {
        assert_eq!(self.state, ReductionState::Given, "a trial was over before PE {} gave its share", self.me);
        (self.state, self.trial) = (ReductionState::Due, self.trial + 1);
        self.send_to_children(Control::Again { epoch: self.epoch, trial: self.trial });
    }

    /// At the root: the sum of this trial is the answer.
    pub(super) fn decide(&mut self, sum: Share) {
        let Share { least: gvt, failure, work, .. } = sum;
        self.conclude(Verdict { epoch: self.epoch, trials: self.trial + 1, gvt, failure, work });
    }

    fn conclude(&mut self, verdict: Verdict) {
        assert_eq!(self.state, ReductionState::Given, "a verdict came before PE {} gave its share", self.me);
        if let Some(gvt) = self.gvt {
            assert!(!verdict.gvt.is_before(&gvt, self.ties), "GVT regresses from {gvt:?} to {:?}", verdict.gvt);
        }
        self.gvt = Some(verdict.gvt);
        (self.state, self.epoch, self.trial) = (ReductionState::Off, self.epoch + 1, 0);
        self.send_to_children(Control::Verdict(verdict));
        self.outbox.push_back(Action::Adopt(verdict));
    }

    fn send_to_children(&mut self, control: Control) {
        for to in self.children() {
            self.outbox.push_back(Action::Send { to, control });
        }
    }

    /// The PEs that this one sends control messages to.
    pub(super) fn neighbours(&self) -> Vec<u32> {
        self.parent().into_iter().chain(self.children()).collect()
    }

    fn parent(&self) -> Option<u32> {
        (self.me > 0).then(|| (self.me - 1) / 2)
    }

    fn children(&self) -> impl Iterator<Item = u32> + use<> {
        let left = 2 * u64::from(self.me) + 1;
        (left..(left + 2).min(u64::from(self.pes))).map(|child| child as u32)
    }
}

fn slot(child: u32) -> usize {
    usize::from(child.is_multiple_of(2))
}
