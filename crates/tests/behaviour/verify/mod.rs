//! Verification finds undoing that does not restore the state, and says where: model, event, LP,
//! time, and field. It finds what would fail in a run, too, and leaves no trace.

mod hidden_state;
mod reverse_code;

use crate::support::{Poke, Scripted, assert_words};
use proptest::prelude::*;
use proptest::test_runner::Config;
use warpline::prelude::*;
use warpline::{Mismatch, Place, VerifyError};
use warpline_testkit::random_model::Inline;
use warpline_testkit::{RandomModel, Recipe, cases, time_limit};

fn mismatch<M: Model>(simulation: Simulation<M>) -> (Mismatch, String) {
    let _limit = time_limit("verification");
    match simulation.verify() {
        Err(error @ VerifyError::Mismatch(_)) => {
            let text = error.to_string();
            let VerifyError::Mismatch(mismatch) = error else { unreachable!("it was just seen") };
            (*mismatch, text)
        }
        other => panic!("expected a mismatch: {other:?}"),
    }
}

/// Each LP may send to the next one.
fn to_the_right(lp: LpId) -> Option<Vec<Link>> {
    Some((lp.0 + 1..4).take(1).map(|to| Link { to: LpId(to), lookahead: 1.0 }).collect())
}

#[test]
fn sends_beyond_the_declared_links_are_found() {
    let verified = |handle: fn(&mut Context<Scripted>)| {
        Simulation::new(Scripted { links: to_the_right, handle, ..Scripted::default() }).verify()
    };
    let right = verified(|lp| lp.send(3, 1.0, Poke { number: 1 }));
    assert!(right.is_ok(), "{right:?}");
    let left =
        verified(|lp| [3, 1].into_iter().for_each(|to| lp.send(to, 1.0, Poke { number: 1 })));
    let error = left.expect_err("there is no link from LP 2 to LP 1");
    assert_words(
        &error.to_string(),
        &["`Scripted`", "LP 2", "time 3.5", "Poke { number: 7 }", "LP 1", "Model::links"],
    );
    let VerifyError::Run(Error::Fault(failure)) = error else { panic!("{error}") };
    assert_eq!(
        failure.place,
        Place::Event {
            lp: LpId(2),
            time: 3.5,
            number: Some(3),
            payload: "Poke { number: 7 }".into()
        }
    );
    assert_eq!((failure.fault, failure.committed), (Fault::NoLink { to: LpId(1) }, 2));
}

/// What `init` sends is checked as well.
#[test]
fn first_sends_beyond_the_declared_links_are_found() {
    let init: fn(&mut Init<Scripted>) = |lp| lp.send(0, 9.0, Poke { number: 1 });
    let error = Simulation::new(Scripted { links: to_the_right, init, ..Scripted::default() })
        .verify()
        .expect_err("there is no link from LP 2 to LP 0");
    assert_words(&error.to_string(), &["`Scripted`", "LP 2", "LP 0", "Model::links"]);
    let VerifyError::Run(Error::Fault(failure)) = error else { panic!("{error}") };
    assert_eq!(
        (failure.place, failure.fault),
        (Place::Init(LpId(2)), Fault::NoLink { to: LpId(0) })
    );
}

/// A model that fails in a run fails in the same way when it is verified.
#[test]
fn mistakes_are_reported_as_in_a_run() {
    let handle: fn(&mut Context<Scripted>) = |lp| lp.send(1, -1.0, Poke { number: 1 });
    let simulation = || Simulation::new(Scripted { handle, ..Scripted::default() });
    let run = simulation().run().expect_err("the third event is wrong");
    let verified = simulation().verify().expect_err("the third event is wrong");
    assert_eq!(run.to_string(), verified.to_string());
}

/// Trying events out has no effects: files of an earlier run stay as they are.
#[test]
fn trials_write_no_rows() {
    let recipe = Recipe { recording: true, ..Recipe::from_seed(3) };
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let simulation = || {
        Simulation::new(RandomModel::<1, Inline>::new(&recipe))
            .records(Records::Write(directory.path().to_owned()))
    };
    let rows = || std::fs::read_to_string(directory.path().join("visits.csv"));
    simulation().end(3.0).undo(Undo::Reverse).verify().expect("nothing is wrong");
    assert!(rows().is_err(), "no file was made");
    simulation().run().expect("nothing is wrong");
    let written = rows().expect("the run made one");
    simulation().end(3.0).verify().expect("nothing is wrong");
    assert_eq!(rows().expect("it is there"), written);
}

proptest! {
    #![proptest_config(Config { cases: cases(40), failure_persistence: None, max_shrink_iters: 500, ..Config::default() })]

    #[test]
    fn random_models_pass(recipe: Recipe, seed: u64, end in 1.0..40.0) {
        // Comparing costs a hundred times as much as executing.
        let recipe = Recipe { energy: recipe.energy.min(1 + 800 / (recipe.lps * recipe.starters)), ..recipe };
        let simulation = || Simulation::new(RandomModel::<1, Inline>::new(&recipe)).seed(seed).end(end);
        let run = simulation().run().map_err(|error| TestCaseError::fail(error.to_string()))?.record;
        for undo in [Undo::Copy, Undo::Reverse, Undo::Journal] {
            let verified = simulation().undo(undo).verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!((verified.events, &verified.digest), (run.committed_events, &run.digest));
        }
    }
}
