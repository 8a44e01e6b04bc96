//! The history is bounded, even with events far ahead in it, and a full history does not stop the
//! run.

use warpline::prelude::*;
use warpline::{Run, Synchronisation};

/// A few tokens that rest for a while and move on, and alarms far ahead of them. A PE without a
/// token executes its alarms; later, tokens arrive there that precede them.
#[derive(Debug)]
struct Tokens;

#[derive(Debug)]
enum Word {
    Token,
    Alarm,
}

#[model(journal)]
impl Model for Tokens {
    type State = u64;
    type Event = Word;

    fn lps(&self) -> u32 {
        8
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        if lp.id().0 < 3 {
            lp.send(lp.id(), 0.5, Word::Token);
        }
        (0..20).for_each(|n| lp.send(lp.id(), 5.0 * f64::from(n) + 4.0, Word::Alarm));
        0
    }

    fn handle(&self, sum: &mut u64, word: &Word, lp: &mut Context<Self>) {
        *lp.change(sum) = sum.wrapping_add(lp.random().next_u64());
        if matches!(word, Word::Token) {
            let stays = lp.random().bernoulli(0.99);
            let other = LpId(lp.random().below(8));
            let delay = lp.random().exponential(0.01);
            lp.send(if stays { lp.id() } else { other }, delay, Word::Token);
        }
    }

    fn reverse(&self, sum: &mut u64, _: &Word, lp: &mut Reverse<Self>) {
        *sum = sum.wrapping_sub(lp.random().next_u64());
    }
}

/// 16 times the batch, which is more than the GVT interval.
const LIMIT: u64 = 16 * BATCH;
const BATCH: u64 = 16;

fn answer(run: &Run<Tokens>) -> (&str, &[u64]) {
    (&run.record.digest, &run.states)
}

#[test]
fn events_far_ahead_do_not_make_the_history_exceed_its_limit() {
    let simulation = || Simulation::new(Tokens).end(100.0);
    let expected = simulation().run().expect("it runs");
    let mut fullest = 0;
    for seed in 0..6 {
        for (undo, interval) in
            [(Undo::Copy, 1), (Undo::Copy, 7), (Undo::Reverse, 1), (Undo::Journal, 1)]
        {
            let parallel = simulation()
                .sync(Synchronisation::Optimistic)
                .threads(2 + seed as u32 % 2)
                .virtual_cluster(seed)
                .undo(undo);
            let parallel = parallel
                .copy_interval(interval)
                .window(100.0)
                .batch(BATCH as u32)
                .kps(4)
                .gvt_interval(4);
            let run = parallel.run().expect("it runs");
            assert_eq!(answer(&run), answer(&expected), "cluster {seed}, {undo:?} {interval}");
            let parallel = run.record.parallel.expect("it was parallel");
            let committed = run.record.committed_events;
            for pe in &parallel.pes {
                assert!(
                    pe.history_max < 2 * LIMIT + BATCH,
                    "{} open events, cluster {seed}, {undo:?} {interval}",
                    pe.history_max
                );
                fullest = fullest.max(pe.history_max);
            }
            // On average, more than three events commit between two computations of GVT.
            let epochs = parallel.gvt_epochs;
            assert!(
                committed > 3 * epochs,
                "{epochs} GVTs for {committed} events, cluster {seed}, {undo:?} {interval}"
            );
        }
    }
    assert!(fullest >= 2 * LIMIT, "the history was never full: {fullest} open events");
}
