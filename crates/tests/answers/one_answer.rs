//! The master test: random models, in every configuration, against the reference simulator.

use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline::base::random::Random;
use warpline::{CopyInterval, Fault, GvtAlgorithm, LpId, Messages, Pending};
use warpline_testkit::matrix::{Configuration, Parallel};
use warpline_testkit::random_model::{Declares, DelayKind, Mistake, Payloads, PlannedFault, Shape};
use warpline_testkit::{Recipe, Settings, cases, matrix, reference, scaled};

fn config(usual: u32) -> Config {
    Config {
        cases: cases(usual),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    }
}

/// Ends and warm-ups, from hardly any events to all of them.
fn settings() -> impl Strategy<Value = Settings> {
    let end = prop_oneof![Just(0.5), Just(3.0), Just(8.0), 0.1..60.0, Just(1e6)];
    let warmup = prop_oneof![Just(0.0), 0.0..1.0];
    (any::<u64>(), end, warmup).prop_map(|(seed, end, warmup)| Settings {
        warmup: warmup * end,
        ..Settings::new(seed, end)
    })
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn random_models_have_one_answer(recipe: Recipe, settings in settings()) {
        let outcome = matrix::check_recipe(&recipe, &settings).map_err(TestCaseError::fail)?;
        prop_assert!(outcome.is_ok(), "a recipe without a fault runs to its end: {:?}", outcome);
    }
}

proptest! {
    #![proptest_config(config(70))]

    #[test]
    fn random_mistakes_have_one_answer(
        recipe: Recipe, mistake in prop::sample::select(&Mistake::ALL[..]), lp in 0.0..1.0, event in 1u64..8, seed: u64, end in 0.5..40.0,
    ) {
        let lp = (f64::from(recipe.lps) * lp) as u32;
        let recipe = Recipe { fault: Some(PlannedFault { mistake, lp, event }), ..recipe };
        let settings = Settings { zero_delay_hops: 1000, ..Settings::new(seed, end) };
        let outcome = matrix::check_recipe(&recipe, &settings).map_err(TestCaseError::fail)?;
        if let Err(stop) = outcome {
            prop_assert!(stop.time < end || mistake == Mistake::CounterOverflow && stop.time == end);
        }
    }
}

/// Recipes of consecutive seeds, so that a failure in a soak test can be reproduced by its number.
#[test]
fn consecutive_seeds_have_one_answer() {
    let mut events = 0;
    for seed in 0..u64::from(cases(30)) {
        let recipe = Recipe::from_seed(seed);
        let outcome = matrix::check_recipe(&recipe, &Settings::new(seed, 1e9))
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        events += outcome.expect("no fault is planned").committed;
    }
    assert!(events > 50_000, "the models do something: {events} events");
}

/// Thousands of pending events, with delays of every kind: far beyond the size at which a
/// pending set changes its structure.
#[test]
fn large_models_have_one_answer() {
    for (delays, number) in DelayKind::ALL.into_iter().zip(0..) {
        let lps = scaled(1500);
        let recipe = Recipe {
            lps,
            starters: 2,
            energy: 7,
            topology: Shape::Sparse { degree: 3 },
            delays,
            payloads: Payloads::Mixed,
            unbiased: number % 2 == 0,
            ..Recipe::from_seed(number)
        };
        // A GVT for every batch would take long here.
        let seldom = |configuration: &Configuration| {
            configuration.parallel.is_none_or(|parallel| parallel.gvt_interval >= 100)
        };
        let chosen: Vec<_> = matrix::configurations(number, 3).into_iter().filter(seldom).collect();
        let outcome = matrix::check_recipe_under(&recipe, &Settings::new(number, 30.0), &chosen);
        let outcome = outcome.unwrap_or_else(|why| panic!("{delays:?}: {why}"));
        assert!(outcome.expect("no fault is planned").committed > u64::from(lps));
    }
}

/// A run that fails ends with messages still in transit, whose anti-messages may have overtaken
/// them, on PEs that did not fail themselves.
#[test]
fn a_failure_leaves_anti_messages_without_their_messages() {
    let fault = Some(PlannedFault { mistake: Mistake::UndeclaredStatistic, lp: 15, event: 5 });
    let recipe = Recipe {
        lps: 16,
        energy: 232,
        fan_out: 4,
        to_self: 0.0,
        loans: true,
        fault,
        ..Recipe::from_seed(0)
    };
    for seed in 0..scaled(60).into() {
        let drawn = Parallel::cluster(&mut Random::new(seed, LpId(0), 0));
        let parallel = Parallel {
            pes: 5,
            messages: Messages::Copy,
            conservative: false,
            lookahead: false,
            ..drawn
        };
        let configuration =
            Configuration { pending: Pending::Heap, parallel: Some(parallel), changes: None };
        let checked =
            matrix::check_recipe_under(&recipe, &Settings::new(seed, 20.0), &[configuration]);
        checked.unwrap_or_else(|why| panic!("seed {seed}: {why}")).expect_err("a fault is planned");
    }
}

