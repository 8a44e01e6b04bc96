//! Conservative runs in windows: they have one answer; and which runs use windows.

use warpline::prelude::*;
use warpline::serde_json::Value;
use warpline::{
    Barrier, Cancellation, Conservative, CopyInterval, GoAhead, GvtStart, Horizon, Mailbox,
    Messages, Pending, Synchronisation,
};
use warpline_testkit::matrix::{self, ALGORITHMS, BufferUse, Configuration, Parallel};
use warpline_testkit::random_model::{Declares, Mistake, PlannedFault, Shape};
use warpline_testkit::{Recipe, Settings, Story, scaled};

/// A virtual cluster in windows, which asks for GVT only when it must.
fn windows(pes: u32, cluster: u64) -> Configuration {
    let parallel = Parallel {
        pes,
        processes: 1,
        copies: None,
        cluster: Some(cluster),
        conservative: true,
        windows: true,
        messages: [Messages::Auto, Messages::Copy, Messages::Shared][cluster as usize % 3],
        undo: Undo::Copy,
        cancellation: Cancellation::Aggressive,
        copy_interval: CopyInterval::Every(1),
        lookahead: true,
        go_ahead: GoAhead::Auto,
        batch: [1, 4, 128][cluster as usize / 3 % 3],
        kps: 7,
        gvt: ALGORITHMS[cluster as usize % ALGORITHMS.len()],
        barrier: [Barrier::Tree, Barrier::Central, Barrier::Condvar][(cluster / 4 % 3) as usize],
        gvt_interval: 512,
        adapts_interval: false,
        window: None,
        waiting: None,
        buffers: BufferUse::default(),
        mailbox: Mailbox::Auto,
        least_room: false,
        horizon: Horizon::Auto,
        gvt_start: GvtStart::OnDemand,
    };
    Configuration { pending: Pending::Heap, parallel: Some(parallel), changes: None }
}

/// LPs on a ring that send to their neighbours, with lookahead declared for the model, for each LP,
/// or for each link.
fn recipe(declares: Declares, seed: u64) -> Recipe {
    let topology = Shape::Ring { reach: 2 };
    Recipe {
        lps: 130,
        declares,
        topology,
        lookahead: 0.3,
        energy: 12,
        starters: 1,
        burst: 0,
        ..Recipe::from_seed(seed)
    }
}

#[test]
fn windows_of_any_number_of_pes_have_one_answer() {
    for declares in Declares::ALL {
        for (pes, seed) in [1, 2, 3, 5, 8, 16, 33, 64].into_iter().zip(0..) {
            let recipe = recipe(declares, seed);
            let settings = Settings::new(seed, 20.0);
            let clusters = if pes > 8 { 1 } else { scaled(6).into() };
            let all: Vec<_> = (0..clusters).map(|cluster| windows(pes, seed + cluster)).collect();
            let outcome = matrix::check_recipe_under(&recipe, &settings, &all);
            let outcome = outcome.unwrap_or_else(|why| panic!("{pes} PEs, {declares:?}: {why}"));
            assert!(outcome.expect("no fault is planned").committed > 500);
        }
    }
}

/// A lookahead less than the distance between two floating-point numbers does not move the horizon.
/// Such a run must end all the same.
#[test]
fn lookahead_that_is_lost_in_rounding_holds_up_nobody() {
    for declares in Declares::ALL {
        for (pes, seed) in [2, 3, 8].into_iter().zip(0..) {
            let recipe = Recipe { lookahead: 1e-30, ..recipe(declares, seed) };
            let both = [true, false].map(|windows| Parallel {
                windows,
                ..self::windows(pes, seed).parallel.expect("it is parallel")
            });
            let all = both
                .map(|parallel| Configuration { parallel: Some(parallel), ..windows(pes, seed) });
            let outcome = matrix::check_recipe_under(&recipe, &Settings::new(seed, 8.0), &all);
            let outcome = outcome.unwrap_or_else(|why| panic!("{pes} PEs, {declares:?}: {why}"));
            assert!(outcome.expect("no fault is planned").committed > 200);
        }
    }
}

