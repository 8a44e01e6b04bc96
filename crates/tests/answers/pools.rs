//! Pools of buffers: no setting of them changes the answer (who owns a buffer, the order in which
//! free ones are used, how many there are, when they go back). Every run checks that its books
//! balance.

use warpline::base::random::Random;
use warpline::prelude::*;
use warpline::{
    BufferPool, FossilCollection, GvtAlgorithm, Mailbox, Messages, Pending, PoolOrder, Run,
    SubPool, Synchronisation, Undo,
};
use warpline_testkit::matrix::{self, ALGORITHMS, BufferUse, Configuration, Parallel};
use warpline_testkit::random_model::{Mistake, PlannedFault};
use warpline_testkit::{Hops, Recipe, Settings, Story, scaled};

const POOLS: [(BufferPool, SubPool); 6] = [
    (BufferPool::Receiver, SubPool::Unlimited),
    (BufferPool::Sender, SubPool::Unlimited),
    (BufferPool::Partitioned, SubPool::Unlimited),
    (BufferPool::Partitioned, SubPool::Fixed(1)),
    (BufferPool::Partitioned, SubPool::Fixed(6)),
    (BufferPool::Partitioned, SubPool::Adaptive(2)),
];

/// All settings of pools.
fn all_uses() -> impl Iterator<Item = BufferUse> {
    let orders = [PoolOrder::Lifo, PoolOrder::Fifo];
    let collections = [FossilCollection::Batch, FossilCollection::OnTheFly];
    let of = move |(pool, sub_pool)| {
        orders.into_iter().flat_map(move |order| {
            collections.map(|collection| BufferUse { pool, order, sub_pool, collection })
        })
    };
    POOLS.into_iter().flat_map(of)
}

/// A virtual cluster in which events travel in buffers.
fn cluster(seed: u64, buffers: BufferUse) -> Parallel {
    let drawn = Parallel::cluster(&mut Random::new(seed, LpId(0), 0));
    let messages = if seed.is_multiple_of(4) { Messages::Auto } else { Messages::Shared };
    let gvt = ALGORITHMS[seed as usize % ALGORITHMS.len()];
    Parallel {
        pes: 2 + (seed / 4 % 3) as u32,
        conservative: seed % 7 == 6,
        lookahead: seed % 3 == 2,
        undo: [Undo::Copy, Undo::Reverse, Undo::Journal][seed as usize / 2 % 3],
        messages,
        gvt,
        buffers,
        ..drawn
    }
}

fn configuration(parallel: Parallel) -> Configuration {
    Configuration { pending: Pending::Ladder, parallel: Some(parallel), changes: None }
}

#[test]
fn every_way_to_keep_buffers_has_one_answer() {
    for (buffers, number) in all_uses().zip(0..) {
        for seed in (0..scaled(5).into()).map(|seed| 100 * number + seed) {
            let recipe = Recipe::from_seed(seed);
            let all = [
                configuration(cluster(seed, buffers)),
                configuration(cluster(seed + 1, buffers).threads()),
            ];
            let outcome = matrix::check_recipe_under(
                &recipe,
                &Settings::new(seed, 20.0),
                &all[..1 + usize::from(seed % 4 == 0)],
            );
            let outcome = outcome.unwrap_or_else(|why| panic!("{buffers:?}, seed {seed}: {why}"));
            assert!(outcome.is_ok(), "no fault is planned");
        }
    }
}

/// Faults are deferred, and events are undone whose buffers were given back or which wait for
/// buffers.
#[test]
fn mistakes_are_found_whatever_the_pool() {
    for (buffers, number) in all_uses().zip(0..) {
        for (mistake, nth) in Mistake::ALL.into_iter().zip(0..) {
            let seed = 1000 + 31 * number + nth;
            let fault = Some(PlannedFault { mistake, lp: (seed % 4) as u32, event: 1 + seed % 5 });
            let recipe = Recipe { lps: 5, energy: 60, fault, ..Recipe::from_seed(seed) };
            let settings = Settings { zero_delay_hops: 200, ..Settings::new(seed, 20.0) };
            let outcome = matrix::check_recipe_under(
                &recipe,
                &settings,
                &[configuration(cluster(seed, buffers))],
            );
            _ = outcome
                .unwrap_or_else(|why| panic!("{buffers:?}, {mistake:?}, seed {seed}: {why}"));
        }
    }
}

/// A source sends to a sink on the other PE and never hears of it, so nothing ever rolls it back.
/// The sink is slow.
fn source_and_sink() -> Simulation<'static, Story> {
    let story = Story::new(2)
        .init(|lp| {
            if lp.id() == LpId(0) {
                lp.send(0, 1.0, 3);
            }
            0
        })
        .handle(|seen, burst, lp| {
            *seen += 1;
            if lp.id() == LpId(0) {
                lp.send(0, 1.0, burst);
                (0..burst).for_each(|_| lp.send(1, 1.5, 0));
            }
        });
    Simulation::new(story).end(4000.0)
}

fn source(sub_pool: SubPool, cluster: Option<u64>) -> Run<Story> {
    let simulation =
        source_and_sink().sync(Synchronisation::Optimistic).use_lookahead(false).threads(2);
    // A wide window and long intervals: nothing but buffers keeps the source from running ahead.
    let simulation = simulation.sub_pool(sub_pool).window(1e6).gvt_interval(4096).batch(64);
    cluster.into_iter().fold(simulation, Simulation::virtual_cluster).run().expect("it ends")
}

