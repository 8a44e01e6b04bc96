//! Conservative LPs among optimistic ones: they wait aside, and never roll back.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::by_hand::{Play, Sent, Setting, Stage, TUNING, in_time};
use warpline_kernel::gvt::GvtAlgorithm;
use warpline_kernel::{Lanes, Messages, Tuning};

/// Every way in which a run may be mixed.
const WAYS: [(Lanes, Messages); 6] = [
    (Lanes::Both, Messages::Shared),
    (Lanes::Both, Messages::Copy),
    (Lanes::Both, Messages::Value),
    (Lanes::Speculative, Messages::Shared),
    (Lanes::Speculative, Messages::Copy),
    (Lanes::Speculative, Messages::Value),
];

fn tuning(lanes: Lanes, messages: Messages) -> Tuning {
    Tuning { lanes, messages, ..TUNING }
}

/// LPs 0 and 1 are on PE 0, 2 and 3 on PE 1.
fn first(lp: u32) -> Vec<Sent> {
    match lp {
        0 => vec![(0, 3.0, "goes ahead"), (1, 2.0, "waits")],
        1 => vec![(1, 4.0, "waits as well")],
        2 => vec![(2, 1.0, "sends")],
        _ => vec![],
    }
}

fn then(handled: &[&'static str]) -> Vec<Sent> {
    match handled[handled.len() - 1] {
        "sends" => vec![(1, 1.5, "comes first")],
        "goes ahead" => vec![(1, 3.5, "in between")],
        _ => vec![],
    }
}

/// Without lookahead, each event of a conservative LP waits until GVT is at it.
#[test]
fn conservative_lps_wait_aside_and_others_do_not() {
    let play = Play { conservative: &[1], first, then, ..Play::NOTHING };
    for (lanes, messages) in WAYS {
        // All LPs of a PE share a KP: one that only waits must not make the others roll back.
        let mut stage = Stage::tuned(&play, Tuning { kps: 1, ..tuning(lanes, messages) });
        stage.exhaust(0);
        assert_eq!(
            stage.pes[0].counts().processed,
            1,
            "{lanes:?}, {messages:?}: the others go ahead"
        );
        stage.exhaust(1);
        assert_eq!(stage.deliver(0), 1);
        stage.step(0, 2);
        assert_eq!(
            stage.pes[0].counts().processed,
            1,
            "{lanes:?}, {messages:?}: what has just arrived waits, too"
        );
        let done = stage.finish();
        assert_eq!(
            done.handled[1],
            ["comes first", "waits", "in between", "waits as well"],
            "{lanes:?}, {messages:?}"
        );
        assert_eq!(
            done.counts.iter().map(|counts| counts.rolled_back).sum::<u64>(),
            0,
            "{lanes:?}, {messages:?}"
        );
        assert_eq!(
            done.counts[0].certain, 4,
            "{lanes:?}, {messages:?}: what waited was executed for good"
        );
    }
}

/// With lookahead, a conservative LP executes whatever comes before the horizon, and needs no GVT
/// for each event.
#[test]
fn with_lookahead_conservative_lps_go_as_far_as_the_horizon() {
    let ticks = |lp| {
        if lp == 1 {
            vec![(1, 5.0, "a"), (1, 5.5, "b"), (1, 15.5, "c")]
        } else {
            vec![(lp, 20.0, "far away")]
        }
    };
    let play = Play { conservative: &[1], lookahead: 10.0, first: ticks, ..Play::NOTHING };
    let mut stage = Stage::tuned(&play, tuning(Lanes::Both, Messages::Value));
    stage.exhaust(0);
    assert_eq!(stage.pes[0].counts().certain, 0);
    stage.let_bounds_arrive();
    // PE 1 publishes that it has nothing to do before its horizon, from which PE 0's follows.
    stage.step(1, 2);
    stage.step(0, 3);
    assert_eq!(stage.pes[0].counts().certain, 2, "`a` and `b` come before the horizon");
    assert_eq!(stage.finish().handled[1], ["a", "b", "c"]);
}

/// What waits may be cancelled, whether it stayed on its PE or came from another.
#[test]
fn what_waits_may_be_cancelled() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 5.0, "too early")],
            3 => vec![(3, 1.0, "late")],
            2 => vec![(2, 5.0, "too early")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled {
            ["too early"] => vec![(1, 6.0, "wrong")],
            [.., "too early"] => vec![(1, 7.0, "right")],
            [.., "late"] => vec![(0, 2.0, "straggler"), (2, 2.0, "straggler")],
            _ => vec![],
        }
    }
    let play = Play { conservative: &[1], first, then, ..Play::NOTHING };
    for (lanes, messages) in WAYS {
        let mut stage = Stage::tuned(&play, tuning(lanes, messages));
        stage.exhaust(0);
        // LP 2 goes ahead before LP 3 has sent it the straggler, as batches are of one event.
        stage.pes[1].step().expect("there is memory");
        stage.deliver(0);
        stage.exhaust(0);
        let done = stage.finish();
        assert_eq!(done.handled[1], ["right", "right"], "{lanes:?}, {messages:?}");
        assert!(done.counts[0].rolled_back > 0, "{lanes:?}, {messages:?}: LP 0 was too early");
    }
}

