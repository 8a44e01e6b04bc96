use std::collections::VecDeque;

use warpline_base::{Moment, TieBreak};

use super::hierarchy::Hierarchy;
use super::messages::{Control, Share, Verdict};
use super::protocol::Action;
use super::shares::Shares;

/// How far a PE has come in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// There is no round.
    Off,
    /// It has yet to give its share of the round.
    Due,
    /// It has given its share and waits for the outcome from its parent.
    Given,
    /// It has given its share and exchanges sums with its partners; this is the sum so far, and the
    /// stage that comes next.
    Exchanging(Share, usize),
}

/// A PE that this one reduces with.
#[derive(Debug)]
struct Neighbour {
    pe: u32,
    /// It has begun to close all epochs below this, as far as this PE knows.
    begun: u64,
}

impl Neighbour {
    fn new(pe: u32) -> Self {
        Neighbour { pe, begun: 0 }
    }
}

/// One PE's place in the [`Hierarchy`], and its part in the reductions over it.
///
/// What the shares mean, and when their sum is accepted, is up to the algorithm. All PEs of the
/// butterfly find the same sum, and so decide alike; they tell those that report to them. Any PE
/// can begin to close an epoch; this spreads to all neighbours at once (the jump start of §2.7), so
/// that all PEs have joined after one traversal of the hierarchy. Without the jump start, neighbours
/// are told, and join when they need GVT themselves.
#[derive(Debug)]
pub(super) struct Reduction {
    me: u32,
    hierarchy: Hierarchy,
    ties: TieBreak,
    /// The epoch that is being closed, or will be next.
    epoch: u64,
    round: u32,
    stage: Stage,
    /// Some PE has asked to close all epochs below this.
    asked: u64,
    children: Vec<Neighbour>,
    /// By stage.
    partners: Vec<Neighbour>,
    parent: Option<Neighbour>,
    /// Those of its children and partners that it has yet to use.
    shares: Shares,
    /// How many neighbours it has called in this epoch, children first, then partners, then the
    /// parent; `None` once all are called. Calls in the outbox would leave it with room for all of
    /// them.
    called: Option<usize>,
    gvt: Option<Moment>,
    outbox: VecDeque<Action>,
}

impl Reduction {
    pub(super) fn new(me: u32, hierarchy: Hierarchy, ties: TieBreak) -> Self {
        assert!(me < hierarchy.pes(), "PE {me} of {}", hierarchy.pes());
        let neighbours = |pes: Vec<u32>| pes.into_iter().map(Neighbour::new).collect();
        Reduction {
            me,
            hierarchy,
            ties,
            epoch: 0,
            round: 0,
            stage: Stage::Off,
            asked: 0,
            children: neighbours(hierarchy.children(me)),
            partners: neighbours(hierarchy.partners(me)),
            parent: hierarchy.parent(me).map(Neighbour::new),
            shares: Shares::default(),
            called: None,
            gvt: None,
            outbox: VecDeque::new(),
        }
    }

    pub(super) fn ties(&self) -> TieBreak {
        self.ties
    }

    pub(super) fn pes(&self) -> u32 {
        self.hierarchy.pes()
    }

    pub(super) fn round(&self) -> u32 {
        self.round
    }

    pub(super) fn is_on(&self) -> bool {
        self.stage != Stage::Off
    }

    /// How many epochs this PE has begun to close.
    pub(super) fn epochs(&self) -> u64 {
        self.epoch + u64::from(self.is_on())
    }

    pub(super) fn neighbours(&self) -> Vec<u32> {
        self.hierarchy.neighbours(self.me)
    }

