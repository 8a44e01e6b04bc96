//! Two runs in one program, one after the other and at once: neither is changed by the other.

use std::thread;

use warpline::prelude::*;

const LPS: u32 = 6;

/// LPs that pass frames on, change some on the way, and keep the last.
struct Frames;

#[model]
impl Model for Frames {
    type State = Payload;
    type Event = Payload;

    fn lps(&self) -> u32 {
        LPS
    }

    fn init(&self, lp: &mut Init<Self>) -> Payload {
        for length in [0, 10, 1000, 20_000] {
            lp.send(lp.id(), 0.5, Payload::filled(length, |bytes| bytes.fill(lp.id().0 as u8)));
        }
        Payload::zeroed(8)
    }

    fn handle(&self, last: &mut Payload, frame: &Payload, lp: &mut Context<Self>) {
        *last = frame.clone();
        let mut next = frame.clone();
        if let Some(first) = next.make_mut().first_mut() {
            *first = first.wrapping_add(lp.id().0 as u8);
        }
        let to = lp.random().below(LPS);
        let delay = lp.random().exponential(1.0);
        lp.send(to, delay, next);
    }
}

/// The digest and the last frames.
fn simulate(seed: u64, threads: u32) -> (String, Vec<Payload>) {
    let run = Simulation::new(Frames).seed(seed).end(40.0).threads(threads).run().expect("a run");
    (run.record.digest, run.states.to_vec())
}

#[test]
fn runs_one_after_the_other_have_the_answers_they_have_alone() {
    let first = simulate(1, 2);
    assert_ne!(simulate(2, 2).0, first.0);
    assert_eq!(simulate(1, 2), first);
    assert_eq!(simulate(1, 1), first);
}

#[test]
fn runs_at_once_have_the_answers_they_have_alone() {
    let alone = [1, 2, 3].map(|seed| simulate(seed, 1));
    let together = thread::scope(|scope| {
        let runs = [1, 2, 3]
            .map(|seed| scope.spawn(move || (0..3).map(|_| simulate(seed, 2)).collect::<Vec<_>>()));
        runs.map(|run| run.join().expect("a run"))
    });
    for (alone, together) in alone.iter().zip(together) {
        assert!(
            together.iter().all(|one| one == alone),
            "digest {} alone, {:?}",
            alone.0,
            together.iter().map(|one| &one.0).collect::<Vec<_>>()
        );
    }
}