/// While an anti-message is under way, GVT stays before what it cancels. Without lookahead, a
/// conservative LP would otherwise execute that for good.
#[test]
fn gvt_waits_for_anti_messages() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 0.5, "late")],
            2 => vec![(2, 2.0, "too early")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled {
            ["too early"] => vec![(1, 5.0, "wrong")],
            ["late"] => vec![(2, 1.0, "straggler")],
            _ => vec![],
        }
    }
    let play = Play { conservative: &[1], first, then, ..Play::NOTHING };
    for (&algorithm, (lanes, messages)) in
        GvtAlgorithm::ALL.iter().flat_map(|algorithm| WAYS.map(|way| (algorithm, way)))
    {
        let mut stage = Stage::new(
            &play,
            Setting { algorithm, tuning: tuning(lanes, messages), ..Setting::default() },
        );
        stage.step(1, 2);
        assert_eq!(stage.deliver(0), 1, "{algorithm:?}, {lanes:?}, {messages:?}: `wrong`");
        stage.step(0, 3);
        assert_eq!(stage.deliver(1), 1, "{algorithm:?}, {lanes:?}, {messages:?}: the straggler");
        stage.make_room_for(0);
        for _ in 0..100 {
            stage.step(1, 1);
            stage.step(0, 1);
        }
        assert_eq!(stage.pes[1].counts().rolled_back, 1, "{algorithm:?}, {lanes:?}, {messages:?}");
        assert_eq!(
            stage.pes[0].counts().certain,
            0,
            "{algorithm:?}, {lanes:?}, {messages:?}: `wrong` may be cancelled at any moment"
        );
        stage.make_room_for(usize::MAX);
        let done = stage.finish();
        assert_eq!(
            done.handled,
            [vec!["late"], vec![], vec!["straggler", "too early"], vec![]],
            "{algorithm:?}, {lanes:?}, {messages:?}"
        );
    }
}

/// An event that panics once it is certain has changed its state, and is not tried again, whatever
/// else is released meanwhile.
#[test]
fn an_event_that_waited_fails_once() {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            1 => vec![(1, 2.0, "fails")],
            2 => vec![(2, 1.0, "sends")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled[handled.len() - 1] == "fails" {
            TRIED.fetch_add(1, Ordering::Relaxed);
            panic!("this event fails");
        }
        vec![]
    }
    in_time(|| {
        let play = Play { conservative: &[1], first, then, ..Play::NOTHING };
        for (lanes, messages) in WAYS {
            TRIED.store(0, Ordering::Relaxed);
            let failure =
                Stage::tuned(&play, tuning(lanes, messages)).finish().failure.expect("it fails");
            assert_eq!((failure.time, failure.committed), (2.0, 1), "{lanes:?}, {messages:?}");
            assert_eq!(TRIED.load(Ordering::Relaxed), 1, "{lanes:?}, {messages:?}");
        }
    });
}
