//! Calls of all ranks, against a plain loop over the data of all.

use super::*;
use warpline::ranks::{AllgatherBy, AllreduceBy, AlltoallBy, BcastBy, ReduceBy};

const SIZES: [u32; 9] = [1, 2, 3, 4, 5, 7, 8, 13, 16];

/// The values that a rank gives.
fn given(rank: u32, count: u64) -> Vec<i64> {
    (0..count as i64).map(|place| (i64::from(rank) * 31 + place * 7) % 19 - 6).collect()
}

/// What all ranks get, by rank.
fn got<T, F, G>(ranks: u32, act: F) -> Vec<T>
where
    T: Clone + Send + 'static,
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = T> + Send + 'static,
{
    results(ranks, &Target::flat(Wire::new(1e-6, 1e9)).eager_up_to(40), act)
}

/// The sums of what ranks give, place by place.
fn sums(ranks: impl Iterator<Item = u32>, count: u64) -> Vec<i64> {
    ranks.fold(vec![0; count as usize], |sums, rank| {
        sums.iter().zip(given(rank, count)).map(|(sum, value)| sum + value).collect()
    })
}

#[test]
fn broadcasts_bring_the_roots_data_to_all() {
    for by in [BcastBy::Binomial, BcastBy::ScatterAllgather, BcastBy::Auto] {
        for (ranks, count) in SIZES.into_iter().zip([1, 5, 40, 0, 3, 100, 9, 2, 64]) {
            let root = ranks / 2;
            let all = got(ranks, move |rank| async move {
                let mine = if rank.id() == root { given(99, count) } else { given(0, count) };
                rank.bcast_by(by, root, &mine).await.values::<i64>()
            });
            assert!(all.iter().all(|got| *got == given(99, count)), "{by:?}, {ranks} ranks");
        }
    }
}

#[test]
fn reductions_are_sums_at_the_root_alone() {
    for by in [ReduceBy::Binomial, ReduceBy::Rabenseifner, ReduceBy::Auto] {
        for ranks in SIZES {
            for root in [0, ranks - 1, ranks / 2] {
                let all = got(ranks, move |rank| async move {
                    let mine = given(rank.id(), 11);
                    let got = rank.reduce_by(by, root, Op::Sum, &mine).await;
                    got.map(|got| got.values::<i64>())
                });
                for (rank, got) in (0..).zip(all) {
                    let wanted = (rank == root).then(|| sums(0..ranks, 11));
                    assert_eq!(got, wanted, "{by:?}, {ranks} ranks, root {root}, rank {rank}");
                }
            }
        }
    }
}

#[test]
fn reductions_for_all_are_sums_everywhere() {
    use AllreduceBy::*;
    for by in [RecursiveDoubling, Ring, Rabenseifner, Auto] {
        for ranks in SIZES {
            let all = got(ranks, move |rank| async move {
                rank.allreduce_by(by, Op::Sum, &given(rank.id(), 11)).await.values::<i64>()
            });
            assert!(all.iter().all(|got| *got == sums(0..ranks, 11)), "{by:?}, {ranks} ranks");
        }
    }
}

#[test]
fn gathering_puts_blocks_in_the_order_of_ranks() {
    for ranks in SIZES {
        let wanted: Vec<i64> = (0..ranks).flat_map(|rank| given(rank, 3)).collect();
        for root in [0, ranks - 1] {
            let all = got(ranks, move |rank| async move {
                rank.gather(root, &given(rank.id(), 3)).await.map(|got| got.values::<i64>())
            });
            for (rank, got) in (0..).zip(all) {
                assert_eq!(got, (rank == root).then(|| wanted.clone()), "{ranks} ranks");
            }
            let given = wanted.clone();
            let all = got(ranks, move |rank| {
                let given = given.clone();
                async move {
                    let mine = (rank.id() == root).then(|| Data::from(&given));
                    rank.scatter(root, mine, 24).await.values::<i64>()
                }
            });
            assert_eq!(all.concat(), wanted, "scattered to {ranks} ranks");
        }
        for by in [AllgatherBy::Ring, AllgatherBy::Bruck, AllgatherBy::RecursiveDoubling] {
            let all = got(ranks, move |rank| async move {
                rank.allgather_by(by, &given(rank.id(), 3)).await.values::<i64>()
            });
            assert!(all.iter().all(|got| *got == wanted), "{by:?}, {ranks} ranks");
        }
    }
}

