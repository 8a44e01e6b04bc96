use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use warpline_base::{Moment, TieBreak};
use warpline_memory::{Bell, Common, Region, SpinGuard, SpinLock};
use warpline_model::Portable;
use warpline_model::engine::Shareable;

use super::all_reduce::{AllReduce, RankPlaces, RankReduction};
use super::messages::{Control, Share};
use super::protocol::Action;
use super::reduction::check_advance;

/// A barrier with a reduction between PEs that share memory: one counter and one sum for all.
///
/// No PE blocks in it: a PE arrives, and asks at its next steps whether all others have. Whoever
/// steps it may [sleep](Barrier::sleep) until then if there is nothing else to do.
///
/// With several ranks, each has a barrier, and their sums are reduced over all ranks before the
/// barriers open.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// How many PEs meet at it.
    pes: u32,
    sleeps: bool,
    common: Common<SharedBarrier>,
    /// For a barrier that is one of several.
    ranks: Option<RankReduction>,
}

/// What all PEs see of a barrier.
#[derive(Debug, Default, Shareable)]
struct SharedBarrier {
    /// Some PE has asked to close all epochs below this.
    asked: AtomicU64,
    /// Rounds that all PEs of the barrier have arrived for.
    complete: AtomicU64,
    /// Rounds that all PEs of all barriers have arrived for.
    passed: AtomicU64,
    round: SpinLock<Round>,
    all_arrived: Bell,
}

#[derive(Debug, Default, Portable)]
struct Round {
    arrived: u32,
    sum: Option<Share>,
    /// The sum of the round before: all PEs read it before they arrive for the next one, so that it
    /// is not overwritten too early.
    result: Option<Share>,
}

impl Barrier {
    /// A barrier for this many PEs. With `sleeps`, those who wait at it give up their core until it
    /// opens.
    pub fn new(region: &Region, pes: u32, sleeps: bool) -> Self {
        Barrier { pes, sleeps, common: region.place(SharedBarrier::default()), ranks: None }
    }

    /// The barrier of a rank, whose sums are reduced over all ranks.
    pub fn of_rank(places: RankPlaces, all_reduce: Box<dyn AllReduce>, ties: TieBreak) -> Self {
        let rank = places.rank as usize;
        let pes = places.first_pes[rank + 1] - places.first_pes[rank];
        Barrier {
            ranks: Some(RankReduction::new(places, all_reduce, ties)),
            ..Barrier::new(&Region::own(), pes, false)
        }
    }

    /// How many PEs meet at it and at the barriers of other ranks.
    pub(super) fn all_pes(&self) -> u32 {
        self.ranks.as_ref().map_or(self.pes, RankReduction::pes)
    }

    /// Goes on with the reduction over all ranks, if this rank has arrived for one. The thread that
    /// drives it calls this again and again. Returns whether a reduction has ended or failed.
    pub fn go_on(&self) -> bool {
        let Some(ranks) = &self.ranks else { return false };
        // Acquire pairs with the Release of `arrive`. Relaxed: `passed` matters only to those who
        // wait for it.
        if self.common.complete.load(Ordering::Acquire)
            == self.common.passed.load(Ordering::Relaxed)
        {
            return false;
        }
        // Another thread may have ended the round since. Then there is no sum.
        let sum = || self.common.round.lock().sum_of_all(self.pes);
        ranks.go_on(sum, |result| self.open(self.common.round.lock(), result))
    }

    /// Whether PEs have to [go on](Self::go_on) with it in their steps.
    pub fn pes_drive(&self) -> bool {
        self.ranks.as_ref().is_some_and(RankReduction::pes_drive)
    }

    /// Why reductions over all ranks have stopped, if they have.
    pub fn trouble(&self) -> Option<&str> {
        self.ranks.as_ref().and_then(RankReduction::trouble)
    }

    /// Ends reductions over all ranks. If one is in progress, its memory is leaked, as the system
    /// may still write into it.
    pub fn close(&self) {
        self.ranks.iter().for_each(RankReduction::close);
    }

    fn arrive(&self, own: Share, ties: TieBreak) {
        let mut round = self.common.round.lock();
        round.arrived += 1;
        let sum = round.sum.take().map_or(own, |sum| sum.and(own, ties));
        if round.arrived < self.pes || self.ranks.is_some() {
            round.sum = Some(sum);
            if round.arrived == self.pes {
                // Release pairs with the Acquire of `go_on`.
                self.common.complete.fetch_add(1, Ordering::Release);
            }
            return;
        }
        self.open(round, sum);
    }

    /// Opens it, as all PEs of all ranks have arrived.
    fn open(&self, mut round: SpinGuard<'_, Round>, sum: Share) {
        round.arrived = 0;
        round.sum = None;
        round.result = Some(sum);
        // Release pairs with the Acquire of `has_passed`, for those who spin.
        self.common.passed.fetch_add(1, Ordering::Release);
        drop(round);
        if self.sleeps {
            self.common.all_arrived.ring();
        }
    }

    #[inline]
    fn has_passed(&self, round: u64) -> bool {
        self.common.passed.load(Ordering::Acquire) > round
    }

