//! Nothing leaks: every payload and state is dropped exactly once, and simulations share nothing.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use warpline::Pending;
use warpline::prelude::*;
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, Settings, Story, matrix, scaled};

/// Every event and state holds a share of one token.
#[derive(Debug)]
struct Tokens {
    token: Arc<()>,
    /// The event of each LP that panics, if any.
    panics_at: Option<u64>,
    /// The event of each LP that sends with a wrong delay, if any.
    fails_at: Option<u64>,
}

#[derive(Debug)]
struct Held(#[allow(dead_code)] Arc<()>);

impl Model for Tokens {
    type State = (u64, Arc<()>);
    type Event = Held;

    fn lps(&self) -> u32 {
        10
    }

    fn init(&self, lp: &mut Init<Self>) -> Self::State {
        for _ in 0..60 {
            let delay = lp.random().uniform();
            lp.send(lp.id(), delay, Held(self.token.clone()));
        }
        (0, self.token.clone())
    }

    fn handle(&self, (seen, _): &mut Self::State, _: &Held, lp: &mut Context<Self>) {
        *seen += 1;
        let sends = lp.random().below(3);
        for _ in 0..sends {
            let to = lp.random().below(10);
            let delay = lp.random().exponential(1.0);
            lp.send(to, delay, Held(self.token.clone()));
        }
        assert!(self.panics_at != Some(*seen), "as planned");
        if self.fails_at == Some(*seen) {
            lp.send(0, f64::NAN, Held(self.token.clone()));
        }
    }
}

#[test]
fn every_payload_and_state_is_dropped_once() {
    for pending in [Pending::Heap, Pending::Ladder] {
        for (panics_at, fails_at) in
            [(None, None), (Some(20), None), (None, Some(20)), (Some(1), None)]
        {
            let token = Arc::new(());
            let model = Tokens { token: token.clone(), panics_at, fails_at };
            // The run ends before its events are used up.
            let run = Simulation::new(model).end(3.0).pending(pending).run();
            assert_eq!(run.is_ok(), panics_at.is_none() && fails_at.is_none());
            if let Ok(run) = &run {
                assert_eq!(
                    Arc::strong_count(&token),
                    1 + run.states.len(),
                    "only the states are left"
                );
            }
            drop(run);
            assert_eq!(Arc::strong_count(&token), 1, "{pending:?} {panics_at:?} {fails_at:?}");
        }
    }
}

#[test]
fn states_account_for_every_event() {
    let model = Tokens { token: Arc::new(()), panics_at: None, fails_at: None };
    let run = Simulation::new(model).end(10.0).run().expect("nothing is planned");
    assert_eq!(run.states.iter().map(|(seen, _)| seen).sum::<u64>(), run.record.committed_events);
    assert!(run.record.committed_events > 600);
}

/// The answers of some recipes, computed one after the other or in many threads at once.
#[test]
fn simulations_in_one_program_share_nothing() {
    let recipes: Vec<Recipe> = (0..u64::from(scaled(12))).map(Recipe::from_seed).collect();
    let digest = |recipe: &Recipe| {
        let run = Simulation::new(RandomModel::<1, Inline>::new(recipe))
            .seed(recipe.seed)
            .end(50.0)
            .run()
            .expect("no fault is planned");
        (run.record.digest, run.record.results, run.tables)
    };
    let alone: Vec<_> = recipes.iter().map(digest).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        // Each twice, so that equal simulations run at once as well.
        let threads: Vec<_> = recipes
            .iter()
            .chain(&recipes)
            .map(|recipe| scope.spawn(move || digest(recipe)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it runs")).collect()
    });
    for (number, outcome) in together.iter().enumerate() {
        assert_eq!(outcome, &alone[number % alone.len()], "recipe {number}");
    }
}

/// A model may run a simulation of its own.
#[test]
fn a_simulation_runs_within_a_simulation() {
    let outer = Story::new(1)
        .init(|lp| {
            lp.send(0, 1.0, 0);
            0
        })
        .handle(|begin_of_digest, _, _| *begin_of_digest = inner());
    fn inner() -> u64 {
        let model = Tokens { token: Arc::new(()), panics_at: None, fails_at: None };
        let run = Simulation::new(model).end(2.0).run().expect("nothing is planned");
        u64::from_str_radix(&run.record.digest[..16], 16).expect("a digest is a number")
    }
    let run = Simulation::new(outer).run().expect("nothing is planned");
    assert_eq!(run.states, [inner()]);
}

/// A property test draws the same models from the same seed, so that failures can be reproduced.
#[test]
fn recipes_are_drawn_reproducibly() {
    let draw = || {
        let mut runner = TestRunner::new_with_rng(
            Default::default(),
            TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        );
        any::<Recipe>().new_tree(&mut runner).map(|tree| tree.current())
    };
    assert_eq!(draw(), draw());
    let recipe = draw().expect("a recipe can be drawn");
    let outcome = matrix::check_recipe(&recipe, &Settings::new(1, 10.0));
    assert!(outcome.is_ok(), "{outcome:?}");
}
