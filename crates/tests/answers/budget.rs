//! A budget of memory limits what PEs execute ahead. It changes no answer, and a run ends with an
//! error only if there is no other way.

use warpline::prelude::*;
use warpline::record::MemoryRecord;
use warpline::{GvtAlgorithm, Messages, Run, Synchronisation};
use warpline_testkit::{RandomModel, Recipe, Story, cases, scaled};

/// What an event comes from, at its receiver.
const FROM_SOURCE: u64 = 1;
const FROM_OTHER: u64 = 0;

/// A source on each PE that sends to all PEs and receives nothing, so that only GVT holds it back;
/// all other LPs count what they receive. Each event of a source sends `fan_out` others. If `never`,
/// the other LPs set timers that never fire, for the largest time.
fn sources(lps: u32, fan_out: u32, never: bool) -> Story {
    Story::new(lps)
        .init(|lp| {
            if lp.id().0.is_multiple_of(4) {
                lp.send(lp.id(), 0.5, FROM_SOURCE);
            }
            0
        })
        .handle(move |sum, from, lp| {
            *sum = sum.wrapping_mul(31).wrapping_add(lp.random().next_u64());
            if from == FROM_SOURCE {
                let delay = lp.random().exponential(1.0);
                lp.send(lp.id(), delay, FROM_SOURCE);
                for _ in 0..fan_out {
                    let to = lp.random().below(lps / 4) * 4 + 1;
                    let delay = lp.random().exponential(5.0);
                    lp.send(to, delay, FROM_OTHER);
                }
            } else if never {
                let to = lp.random().below(lps);
                lp.send(to, f64::MAX, FROM_OTHER);
            }
        })
}

fn answer<M: Model>(run: &Run<M>) -> (&str, u64) {
    (&run.record.digest, run.record.committed_events)
}

fn short(run: &Run<impl Model>) -> MemoryRecord {
    run.record.parallel.as_ref().and_then(|parallel| parallel.memory.clone()).unwrap_or_default()
}

/// About the least budget with which a run reaches its end.
fn need<M: Model>(run: impl Fn(u64) -> Result<Run<M>, Error>) -> u64 {
    let mut most = 2000;
    while run(most).is_err() {
        most *= 2;
    }
    let mut bytes = most / 2;
    while bytes < most && run(bytes).is_err() {
        bytes += most / 20;
    }
    bytes
}

/// How far each PE may exceed a budget for a moment, before all have undone what they can: by the
/// memory of a batch of events that send and record as much as they can.
const MOMENTARILY: u64 = 512 << 10;

#[test]
fn sources_are_held_back_where_memory_is_short() {
    let simulation = || Simulation::new(sources(16, 6, false)).end(60.0);
    let expected = sources(16, 6, false).sequential(60.0);
    let parallel = |seed: u64| {
        let gvt = GvtAlgorithm::ALL[seed as usize % GvtAlgorithm::ALL.len()];
        let parallel = simulation()
            .sync(Synchronisation::Optimistic)
            .threads(2 + seed as u32 % 3)
            .virtual_cluster(seed)
            .gvt(gvt);
        parallel.window(30.0).batch(8).gvt_interval(200).kps(4)
    };
    let mut all = MemoryRecord::default();
    for seed in 0..scaled(6).into() {
        let least = need(|bytes| parallel(seed).engine_budget(bytes).run());
        for bytes in [least, least + least / 4, 2 * least, 4 * least] {
            let run = match parallel(seed).engine_budget(bytes).run() {
                // So little memory is taken by a few lists, and a list that has just grown has room
                // for twice as many entries as it holds.
                Err(Error::Memory { .. }) if bytes < 2 * least => continue,
                outcome => {
                    outcome.unwrap_or_else(|why| panic!("{bytes} bytes, cluster {seed}: {why}"))
                }
            };
            assert_eq!(answer(&run), answer(&expected), "{bytes} bytes, cluster {seed}");
            let short = short(&run);
            assert!(
                short.taken_most_bytes < bytes + MOMENTARILY / 8,
                "{short:?} with {bytes} bytes, cluster {seed}"
            );
            all.add(&short);
        }
        let run = parallel(seed).run().expect("it runs");
        assert_eq!(
            (answer(&run), short(&run)),
            (answer(&expected), MemoryRecord::default()),
            "cluster {seed}, without a budget"
        );
    }
    assert!(all.sent_back > 0 && all.taken_back > 0, "{all:?}");
    assert!(
        all.stops > 0
            && all.artificial_rollbacks > 0
            && all.artificial_events > all.artificial_rollbacks,
        "{all:?}"
    );
}

