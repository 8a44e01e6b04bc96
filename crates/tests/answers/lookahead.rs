//! Lookahead makes events certain, and changes nothing that a model can observe.

use std::sync::{Arc, Mutex, PoisonError};

use warpline::prelude::*;
use warpline::record::PeRecord;
use warpline::{Conservative, GoAhead, Synchronisation};
use warpline_testkit::Story;

/// Both kinds of conservative runs.
const WAYS: [Conservative; 2] = [Conservative::Windows, Conservative::FreeRunning];

/// LPs that never talk to each other, so any lookahead holds. If they are `alone`, they declare
/// that.
fn islands(lookahead: f64, alone: bool) -> Story {
    let story = Story::new(16)
        .lookahead(lookahead)
        .init(|lp| {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 0);
            0
        })
        .handle(|sum, _, lp| {
            *sum = sum.wrapping_mul(31).wrapping_add(lp.random().next_u64());
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 0);
        });
    if alone { story.links(|_| Vec::new()) } else { story }
}

#[test]
fn any_finite_lookahead_will_do() {
    const END: f64 = 30.0;
    let quarter = f64::MAX / 4.0;
    let all = [0.0, 1.5 * END, quarter, quarter.next_up(), f64::MAX / 2.0, f64::MAX]
        .map(|lookahead| (lookahead, false));
    for (lookahead, alone) in all.into_iter().chain([(0.0, true)]) {
        let simulation = || Simulation::new(islands(lookahead, alone)).end(END);
        let expected = simulation().run().expect("it runs");
        assert!(expected.record.committed_events > 300);
        for threads in [1, 2, 8] {
            for used in [true, false] {
                let parallel = || {
                    simulation()
                        .sync(Synchronisation::Optimistic)
                        .threads(threads)
                        .use_lookahead(used)
                        .batch(2)
                        .gvt_interval(2)
                };
                let mut runs = vec![parallel().run(), parallel().virtual_cluster(7).run()];
                if lookahead > 0.0 || alone {
                    for way in WAYS {
                        let conservative = || {
                            parallel()
                                .use_lookahead(true)
                                .sync(Synchronisation::Conservative)
                                .conservative(way)
                        };
                        runs.extend([
                            conservative().run(),
                            conservative().virtual_cluster(7).run(),
                        ]);
                    }
                }
                for run in runs {
                    let run = run.expect("it runs");
                    assert_eq!(
                        (run.record.digest, run.states),
                        (expected.record.digest.clone(), expected.states.clone()),
                        "{lookahead}"
                    );
                }
            }
        }
    }
}

const TALKERS: u32 = 24;

/// The times of committed events, by LP.
type Commits = Arc<Mutex<Vec<Vec<f64>>>>;

/// LPs that talk to each other with a delay, and record when their events commit. One of them may
/// panic in commits from a time on.
fn talkers(panics: Option<(LpId, f64)>) -> (Story, Commits) {
    const LOOKAHEAD: f64 = 0.5;
    let commits: Commits = Arc::new(Mutex::new(vec![Vec::new(); TALKERS as usize]));
    let committed = Arc::clone(&commits);
    let story = Story::new(TALKERS)
        .lookahead(LOOKAHEAD)
        .init(|lp| {
            for _ in 0..2 {
                let delay = lp.random().exponential(1.0);
                lp.send(lp.id(), delay, 1);
            }
            0
        })
        .handle(|sum, word, lp| {
            *sum = sum.rotate_left(9) ^ word ^ lp.random().next_u64();
            let to = if *sum & 1 == 0 { lp.id() } else { LpId(lp.random().below(TALKERS)) };
            let least = if to == lp.id() { 0.0 } else { LOOKAHEAD };
            let delay = least + lp.random().exponential(0.5);
            lp.send(to, delay, *sum);
        })
        .commit(move |_, lp| {
            if let Some((id, from)) = panics {
                assert!(lp.id() != id || lp.now() < from, "as planned");
            }
            let mut commits = committed.lock().unwrap_or_else(PoisonError::into_inner);
            commits[lp.id().index()].push(lp.now());
        });
    (story, commits)
}

