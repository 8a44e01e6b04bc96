//! A mistake of a user or a model is returned as a value that says where it is, what is wrong, and
//! what to do.

use crate::support::{COUNT, Poke, ROWS, Scripted, VALUE, assert_words};
use warpline::engine::Limits;
use warpline::prelude::*;
use warpline::{Exhausted, Failure, Fault, Pending, Place, Synchronisation};
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
fn delays_that_are_not_allowed_are_refused() {
    let fault = assert_event_fault(
        |lp| lp.send(1, f64::NAN, poke()),
        &["to LP 1", "delay NaN", "finite", "zero or more"],
    );
    assert!(matches!(fault, Fault::Delay { to: LpId(1), delay } if delay.is_nan()));
    assert_event_fault(|lp| lp.send(1, -0.25, poke()), &["to LP 1", "delay -0.25", "zero or more"]);
    assert_event_fault(|lp| lp.send(1, f64::INFINITY, poke()), &["to LP 1", "delay inf", "finite"]);
    assert_event_fault(
        |lp| lp.send(2, f64::NEG_INFINITY, poke()),
        &["to LP 2", "delay -inf", "finite"],
    );
    assert_event_fault(|lp| lp.send_with_priority(2, -1.0, 3, poke()), &["to LP 2", "delay -1"]);
}

#[test]
fn lookahead_holds_towards_others_only() {
    let fault = assert_event_fault(
        |lp| lp.send(3, 0.25, poke()),
        &["to LP 3", "delay 0.25", "lookahead 0.5", "declare a smaller lookahead"],
    );
    assert_eq!(fault, Fault::Lookahead { to: LpId(3), delay: 0.25, lookahead: 0.5 });
    let model = Scripted {
        handle: |lp| {
            [(2, 0.0), (2, 0.25), (3, 0.5)].into_iter().for_each(|(to, d)| lp.send(to, d, poke()))
        },
        ..Scripted::default()
    };
    assert_eq!(
        Simulation::new(model)
            .end(10.0)
            .run()
            .expect("all of them are allowed")
            .record
            .committed_events,
        6
    );
}

/// Sends that break the promise of their link, or have no link, are reported alike by every engine,
/// at the LP and time of the sender.
#[test]
fn links_hold_in_every_run() {
    fn links(lp: LpId) -> Option<Vec<Link>> {
        (lp.0 == 2).then(|| {
            [(1, 0.75), (3, 0.25)].map(|(to, lookahead)| Link { to: LpId(to), lookahead }).to_vec()
        })
    }
    type Act = fn(&mut Context<Scripted>);
    let cases: [(Act, Fault, &[&str]); 2] = [
        (
            |lp| lp.send(1, 0.5, poke()),
            Fault::Lookahead { to: LpId(1), delay: 0.5, lookahead: 0.75 },
            &["to LP 1", "delay 0.5", "lookahead 0.75", "declare a smaller lookahead", "links"],
        ),
        (
            |lp| lp.send(0, 9.0, poke()),
            Fault::NoLink { to: LpId(0) },
            &["to LP 0", "no link", "Model::links"],
        ),
    ];
    for (handle, expected, words) in cases {
        let model = || Scripted { handle, links, ..Scripted::default() };
        let (failed, text) = failure(model);
        assert_eq!(
            failed.place,
            Place::Event {
                lp: LpId(2),
                time: 3.5,
                number: Some(3),
                payload: "Poke { number: 7 }".into()
            }
        );
        assert_eq!(failed.fault, expected);
        assert_words(&text, words);
        assert_words(&text, &["event 3 of LP 2 at time 3.5 (Poke { number: 7 })"]);
        for sync in [Synchronisation::Optimistic, Synchronisation::Conservative] {
            let parallel =
                Simulation::new(model()).end(10.0).threads(2).sync(sync).virtual_cluster(3);
            assert_eq!(parallel.run().expect_err("it fails").to_string(), text, "{sync:?}");
        }
        let verified = Simulation::new(model()).end(10.0).verify().expect_err("it fails");
        assert_eq!(verified.to_string(), text);
    }
    let handle: Act = |lp| {
        [(1, 0.75), (3, 0.25), (2, 0.0)]
            .into_iter()
            .for_each(|(to, delay)| lp.send(to, delay, poke()))
    };
    let run = Simulation::new(Scripted { handle, links, ..Scripted::default() }).end(10.0).run();
    assert_eq!(run.expect("all of them are allowed").record.committed_events, 6);
}

