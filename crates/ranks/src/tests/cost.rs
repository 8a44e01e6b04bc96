//! What programs cost in LogGP, by formulas.

use super::*;

const L: f64 = 10e-6;
const O: f64 = 2e-6;
const GAP: f64 = 0.5e-6;
const G: f64 = 1e-9;

fn target() -> Target {
    Target::flat(Wire { latency: L, overhead: O, gap: GAP, per_byte: G })
}

/// The ranks' times at their ends.
fn ends<F, G>(ranks: u32, target: &Target, act: F) -> Vec<f64>
where
    F: Fn(Rank) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = Rank> + Send + 'static,
{
    let notes = Notes::new();
    let all = notes.clone();
    simulate(ranks, target, move |rank| {
        let (act, notes) = (act.clone(), notes.clone());
        async move {
            let rank = act(rank).await;
            notes.add(rank.id(), rank.wtime());
        }
    });
    all.take()
}

#[track_caller]
fn all_near(found: &[f64], wanted: f64) {
    for (rank, time) in found.iter().enumerate() {
        assert!((time - wanted).abs() < 1e-12, "rank {rank}: {time}, should be {wanted}");
    }
}

#[test]
fn an_eager_message_takes_two_overheads_the_latency_and_its_bytes() {
    let found = ends(2, &target(), |rank| async move {
        if rank.id() == 0 {
            rank.send(1, 3, Data::size(1000)).await;
        } else {
            rank.recv(0, 3, 1000).await;
        }
        rank
    });
    all_near(&found[..1], O);
    all_near(&found[1..], O + L + 1000.0 * G + O);
}

#[test]
fn a_long_message_asks_first_and_takes_three_latencies() {
    let target = target().eager_up_to(999);
    let found = ends(2, &target, |rank| async move {
        if rank.id() == 0 {
            rank.send(1, 3, Data::size(1000)).await;
        } else {
            rank.recv(0, 3, 1000).await;
        }
        rank
    });
    all_near(&found[..1], O + L + L + GAP.max(1000.0 * G));
    all_near(&found[1..], O + L + L + L + 1000.0 * G + O);
}

#[test]
fn a_barrier_takes_a_message_for_each_doubling() {
    for (ranks, rounds) in [(1, 0), (2, 1), (4, 2), (7, 3), (8, 3), (9, 4), (100, 7)] {
        let found = ends(ranks, &target(), |rank| async move {
            rank.barrier().await;
            rank
        });
        all_near(&found, f64::from(rounds) * (O + L + O));
    }
}