/// Short memory makes PEs go through all pending events, those for the largest time included: the
/// books balance.
#[test]
fn timers_that_never_fire_are_kept_where_memory_is_short() {
    let simulation = || Simulation::new(sources(16, 2, true)).end(15.0);
    let expected = sources(16, 2, true).sequential(15.0);
    let mut stops = 0;
    for seed in [0, 1] {
        let parallel = |bytes| {
            let messages = [Messages::Copy, Messages::Shared][seed as usize % 2];
            let parallel = simulation()
                .sync(Synchronisation::Optimistic)
                .threads(3)
                .virtual_cluster(seed)
                .messages(messages);
            parallel.window(30.0).batch(8).gvt_interval(200).kps(4).engine_budget(bytes).run()
        };
        let run =
            parallel(need(parallel) * 5 / 4).unwrap_or_else(|why| panic!("cluster {seed}: {why}"));
        assert_eq!(answer(&run), answer(&expected), "cluster {seed}");
        stops += short(&run).stops;
    }
    assert!(stops > 0);
}

/// What a PE needs beside its share of a sequential run: tables by KP, lists with spare room, keys
/// of the last commits, free buffers. The documentation of `--memory` allows four times as much, as
/// threads of a process need memory outside the engine.
const OF_PE: u64 = 1 << 20;

/// A budget of what a sequential run needs, a tenth more and a little for each PE suffices: the run
/// keeps within it and reaches its end. With less, it does so, too, or ends with an error that says
/// how much was needed. Events of this model take two cache lines in either engine.
#[test]
fn random_models_keep_within_random_budgets() {
    let mut short = MemoryRecord::default();
    let mut refused = 0;
    // Regressions: with seed 31, events beyond the end were once sent back when all was over. With
    // 52 and 232, most events share their times with others.
    for seed in (0..u64::from(cases(6))).chain([31, 52, 232]) {
        let mut recipe = Recipe {
            fault: None,
            lps: 6 + seed as u32 % 30,
            energy: 200,
            ..Recipe::from_seed(seed)
        };
        recipe.starters *= 1 + 2 * (seed as u32 % 3);
        let simulation = || Simulation::new(RandomModel::<4>::new(&recipe)).end(40.0).seed(seed);
        let sequential = || simulation().sync(Synchronisation::Sequential);
        let expected = sequential().run().expect("no fault is planned");
        let sync = [Synchronisation::Optimistic, Synchronisation::Conservative]
            [usize::from(seed % 5 == 0)];
        let pes = 1 + seed as u32 % 5;
        let parallel = |bytes: u64| {
            let gvt = GvtAlgorithm::ALL[(seed / 2) as usize % GvtAlgorithm::ALL.len()];
            let parallel = simulation()
                .sync(sync)
                .threads(pes)
                .virtual_cluster(seed)
                .gvt(gvt)
                .batch(1 + seed as u32 % 40);
            parallel.engine_budget(bytes).run()
        };
        let needed = need(|bytes| sequential().engine_budget(bytes).run());
        let fits = needed + needed / 10 + u64::from(pes) * OF_PE;
        for bytes in [fits, fits + fits / 4, 2 * fits] {
            let run =
                parallel(bytes).unwrap_or_else(|why| panic!("{bytes} bytes, model {seed}: {why}"));
            assert_eq!(answer(&run), answer(&expected), "{bytes} bytes, model {seed}");
            let taken = self::short(&run);
            assert!(
                taken.taken_most_bytes < bytes + u64::from(pes) * MOMENTARILY,
                "{taken:?} with {bytes} bytes, model {seed}"
            );
            short.add(&taken);
        }
        for bytes in [needed / 4, needed, needed + u64::from(pes) * OF_PE / 8] {
            match parallel(bytes) {
                Ok(run) => {
                    assert_eq!(answer(&run), answer(&expected), "{bytes} bytes, model {seed}");
                    short.add(&self::short(&run));
                }
                Err(Error::Memory { why, .. }) => {
                    assert!(why.to_string().contains("but its budget is"), "model {seed}: {why}");
                    refused += 1;
                }
                Err(other) => panic!("model {seed}: {other}"),
            }
        }
    }
    assert!(short.stops > 0 && short.sent_back > 0 && refused > 0, "{short:?}");
}