    /// Whether those who wait at it give up their core until it opens.
    pub fn sleeps(&self) -> bool {
        self.sleeps
    }

    /// Sleeps until all PEs have arrived for a round, but no longer than `most`. If it takes
    /// longer, whoever waits looks again.
    pub fn sleep(&self, round: u64, most: Duration) {
        let rung = self.common.all_arrived.rung();
        if !self.has_passed(round) {
            self.common.all_arrived.sleep(rung, most);
        }
    }
}

impl Round {
    /// The sum of this many PEs, if all of them have arrived.
    fn sum_of_all(&self, pes: u32) -> Option<Share> {
        self.sum.filter(|_| self.arrived == pes)
    }
}

/// One PE's part in reductions at a [`Barrier`].
#[derive(Debug)]
pub(super) struct BarrierReduction {
    me: u32,
    barrier: Barrier,
    /// The PEs of other ranks that it calls when it begins: one PE of each rank calls others.
    called: Vec<u32>,
    ties: TieBreak,
    epoch: u64,
    round: u32,
    /// Rounds of all epochs that are over.
    rounds: u64,
    state: State,
    gvt: Option<Moment>,
    outbox: VecDeque<Action>,
}

/// How far a PE has come in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no round.
    Off,
    /// It has yet to arrive.
    Due,
    /// It waits at the barrier.
    Arrived,
}

impl BarrierReduction {
    pub(super) fn new(me: u32, barrier: Barrier, ties: TieBreak) -> Self {
        let called = barrier.ranks.as_ref().map_or_else(Vec::new, |ranks| ranks.called_by(me));
        BarrierReduction {
            me,
            barrier,
            called,
            ties,
            epoch: 0,
            round: 0,
            rounds: 0,
            state: State::Off,
            gvt: None,
            outbox: VecDeque::new(),
        }
    }

    pub(super) fn pes(&self) -> u32 {
        self.barrier.all_pes()
    }

    pub(super) fn neighbours(&self) -> Vec<u32> {
        self.called.clone()
    }

    /// A call from another rank.
    pub(super) fn receive_control(&mut self, control: Control) {
        match control {
            // Relaxed: it publishes nothing else. A late call for an epoch that is closed already
            // has no effect.
            Control::Begin { from, epoch } if self.called.contains(&from) => {
                self.barrier.common.asked.fetch_max(epoch + 1, Ordering::Relaxed);
            }
            other => panic!(
                "PE {} meets others at a barrier, and got a control message: {other:?}",
                self.me
            ),
        }
    }

    pub(super) fn round(&self) -> u32 {
        self.round
    }

    pub(super) fn is_on(&self) -> bool {
        self.state != State::Off
    }

    pub(super) fn epochs(&self) -> u64 {
        self.epoch + u64::from(self.is_on())
    }

    pub(super) fn wish(&mut self) {
        if !self.is_on() {
            // Relaxed: it publishes nothing else.
            self.barrier.common.asked.fetch_max(self.epoch + 1, Ordering::Relaxed);
        }
    }

    pub(super) fn next_action(&mut self) -> Option<Action> {
        self.outbox.pop_front()
    }

    pub(super) fn is_called(&self) -> bool {
        !self.is_on() && self.barrier.common.asked.load(Ordering::Relaxed) > self.epoch
    }

    pub(super) fn begin(&mut self) {
        self.state = State::Due;
        let control = Control::Begin { from: self.me, epoch: self.epoch };
        self.outbox.extend(self.called.iter().map(|pe| Action::Send { to: *pe, control }));
    }

    pub(super) fn is_due(&self) -> bool {
        self.state == State::Due
    }

    pub(super) fn give(&mut self, own: Share) {
        self.state = State::Arrived;
        self.barrier.arrive(own, self.ties);
    }

    /// The round for whose barrier the PE waits.
    pub(super) fn waits(&self) -> Option<(&Barrier, u64)> {
        (self.state == State::Arrived && !self.barrier.has_passed(self.rounds))
            .then_some((&self.barrier, self.rounds))
    }

    /// A number that changes when the barrier opens, or a PE asks for it. Both counts only grow.
    pub(super) fn shared_word(&self) -> u64 {
        let common = &self.barrier.common;
        // Relaxed: it publishes nothing.
        common.asked.load(Ordering::Relaxed) + common.passed.load(Ordering::Relaxed)
    }

    pub(super) fn exchange(&mut self) -> Option<Share> {
        if self.state != State::Arrived {
            return None;
        }
        if self.barrier.pes_drive() {
            self.barrier.go_on();
        }
        if !self.barrier.has_passed(self.rounds) {
            return None;
        }
        self.rounds += 1;
        self.barrier.common.round.lock().result
    }

    pub(super) fn again(&mut self) {
        self.state = State::Due;
        self.round += 1;
    }

    pub(super) fn decide(&mut self, sum: Share) {
        let verdict = sum.verdict(self.epoch, self.round + 1);
        check_advance(&mut self.gvt, &verdict, self.ties);
        self.state = State::Off;
        self.epoch += 1;
        self.round = 0;
        self.outbox.push_back(Action::Adopt(verdict));
    }
}
