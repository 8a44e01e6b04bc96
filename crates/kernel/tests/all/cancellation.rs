//! Lazy cancellation, by hand: what is sent again stands, and everything else is cancelled in the
//! end.

use crate::by_hand::{Play, Sent, Stage, TUNING};
use warpline_kernel::{Cancellation, Counts, Lanes, Messages, Tuning};

/// LPs 0 and 1 are on PE 0; 2 and 3 on PE 1, in one KP. There, `sends` sends one event to each PE,
/// and both are executed before the straggler that undoes `sends` arrives. If that is for LP 2,
/// `sends` does the same again. If it is for LP 3, `sends` is the second event of its LP then, and
/// what it sends has other keys.
fn undo_what_sends(
    straggler: fn(&[&'static str]) -> Vec<Sent>,
    cancellation: Cancellation,
    messages: Messages,
    lanes: Lanes,
) -> [Counts; 2] {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "late")],
            2 => vec![(2, 3.0, "own")],
            3 => vec![(3, 4.0, "sends")],
            _ => vec![],
        }
    }
    let play = Play { first, then: straggler, ..Play::default() };
    let mut stage = Stage::tuned(&play, Tuning { kps: 1, cancellation, messages, lanes, ..TUNING });
    stage.exhaust(1);
    assert_eq!(stage.pes[1].counts().processed, 3, "`own`, `sends` and what it sent to its own PE");
    assert_eq!(stage.deliver(0), 1);
    // To execute `late`, and what came from `sends`.
    stage.step(0, 2);
    assert_eq!(stage.deliver(1), 1);
    stage.step(1, 1);
    stage.exhaust(1);
    assert_eq!((stage.pes[1].counts().primary, stage.pes[1].counts().rolled_back), (1, 3));
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 6));
    assert_eq!(ended.handled[1], ["away"]);
    ended.counts.try_into().expect("there are two PEs")
}

fn again(handled: &[&'static str]) -> Vec<Sent> {
    match handled[handled.len() - 1] {
        "late" => vec![(2, 2.0, "straggler")],
        "sends" => vec![(1, 6.0, "away"), (2, 7.0, "here")],
        _ => vec![],
    }
}

fn not_again(handled: &[&'static str]) -> Vec<Sent> {
    match handled[handled.len() - 1] {
        "late" => vec![(3, 2.0, "straggler")],
        _ => again(handled),
    }
}

#[test]
fn what_is_sent_again_stands() {
    for messages in [Messages::Shared, Messages::Copy, Messages::Value] {
        for lanes in [Lanes::Speculative, Lanes::Both] {
            let [zero, one] = undo_what_sends(again, Cancellation::Lazy, messages, lanes);
            assert_eq!(
                (one.kept, one.sent_again, one.cancelled_late),
                (2, 2, 0),
                "{messages:?}, {lanes:?}"
            );
            assert_eq!(
                (zero.rolled_back, one.anti_sent, zero.annihilated + one.annihilated),
                (0, 0, 0),
                "{messages:?}, {lanes:?}"
            );
            assert_eq!((one.sent, one.messages_sent), (4, 1), "nothing is sent twice");
            let [zero, one] = undo_what_sends(again, Cancellation::Aggressive, messages, lanes);
            assert_eq!(
                (one.kept, one.anti_sent, zero.rolled_back),
                (0, 1, 1),
                "{messages:?}, {lanes:?}"
            );
        }
    }
}

#[test]
fn what_is_not_sent_again_is_cancelled() {
    for messages in [Messages::Shared, Messages::Copy, Messages::Value] {
        let [zero, one] =
            undo_what_sends(not_again, Cancellation::Lazy, messages, Lanes::Speculative);
        assert_eq!((one.kept, one.sent_again, one.cancelled_late), (2, 0, 2), "{messages:?}");
        assert_eq!(
            (zero.rolled_back, one.anti_sent, zero.annihilated, one.annihilated),
            (1, 1, 1, 1),
            "{messages:?}"
        );
    }
}

/// What a cancelled event had sent is cancelled, too, even if the event was undone before and what
/// it had sent was kept: PE 0 sends `asked` and takes it back.
#[test]
fn what_a_cancelled_event_had_sent_is_cancelled() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 2.0, "asks"), (0, 2.25, "late")],
            2 => vec![(2, 0.5, "start")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled[handled.len() - 1] {
            // It comes to LP 0 before it asks, so that it asks nothing.
            "start" => vec![(0, 1.0, "before")],
            "asks" if handled[0] != "before" => vec![(3, 4.0, "asked")],
            "late" => vec![(2, 3.0, "straggler")],
            "asked" => vec![(1, 6.0, "answer"), (2, 7.0, "here")],
            _ => vec![],
        }
    }
    let play = Play { first, then, ..Play::default() };
    let tuning = Tuning { kps: 1, cancellation: Cancellation::Lazy, ..TUNING };
    let mut stage = Stage::tuned(&play, tuning);
    stage.step(0, 2);
    assert_eq!(stage.deliver_first(1, 1), 1);
    stage.exhaust(1);
    assert_eq!(stage.pes[1].counts().processed, 3, "`start`, `asked` and `here`");
    assert_eq!(stage.deliver(1), 1);
    // To receive the straggler, and to execute it. What `asked` had sent is kept, and it is
    // pending.
    stage.step(1, 2);
    assert_eq!((stage.pes[1].counts().rolled_back, stage.pes[1].counts().kept), (2, 2));
    // To receive `before` and `answer`, and to execute `before`, `asks`, which does not ask again,
    // and the rest.
    assert_eq!(stage.deliver(0), 2);
    stage.step(0, 6);
    stage.exhaust(1);
    assert_eq!((stage.pes[1].counts().sent_again, stage.pes[1].counts().cancelled_late), (0, 2));
    let ended = stage.finish();
    assert_eq!(ended.failure, None);
    assert!(ended.handled[1].is_empty() && ended.handled[3].is_empty(), "{:?}", ended.handled);
    assert_eq!(ended.handled[0], ["before", "asks", "late"]);
    assert_eq!(ended.handled[2], ["start", "straggler"]);
}
