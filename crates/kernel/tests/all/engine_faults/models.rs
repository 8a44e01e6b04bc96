//! What PEs at the ends of faulty wires execute.

use warpline_model::LpId;
use warpline_model::prelude::*;

pub(super) const LPS: u32 = 12;

/// LPs that send each other messages which depend on all that they have received, in order.
pub(super) struct Chain {
    pub(super) lookahead: f64,
    /// How much later than the lookahead messages come, about.
    later: f64,
    /// How many LPs begin.
    starters: u32,
}

pub(super) const NEAR: Chain = Chain { lookahead: 0.0, later: 1.0, starters: LPS };
pub(super) const FAR: Chain = Chain { lookahead: 0.4, later: 1.0, starters: LPS };

/// There is little to do, so PEs depend on each other for what comes next, and messages hardly come
/// later than they must.
pub(super) const SPARSE: Chain = Chain { lookahead: 0.4, later: 0.05, starters: 1 };

impl Model for Chain {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        LPS
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        for _ in 0..if lp.id().0 < self.starters { 2 } else { 0 } {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 1);
        }
        0
    }

    fn handle(&self, state: &mut u64, event: &u64, lp: &mut Context<Self>) {
        *state = state.rotate_left(7) ^ event ^ lp.random().next_u64();
        let to = LpId((*state % u64::from(LPS)) as u32);
        let least = if to == lp.id() { 0.0 } else { self.lookahead };
        let delay = lp.random().exponential(self.later) * if *state & 256 == 0 { 0.1 } else { 1.9 };
        lp.send(to, least + delay, *state);
    }
}

/// LP 0 sends LP 1 far more at once than a PE keeps of free buffers, in the middle of the run and
/// right before its end.
pub(super) struct Bursts;

impl Model for Bursts {
    type State = u64;
    type Event = ();

    fn lps(&self) -> u32 {
        2
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        lp.send(lp.id(), 1.0, ());
        0
    }

    fn handle(&self, ticks: &mut u64, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        if lp.id() == LpId(0) {
            lp.send(0, 1.0, ());
            let burst = if [4, 11].contains(&*ticks) { 6000 } else { 0 };
            (0..burst).for_each(|_| lp.send(1, 0.5, ()));
        }
    }
}
