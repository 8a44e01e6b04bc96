//! A small model for tests of engines to which it does not matter what is simulated. It is compiled
//! here with all engines, so that no test program needs to do it again.

use warpline::Synchronisation;
use warpline::prelude::*;

/// Messages that hop between LPs, each time to any of them, as in PHOLD.
#[derive(Clone, Copy, Debug)]
pub struct Hops {
    /// How many LPs there are.
    pub lps: u32,
    /// How many messages begin at each LP.
    pub messages: u32,
    /// The least delay of a hop. An exponential time of mean 1 comes on top.
    pub lookahead: f64,
}

/// The inverse of 31 modulo 2⁶⁴.
const INVERSE_OF_31: u64 = 0xEF7B_DEF7_BDEF_7BDF;

/// A state depends on all messages that came before, and their order.
#[model]
impl Model for Hops {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        for message in 0..self.messages {
            let delay = self.lookahead + lp.random().exponential(1.0);
            lp.send(lp.id(), delay, message.into());
        }
        0
    }

    fn handle(&self, sum: &mut u64, message: &u64, lp: &mut Context<Self>) {
        *sum = sum.wrapping_mul(31).wrapping_add(*message);
        let to = lp.random().below(self.lps);
        let delay = self.lookahead + lp.random().exponential(1.0);
        lp.send(to, delay, *sum);
    }

    fn reverse(&self, sum: &mut u64, message: &u64, _: &mut Reverse<Self>) {
        *sum = sum.wrapping_sub(*message).wrapping_mul(INVERSE_OF_31);
    }
}

impl Hops {
    /// A sequential run to this time, whose answer all others must have.
    ///
    /// # Panics
    ///
    /// Panics if the run fails.
    pub fn sequential(self, end: f64) -> Run<Hops> {
        let simulation = Simulation::new(self).end(end).sync(Synchronisation::Sequential);
        simulation.run().expect("it runs")
    }
}
