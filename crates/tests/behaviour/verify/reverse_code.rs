//! Reverse code that is wrong in one way or another.

use std::collections::VecDeque;

use super::mismatch;
use crate::support::assert_words;
use warpline::prelude::*;
use warpline::{Mismatch, Place, VerifyLimits};

/// What is wrong with a [`Shop`]'s reverse code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    None,
    ForgetsAField,
    RestoresInTheWrongOrder,
    ForgetsAPush,
    PopsTheWrongEnd,
    IsWrongAt(u64),
    RestoresTooLittle,
    RestoresTooMuch,
    DrawsFromAnotherStream,
    Panics,
}

/// Three LPs; the n-th event of LP k is at time n + k / 4.
#[derive(Debug)]
struct Shop {
    bug: Bug,
}

#[derive(Clone, Debug, Default)]
struct Till {
    served: u64,
    queue: VecDeque<u64>,
    total: f64,
    last: f64,
    luck: u64,
}

#[derive(Debug)]
struct Customer {
    number: u64,
}

#[model]
impl Model for Shop {
    type State = Till;
    type Event = Customer;
    fn lps(&self) -> u32 {
        3
    }

    fn init(&self, lp: &mut Init<Self>) -> Till {
        lp.send(lp.id(), 1.0 + f64::from(lp.id().0) / 4.0, Customer { number: 0 });
        Till { total: 0.5, last: -1.0, queue: [100, 200, 300].into(), ..Till::default() }
    }

    fn handle(&self, till: &mut Till, customer: &Customer, lp: &mut Context<Self>) {
        lp.save(till.total);
        lp.save(till.last);
        till.served += 1;
        till.queue.push_back(customer.number);
        till.total = till.total * 1.5 + 1.0;
        till.last = lp.now();
        till.luck = till.luck.wrapping_add(lp.stream(1).next_u64());
        lp.send(lp.id(), 1.0, Customer { number: customer.number + 1 });
    }

    fn reverse(&self, till: &mut Till, _: &Customer, lp: &mut Reverse<Self>) {
        let bug = self.bug;
        assert!(bug != Bug::Panics, "reverse code lost its way");
        let stream = if bug == Bug::DrawsFromAnotherStream { 2 } else { 1 };
        till.luck = till.luck.wrapping_sub(lp.stream(stream).next_u64());
        if bug == Bug::RestoresInTheWrongOrder {
            till.total = lp.restore();
            till.last = lp.restore();
        } else {
            till.last = lp.restore();
            till.total =
                if bug == Bug::RestoresTooLittle { (till.total - 1.0) / 1.5 } else { lp.restore() };
        }
        if bug == Bug::RestoresTooMuch {
            lp.restore::<u64>();
        }
        match bug {
            Bug::ForgetsAPush => {}
            Bug::PopsTheWrongEnd => drop(till.queue.pop_front()),
            _ => drop(till.queue.pop_back()),
        }
        let forgets =
            bug == Bug::ForgetsAField || lp.id().0 == 1 && bug == Bug::IsWrongAt(till.served);
        if !forgets {
            till.served -= 1;
        }
    }
}

/// Finds the bug at the very first event.
fn assert_found_at_once(bug: Bug, field: &str) -> Mismatch {
    let (mismatch, text) = mismatch(Simulation::new(Shop { bug }).undo(Undo::Reverse));
    assert_eq!(
        mismatch.place,
        Place::Event {
            lp: LpId(0),
            time: 1.0,
            number: Some(1),
            payload: "Customer { number: 0 }".into()
        },
        "{bug:?}"
    );
    assert_eq!(
        (mismatch.events, mismatch.undo, mismatch.model.as_str()),
        (0, Undo::Reverse, "Shop"),
        "{bug:?}"
    );
    assert!(mismatch.field.contains(field), "{bug:?}: `{field}` should be in `{}`", mismatch.field);
    assert_words(
        &text,
        &[
            "`Shop`",
            "reverse",
            "Customer { number: 0 }",
            "LP 0",
            "time 1",
            "after undoing it",
            field,
        ],
    );
    mismatch
}

