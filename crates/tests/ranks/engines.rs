//! One answer in all engines.

use super::*;

/// A program in which much happens: computations of random length, wildcards, long and short
/// messages, calls of all ranks, parts of the world. Each rank notes when it ends.
async fn much(rank: Rank, ends: Notes<f64>) {
    for round in 0..4u32 {
        let pause = rank.draw(|random| random.uniform());
        rank.compute(pause * 5e-6).await;
        let (me, size) = (rank.id(), rank.size());
        let bytes = if round % 2 == 0 { 100 } else { 9000 };
        let to = (me + 1 + round) % size;
        let request = rank.isend(to, round, Data::size(bytes));
        let (_, status) = rank.recv(ANY_SOURCE, round, 1 << 20).await;
        assert_eq!(status.source, Some((me + size - 1 - round % size) % size));
        request.wait().await;
        let half = rank.split(Some(me % 2), 0).await.expect("all give a colour");
        let sum = half.allreduce(Op::Sum, [u64::from(me)]).await.values::<u64>()[0];
        let wanted: u64 = (0..u64::from(size)).filter(|other| other % 2 == u64::from(me % 2)).sum();
        assert_eq!(sum, wanted);
        if me == 0 {
            for _ in 1..size {
                rank.recv(ANY_SOURCE, ANY_TAG, 8).await;
            }
        } else {
            rank.send(0, me, Data::size(8)).await;
        }
        rank.barrier().await;
    }
    ends.add(rank.id(), rank.wtime());
}

#[test]
fn all_engines_give_one_answer() {
    let wire = |latency| Wire { overhead: 0.3e-6, gap: 0.1e-6, ..Wire::new(latency, 1e9) };
    let targets = [
        Target::flat(wire(2e-6)).eager_up_to(1000),
        Target::two_levels(wire(0.5e-6), wire(3e-6), 4).eager_up_to(1000),
        Target::open("cray-xt5").unwrap().eager_up_to(1000),
    ];
    for target in targets {
        let ends = Notes::new();
        let act = boxed(noting(&ends, much));
        let simulation = || {
            let act = act.clone();
            let program = Ranks::new(Told { ranks: 23, target: target.clone(), act });
            Simulation::new(program).end(1e3).seed(5)
        };
        let answer = |simulation: Simulation<'_, Ranks<Told>>| {
            let run = simulation.run().unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(run.record.stuck, None);
            let ends = ends.take();
            assert_eq!(ends.len(), 23);
            (run.record.digest, run.record.committed_events, ends)
        };
        let alone = answer(simulation().sync(Synchronisation::Sequential));
        for threads in [1, 2, 5] {
            for sync in [Synchronisation::Conservative, Synchronisation::Optimistic] {
                let together = answer(simulation().sync(sync).threads(threads));
                assert_eq!(together, alone, "{sync:?} on {threads}");
            }
        }
        assert_eq!(answer(simulation().threads(7).virtual_cluster(3)), alone);
    }
}