#[test]
fn all_to_all_turns_rows_into_columns() {
    for by in [AlltoallBy::Bruck, AlltoallBy::Pairwise, AlltoallBy::Auto] {
        for ranks in SIZES {
            let cell = move |from: u32, to: u32| i64::from(from * 100 + to);
            let all = got(ranks, move |rank| async move {
                let row: Vec<i64> = (0..ranks).map(|to| cell(rank.id(), to)).collect();
                rank.alltoall_by(by, &row).await.values::<i64>()
            });
            for (rank, got) in (0..).zip(all) {
                let column: Vec<i64> = (0..ranks).map(|from| cell(from, rank)).collect();
                assert_eq!(got, column, "{by:?}, {ranks} ranks, rank {rank}");
            }
        }
    }
}

#[test]
fn prefixes_are_those_of_the_ranks_before() {
    for ranks in SIZES {
        let all = got(ranks, move |rank| async move {
            let mine = given(rank.id(), 4);
            let with = rank.scan(Op::Sum, &mine).await.values::<i64>();
            let without = rank.exscan(Op::Sum, &mine).await.map(|got| got.values::<i64>());
            (with, without)
        });
        for (rank, (with, without)) in (0..).zip(all) {
            assert_eq!(with, sums(0..rank + 1, 4), "{ranks} ranks");
            assert_eq!(without, (rank > 0).then(|| sums(0..rank, 4)), "{ranks} ranks");
        }
    }
}

#[test]
fn reduced_blocks_go_to_their_ranks() {
    for ranks in SIZES {
        let count = u64::from(ranks) * 2;
        let all = got(ranks, move |rank| async move {
            rank.reduce_scatter(Op::Sum, &given(rank.id(), count)).await.values::<i64>()
        });
        assert_eq!(all.concat(), sums(0..ranks, count), "{ranks} ranks");
    }
}

/// Words joined in the order of ranks show whether an algorithm keeps it. What is combined must not
/// grow, so each value is a number in base 16 whose digits are the ranks, and their count.
#[test]
fn operations_that_do_not_commute_keep_the_order_of_ranks() {
    fn append(first: &Data, second: &Data) -> Data {
        let (a, b) = (first.values::<u64>(), second.values::<u64>());
        Data::from([a[0] << (4 * b[1]) | b[0], a[1] + b[1]])
    }
    const APPEND: Op = Op::Own { combine: append, commutes: false };
    for ranks in SIZES.into_iter().filter(|ranks| *ranks <= 13) {
        let all = got(ranks, move |rank| async move {
            let mine = Data::from([u64::from(rank.id()), 1]);
            let one = rank.reduce(rank.size() - 1, APPEND, mine.clone()).await;
            let all = rank.allreduce_by(AllreduceBy::Ring, APPEND, mine.clone()).await;
            let before = rank.scan(APPEND, mine).await;
            [one.unwrap_or(all.clone()), all, before].map(|data| data.values::<u64>()[0])
        });
        let word = |ranks: u32| (0..ranks).fold(0, |word, rank| word << 4 | u64::from(rank));
        for (rank, got) in (0..).zip(all) {
            assert_eq!(got, [word(ranks), word(ranks), word(rank + 1)], "{ranks} ranks");
        }
    }
}

#[test]
fn operations_do_what_their_names_say() {
    let all = got(3, |rank| async move {
        let id = rank.id();
        let mut got = Vec::new();
        for op in [Op::Product, Op::Min, Op::Max, Op::BitAnd, Op::BitOr, Op::BitXor] {
            got.push(rank.allreduce(op, [id + 5]).await.values::<u32>()[0]);
        }
        for op in [Op::LogicalAnd, Op::LogicalOr] {
            got.push(rank.allreduce(op, [id * 7]).await.values::<u32>()[0]);
        }
        let place = [(f64::from(id % 2), u64::from(id))];
        let extremes = [Op::Min, Op::Max].map(|op| rank.allreduce(op, place));
        let mut places = Vec::new();
        for extreme in extremes {
            places.push(extreme.await.values::<(f64, u64)>()[0]);
        }
        (got, places)
    });
    let wanted = vec![5 * 6 * 7, 5, 7, 5 & 6 & 7, 5 | 6 | 7, 5 ^ 6 ^ 7, 0, 1];
    for got in all {
        assert_eq!(got, (wanted.clone(), vec![(0.0, 0), (1.0, 1)]));
    }
}

#[test]
fn sizes_alone_take_as_long_as_values() {
    let times = |values: bool| {
        got(7, move |rank| async move {
            let give = |count| match values {
                true => Data::from(&given(1, count)),
                false => Data::size(8 * count),
            };
            rank.bcast(2, give(3000)).await;
            rank.allreduce(Op::Sum, give(3000)).await;
            rank.alltoall(give(70)).await;
            rank.allgather(give(50)).await;
            rank.wtime()
        })
    };
    assert_eq!(times(true), times(false));
}