/// PEs may ask for GVT far more often than batches end.
#[test]
fn runs_with_large_batches_and_frequent_gvt_end() {
    let fault = Some(PlannedFault { mistake: Mistake::Panic, lp: 1, event: 4 });
    let plain = Recipe::from_seed(0).with_features([false; 13]);
    let recipe = Recipe {
        lps: 4,
        topology: Shape::Uniform,
        energy: 134,
        fan_out: 3,
        lookahead: 0.0,
        fault,
        ..plain
    };
    for seed in 0..scaled(40).into() {
        let drawn = Parallel::cluster(&mut Random::new(seed, LpId(0), 0));
        let drawn = Parallel { conservative: false, batch: 64, gvt_interval: 1, ..drawn };
        let parallel = Parallel {
            pes: 2,
            gvt: GvtAlgorithm::Synchronous,
            window: Some(0.2),
            messages: Messages::Copy,
            copy_interval: CopyInterval::Every(100),
            ..drawn
        };
        let configuration =
            Configuration { pending: Pending::Heap, parallel: Some(parallel), changes: None };
        let checked =
            matrix::check_recipe_under(&recipe, &Settings::new(seed, 23.0), &[configuration]);
        _ = checked.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Different seeds give different histories, so the comparisons above are not of empty runs.
#[test]
fn the_answer_depends_on_seed_and_end() {
    let recipe = Recipe { lps: 5, energy: 40, ..Recipe::from_seed(12) };
    let digest = |seed, end| {
        let model = warpline_testkit::RandomModel::<0>::new(&recipe);
        reference::run(&model, seed, end, 0.0).expect("no fault is planned").digest
    };
    assert_ne!(digest(1, 1e6), digest(2, 1e6));
    assert_ne!(digest(1, 1e6), digest(1, 1.5));
    assert_eq!(digest(1, 1e6), digest(1, 1e6));
}

/// Events that have cancelled timers commit, or fail at that, while the engine changes.
#[test]
fn engines_change_while_commits_fail_among_timers() {
    for seed in 0..u64::from(cases(30)) {
        let random = &mut Random::new(seed, LpId(0), 2);
        let recipe = Recipe {
            lps: 2 + random.below(7),
            starters: 2,
            energy: 12,
            timers: true,
            fails_at_commit: [None, Some(0), Some(1), Some(2)][random.below(4) as usize],
            ..Recipe::from_seed(seed)
        };
        let configurations: Vec<Configuration> = (0..6)
            .map(|number| Configuration {
                pending: Pending::Heap,
                parallel: Some(Parallel { pes: 1 + number % 4, ..Parallel::cluster(random) }),
                changes: Some(random.next_u64()),
            })
            .collect();
        let settings = Settings { zero_delay_hops: 200, ..Settings::new(seed, 30.0) };
        _ = matrix::check_recipe_under(&recipe, &settings, &configurations)
            .unwrap_or_else(|why| panic!("recipe {seed}: {why}"));
    }
}

/// A planned mistake is reported if the run reaches it; these runs reach all of them.
#[test]
fn every_mistake_is_reported_where_it_is_made() {
    for mistake in Mistake::ALL {
        let plain = Recipe {
            lps: 4,
            energy: 30,
            to_self: 0.0,
            loans: false,
            starters: 2,
            ..Recipe::from_seed(5)
        }
        .with_features([false; 13]);
        let recipe = Recipe { fault: Some(PlannedFault { mistake, lp: 2, event: 3 }), ..plain };
        let settings = Settings { zero_delay_hops: 50, ..Settings::new(3, 100.0) };
        let stop = matrix::check_recipe(&recipe, &settings)
            .unwrap_or_else(|why| panic!("{mistake:?}: {why}"))
            .expect_err("a fault is planned");
        let text = format!("{:?}", stop.place);
        // Counters overflow over the whole run, not at an event.
        let place = if mistake == Mistake::CounterOverflow { "Results" } else { "lp: LpId(2)" };
        assert!(text.contains(place), "{mistake:?}: {text}");
    }
}

/// Every engine reports a send below the declared lookahead, even by the smallest amount.
#[test]
fn sends_below_the_lookahead_are_reported_alike() {
    let topology = Shape::Ring { reach: 1 };
    let plain = Recipe {
        lps: 8,
        energy: 60,
        starters: 2,
        to_self: 0.0,
        lookahead: 0.5,
        topology,
        loans: false,
        ..Recipe::from_seed(5)
    };
    for (declares, number) in Declares::ALL.into_iter().zip(0..) {
        for mistake in
            [Mistake::BelowLookahead, Mistake::JustBelowLookahead, Mistake::UndeclaredLink]
        {
            let recipe = Recipe {
                declares,
                fault: Some(PlannedFault { mistake, lp: 2, event: 3 }),
                ..plain.clone()
            };
            let checked = matrix::check_recipe(&recipe, &Settings::new(number, 100.0))
                .unwrap_or_else(|why| panic!("{mistake:?}: {why}"));
            let fault = checked.expect_err("a fault is planned").fault;
            let expected = match (mistake, declares) {
                (Mistake::UndeclaredLink, Declares::Links) => {
                    matches!(fault, Fault::NoLink { to: LpId(0) })
                }
                (Mistake::UndeclaredLink, _) => matches!(fault, Fault::Delay { .. }),
                (Mistake::JustBelowLookahead, _) => {
                    matches!(fault, Fault::Lookahead { delay, lookahead, .. } if delay.next_up() == lookahead && lookahead >= 0.5)
                }
                _ => matches!(fault, Fault::Lookahead { .. }),
            };
            assert!(expected, "{mistake:?} with lookahead of {declares:?}: {fault:?}");
        }
    }
}
