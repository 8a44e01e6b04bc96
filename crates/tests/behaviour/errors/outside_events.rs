//! Mistakes before the first event, after the last one, and at a commit.

use super::{failure, poke};
use crate::support::{COUNT, ROWS, Scripted, VALUE, assert_words};
use warpline::prelude::*;
use warpline::{Exhausted, Fault, Place, Synchronisation};
use warpline_testkit::time_limit;

#[test]
fn mistakes_in_init_name_the_lp() {
    type Mistake = fn(&mut Init<Scripted>);
    let cases: [(Mistake, &str); 7] = [
        (|lp| lp.send(lp.id(), -1.0, poke()), "delay -1"),
        (|lp| lp.send(3, 0.1, poke()), "lookahead 0.5"),
        (|lp| lp.send(77, 0.1, poke()), "LP 77"),
        (|_| panic!("no cheese yet"), "no cheese yet"),
        (|lp| lp.fail("not today"), "not today"),
        (|lp| lp.observe(VALUE, f64::NAN), "`value`"),
        (|lp| lp.record(ROWS, &[]), "2 columns"),
    ];
    for (init, words) in cases {
        let (failure, text) = failure(|| Scripted { init, ..Scripted::default() });
        assert_eq!(
            (&failure.place, failure.time, failure.committed),
            (&Place::Init(LpId(2)), 0.0, 0)
        );
        assert_words(&text, &["init of LP 2", words]);
    }
}

#[test]
fn mistakes_in_commit_finish_and_results_say_where_they_are() {
    let (failed, text) =
        failure(|| Scripted { commit: |lp| lp.observe(VALUE, f64::NAN), ..Scripted::default() });
    assert_eq!((failed.time, failed.committed), (3.5, 2));
    assert_words(&text, &["LP 2", "Poke { number: 7 }", "`value`"]);
    let (failed, text) =
        failure(|| Scripted { commit: |lp| panic!("{} left", lp.id()), ..Scripted::default() });
    assert_eq!((failed.time, failed.committed), (3.5, 2));
    assert_words(&text, &["panicked: LP 2 left"]);
    let (failed, text) =
        failure(|| Scripted { finish: |lp| lp.count(COUNT.at(99), 1), ..Scripted::default() });
    assert_eq!((failed.place, failed.time, failed.committed), (Place::Finish(LpId(2)), 10.0, 3));
    assert_words(&text, &["finish of LP 2", "item 99"]);
    let (failed, text) =
        failure(|| Scripted { finish: |_| panic!("at last"), ..Scripted::default() });
    assert_eq!(failed.place, Place::Finish(LpId(2)));
    assert_words(&text, &[&format!("finish of LP 2 panicked: at last ({}:", file!())]);
    let (failed, text) =
        failure(|| Scripted { results: || panic!("no such key"), ..Scripted::default() });
    assert_eq!((failed.place, failed.committed), (Place::Results, 3));
    assert_words(&text, &["results", "no such key"]);
}

/// Code that runs after the last event may run out of memory, too. So may what an event does to the
/// outside world.
#[test]
fn memory_that_runs_out_after_the_events_is_no_panic_of_the_model() {
    let _limit = time_limit(100);
    const SCARCE: Exhausted = Exhausted::Memory { what: "a long list", bytes: 6_400_000 };
    let no_memory = "the system has no memory for a long list, which needed 6.4 MB more";
    for (sync, threads) in [(Synchronisation::Sequential, 1), (Synchronisation::Optimistic, 2)] {
        let run = |model| Simulation::new(model).end(10.0).sync(sync).threads(threads).run();
        let finish: fn(&mut Finish<Scripted>) = |lp| {
            if lp.id() == LpId(2) {
                SCARCE.unwind();
            }
        };
        let error = run(Scripted { finish, ..Scripted::default() }).unwrap_err();
        assert_words(&error.to_string(), &["finish of LP 2", no_memory, "there are no results"]);
        let Error::Fault(failure) = error else { panic!("{sync:?}: {error}") };
        assert_eq!(failure.fault, Fault::Memory(SCARCE));
        let results = || SCARCE.unwind();
        let act: fn(&mut Context<Scripted>) = |lp| lp.when_settled(|| SCARCE.unwind());
        for model in [
            Scripted { results, ..Scripted::default() },
            Scripted { handle: act, ..Scripted::default() },
        ] {
            let error = run(model).unwrap_err();
            assert!(matches!(error, Error::Memory { why: SCARCE, .. }), "{sync:?}: {error}");
            assert_words(&error.to_string(), &[no_memory, "there are no results"]);
        }
    }
}
