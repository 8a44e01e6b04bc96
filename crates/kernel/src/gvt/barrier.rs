use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use warpline_base::{Moment, TieBreak};
use warpline_memory::{Bell, Common, Region, SpinLock};
use warpline_model::Portable;
use warpline_model::engine::Shareable;

use super::reduction::check_advance;
use super::{Action, Share, Verdict};

/// A barrier with a reduction between PEs that share memory: one counter and one sum for all.
///
/// No PE blocks in it. It arrives, and asks at its next steps whether all others have; whoever steps it may [sleep](Barrier::sleep) until then
/// if there is nothing else to do.
#[derive(Clone, Debug)]
pub struct Barrier {
    pes: u32,
    sleeps: bool,
    common: Common<BarrierWords>,
}

/// What all PEs see of a barrier.
#[derive(Debug, Default, Shareable)]
struct BarrierWords {
    /// Some PE has asked to close all epochs below this.
    asked: AtomicU64,
    /// Trials that all PEs have arrived for.
    passed: AtomicU64,
    trial: SpinLock<Trial>,
    all_arrived: Bell,
}

#[derive(Debug, Default, Portable)]
struct Trial {
    arrived: u32,
    sum: Option<Share>,
    /// The sum of the trial before: all PEs read it before they arrive for the next one, so that it is not overwritten too early.
    result: Option<Share>,
}

impl Barrier {
    /// A barrier for this many PEs. With `sleeps`, those who wait at it give up their core until it opens.
    pub fn new(region: &Region, pes: u32, sleeps: bool) -> Self {
        Barrier { pes, sleeps, common: region.place(BarrierWords::default()) }
    }

    fn arrive(&self, own: Share, ties: TieBreak) {
        let mut trial = self.common.trial.lock();
        trial.arrived += 1;
        let sum = trial.sum.take().map_or(own, |sum| sum.and(own, ties));
        if trial.arrived < self.pes {
            trial.sum = Some(sum);
            return;
        }
        (trial.arrived, trial.result) = (0, Some(sum));
        // Release pairs with the Acquire of `has_passed`, for those who spin.
        self.common.passed.fetch_add(1, Ordering::Release);
        drop(trial);
        if self.sleeps {
            self.common.all_arrived.ring();
        }
    }

    #[inline]
    fn has_passed(&self, trial: u64) -> bool {
        self.common.passed.load(Ordering::Acquire) > trial
    }

    /// Whether those who wait at it give up their core until it opens.
    pub fn sleeps(&self) -> bool {
        self.sleeps
    }

    /// Sleeps until all PEs have arrived for a trial, but no longer than `most`. If it takes longer, whoever waits looks again.
    pub fn sleep(&self, trial: u64, most: Duration) {
        let rung = self.common.all_arrived.rung();
        if !self.has_passed(trial) {
            self.common.all_arrived.sleep(rung, most);
        }
    }
}

/// One PE's part in reductions at a [`Barrier`].
#[derive(Debug)]
pub(super) struct BarrierReduction {
    barrier: Barrier,
    ties: TieBreak,
    epoch: u64,
    trial: u32,
    /// Trials of all epochs that are over.
    trials: u64,
    state: State,
    gvt: Option<Moment>,
    adopt: Option<Verdict>,
}

/// How far a PE has come in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no trial.
    Off,
    /// It has yet to arrive.
    Due,
    /// It waits at the barrier.
    Arrived,
}

impl BarrierReduction {
    pub(super) fn new(barrier: Barrier, ties: TieBreak) -> Self {
        BarrierReduction { barrier, ties, epoch: 0, trial: 0, trials: 0, state: State::Off, gvt: None, adopt: None }
    }

    pub(super) fn pes(&self) -> u32 {
        self.barrier.pes
    }

    pub(super) fn trial(&self) -> u32 {
        self.trial
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
        self.adopt.take().map(Action::Adopt)
    }

    pub(super) fn is_called(&self) -> bool {
        !self.is_on() && self.barrier.common.asked.load(Ordering::Relaxed) > self.epoch
    }

    pub(super) fn begin(&mut self) {
        self.state = State::Due;
    }

    pub(super) fn is_due(&self) -> bool {
        self.state == State::Due
    }

    pub(super) fn give(&mut self, own: Share) {
        self.state = State::Arrived;
        self.barrier.arrive(own, self.ties);
    }

    /// The trial for whose barrier the PE waits.
    pub(super) fn waits(&self) -> Option<(&Barrier, u64)> {
        (self.state == State::Arrived && !self.barrier.has_passed(self.trials)).then_some((&self.barrier, self.trials))
    }

    pub(super) fn exchange(&mut self) -> Option<Share> {
        if self.state != State::Arrived || !self.barrier.has_passed(self.trials) {
            return None;
        }
        self.trials += 1;
        self.barrier.common.trial.lock().result
    }

    pub(super) fn again(&mut self) {
        (self.state, self.trial) = (State::Due, self.trial + 1);
    }

    pub(super) fn decide(&mut self, sum: Share) {
        let Share { least: gvt, failure, work, .. } = sum;
        let verdict = Verdict { epoch: self.epoch, trials: self.trial + 1, gvt, in_transit: Moment::Never, failure, work };
        check_advance(&mut self.gvt, &verdict, self.ties);
        (self.state, self.epoch, self.trial) = (State::Off, self.epoch + 1, 0);
        self.adopt = Some(verdict);
    }
}
