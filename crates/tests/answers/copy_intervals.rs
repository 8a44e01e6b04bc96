//! How often states are copied: at the interval asked for, or at one that pays; the answer is the
//! same.

use warpline::prelude::*;
use warpline::record::PeRecord;
use warpline::{CopyInterval, Synchronisation};
use warpline_testkit::Hops;

const LPS: u32 = 12;

/// Tokens that jump about, and leave a trace in states that take some time to copy.
struct Tokens {
    words: usize,
}

impl Model for Tokens {
    type State = Vec<u64>;
    type Event = u32;

    fn lps(&self) -> u32 {
        LPS
    }

    fn init(&self, lp: &mut Init<Self>) -> Vec<u64> {
        for token in 0..3 {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, token);
        }
        vec![0; self.words]
    }

    fn handle(&self, trace: &mut Vec<u64>, token: &u32, lp: &mut Context<Self>) {
        let place = (lp.now() * 8.0) as usize % trace.len();
        trace[place] =
            trace[place].wrapping_mul(31).wrapping_add(u64::from(*token) + lp.now().to_bits());
        let to = if lp.random().bernoulli(0.3) { LpId(lp.random().below(LPS)) } else { lp.id() };
        let delay = lp.random().exponential(1.0);
        lp.send(to, delay, *token);
    }
}

fn simulation(words: usize) -> Simulation<'static, Tokens> {
    Simulation::new(Tokens { words }).end(1000.0)
}

fn pes<M: Model>(run: &Run<M>) -> &[PeRecord] {
    &run.record.parallel.as_ref().expect("it was parallel").pes
}

fn repeated<M: Model>(run: &Run<M>) -> u64 {
    run.record.parallel.as_ref().expect("it was parallel").repeated_events
}

#[test]
fn every_copy_interval_has_one_answer() {
    let expected = simulation(40).run().expect("it runs");
    let mut intervals = Vec::new();
    for seed in 0..4 {
        for interval in [CopyInterval::Every(1), CopyInterval::Every(9), CopyInterval::Auto] {
            let parallel = simulation(40)
                .sync(Synchronisation::Optimistic)
                .threads(3)
                .virtual_cluster(seed)
                .copy_interval(interval);
            let run = parallel.window(20.0).gvt_interval(64).run().expect("it runs");
            assert_eq!(
                (&run.record.digest, &run.states),
                (&expected.record.digest, &expected.states),
                "{interval:?}, cluster {seed}"
            );
            let of_pes = pes(&run).iter().map(|pe| pe.copy_interval);
            match interval {
                CopyInterval::Every(events) => {
                    assert!(of_pes.clone().all(|interval| interval == events));
                    assert_eq!(repeated(&run) > 0, events > 1, "{interval:?}");
                }
                CopyInterval::Auto => intervals.extend(of_pes),
            }
            assert_eq!(repeated(&run), pes(&run).iter().map(|pe| pe.repeated_events).sum::<u64>());
        }
    }
    // These clusters roll back often, and a copy costs as much as an event.
    assert!(
        intervals.iter().all(|interval| (1..20).contains(interval))
            && intervals.iter().any(|interval| *interval > 2),
        "{intervals:?}"
    );
}

#[test]
fn on_threads_the_interval_grows_with_the_cost_of_a_copy() {
    let expected = simulation(4000).run().expect("it runs");
    let run = simulation(4000)
        .sync(Synchronisation::Optimistic)
        .threads(2)
        .gvt_interval(64)
        .run()
        .expect("it runs");
    assert_eq!((&run.record.digest, &run.states), (&expected.record.digest, &expected.states));
    // A copy of 32 000 bytes takes as long as some tens of these events, or more.
    let intervals: Vec<_> = pes(&run).iter().map(|pe| pe.copy_interval).collect();
    assert!(intervals.iter().all(|interval| *interval > 2), "{intervals:?}");
    assert_eq!(run.record.engine["copy_interval"], "auto");
}

/// A model with a state that is copied in no time.
const PLAIN: Hops = Hops { lps: LPS, messages: 1, lookahead: 0.5 };

#[test]
fn where_nothing_is_copied_there_is_no_interval() {
    let conservative = Simulation::new(PLAIN)
        .end(50.0)
        .threads(2)
        .sync(Synchronisation::Conservative)
        .run()
        .expect("it runs");
    assert!(
        pes(&conservative).iter().all(|pe| pe.copy_interval == 0)
            && conservative.record.engine["copy_interval"].is_null()
    );
}

#[test]
fn small_plain_states_are_copied_before_every_event() {
    let expected = PLAIN.sequential(300.0);
    let parallel = Simulation::new(PLAIN)
        .end(300.0)
        .sync(Synchronisation::Optimistic)
        .use_lookahead(false)
        .threads(3)
        .virtual_cluster(7)
        .window(9.0);
    let run = parallel.run().expect("it runs");
    assert_eq!((&run.record.digest, &run.states), (&expected.record.digest, &expected.states));
    assert!(
        run.record.parallel.as_ref().is_some_and(|parallel| parallel.rolled_back_events > 0)
            && repeated(&run) == 0
    );
    assert!(pes(&run).iter().all(|pe| pe.copy_interval == 1));
}