/// How many blocks a wave goes through.
const BLOCKS: u32 = 4;

/// All events are in one block of LPs, on one PE, and move on to the next block together.
fn wave(lps: u32, lookahead: f64) -> Story {
    Story::new(lps)
        .lookahead(lookahead)
        .init(move |lp| {
            if lp.id().0 < lps / BLOCKS {
                (0..40u32).for_each(|n| lp.send(lp.id(), 1.0 + f64::from(n) / 100.0, n.into()));
            }
            0
        })
        .handle(move |sum, number, lp| {
            *sum = sum.wrapping_mul(31).wrapping_add(number);
            let block = lp.now() as u32 % BLOCKS;
            let to = block * lps / BLOCKS + lp.random().below(lps / BLOCKS);
            let delay = lp.random().uniform();
            // It arrives in the first half of the next block's turn.
            lp.send(to, lp.now().floor() + 1.0 + delay / 2.0 - lp.now(), number);
        })
}

/// Memory that one PE has used is there for the next.
#[test]
fn memory_follows_the_events_from_pe_to_pe() {
    for lookahead in [0.0, 0.5] {
        let simulation = || Simulation::new(wave(2000, lookahead)).end(20.0);
        let sequential = need(|bytes| {
            simulation().sync(Synchronisation::Sequential).engine_budget(bytes * 1000).run()
        }) * 1000;
        let expected = wave(2000, lookahead).sequential(20.0);
        let bytes = sequential + sequential / 10 + u64::from(BLOCKS) * OF_PE;
        for seed in 0..4 {
            let parallel = simulation()
                .sync(Synchronisation::Optimistic)
                .threads(BLOCKS)
                .virtual_cluster(seed);
            let run = parallel
                .engine_budget(bytes)
                .run()
                .unwrap_or_else(|why| panic!("lookahead {lookahead}: {why}"));
            assert_eq!(answer(&run), answer(&expected), "lookahead {lookahead}, cluster {seed}");
        }
        let run = simulation()
            .sync(Synchronisation::Optimistic)
            .threads(BLOCKS)
            .engine_budget(bytes)
            .run();
        assert_eq!(answer(&run.unwrap_or_else(|why| panic!("threads: {why}"))), answer(&expected));
    }
}

/// All PEs together need what a sequential run needs, and a little for each PE.
#[test]
fn a_parallel_run_needs_little_more_than_a_sequential_one() {
    let simulation = || Simulation::new(sources(4000, 20, false)).end(6.0);
    let sequential = need(|bytes| {
        simulation().sync(Synchronisation::Sequential).engine_budget(bytes * 1000).run()
    }) * 1000;
    for pes in [2, 3] {
        let parallel = simulation().sync(Synchronisation::Optimistic).threads(pes).window(50.0);
        let run =
            parallel.engine_budget(sequential + sequential / 10 + u64::from(pes) * OF_PE).run();
        let run = run.unwrap_or_else(|why| panic!("{pes} PEs: {why}"));
        assert_eq!(
            run.record.digest,
            simulation().run().expect("it runs").record.digest,
            "{pes} PEs"
        );
    }
}
