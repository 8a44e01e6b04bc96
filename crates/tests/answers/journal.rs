//! Undo by a journal: what a model must do for it, and the errors if it does not.

use warpline::prelude::*;
use warpline::{Mismatch, Place, Synchronisation};
use warpline_testkit::{Hops, time_limit};

/// What is wrong with how a [`Shop`] changes its states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Bug {
    #[default]
    None,
    /// A field changes without the journal.
    Forgets,
    /// The same, but only if a customer finds no stock.
    ForgetsIfItFails,
    /// What changes is a copy of a field.
    ChangesACopy,
    /// A variant changes without the journal, after a field of it has.
    ForgetsAVariant,
    /// A field cannot be read back from its word.
    CannotRead,
}

/// LPs that send each other customers at random. When the stock of an LP is sold out, its next
/// event fails.
#[derive(Debug, Default)]
struct Shop {
    bug: Bug,
    stock: u64,
}

#[derive(Clone, Debug, PartialEq, Journaled)]
struct Till {
    served: u64,
    stock: u64,
    clerk: Clerk,
    odd: Odd,
    recent: Queue<f64>,
    #[journal(fixed)]
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Journaled)]
#[journal(whole)]
enum Clerk {
    Idle { since: f64 },
    Busy,
}

/// A number that may refuse to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Odd(u32);

impl warpline::Saved for Odd {
    fn to_word(self) -> u64 {
        self.0.into()
    }

    fn from_word(word: u64) -> Self {
        assert!(word != 3, "three is no number");
        Odd(word as u32)
    }
}

#[model(journal)]
impl Model for Shop {
    type State = Till;
    type Event = u32;

    fn lps(&self) -> u32 {
        12
    }

    fn init(&self, lp: &mut Init<Self>) -> Till {
        let delay = lp.random().exponential(1.0);
        lp.send(lp.id(), delay, lp.id().0);
        let name = format!("till {}", lp.id());
        Till {
            served: 0,
            stock: self.stock,
            clerk: Clerk::Idle { since: 0.0 },
            odd: Odd(0),
            recent: Queue::default(),
            name,
        }
    }

    fn handle(&self, till: &mut Till, customer: &u32, lp: &mut Context<Self>) {
        match self.bug {
            Bug::Forgets => till.served += 1,
            Bug::ChangesACopy => {
                let mut served = till.served;
                *lp.change(&mut served) += 1;
                till.served = served;
            }
            _ => *lp.change(&mut till.served) += 1,
        }
        if self.bug == Bug::CannotRead {
            *lp.change(&mut till.odd) = Odd(till.odd.0 + 1);
        }
        if let Clerk::Idle { since } = &mut till.clerk {
            *lp.change(since) = lp.now();
        }
        if self.bug == Bug::ForgetsAVariant {
            till.clerk = Clerk::Busy;
        } else if lp.random().bernoulli(0.5) {
            *lp.change(&mut till.clerk) = if till.clerk == Clerk::Busy {
                Clerk::Idle { since: lp.now() }
            } else {
                Clerk::Busy
            };
        }
        till.recent.push_back(lp.now(), lp);
        if till.recent.len() > 3 {
            till.recent.pop_front(lp);
        }
        let Some(left) = till.stock.checked_sub(1) else {
            if self.bug == Bug::ForgetsIfItFails {
                till.odd = Odd(7);
            }
            return lp.fail("sold out");
        };
        *lp.change(&mut till.stock) = left;
        let to = lp.random().below(12);
        let delay = lp.random().exponential(1.0);
        lp.send(to, delay, customer ^ to);
    }
}

