//! LPs whose state cannot be worked out.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::by_hand::{Play, Sent, Stage, TUNING, in_time, last};
use warpline_kernel::{Tuning, Undoing};
use warpline_model::prelude::*;

/// LP 2 executes `twice` once more when the first straggler calls for the state after it, and
/// panics then. The second straggler, if there is one, comes before that event.
fn lose_an_lp(then: fn(&[&'static str]) -> Vec<Sent>) -> Stage<'static> {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 0.5, "start"), (0, 0.75, "start again")],
            2 => vec![(2, 1.0, "copied"), (2, 3.0, "twice"), (2, 5.0, "later")],
            3 => vec![(3, 1.5, "copied"), (3, 6.0, "undone as well")],
            _ => vec![],
        }
    }
    let play: &'static Play = Box::leak(Box::new(Play { first, then, ..Play::default() }));
    let mut stage =
        Stage::tuned(play, Tuning { undoing: Undoing::Copy { interval: 10 }, ..TUNING });
    stage.exhaust(1);
    assert_eq!(stage.pes[1].counts().processed, 5);
    stage.step(0, 1);
    assert_eq!(stage.deliver(1), 2);
    // To receive both, to execute the one for LP 3, and to lose LP 2.
    stage.step(1, 3);
    let counts = stage.pes[1].counts();
    assert_eq!((counts.processed, counts.primary, counts.held_back), (6, 2, 1));
    stage
}

/// The first stragglers. That of LP 3 makes another LP roll back, which must not concern LP 2.
fn stragglers(handled: &[&'static str], again: fn() -> Vec<Sent>) -> Vec<Sent> {
    match last(handled) {
        "start" => vec![(2, 4.0, "straggler"), (3, 2.0, "other straggler")],
        "start again" => again(),
        _ => vec![],
    }
}

/// Executes `twice`, which panics the second time.
fn execute_twice(executed: &AtomicU32, handled: &[&'static str]) {
    if last(handled) == "twice" {
        assert!(executed.fetch_add(1, Ordering::Relaxed) != 1, "as planned");
    }
}

#[test]
fn an_event_that_does_not_do_the_same_again_is_a_failure() {
    static EXECUTED: AtomicU32 = AtomicU32::new(0);
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        execute_twice(&EXECUTED, handled);
        stragglers(handled, || vec![(3, 3.5, "yet another")])
    }
    in_time(|| {
        let failure = lose_an_lp(then).finish().failure.expect("the run fails");
        assert_eq!(
            (failure.time, &failure.event[..], failure.committed),
            (4.0, "\"straggler\"", 7)
        );
        let expected = "panicked: as planned, when earlier events of the LP were executed again to \
                        work out its state from a copy";
        assert!(failure.fault.starts_with(expected), "{}", failure.fault);
    });
}

/// If the event that panicked is undone as well, the state before it can be worked out after all.
#[test]
fn a_lost_lp_is_found_again_by_undoing_more() {
    static EXECUTED: AtomicU32 = AtomicU32::new(0);
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        execute_twice(&EXECUTED, handled);
        stragglers(handled, || vec![(2, 2.5, "earlier straggler")])
    }
    in_time(|| {
        let ended = lose_an_lp(then).finish();
        assert_eq!(ended.failure, None);
        assert_eq!(
            ended.handled[2],
            ["copied", "earlier straggler", "twice", "straggler", "later"]
        );
        assert_eq!(ended.handled[3], ["copied", "other straggler", "undone as well"]);
    });
}

/// The state of LP 2 could not be worked out, and is not the one after `second`. So reverse code,
/// which would undo that event without a complaint, must not do it.
#[test]
fn reverse_code_undoes_nothing_on_the_state_of_a_lost_lp() {
    static EXECUTED: AtomicU32 = AtomicU32::new(0);
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 0.5, "start"), (0, 0.75, "start again")],
            2 => vec![(2, 1.0, "first"), (2, 3.0, "second"), (2, 5.0, "irreversible")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match last(handled) {
            "start" => vec![(2, 4.0, "straggler")],
            "start again" => vec![(2, 2.5, "earlier straggler")],
            "first" => {
                assert!(EXECUTED.fetch_add(1, Ordering::Relaxed) != 1, "as planned");
                vec![]
            }
            _ => vec![],
        }
    }
    fn reverse(handled: &mut Vec<&'static str>, label: &'static str, _: &mut Reverse<Play>) {
        assert!(label != "irreversible", "as planned");
        handled.pop();
    }
    in_time(|| {
        let play = Play { first, then, reverse, ..Play::default() };
        let mut stage = Stage::tuned(&play, Tuning { undoing: Undoing::Reverse, ..TUNING });
        stage.exhaust(1);
        stage.step(0, 1);
        assert_eq!(stage.deliver(1), 1);
        // To receive the straggler, and to lose LP 2.
        stage.step(1, 2);
        let counts = stage.pes[1].counts();
        assert_eq!((counts.processed, counts.primary, counts.held_back), (3, 1, 1));
        let ended = stage.finish();
        assert_eq!(ended.failure, None);
        assert_eq!(
            ended.handled[2],
            ["first", "earlier straggler", "second", "straggler", "irreversible"]
        );
    });
}
