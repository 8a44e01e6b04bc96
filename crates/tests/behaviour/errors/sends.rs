//! Sends with a wrong delay or receiver, and delays that come to nothing.

use super::{assert_event_fault, failure, poke};
use crate::support::{Poke, Scripted, assert_words};
use warpline::engine::Limits;
use warpline::prelude::*;
use warpline::{Fault, Place, Synchronisation};
use warpline_testkit::{Story, time_limit};

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
    let chain = |length: u64| {
        Story::new(2)
            .init(move |lp| {
                lp.send(lp.id(), 1.0, length);
                0
            })
            .handle(|seen, left, lp| {
                *seen += 1;
                if left > 0 {
                    lp.send(1 - lp.id().0, 0.0, left - 1);
                }
            })
    };
    let run = |length| Simulation::new(chain(length)).zero_delay_hops(20).run();
    assert_eq!(run(20).expect("as long as is allowed").states, [21, 21]);
    assert!(
        matches!(run(21), Err(Error::Fault(failure)) if failure.fault == Fault::ZeroDelayLoop { limit: 20 })
    );
}

/// The end is the largest time here, so that events at 1e308 happen.
#[test]
fn no_event_lies_beyond_the_largest_time() {
    let handle: fn(&mut Context<Scripted>) = |lp| lp.send(2, 1e308, Poke { number: 7 });
    let simulation = Simulation::new(Scripted { handle, ..Scripted::default() }).end(f64::MAX);
    let error = simulation.run().expect_err("1e308 + 1e308 is too much");
    assert_words(&error.to_string(), &["LP 2", "beyond the largest virtual time", "e308"]);
    let Error::Fault(failure) = error else { panic!("{error}") };
    assert_eq!(
        (failure.time, failure.fault),
        (1e308, Fault::EndOfTime { to: LpId(2), delay: 1e308 })
    );
}

/// LPs that hand a token on at a time where a delay of 0.5 is lost in rounding. A token is handed
/// on three times.
fn late() -> Story {
    Story::new(4)
        .init(|lp| {
            if lp.id().0 < 2 {
                lp.send(lp.id(), 1e17, 3);
            }
            0
        })
        .handle(|seen, left, lp| {
            *seen += 1;
            if left > 0 {
                lp.send((lp.id().0 + 1) % 4, 0.5, left - 1);
            }
        })
}

#[test]
fn delays_lost_to_rounding_are_told_in_every_run() {
    let _limit = time_limit("lost delays");
    let simulation = || Simulation::new(late()).end(2e17);
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