fn assert_words(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` should be in: {text}");
    }
}

fn shop(bug: Bug) -> Simulation<'static, Shop> {
    Simulation::new(Shop { bug, stock: 1000 }).end(20.0).seed(3)
}

/// What verification finds.
fn mismatch(simulation: Simulation<'_, Shop>) -> (Mismatch, String) {
    match simulation.undo(Undo::Journal).verify() {
        Err(VerifyError::Mismatch(found)) => (*found.clone(), found.to_string()),
        other => panic!("expected a mismatch: {other:?}"),
    }
}

/// A run in a virtual cluster in which much is undone.
fn wild(simulation: Simulation<'_, Shop>, seed: u64) -> Simulation<'_, Shop> {
    let simulation = simulation
        .sync(Synchronisation::Optimistic)
        .threads(2 + (seed % 4) as u32)
        .virtual_cluster(seed)
        .window(20.0);
    simulation
        .batch([1, 16][(seed % 2) as usize])
        .kps([1, 3, 100][(seed % 3) as usize])
        .undo(Undo::Journal)
}

#[test]
fn a_journal_changes_no_answer() {
    let _limit = time_limit("a journal");
    let expected = shop(Bug::None).run().expect("it runs");
    let mut undone = 0;
    for seed in 0..12 {
        let found = wild(shop(Bug::None), seed).run().expect("it runs");
        assert_eq!(
            (&found.record.digest, &found.states),
            (&expected.record.digest, &expected.states),
            "cluster {seed}"
        );
        undone += found.record.parallel.expect("it was parallel").rolled_back_events;
    }
    assert!(undone > 1000, "{undone} events were undone");
    assert_eq!(
        shop(Bug::None).undo(Undo::Journal).verify().expect("nothing is wrong").digest,
        expected.record.digest
    );
}

#[test]
fn a_journal_needs_a_model_that_has_one() {
    let error = Simulation::new(Hops { lps: 1, messages: 1, lookahead: 0.0 })
        .undo(Undo::Journal)
        .run()
        .expect_err("it has no journal")
        .to_string();
    assert_words(
        &error,
        &[
            "`Hops`",
            "no journal",
            "--undo copy",
            "Journaled",
            "#[model(journal)]",
            "Context::change",
        ],
    );
}

#[test]
fn a_field_that_changes_without_the_journal_is_found_at_its_first_event() {
    let (found, text) = mismatch(shop(Bug::Forgets));
    assert_eq!(
        (found.events, found.field.as_str(), found.undo),
        (0, "state.served", Undo::Journal)
    );
    assert_eq!(
        (found.expected.as_str(), found.found.as_str(), found.when),
        ("0", "1", "after undoing it")
    );
    assert!(matches!(found.place, Place::Event { .. }));
    assert_words(
        &text,
        &[
            "`Shop`",
            "--undo journal",
            "LP ",
            "at time ",
            "`state.served` is 1 instead of 0",
            "Context::change",
            "Queue",
        ],
    );
}

#[test]
fn a_variant_that_changes_without_the_journal_is_found() {
    let (found, text) = mismatch(shop(Bug::ForgetsAVariant));
    assert_eq!((found.events, found.when), (0, "after undoing it"));
    assert_words(&text, &["LP ", "at time ", "Context::change"]);
}

#[test]
fn a_copy_that_changes_is_a_fault() {
    let error =
        shop(Bug::ChangesACopy).undo(Undo::Journal).verify().expect_err("a copy is no state");
    let VerifyError::Mismatch(found) = error else { panic!("{error}") };
    assert_eq!(
        (found.events, found.field.as_str()),
        (0, "state.served"),
        "what changed with its help is found as well"
    );
    let error = wild(shop(Bug::ChangesACopy), 1).run().expect_err("a copy is no state").to_string();
    assert_words(&error, &["outside of the LP's state", "Context::change", "LP ", "at time "]);
}

/// An event that fails is undone, too, as far as it got.
#[test]
fn verification_looks_at_events_that_fail() {
    let simulation = |bug| Simulation::new(Shop { bug, stock: 3 }).end(50.0).seed(3);
    let (found, text) = mismatch(simulation(Bug::ForgetsIfItFails));
    assert_eq!((found.field.as_str(), found.when), ("state.odd[0]", "after undoing it"));
    assert_words(&text, &["is 7 instead of 0", "Context::change"]);
    let error = simulation(Bug::None).undo(Undo::Journal).verify().expect_err("stock runs out");
    assert!(error.to_string().contains("sold out"), "{error}");
}

/// In a run that was not verified, a state that cannot be undone is an error, not a silent wrong
/// answer.
#[test]
fn a_state_that_cannot_be_undone_fails() {
    let _limit = time_limit("a state that cannot be undone");
    let failures = |bug| {
        let outcomes = (0..12).map(|seed| wild(shop(bug), seed).run());
        outcomes
            .filter_map(|outcome| outcome.err().map(|error| error.to_string()))
            .collect::<Vec<_>>()
    };
    let found = failures(Bug::ForgetsAVariant);
    assert!(!found.is_empty());
    found.iter().for_each(|error| {
        assert_words(error, &["Context::change", "warpline verify --undo journal", "LP "])
    });
    let found = failures(Bug::CannotRead);
    assert!(!found.is_empty());
    found.iter().for_each(|error| {
        assert_words(error, &["three is no number", "its journal", "Saved::from_word"])
    });
    assert!(failures(Bug::None).is_empty());
}