#[test]
fn right_reverse_code_passes() {
    let simulation = || Simulation::new(Shop { bug: Bug::None }).end(30.0);
    let run = simulation().state_digest(true).run().expect("it runs").record;
    for undo in [Undo::Reverse, Undo::Copy] {
        let verified = simulation().undo(undo).verify().expect("nothing is wrong");
        let expected = (run.committed_events, run.committed_events, run.end_time, &run.digest);
        assert_eq!(
            (verified.events, verified.tried, verified.virtual_time, &verified.digest),
            expected
        );
        assert_eq!(Some(&verified.state_digest), run.state_digest.as_ref());
        let [kind] = &verified.kinds[..] else { panic!("{:?}", verified.kinds) };
        assert_eq!((kind.event.as_str(), kind.tried), ("Customer", run.committed_events));
        assert!(
            verified.is_whole
                && !verified.is_short_of_time
                && !verified.order_varies
                && verified.idle.is_empty()
        );
    }
}

/// Copies are right whatever the reverse code does.
#[test]
fn copies_do_not_need_reverse_code() {
    for bug in [Bug::ForgetsAField, Bug::Panics, Bug::RestoresTooMuch] {
        assert!(Simulation::new(Shop { bug }).end(20.0).undo(Undo::Copy).verify().is_ok());
    }
}

#[test]
fn wrong_reverse_code_is_found_at_its_first_event() {
    let found = assert_found_at_once(Bug::ForgetsAField, "state.served");
    assert_eq!((found.expected.as_str(), found.found.as_str()), ("0", "1"));
    assert_found_at_once(Bug::RestoresInTheWrongOrder, "state.total");
    assert_found_at_once(Bug::ForgetsAPush, "state.queue");
    assert_found_at_once(Bug::PopsTheWrongEnd, "state.queue");
    assert_found_at_once(Bug::DrawsFromAnotherStream, "state.luck");
}

/// The state is right, but not all saved values are restored, or more than were saved.
#[test]
fn unequal_saves_and_restores_are_found() {
    let found = assert_found_at_once(Bug::RestoresTooLittle, "saved");
    assert_words(&found.to_string(), &["1 more"]);
    let found = assert_found_at_once(Bug::RestoresTooMuch, "saved");
    assert_words(&found.to_string(), &["restored more values"]);
}

#[test]
fn reverse_code_that_is_rarely_wrong_is_found() {
    let (mismatch, text) =
        mismatch(Simulation::new(Shop { bug: Bug::IsWrongAt(57) }).undo(Undo::Reverse));
    assert_eq!(
        mismatch.place,
        Place::Event {
            lp: LpId(1),
            time: 57.25,
            number: Some(57),
            payload: "Customer { number: 56 }".into()
        }
    );
    // LP 0 is one event ahead of the other two.
    assert_eq!(mismatch.events, 57 + 56 + 56);
    assert_eq!(
        (mismatch.field.as_str(), mismatch.expected.as_str(), mismatch.found.as_str()),
        ("state.served", "56", "57")
    );
    assert_words(
        &text,
        &["LP 1", "57.25", "Customer { number: 56 }", "state.served", "169 events"],
    );
}

#[test]
fn reverse_code_that_panics_is_found() {
    let error = Simulation::new(Shop { bug: Bug::Panics })
        .undo(Undo::Reverse)
        .verify()
        .expect_err("it panics");
    assert_words(
        &error.to_string(),
        &["`Shop`", "LP 0", "Customer { number: 0 }", "reverse code lost its way"],
    );
}

/// With little time, verification tries a sample of the whole run.
#[test]
fn a_sample_is_drawn_from_the_whole_run() {
    let limits = VerifyLimits { each: Some(20), ..VerifyLimits::default() };
    let simulation = |bug| Simulation::new(Shop { bug }).end(3000.0).undo(Undo::Reverse);
    let verified = simulation(Bug::None).verify_within(limits).expect("nothing is wrong");
    assert!(
        verified.is_whole && verified.events > 8990 && (60..300).contains(&verified.tried),
        "{verified:?}"
    );
    let most = VerifyLimits { most: Some(100), ..VerifyLimits::default() };
    let verified = simulation(Bug::None).verify_within(most).expect("nothing is wrong");
    assert!(
        !verified.is_whole && (100..104).contains(&verified.events) && verified.virtual_time < 40.0,
        "{verified:?}"
    );
    let run = simulation(Bug::None).end(verified.virtual_time).run().expect("it runs").record;
    assert_eq!(verified.digest, run.digest);
}