    fn neighbour(&mut self, pe: u32) -> &mut Neighbour {
        let me = self.me;
        let mut all = self.children.iter_mut().chain(&mut self.partners).chain(&mut self.parent);
        let found = all.find(|neighbour| neighbour.pe == pe);
        found.unwrap_or_else(|| panic!("PE {pe} is no neighbour of PE {me}"))
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
                self.note_call(epoch);
                let neighbour = self.neighbour(from);
                neighbour.begun = neighbour.begun.max(epoch + 1);
            }
            Control::Share { from, epoch, round, share } => {
                let ahead = epoch == self.epoch && round == self.round + 1
                    || epoch == self.epoch + 1 && round == 0;
                if !ahead {
                    self.expect(epoch, round);
                }
                self.note_call(epoch);
                let from = self.neighbour(from).pe;
                self.shares.add(from, epoch, round, share);
            }
            Control::Again { epoch, round } => {
                self.expect(epoch, round - 1);
                self.again();
            }
            Control::Verdict(verdict) => {
                self.expect(verdict.epoch, verdict.rounds - 1);
                self.conclude(verdict);
            }
        }
    }

    /// Another PE closes this epoch.
    fn note_call(&mut self, epoch: u64) {
        if self.hierarchy.calls() {
            self.asked = self.asked.max(epoch + 1);
        }
    }

    fn expect(&self, epoch: u64, round: u32) {
        let now = (self.epoch, self.round);
        assert_eq!(
            (epoch, round),
            now,
            "PE {} received a control message of another (epoch, round) than its own",
            self.me
        );
    }

    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.outbox.pop_front().or_else(|| self.next_call())
    }

    /// Calls the next neighbour in a computation that has begun, but not the parent if that has.
    fn next_call(&mut self) -> Option<Action> {
        let called = self.called?;
        let parent = self.parent.iter().filter(|parent| parent.begun <= self.epoch);
        let next = self.children.iter().chain(&self.partners).chain(parent).nth(called);
        self.called = next.map(|_| called + 1);
        let control = Control::Begin { from: self.me, epoch: self.epoch };
        next.map(|neighbour| Action::Send { to: neighbour.pe, control })
    }

    /// Whether it is time to [`begin`](Self::begin).
    pub(super) fn is_called(&self) -> bool {
        !self.is_on() && self.asked > self.epoch
    }

    /// Joins the computation. The [next actions](Self::next_action) call all neighbours.
    pub(super) fn begin(&mut self) {
        debug_assert!(self.is_called());
        self.stage = Stage::Due;
        self.called = Some(0);
    }

    /// Whether it is time to [`give`](Self::give) this PE's share: once its parent, or its partner
    /// of the first stage, has begun, and all children have given theirs. An earlier share would
    /// miss what that PE sends in between, and would often be useless.
    pub(super) fn is_due(&self) -> bool {
        let mut above = self.parent.iter().chain(self.partners.first());
        self.stage == Stage::Due
            && above.all(|neighbour| neighbour.begun > self.epoch)
            && self.children.iter().all(|child| self.shares.has(child.pe, self.epoch, self.round))
    }

    /// Adds this PE's share to those of its children, and passes the sum on.
    pub(super) fn give(&mut self, own: Share) {
        debug_assert!(self.is_due());
        let epoch = self.epoch;
        let round = self.round;
        let ties = self.ties;
        let arrived = &mut self.shares;
        let shares = self.children.iter().filter_map(|child| arrived.take(child.pe, epoch, round));
        let sum = shares.fold(own, |sum, share| sum.and(share, ties));
        match &self.parent {
            Some(parent) => {
                let to = parent.pe;
                self.stage = Stage::Given;
                self.send_share(to, sum);
            }
            None => self.enter_stage(sum, 0),
        }
    }

    fn enter_stage(&mut self, sum: Share, stage: usize) {
        self.stage = Stage::Exchanging(sum, stage);
        if let Some(partner) = self.partners.get(stage) {
            self.send_share(partner.pe, sum);
        }
    }

    fn send_share(&mut self, to: u32, share: Share) {
        let control = Control::Share { from: self.me, epoch: self.epoch, round: self.round, share };
        self.outbox.push_back(Action::Send { to, control });
    }

    /// Exchanges sums, as far as those of the partners have arrived. At a PE of the butterfly,
    /// returns the sum of all shares once it is known. That PE is then to [`decide`](Self::decide),
    /// or to try [`again`](Self::again).
    pub(super) fn exchange(&mut self) -> Option<Share> {
        while let Stage::Exchanging(sum, stage) = self.stage {
            let epoch = self.epoch;
            let round = self.round;
            let ties = self.ties;
            let Some(partner) = self.partners.get(stage) else { return Some(sum) };
            let share = self.shares.take(partner.pe, epoch, round)?;
            self.enter_stage(sum.and(share, ties), stage + 1);
        }
        None
    }

    /// Starts the next round, here and at all that report to this PE.
    pub(super) fn again(&mut self) {
        assert!(self.has_given(), "a round was over before PE {} gave its share", self.me);
        self.stage = Stage::Due;
        self.round += 1;
        self.send_to_children(Control::Again { epoch: self.epoch, round: self.round });
    }

    /// At a PE of the butterfly: the sum of this round is the answer.
    pub(super) fn decide(&mut self, sum: Share) {
        self.conclude(sum.verdict(self.epoch, self.round + 1));
    }

    fn has_given(&self) -> bool {
        matches!(self.stage, Stage::Given | Stage::Exchanging(..))
    }

    fn conclude(&mut self, verdict: Verdict) {
        assert!(self.has_given(), "a verdict came before PE {} gave its share", self.me);
        check_advance(&mut self.gvt, &verdict, self.ties);
        self.stage = Stage::Off;
        self.epoch += 1;
        self.round = 0;
        self.send_to_children(Control::Verdict(verdict));
        self.outbox.push_back(Action::Adopt(verdict));
    }

    fn send_to_children(&mut self, control: Control) {
        self.outbox
            .extend(self.children.iter().map(|child| Action::Send { to: child.pe, control }));
    }
}

/// Checks that GVT does not decrease, and notes it.
///
/// # Panics
/// If it does.
pub(super) fn check_advance(last: &mut Option<Moment>, verdict: &Verdict, ties: TieBreak) {
    if let Some(last) = last {
        assert!(
            !verdict.gvt.is_before(last, ties),
            "GVT regresses from {last:?} to {:?}",
            verdict.gvt
        );
    }
    *last = Some(verdict.gvt);
}
