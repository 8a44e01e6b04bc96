//! The models that examples in docs run. They are of one type, for which all engines are compiled
//! here, so that no example needs to do it again.

use warpline::Error;
use warpline::prelude::*;

/// A small model. The state of an LP is the number of its events.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// Ticks at 1, 2, 3, … It is one LP.
    Clock,
    /// Messages that hop between a hundred LPs, each time to any of them, and count their hops.
    Hops,
    /// Eight LPs in a ring. Each passes what it gets on to the next one, which gets it after 1.
    Ring,
}

pub use self::Example::{Clock, Hops, Ring};

#[model]
impl Model for Example {
    type State = u32;
    type Event = u32;

    fn lps(&self) -> u32 {
        match self {
            Clock => 1,
            Hops => 100,
            Ring => 8,
        }
    }

    fn lookahead(&self) -> f64 {
        if let Ring = self { 1.0 } else { 0.0 }
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(lp.id(), 1.0, 0);
        0
    }

    fn handle(&self, seen: &mut u32, hops: &u32, lp: &mut Context<Self>) {
        *seen += 1;
        match self {
            Clock => lp.send(0, 1.0, 0),
            Hops => {
                let to = lp.random().below(100);
                let delay = lp.random().exponential(1.0);
                lp.send(to, delay, hops + 1);
            }
            Ring => lp.send((lp.id().0 + 1) % 8, 1.0, 0),
        }
    }
}

impl Example {
    /// Runs it to 10. Examples need not call this: it is what has the engines compiled here.
    ///
    /// # Errors
    /// If the run fails.
    pub fn run(self) -> Result<Run<Self>, Error> {
        Simulation::new(self).end(10.0).run()
    }
}
