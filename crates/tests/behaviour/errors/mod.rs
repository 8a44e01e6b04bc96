//! A mistake of a user or a model is returned as a value that says where it is, what is wrong, and
//! what to do.

mod observations;
mod outside_events;
mod sends;

use crate::support::{COUNT, Poke, Scripted, VALUE, assert_words};
use warpline::prelude::*;
use warpline::{Failure, Fault, Pending, Place, Synchronisation};
use warpline_testkit::time_limit;

/// Runs a model that must fail with both pending sets, and returns the failure on which they agree,
/// with the whole message.
fn failure(model: impl Fn() -> Scripted) -> (Failure, String) {
    let run = |pending| Simulation::new(model()).end(10.0).pending(pending).run();
    let failures = [Pending::Heap, Pending::Ladder].map(run).map(|result| match result {
        Err(error @ Error::Fault(_)) => {
            let text = error.to_string();
            let Error::Fault(failure) = error else { unreachable!("it was just seen") };
            (*failure, text)
        }
        other => panic!("expected a fault: {other:?}"),
    });
    let [a, b] = failures;
    assert_eq!(a.1, b.1);
    a
}

/// Runs `handle` in the third event, and checks that the words are in the message.
fn assert_event_fault(handle: fn(&mut Context<Scripted>), words: &[&str]) -> Fault {
    let (failure, text) = failure(|| Scripted { handle, ..Scripted::default() });
    assert_eq!(
        failure.place,
        Place::Event {
            lp: LpId(2),
            time: 3.5,
            number: Some(3),
            payload: "Poke { number: 7 }".into()
        }
    );
    assert_eq!((failure.time, failure.committed, failure.model.as_str()), (3.5, 2, "Scripted"));
    let always = [
        "model `Scripted`",
        "Poke { number: 7 }",
        "LP 2",
        "at time 3.5",
        "2 events were committed",
        "rows that were written to files before stay",
    ];
    assert_words(&text, &always);
    assert_words(&text, words);
    failure.fault
}

fn poke() -> Poke {
    Poke { number: 0 }
}

#[test]
fn panics_and_arithmetic_errors_are_faults_of_the_event() {
    // The line after this one panics.
    let line = line!() + 1;
    let fault = assert_event_fault(|_| panic!("out of cheese"), &["panicked: out of cheese"]);
    let Fault::Panic(message) = fault else { panic!("{fault:?}") };
    assert!(
        message.starts_with(&format!("out of cheese ({}:{line}:", file!()))
            && message.ends_with(')'),
        "{message}"
    );
    assert_event_fault(
        |lp| panic!("{} is out of cheese", lp.id()),
        &["panicked: LP 2 is out of cheese"],
    );
    assert_event_fault(|_| std::panic::panic_any(7u32), &["panicked: without a message"]);
    assert_event_fault(
        |lp| lp.count(COUNT, 1 / u64::from(lp.id().0 - 2)),
        &["panicked", "divide by zero"],
    );
    assert_event_fault(
        |lp| lp.count(COUNT.at([0u32; 2][lp.id().index()]), 1),
        &["panicked", "index out of bounds"],
    );
    if cfg!(debug_assertions) {
        assert_event_fault(|lp| lp.count(COUNT, (lp.id().0 - 3).into()), &["panicked", "overflow"]);
    }
    assert_event_fault(|lp| assert!(lp.random().below(0) == 0), &["panicked", "below(0)"]);
}

/// Every engine reports where the model panicked.
#[test]
fn a_panic_names_file_and_line_in_every_run() {
    let _limit = time_limit("threads");
    let simulation = || {
        Simulation::new(Scripted { handle: |_| panic!("out of cheese"), ..Scripted::default() })
            .end(10.0)
    };
    let alone = simulation().run().unwrap_err().to_string();
    assert!(alone.contains(&format!("panicked: out of cheese ({}:", file!())), "{alone}");
    for threads in [1, 2, 3] {
        let parallel = simulation().sync(Synchronisation::Optimistic).threads(threads);
        assert_eq!(parallel.run().unwrap_err().to_string(), alone);
    }
    let stepped = simulation().sync(Synchronisation::Optimistic).threads(3).virtual_cluster(7);
    assert_eq!(stepped.run().unwrap_err().to_string(), alone);
}

#[test]
fn a_model_may_give_up() {
    let fault = assert_event_fault(
        |lp| lp.fail(format!("no route from {}", lp.id())),
        &["failed: no route from LP 2"],
    );
    assert_eq!(fault, Fault::Failed("no route from LP 2".into()));
}

#[test]
fn the_first_mistake_of_an_event_counts() {
    let many: fn(&mut Context<Scripted>) = |lp| {
        lp.observe(VALUE, f64::NAN);
        lp.send(7, 1.0, poke());
        lp.send(1, -1.0, poke());
        lp.fail("too late");
    };
    // Sends are checked before observations, which wait for the commit.
    assert_eq!(assert_event_fault(many, &["LP 7"]), Fault::UnknownLp { to: LpId(7), lps: 4 });
}

#[test]
fn long_events_are_cut_in_messages() {
    #[derive(Debug)]
    struct Chatty;
    impl Model for Chatty {
        type State = ();
        type Event = String;
        fn lps(&self) -> u32 {
            1
        }
        fn init(&self, lp: &mut Init<Self>) {
            lp.send(0, 1.0, "ä".repeat(100_000));
        }
        fn handle(&self, (): &mut (), _: &String, lp: &mut Context<Self>) {
            lp.fail("");
        }
    }
    let text = Simulation::new(Chatty).run().expect_err("it gives up").to_string();
    assert!(
        text.contains("ää…") && text.chars().count() < 1000,
        "{} characters",
        text.chars().count()
    );
}

/// An event that holds an address means nothing in another process.
#[test]
fn events_that_cannot_leave_their_process_are_refused() {
    let error = Simulation::new(Scripted::default()).processes(2).run().unwrap_err().to_string();
    let words = [
        "model `Scripted` cannot run in 2 processes",
        "Poke` do not leave their process",
        "#[model]",
    ];
    assert_words(&error, &words);
    assert_words(&error, &["derive Portable", "Serialize and Deserialize", "or use threads"]);
}