#[test]
fn receivers_that_do_not_exist_are_named() {
    let fault =
        assert_event_fault(|lp| lp.send(4, 1.0, poke()), &["to LP 4", "LPs 0 to 3", "Model::lps"]);
    assert_eq!(fault, Fault::UnknownLp { to: LpId(4), lps: 4 });
    assert_event_fault(|lp| lp.send(u32::MAX, 1.0, poke()), &["LP 4294967295"]);
    // A delay that is not allowed is reported even if there is no such receiver.
    assert!(matches!(
        assert_event_fault(|lp| lp.send(9, f64::NAN, poke()), &[]),
        Fault::Delay { .. }
    ));
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
fn observations_that_do_not_fit_their_declaration_are_refused() {
    assert_event_fault(
        |lp| lp.count(Counter::slot(9), 1),
        &["slot 9", "counter", "no statistic is declared there", "Model::declare"],
    );
    assert_event_fault(
        |lp| lp.observe(Mean::slot(0), 1.0),
        &["slot 0", "as a mean", "`count` is declared there as a counter"],
    );
    assert_event_fault(
        |lp| lp.sample(Histogram::slot(1), 1.0),
        &["slot 1", "as a histogram", "`value` is declared there as a mean"],
    );
    assert_event_fault(
        |lp| lp.span(TimeMean::slot(1), 0.0, 1.0, 1.0),
        &["slot 1", "as a mean over time", "`value`"],
    );
    assert_event_fault(
        |lp| lp.count(COUNT.at(3), 1),
        &["item 3", "slot 0", "`count`", "3 item(s)"],
    );
    assert_event_fault(|lp| lp.observe(VALUE, f64::NAN), &["observed NaN for `value`", "finite"]);
    assert_event_fault(|lp| lp.observe(VALUE, f64::INFINITY), &["observed inf for `value`"]);
}

#[test]
fn rows_that_do_not_fit_their_table_are_refused() {
    assert_event_fault(
        |lp| lp.record(ROWS, &[1u32.into()]),
        &["1 cells", "table slot 0", "table `rows` has 2 columns", "Model::declare"],
    );
    assert_event_fault(|lp| lp.record(ROWS, &[]), &["0 cells", "2 columns"]);
    assert_event_fault(
        |lp| lp.record(Table(1), &[]),
        &["table slot 1", "no table is declared there"],
    );
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
fn zero_delay_loops_end_at_the_limit() {
    let again: fn(&mut Context<Scripted>) = |lp| lp.send(2, 0.0, Poke { number: 7 });
    let run = |model: Scripted, hops: Option<u32>| {
        let simulation = Simulation::new(model).end(10.0);
        let simulation = hops.into_iter().fold(simulation, Simulation::zero_delay_hops);
        match simulation.run() {
            Err(Error::Fault(failure)) => *failure,
            other => panic!("expected a loop: {other:?}"),
        }
    };
    for hops in [0, 1, 10, 1000] {
        let failure = run(Scripted { handle: again, ..Scripted::default() }, Some(hops));
        assert_eq!((&failure.fault, failure.time), (&Fault::ZeroDelayLoop { limit: hops }, 3.5));
        assert_eq!(
            failure.committed,
            2 + u64::from(hops),
            "every hop that is allowed was executed"
        );
        let limit = format!("hop {hops} in a row");
        assert_words(
            &failure.to_string(),
            &[&limit, "without delay", "give one of its sends a delay", "LP 2", "3.5"],
        );
    }
    let failure = run(Scripted { handle: again, ..Scripted::default() }, None);
    assert_eq!(failure.fault, Fault::ZeroDelayLoop { limit: Limits::ZERO_DELAY_HOPS });
    // A delay too small to advance the clock counts as none, also between two LPs, and the error
    // says that it was lost.
    let vanishing: fn(&mut Context<Scripted>) =
        |lp| lp.send(5 - lp.id().0, 1e-17, Poke { number: 7 });
    let failure =
        run(Scripted { lookahead: 0.0, handle: vanishing, ..Scripted::default() }, Some(50));
    let lost = Fault::LostDelay { to: LpId(3), delay: 1e-17, step: f64::EPSILON * 2.0, limit: 50 };
    assert_eq!((&failure.fault, failure.time), (&lost, 3.5));
    assert_words(&failure.to_string(), &["LP 2", "3.5", "1e-17", "rounding"]);
}

/// Chains that end before the limit, or exactly there, are no loops.
#[test]
fn zero_delay_chains_up_to_the_limit_are_allowed() {
    #[derive(Debug)]
    struct Chain(u32);
    impl Model for Chain {
        type State = u32;
        type Event = u32;
        fn lps(&self) -> u32 {
            2
        }
        fn init(&self, lp: &mut Init<Self>) -> u32 {
            lp.send(lp.id(), 1.0, self.0);
            0
        }
        fn handle(&self, seen: &mut u32, left: &u32, lp: &mut Context<Self>) {
            *seen += 1;
            if *left > 0 {
                lp.send(1 - lp.id().0, 0.0, left - 1);
            }
        }
    }
    let run = |length| Simulation::new(Chain(length)).zero_delay_hops(20).run();
    assert_eq!(run(20).expect("as long as is allowed").states, [21, 21]);
    assert!(
        matches!(run(21), Err(Error::Fault(failure)) if failure.fault == Fault::ZeroDelayLoop { limit: 20 })
    );
}

/// The end is the largest time here, so that events at 1e308 happen.
#[test]
fn no_event_lies_beyond_the_largest_time() {
    #[derive(Debug)]
    struct Far;
    impl Model for Far {
        type State = ();
        type Event = ();
        fn lps(&self) -> u32 {
            1
        }
        fn init(&self, lp: &mut Init<Self>) {
            lp.send(0, 1e308, ());
        }
        fn handle(&self, (): &mut (), (): &(), lp: &mut Context<Self>) {
            lp.send(0, 1e308, ());
        }
    }
    let error = Simulation::new(Far).end(f64::MAX).run().expect_err("1e308 + 1e308 is too much");
    assert_words(&error.to_string(), &["LP 0", "beyond the largest virtual time", "e308"]);
    let Error::Fault(failure) = error else { panic!("{error}") };
    assert_eq!(
        (failure.time, failure.fault),
        (1e308, Fault::EndOfTime { to: LpId(0), delay: 1e308 })
    );
}

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

/// Which event passes the limit depends on the order of adding, but the total does not. So the
/// fault is one of the results.
#[test]
fn counts_beyond_the_largest_number_are_a_fault_of_the_results() {
    let twice: fn(&mut Context<Scripted>) =
        |lp| [u64::MAX, 1].into_iter().for_each(|by| lp.count(COUNT.at(1), by));
    let (failure, text) = failure(|| Scripted { handle: twice, ..Scripted::default() });
    assert_eq!((failure.place, failure.time, failure.committed), (Place::Results, 10.0, 3));
    assert_words(&text, &["`count`", "largest count", "18446744073709551615"]);
    let counted = |by: u64, sync, threads| {
        let model = Counting { by };
        let _limit = time_limit((sync, threads, by));
        Simulation::new(model).sync(sync).threads(threads).end(10.0).run()
    };
    for (sync, threads) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Optimistic, 1),
        (Synchronisation::Optimistic, 4),
    ] {
        let run = counted(u64::MAX / 4, sync, threads).expect("four times that may be counted");
        assert_eq!(run.statistics.counter(COUNT), u64::MAX / 4 * 4);
        let Err(Error::Fault(failure)) = counted(u64::MAX / 4 + 1, sync, threads) else {
            panic!("more than that may not")
        };
        let expected = (Place::Results, 10.0, Fault::CounterOverflow { name: "all".into() }, 4);
        assert_eq!((failure.place, failure.time, failure.fault, failure.committed), expected);
    }
}

