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
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = Rank> + Send + 'static,
{
    results(ranks, target, move |rank| {
        let end = act(rank);
        async move { end.await.wtime() }
    })
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
    all_near(&found[..1], O + L + L + 1000.0 * G);
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

/// A message of so many bytes from a rank that sends it now to one that waits for it.
fn hop(bytes: u64) -> f64 {
    O + L + bytes as f64 * G + O
}

const RANKS: [(u32, i32); 4] = [(2, 1), (4, 2), (8, 3), (16, 4)];
/// Many values, so that blocks of them are equal.
const BYTES: u64 = 64 * 16 * 8;

#[track_caller]
fn near(found: f64, wanted: f64, what: &str) {
    assert!((found - wanted).abs() < 1e-12, "{what}: {found}, should be {wanted}");
}

#[test]
fn all_reductions_of_powers_of_two_take_what_theory_says() {
    use warpline::ranks::AllreduceBy::*;
    for (ranks, rounds) in RANKS {
        let halves: f64 = (1..=rounds).map(|round| hop(BYTES >> round)).sum();
        let wanted = [
            (RecursiveDoubling, f64::from(rounds) * hop(BYTES)),
            (Rabenseifner, 2.0 * halves),
            (Ring, 2.0 * f64::from(ranks - 1) * hop(BYTES / u64::from(ranks))),
        ];
        for (by, wanted) in wanted {
            let found = ends(ranks, &target(), move |rank| async move {
                rank.allreduce_by(by, Op::Sum, Data::size(BYTES)).await;
                rank
            });
            for time in found {
                near(time, wanted, &format!("{by:?} of {ranks}"));
            }
        }
    }
}

#[test]
fn reductions_to_a_root_take_what_theory_says() {
    use warpline::ranks::ReduceBy::*;
    for (ranks, rounds) in RANKS {
        let halves: f64 = (1..=rounds).map(|round| hop(BYTES >> round)).sum();
        let root = ranks / 2;
        for (by, wanted) in
            [(Binomial, f64::from(rounds) * hop(BYTES)), (Rabenseifner, 2.0 * halves)]
        {
            let found = ends(ranks, &target(), move |rank| async move {
                rank.reduce_by(by, root, Op::Sum, Data::size(BYTES)).await;
                rank
            });
            near(found[root as usize], wanted, &format!("{by:?} of {ranks}"));
        }
    }
}

#[test]
fn exchanges_of_any_number_of_ranks_take_what_theory_says() {
    use warpline::ranks::{AllgatherBy, AlltoallBy};
    let block = 160;
    for ranks in [2, 3, 4, 7, 8, 12] {
        let rounds = u32::BITS - (ranks - 1u32).leading_zeros();
        // Bruck: 1, 2, 4, … blocks, and in the last round what is left.
        let doubled = |round: u32| u64::from((1 << round).min(ranks - (1 << round)));
        let bruck: f64 = (0..rounds).map(|round| hop(block * doubled(round))).sum();
        let ring = f64::from(ranks - 1) * hop(block);
        for (by, wanted) in [(AllgatherBy::Bruck, bruck), (AllgatherBy::Ring, ring)] {
            let found = ends(ranks, &target(), move |rank| async move {
                rank.allgather_by(by, Data::size(block)).await;
                rank
            });
            near(found[0], wanted, &format!("{by:?} of {ranks}"));
        }
        // Bruck: in each round the blocks whose way has that power of two.
        let ways = |round: u32| (0..ranks).filter(|way| way >> round & 1 == 1).count() as u64;
        let bruck: f64 = (0..rounds).map(|round| hop(block * ways(round))).sum();
        for (by, wanted) in [(AlltoallBy::Bruck, bruck), (AlltoallBy::Pairwise, ring)] {
            let found = ends(ranks, &target(), move |rank| async move {
                rank.alltoall_by(by, Data::size(block * u64::from(ranks))).await;
                rank
            });
            near(found[0], wanted, &format!("{by:?} of {ranks}"));
        }
    }
}

/// When each rank of a binomial tree is done, if those from `place` on, as many as `span`, get a
/// message of what `bytes` says at `ready`: it sends to the farthest first.
fn down(
    place: u32,
    span: u32,
    ranks: u32,
    ready: f64,
    bytes: &dyn Fn(u32, u32) -> u64,
    done: &mut [f64],
) {
    let (mut clock, mut free, mut end) = (ready, 0.0f64, ranks.min(place + span));
    let mut mask = span / 2;
    while mask > 0 {
        if place + mask < ranks {
            let takes = bytes(place + mask, end) as f64 * G;
            clock += O;
            let start = clock.max(free);
            free = start + GAP + takes;
            down(place + mask, mask, ranks, start + L + takes + O, bytes, done);
            end = place + mask;
        }
        mask /= 2;
    }
    done[place as usize] = clock;
}

#[test]
fn trees_of_any_number_of_ranks_take_what_theory_says() {
    for ranks in [1u32, 2, 3, 7, 8, 13] {
        let mut done = vec![0.0; ranks as usize];
        let span = ranks.next_power_of_two();
        down(0, span, ranks, 0.0, &|_, _| 3000, &mut done);
        let found = ends(ranks, &target(), |rank| async move {
            rank.bcast_by(warpline::ranks::BcastBy::Binomial, 0, Data::size(3000)).await;
            rank
        });
        for (found, wanted) in found.iter().zip(&done) {
            near(*found, *wanted, &format!("broadcast to {ranks}"));
        }
        down(0, span, ranks, 0.0, &|from, to| 500 * u64::from(to - from), &mut done);
        let found = ends(ranks, &target(), move |rank| async move {
            let all = Data::size(500 * u64::from(ranks));
            rank.scatter(0, (rank.id() == 0).then_some(all), 500).await;
            rank
        });
        for (found, wanted) in found.iter().zip(&done) {
            near(*found, *wanted, &format!("scatter to {ranks}"));
        }
    }
    for (ranks, rounds) in RANKS {
        let wanted: f64 = (0..rounds).map(|round| hop(500 << round)).sum();
        let found = ends(ranks, &target(), |rank| async move {
            rank.gather(0, Data::size(500)).await;
            rank
        });
        near(found[0], wanted, &format!("gather of {ranks}"));
        let found = ends(ranks, &target(), |rank| async move {
            rank.scan(Op::Sum, Data::size(500)).await;
            rank
        });
        near(found[0], f64::from(rounds) * hop(500), &format!("scan of {ranks}"));
        let halves: f64 = (1..=rounds).map(|round| hop(BYTES >> round)).sum();
        let found = ends(ranks, &target(), |rank| async move {
            rank.reduce_scatter(Op::Sum, Data::size(BYTES)).await;
            rank
        });
        near(found[0], halves, &format!("reduce-scatter of {ranks}"));
    }
}

#[test]
fn messages_leave_a_card_one_after_the_other_and_levels_differ() {
    let near_wire = Wire { latency: 1e-6, overhead: 0.1e-6, gap: 0.0, per_byte: 0.1e-9 };
    let far_wire = Wire { latency: L, overhead: O, gap: GAP, per_byte: G };
    let target = Target::two_levels(near_wire, far_wire, 2);
    let bytes = 50_000;
    let found = ends(4, &target, move |rank| async move {
        if rank.id() == 0 {
            for to in 1..4 {
                rank.send(to, 0, Data::size(bytes)).await;
            }
        } else {
            rank.recv(0, 0, bytes).await;
        }
        rank
    });
    let takes = bytes as f64 * G;
    near(found[0], 0.1e-6 + O + O, "the sender");
    near(found[1], 0.1e-6 + 1e-6 + takes / 10.0 + 0.1e-6, "on its node");
    near(found[2], 0.1e-6 + O + L + takes + O, "on the other");
    near(found[3], 0.1e-6 + O + GAP + takes + L + takes + O, "after that");
}