/// With sub-pools of a size, a source that nothing rolls back cannot fill the memory with messages.
#[test]
fn sub_pools_of_a_size_keep_a_source_from_flooding_its_receiver() {
    let expected = source_and_sink().run().expect("it ends").record.digest;
    let flooded = source(SubPool::Unlimited, Some(1));
    assert_eq!(flooded.record.digest, expected);
    assert_eq!(flooded.record.parallel.as_ref().unwrap().parked_events, 0);
    let buffers = |run: &Run<Story>| {
        run.record.parallel.as_ref().unwrap().pes.iter().map(|pe| pe.buffers).sum::<u64>()
    };
    let mailbox = |run: &Run<Story>| run.record.parallel.as_ref().unwrap().pes[1].mailbox_depth_max;
    for (size, most) in
        [(SubPool::Fixed(30), 30), (SubPool::Adaptive(30), 30), (SubPool::Fixed(1), 30)]
    {
        let limited = source(size, Some(1));
        let parallel = limited.record.parallel.as_ref().unwrap();
        assert_eq!(limited.record.digest, expected, "{size:?}");
        assert!(parallel.parked_events > 100, "{size:?}: {}", parallel.parked_events);
        assert!(
            mailbox(&limited) <= most && mailbox(&flooded) > 100,
            "{size:?}: {} against {}",
            mailbox(&limited),
            mailbox(&flooded)
        );
        assert!(
            buffers(&limited) < buffers(&flooded),
            "{size:?}: {} against {}",
            buffers(&limited),
            buffers(&flooded)
        );
    }
}

/// Runs on threads end though PEs wait for buffers again and again.
#[test]
fn threads_wait_for_buffers_and_go_on() {
    let expected = source_and_sink().run().expect("it ends").record.digest;
    for size in [SubPool::Fixed(1), SubPool::Fixed(4), SubPool::Adaptive(3)] {
        let run = source(size, None);
        assert_eq!(run.record.digest, expected);
        assert!(run.record.parallel.as_ref().unwrap().parked_events > 0, "{size:?}");
    }
}

const HOPS: Hops = Hops { lps: 32, messages: 1, lookahead: 0.0 };

/// States tell whether each buffer had what was written into it.
fn is_same(run: &Run<Hops>, expected: &Run<Hops>) -> bool {
    run.record.digest == expected.record.digest && run.states == expected.states
}

#[test]
fn two_threads_have_one_answer_with_every_pool() {
    let expected = HOPS.sequential(150.0);
    for (buffers, number) in all_uses().zip(0usize..) {
        for undo in [Undo::Copy, Undo::Reverse] {
            let simulation = Simulation::new(HOPS)
                .end(150.0)
                .threads(2)
                .use_lookahead(false)
                .undo(undo)
                .pool(buffers.pool);
            let simulation =
                simulation.pool_order(buffers.order).fossil_collection(buffers.collection);
            let simulation = if buffers.pool == BufferPool::Partitioned {
                simulation.sub_pool(buffers.sub_pool)
            } else {
                simulation
            };
            let gvt: GvtAlgorithm = ALGORITHMS[number % ALGORITHMS.len()];
            let run = simulation.gvt(gvt).run().expect("it ends");
            assert!(is_same(&run, &expected), "{buffers:?}, {undo:?}, {gvt:?}");
            let engine = &run.record.engine;
            assert_eq!(engine["pool"], buffers.pool.name());
            let size = if buffers.pool == BufferPool::Partitioned {
                engine["sub_pool"].is_string()
            } else {
                engine["sub_pool"].is_null()
            };
            assert!(size, "{buffers:?}: {}", engine["sub_pool"]);
        }
    }
}

/// Every mailbox has one answer, and the CAS ring counts what senders push.
#[test]
fn threads_have_one_answer_with_every_mailbox() {
    let expected = HOPS.sequential(60.0);
    for mailbox in [Mailbox::PerSender, Mailbox::Shared, Mailbox::Cas] {
        for messages in [Messages::Auto, Messages::Value, Messages::Copy, Messages::Shared] {
            for pending in [Pending::Ladder, Pending::Heap] {
                for pes in [2, 3, 5] {
                    let simulation = Simulation::new(HOPS)
                        .end(60.0)
                        .threads(pes)
                        .mailbox(mailbox)
                        .messages(messages)
                        .pending(pending);
                    let run = simulation.sync(Synchronisation::Optimistic).run().expect("it ends");
                    assert!(is_same(&run, &expected), "{mailbox:?}, {messages:?}, {pes} PEs");
                    let engine = &run.record.engine;
                    let parallel = run.record.parallel.as_ref().unwrap();
                    assert_eq!(
                        (&engine["mailbox"], &engine["messages"]),
                        (&mailbox.name().into(), &messages.name().into())
                    );
                    let sent: u64 =
                        parallel.pes.iter().map(|pe| pe.messages_sent + pe.anti_messages).sum();
                    let counted = parallel.mailbox.map(|counts| counts.pushed);
                    assert_eq!(
                        counted.is_some(),
                        mailbox == Mailbox::Cas && sent > 0,
                        "{counted:?}"
                    );
                    assert!(
                        counted.is_none_or(|counted| counted >= sent),
                        "{counted:?} of {sent}: what goes back empty counts as well"
                    );
                }
            }
        }
    }
}

/// Buffers drift from a PE that only sends to one that only receives. They come back by way of the
/// common pool, so that the sender makes few new ones.
#[test]
fn buffers_of_senders_come_back_by_way_of_the_common_pool() {
    let simulation =
        source_and_sink().threads(2).use_lookahead(false).pool(BufferPool::Sender).gvt_interval(64);
    let run = simulation.window(20.0).virtual_cluster(3).run().expect("it ends");
    let pes = &run.record.parallel.as_ref().unwrap().pes;
    assert!(pes[1].buffers_shared > 1000, "{pes:?}");
    assert!(pes[0].buffers < 4000, "12000 messages were sent: {pes:?}");
}
