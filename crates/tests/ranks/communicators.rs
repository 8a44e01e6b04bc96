//! Communicators made of others.

use super::*;

/// What all ranks have in the end.
fn all<T, F, G>(ranks: u32, act: F) -> Vec<T>
where
    T: Clone + Send + 'static,
    F: Fn(Rank) -> G + Send + Sync + 'static,
    G: Future<Output = T> + Send + 'static,
{
    results(ranks, &Target::flat(Wire::new(1e-6, 1e9)), act)
}

#[test]
fn a_split_orders_ranks_by_key_and_leaves_out_those_without_colour() {
    let all = all(7, |rank| async move {
        let colour = (rank.id() != 3).then_some(rank.id() % 2);
        let part = rank.split(colour, -(rank.id() as i32)).await?;
        let sum = part.allreduce(Op::Sum, [rank.id()]).await.values::<u32>()[0];
        Some((part.id(), part.world_ranks(), sum))
    });
    let even = vec![6, 4, 2, 0];
    let wanted = [
        Some((3, even.clone(), 12)),
        Some((1, vec![5, 1], 6)),
        Some((2, even.clone(), 12)),
        None,
        Some((1, even.clone(), 12)),
        Some((0, vec![5, 1], 6)),
        Some((0, even, 12)),
    ];
    assert_eq!(all, wanted);
}

#[test]
fn messages_of_a_copy_are_apart() {
    let all = all(2, |rank| async move {
        let copy = rank.dup().await;
        if rank.id() == 0 {
            rank.send(1, 5, [1u32]).await;
            copy.send(1, 5, [2u32]).await;
            return (0, 0);
        }
        let (second, _) = copy.recv(ANY_SOURCE, ANY_TAG, 4).await;
        let (first, _) = rank.recv(ANY_SOURCE, ANY_TAG, 4).await;
        (first.values::<u32>()[0], second.values::<u32>()[0])
    });
    assert_eq!(all[1], (1, 2));
}

#[test]
fn a_communicator_of_chosen_ranks_numbers_them_anew() {
    let all = all(5, |rank| async move {
        let some = rank.create(&[4, 1, 2]).await?;
        if some.id() == 0 {
            some.send(2, 0, [rank.id()]).await;
        }
        let from = if some.id() == 2 { some.recv(ANY_SOURCE, 0, 4).await.1.source } else { None };
        Some((some.id(), from, some.translate(4, &rank), rank.translate(1, &some)))
    });
    let of = |id, from| Some((id, from, Some(0), Some(1)));
    assert_eq!(all, [None, of(1, None), of(2, Some(0)), None, of(0, None)]);
}

#[test]
fn a_shift_finds_neighbours_round_rings_and_nobody_beyond_borders() {
    let all = all(7, |rank| async move {
        let grid = rank.cartesian(&[2, 3], &[false, true]).await?;
        let (from, to) = grid.shift(1, 1);
        let (got, _) = grid.sendrecv(to, 0, [grid.id()], from, 0, 4).await;
        let (up, down) = grid.shift(0, 1);
        let (above, status) = grid.sendrecv(down, 1, [grid.id()], up, 1, 4).await;
        assert_eq!(
            grid.rank_at(&[grid.coordinates(grid.id())[0].into(), -1]),
            grid.shift(1, -1 - i64::from(grid.coordinates(grid.id())[1])).1
        );
        Some((got.values::<u32>()[0], status.source, above.len()))
    });
    let wanted = [
        (2, None, 0),
        (0, None, 0),
        (1, None, 0),
        (5, Some(0), 4),
        (3, Some(1), 4),
        (4, Some(2), 4),
    ];
    assert_eq!(all[..6], wanted.map(Some));
    assert_eq!(all[6], None, "the seventh rank is not on the grid");
}

#[test]
fn neighbours_in_a_graph_exchange_data() {
    let all = all(4, |rank| async move {
        // Everyone tells rank 0, and it tells rank 3.
        let (from, to): (&[u32], &[u32]) = match rank.id() {
            0 => (&[1, 2, 3], &[3]),
            3 => (&[0], &[0]),
            _ => (&[], &[0]),
        };
        let graph = rank.graph(from, to).await;
        let got = graph.exchange([rank.id() * 10], 4).await;
        got.iter().map(|data| data.values::<u32>()[0]).collect::<Vec<_>>()
    });
    assert_eq!(all, [vec![10, 20, 30], vec![], vec![], vec![0]]);
}