/// A virtual cluster of PEs that go far ahead, with KPs that roll back separately.
fn ahead(simulation: Simulation<'static, Story>, seed: u64) -> Simulation<'static, Story> {
    let simulation = simulation
        .sync(Synchronisation::Optimistic)
        .threads([2, 3, 5][(seed % 3) as usize])
        .virtual_cluster(seed);
    let simulation = simulation
        .window(20.0)
        .kps([100, 3][(seed % 2) as usize])
        .batch(4)
        .go_ahead(GoAhead::Always);
    simulation
        .gvt_interval([16, 128][(seed / 2 % 2) as usize])
        .copy_interval([1, 5][(seed / 4 % 2) as usize])
}

#[test]
fn events_of_an_lp_commit_in_its_order() {
    let commits = |set: &dyn Fn(Simulation<'static, Story>) -> Simulation<'static, Story>| {
        let (model, commits) = talkers(None);
        let run = set(Simulation::new(model).end(20.0)).run().expect("it runs");
        let commits = commits.lock().expect("nothing panics").clone();
        (run.record.digest, run.states, commits)
    };
    let expected = commits(&|simulation| simulation);
    for seed in 0..64 {
        let found = commits(&|simulation| ahead(simulation, seed));
        for (id, (found, expected)) in found.2.iter().zip(&expected.2).enumerate() {
            assert_eq!(found, expected, "LP {id}, cluster {seed}");
        }
        assert_eq!(found, expected, "cluster {seed}");
    }
}

/// How many events were executed in the safe lane, and how many ahead and not undone.
fn lanes(simulation: Simulation<'static, Story>) -> (u64, u64) {
    let record = simulation.run().expect("it runs").record;
    let parallel = record.parallel.expect("it is a parallel run");
    let sum = |of: fn(&PeRecord) -> u64| parallel.pes.iter().map(of).sum::<u64>();
    assert_eq!(
        (parallel.certain_events, parallel.ahead_events),
        (sum(|pe| pe.certain_events), sum(|pe| pe.ahead_events))
    );
    assert_eq!(parallel.certain_events + parallel.ahead_events, parallel.processed_events);
    for pe in &parallel.pes {
        assert_eq!(
            pe.certain_events + (pe.ahead_events - pe.rolled_back_events),
            pe.committed_events
        );
    }
    let kept = (parallel.certain_events, parallel.ahead_events - parallel.rolled_back_events);
    assert_eq!(kept.0 + kept.1, record.committed_events);
    kept
}

#[test]
fn every_event_is_counted_in_the_lane_that_it_took() {
    let simulation = || Simulation::new(talkers(None).0).end(20.0);
    let all = simulation().run().expect("it runs").record.committed_events;
    assert!(all > 500);
    for seed in 0..12 {
        let (certain, kept_ahead) = lanes(ahead(simulation(), seed));
        assert!(certain > 0 && kept_ahead > 0, "{certain} and {kept_ahead}, cluster {seed}");
        assert_eq!(
            lanes(ahead(simulation(), seed).use_lookahead(false)),
            (0, all),
            "cluster {seed}"
        );
        for way in WAYS {
            let conservative = simulation()
                .sync(Synchronisation::Conservative)
                .conservative(way)
                .threads(2 + seed as u32 % 3);
            assert_eq!(
                lanes(conservative.virtual_cluster(seed).batch(4)),
                (all, 0),
                "cluster {seed}"
            );
        }
    }
    for threads in [1, 2, 3] {
        let parallel = |sync| simulation().sync(sync).threads(threads);
        lanes(parallel(Synchronisation::Optimistic));
        assert_eq!(
            lanes(parallel(Synchronisation::Optimistic).use_lookahead(false)),
            (0, all),
            "{threads} threads"
        );
        for way in WAYS {
            assert_eq!(
                lanes(parallel(Synchronisation::Conservative).conservative(way)),
                (all, 0),
                "{threads} threads"
            );
        }
    }
    // Nothing can arrive at a single PE.
    assert_eq!(lanes(simulation().sync(Synchronisation::Optimistic).threads(1)), (all, 0));
}

/// An uncommitted event may precede a safe one in its KP, and fail when it is to commit.
#[test]
fn an_event_that_fails_when_it_commits_is_the_failure() {
    for (number, id) in (0..TALKERS).step_by(3).enumerate() {
        let panics = Some((LpId(id), 3.0 + number as f64));
        let failure = |set: &dyn Fn(Simulation<'static, Story>) -> Simulation<'static, Story>| {
            set(Simulation::new(talkers(panics).0).end(20.0))
                .run()
                .expect_err("it panics")
                .to_string()
        };
        let expected = failure(&|simulation| simulation);
        assert!(expected.contains("as planned"), "{expected}");
        for seed in 0..12 {
            assert_eq!(failure(&|simulation| ahead(simulation, seed)), expected, "cluster {seed}");
        }
    }
}

/// Machines of four LPs each, which talk to each other without delay, and to the neighbouring
/// machines with one.
fn machines() -> Story {
    const LPS: u32 = 24;
    fn links_of(lp: LpId) -> Vec<Link> {
        let first = lp.0 / 4 * 4;
        let within = (first..first + 4).map(|to| (to, 0.0));
        let beside = [(lp.0 + 4, 0.5), (lp.0.wrapping_sub(4), 2.0)];
        let all = within.chain(beside).filter(|(to, _)| *to < LPS && *to != lp.0);
        all.map(|(to, lookahead)| Link { to: LpId(to), lookahead }).collect()
    }
    Story::new(LPS)
        .links(links_of)
        .init(|lp| {
            lp.send(lp.id(), 0.25, 1);
            0
        })
        .handle(|sum, word, lp| {
            *sum = sum.rotate_left(9) ^ word ^ lp.now().to_bits() ^ lp.random().next_u64();
            let links = links_of(lp.id());
            let link = links[lp.random().below(links.len() as u32) as usize];
            // The delay is often exactly the declared lookahead.
            let more = if lp.random().bernoulli(0.4) { 0.0 } else { lp.random().exponential(0.5) };
            lp.send(link.to, link.lookahead + more, *sum);
        })
}

#[test]
fn the_lookahead_of_links_between_pes_suffices() {
    let simulation = || Simulation::new(machines()).end(60.0);
    let expected = simulation().run().expect("it runs");
    assert!(expected.record.committed_events > 1000);
    for threads in [2, 3, 6] {
        let parallel = |sync| simulation().sync(sync).threads(threads).batch(4).gvt_interval(16);
        assert_eq!(
            parallel(Synchronisation::Conservative).least_delay().expect("it makes sense"),
            0.5
        );
        let conservative = WAYS.map(|way| (Synchronisation::Conservative, way));
        for (sync, way) in
            conservative.into_iter().chain([(Synchronisation::Optimistic, Conservative::Auto)])
        {
            let parallel = || match sync {
                Synchronisation::Conservative => parallel(sync).conservative(way),
                _ => parallel(sync),
            };
            let clusters = (0..12).map(|seed| parallel().virtual_cluster(seed).run());
            for run in clusters.chain([parallel().run()]) {
                let run = run.expect("it runs");
                assert_eq!(
                    (&run.record.digest, &run.states),
                    (&expected.record.digest, &expected.states),
                    "{threads} PEs, {sync:?}, {way:?}"
                );
            }
        }
    }
}

/// With five PEs, some machine lies on two.
#[test]
fn a_link_without_lookahead_between_two_pes_is_named() {
    let simulation = || Simulation::new(machines()).threads(5).sync(Synchronisation::Conservative);
    assert_eq!(simulation().least_delay().expect("it makes sense"), 0.0);
    let text = simulation().run().expect_err("there is no lookahead").to_string();
    for words in [
        "`Story` has no lookahead from LP 4 (on PE 0) to LP 5 (on PE 1)",
        "--sync optimistic",
        "Model::links",
        "number LPs",
    ] {
        assert!(text.contains(words), "`{words}` should be in: {text}");
    }
    let run = |sync| {
        Simulation::new(machines())
            .end(20.0)
            .threads(5)
            .sync(sync)
            .virtual_cluster(1)
            .run()
            .expect("it runs")
            .record
            .digest
    };
    assert_eq!(
        run(Synchronisation::Optimistic),
        Simulation::new(machines()).end(20.0).run().expect("it runs").record.digest
    );
    assert!(
        Simulation::new(islands(0.0, true))
            .threads(5)
            .least_delay()
            .expect("it makes sense")
            .is_infinite()
    );
}

/// All LPs act at the same instants.
fn in_step(lps: u32) -> Story {
    Story::new(lps)
        .lookahead(1.0)
        .init(|lp| {
            lp.send(lp.id(), 1.0, lp.id().0.into());
            0
        })
        .handle(move |sum, number, lp| {
            *sum = sum.wrapping_mul(31).wrapping_add(number);
            lp.send((lp.id().0 + 1) % lps, 1.0, number);
        })
}

/// A PE that has committed very much ahead of the others waits for them. It must not wait if no PE
/// is behind.
#[test]
fn however_much_happens_at_one_instant_nobody_waits_for_ever() {
    let simulation = || Simulation::new(in_step(200_000)).end(3.5);
    let expected = simulation().run().expect("it runs").record;
    assert_eq!(expected.committed_events, 600_000);
    let ways = || {
        let conservative = |way| simulation().sync(Synchronisation::Conservative).conservative(way);
        let optimistic = [("optimistic", simulation().sync(Synchronisation::Optimistic))];
        optimistic.into_iter().chain(WAYS.map(|way| ("conservative", conservative(way))))
    };
    for (name, way) in ways() {
        let run =
            way.threads(2).virtual_cluster(5).run().unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(run.record.digest, expected.digest, "{name}");
    }
    // With little memory, PEs wait for each other sooner, and do not remember what GVT has passed
    // at this instant. A sequential run needs 30.1 MB; this is a tenth more, and 1 MB for each PE.
    for (name, way) in ways() {
        let run = way.threads(2).virtual_cluster(5).engine_budget(35_100_000).run();
        assert_eq!(
            run.unwrap_or_else(|why| panic!("{name}: {why}")).record.digest,
            expected.digest,
            "{name}"
        );
    }
}
