//! Lookahead makes events certain, and changes nothing that a model sees of a run.
#![cfg(not(miri))]

use warpline::Synchronisation;
use warpline::prelude::*;

/// LPs that never talk to each other, so that any lookahead holds.
#[derive(Debug)]
struct Islands {
    lookahead: f64,
}

impl Model for Islands {
    type State = u64;
    type Event = ();

    fn lps(&self) -> u32 {
        16
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        let delay = lp.random().exponential(1.0);
        lp.send(lp.id(), delay, ());
        0
    }

    fn handle(&self, sum: &mut u64, (): &(), lp: &mut Context<Self>) {
        *sum = sum.wrapping_mul(31).wrapping_add(lp.random().next_u64());
        let delay = lp.random().exponential(1.0);
        lp.send(lp.id(), delay, ());
    }
}

#[test]
fn any_finite_lookahead_will_do() {
    const END: f64 = 30.0;
    let quarter = f64::MAX / 4.0;
    for lookahead in [0.0, 1.5 * END, quarter, quarter.next_up(), f64::MAX / 2.0, f64::MAX] {
        let simulation = || Simulation::new(Islands { lookahead }).end(END);
        let expected = simulation().run().expect("it runs");
        assert!(expected.record.committed_events > 300);
        for threads in [1, 2, 8] {
            for used in [true, false] {
                let parallel =
                    || simulation().sync(Synchronisation::Optimistic).threads(threads).use_lookahead(used).batch(2).gvt_interval(2);
                for run in [parallel().run(), parallel().virtual_cluster(7).run()] {
                    let run = run.expect("it runs");
                    assert_eq!((run.record.digest, run.states), (expected.record.digest.clone(), expected.states.clone()), "{lookahead}");
                }
            }
        }
    }
}
