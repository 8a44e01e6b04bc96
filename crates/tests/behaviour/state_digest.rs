//! Digests of final states: they find differences that the digest of the history does not show.

use std::fmt;

use warpline::prelude::*;
use warpline::record::StateDigestRecord;
use warpline::{GoAhead, Place, Synchronisation};
use warpline_testkit::Story;

/// Accounts whose balance no event depends on, so the history does not show it.
fn accounts(undo_is_wrong: bool) -> Simulation<'static, Story> {
    let story = Story::new(16)
        .lookahead(0.25)
        .init(|lp| {
            lp.send(lp.id(), 0.5, 0);
            0
        })
        .handle(|balance, _, lp| {
            *balance += 1;
            let to = lp.random().below(16);
            let delay = lp.random().exponential(1.0);
            lp.send(to, 0.25 + delay, 0);
        })
        .reverse(move |balance, _, _| *balance -= u64::from(!undo_is_wrong));
    Simulation::new(story)
}

fn of(simulation: Simulation<Story>) -> (String, StateDigestRecord) {
    let record = simulation.end(40.0).state_digest(true).run().unwrap().record;
    (record.digest, record.state_digest.unwrap())
}

#[test]
fn every_engine_has_the_digests_of_the_sequential_one() {
    let expected = of(accounts(false).threads(1));
    for sync in [Synchronisation::Auto, Synchronisation::Optimistic, Synchronisation::Conservative]
    {
        assert_eq!(of(accounts(false).threads(3).sync(sync)), expected, "{sync:?}");
    }
    for seed in 0..8 {
        assert_eq!(
            of(accounts(false).threads(5).virtual_cluster(seed)),
            expected,
            "virtual cluster {seed}"
        );
    }
}

#[test]
fn states_that_the_history_does_not_show_are_found() {
    let (history, states) = of(accounts(true).threads(1));
    let parallel =
        accounts(true).undo(Undo::Reverse).go_ahead(GoAhead::Always).threads(4).virtual_cluster(1);
    let (same, other) = of(parallel);
    assert_eq!(same, history);
    assert_ne!(other.text, states.text);
    assert_ne!(other.content, states.content);
}

/// A state that cannot be shown.
#[derive(Clone)]
struct Secret;

impl fmt::Debug for Secret {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("nobody may see this")
    }
}

struct Vault;

impl Model for Vault {
    type State = Secret;
    type Event = ();

    fn lps(&self) -> u32 {
        3
    }

    fn init(&self, _: &mut Init<Self>) -> Secret {
        Secret
    }

    fn handle(&self, _: &mut Secret, (): &(), _: &mut Context<Self>) {}
}

#[test]
fn a_state_that_cannot_be_shown_is_an_error() {
    assert!(Simulation::new(Vault).run().is_ok());
    for threads in [1, 2] {
        let error = Simulation::new(Vault).threads(threads).state_digest(true).run().unwrap_err();
        let Error::Fault(failure) = &error else { panic!("{error}") };
        assert_eq!(failure.place, Place::Finish(LpId(0)));
        assert!(
            error.to_string().contains(
                "the `Debug` of its state, for the digest of states: nobody may see this"
            ),
            "{error}"
        );
    }
}