/// Four LPs, each of which counts once.
struct Counting {
    by: u64,
}

impl Model for Counting {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        4
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(COUNT, "all", "", "");
    }

    fn init(&self, lp: &mut Init<Self>) {
        lp.send(lp.id(), 1.0, ());
    }

    fn handle(&self, (): &mut (), (): &(), lp: &mut Context<Self>) {
        lp.count(COUNT, self.by);
    }
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

/// LPs that hand a token on at a time where a delay of 0.5 is lost in rounding. A token is handed
/// on three times.
#[derive(Debug)]
struct Late;

impl Model for Late {
    type State = u32;
    type Event = u32;

    fn lps(&self) -> u32 {
        4
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        if lp.id().0 < 2 {
            lp.send(lp.id(), 1e17, 3);
        }
        0
    }

    fn handle(&self, seen: &mut u32, left: &u32, lp: &mut Context<Self>) {
        *seen += 1;
        if *left > 0 {
            lp.send((lp.id().0 + 1) % 4, 0.5, left - 1);
        }
    }
}

#[test]
fn delays_lost_to_rounding_are_told_in_every_run() {
    let _limit = time_limit("lost delays");
    let simulation = || Simulation::new(Late).end(2e17);
    let record =
        simulation().sync(Synchronisation::Sequential).run().expect("it is no mistake").record;
    let lost = record.lost_delays.expect("all delays are lost");
    assert_eq!(
        (lost.count, lost.lp, lost.event, lost.time, lost.to, lost.delay),
        (6, 0, 1, 1e17, 1, 0.5)
    );
    assert_words(
        &lost.to_string(),
        &["6 events", "event 1 of LP 0 at time 1e17", "to LP 1 with delay 0.5", "16 apart"],
    );
    assert!(record.ran_out, "no token is left");
    for seed in 0..4 {
        let parallel = simulation()
            .sync(Synchronisation::Optimistic)
            .threads(3)
            .virtual_cluster(seed)
            .run()
            .expect("nor here")
            .record;
        assert_eq!((parallel.lost_delays, parallel.digest), (Some(lost), record.digest.clone()));
    }
    let why = simulation().zero_delay_hops(1).run().expect_err("there are three hops").to_string();
    assert_words(
        &why,
        &[
            "event 2 of LP 1 at time 1e17 (2)",
            "is hop 1 in a row at one instant",
            "delay of 0.5 to LP 2 is lost to rounding",
        ],
    );
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