/// PEs in windows must not wait for one that has failed. The first failure is reported, and all
/// events before it commit.
#[test]
fn failures_in_windows_are_those_of_a_sequential_run() {
    let mut reached = 0;
    for (mistake, number) in Mistake::ALL.into_iter().zip(0..) {
        for declares in Declares::ALL {
            let fault =
                Some(PlannedFault { mistake, lp: 60 + number as u32, event: 2 + number % 3 });
            let recipe = Recipe { fault, ..recipe(declares, number) };
            let settings = Settings { zero_delay_hops: 200, ..Settings::new(number, 20.0) };
            let all: Vec<_> = [1, 2, 3, 8]
                .into_iter()
                .zip(number..)
                .map(|(pes, cluster)| windows(pes, cluster))
                .collect();
            let outcome = matrix::check_recipe_under(&recipe, &settings, &all)
                .unwrap_or_else(|why| panic!("{mistake:?}: {why}"));
            reached += usize::from(outcome.is_err());
        }
    }
    assert!(reached > Mistake::ALL.len(), "{reached} of the planned mistakes were reached");
}

/// If the horizon does not move, each event is executed alone when GVT reaches it, so every mistake
/// is certain.
#[test]
fn mistakes_where_no_horizon_moves_are_those_of_a_sequential_run() {
    let mut reached = 0;
    for (mistake, number) in Mistake::ALL.into_iter().zip(0..) {
        let fault = Some(PlannedFault { mistake, lp: 60 + number as u32, event: 1 + number % 3 });
        let recipe = Recipe { lookahead: 1e-30, fault, ..recipe(Declares::Model, number) };
        let settings = Settings { zero_delay_hops: 200, ..Settings::new(number, 8.0) };
        let both = [true, false].map(|windows| Parallel {
            windows,
            ..self::windows(3, number).parallel.expect("it is parallel")
        });
        let all =
            both.map(|parallel| Configuration { parallel: Some(parallel), ..windows(3, number) });
        let outcome = matrix::check_recipe_under(&recipe, &settings, &all)
            .unwrap_or_else(|why| panic!("{mistake:?}: {why}"));
        reached += usize::from(outcome.is_err());
    }
    assert!(reached > Mistake::ALL.len() / 2, "{reached} of the planned mistakes were reached");
}

/// Each LP sends the next one a token, after a delay of 1 or, from some of them, of 2.
fn ring(uneven: bool) -> Simulation<'static, Story> {
    let story = Story::new(8)
        .links(move |lp| {
            let lookahead = if uneven && lp.0 == 3 { 2.0 } else { 1.0 };
            vec![Link { to: LpId((lp.0 + 1) % 8), lookahead }]
        })
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(|seen, _, lp| {
            *seen += 1;
            lp.send((lp.id().0 + 1) % 8, 2.0, 0);
        });
    Simulation::new(story)
}

/// The way to synchronise PEs, as the record names it.
fn way(simulation: Simulation<'_, Story>) -> Value {
    let run = simulation.end(50.0).run().expect("it runs");
    assert_eq!(run.record.committed_events, 200);
    run.record.engine.get("conservative").expect("it is in every record of a parallel run").clone()
}

#[test]
fn the_record_says_which_way_was_chosen() {
    let conservative =
        |uneven, threads| ring(uneven).sync(Synchronisation::Conservative).threads(threads);
    for threads in [1, 2, 3] {
        assert_eq!(
            way(conservative(false, threads).conservative(Conservative::Windows)),
            "windows"
        );
        assert_eq!(
            way(conservative(false, threads).conservative(Conservative::FreeRunning)),
            "free-running"
        );
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    for (uneven, threads) in [(false, 1), (false, 2), (true, 2), (false, 8)] {
        // With eight PEs, most of them send each other nothing.
        let expected =
            if threads == 2 && cores < 2 && !uneven { "windows" } else { "free-running" };
        assert_eq!(way(conservative(uneven, threads)), expected, "{threads} PEs, uneven: {uneven}");
    }
    assert_eq!(
        way(conservative(false, 2).virtual_cluster(1)),
        "windows",
        "PEs of a virtual cluster take turns"
    );
    assert_eq!(
        way(conservative(true, 2).virtual_cluster(1)),
        "free-running",
        "their delays differ"
    );
    assert_eq!(way(ring(false).threads(2)), Value::Null, "an optimistic run has no such setting");
}

#[test]
fn other_runs_refuse_the_setting_for_conservative_ones() {
    let run = |sync| ring(false).sync(sync).conservative(Conservative::Windows).run();
    for sync in [Synchronisation::Sequential, Synchronisation::Optimistic] {
        let refused = run(sync).expect_err("it makes no sense").to_string();
        assert!(refused.contains("`conservative` is `windows`, but `sync` is"), "{refused}");
    }
    assert!(run(Synchronisation::Conservative).is_ok());
}
