//! The engine's own checks: wires that lose or repeat messages, or corrupt GVT, must not go
//! unnoticed.

mod models;
mod runs;

use std::panic::{AssertUnwindSafe, catch_unwind};

use self::models::{Bursts, Chain, FAR, NEAR, SPARSE};
use self::runs::{End, STEPS, expected, messages, run, way};
use crate::faulty_wires::Fault;
use warpline_kernel::Messages;
use warpline_memory::buffers;

const PES: u32 = 3;
const SEEDS: u64 = 40;

/// Injects a fault at several places and under several seeds. Returns in how many runs it occurred,
/// and in how many it was noticed.
fn noticed(model: &Chain, fault: fn(u32) -> Fault) -> (u32, u32) {
    noticed_under(model, fault, 0..SEEDS)
}

/// The same, only with some kinds of messages.
fn noticed_on(
    model: &Chain,
    fault: fn(u32) -> Fault,
    chosen: impl Fn(Messages) -> bool,
) -> (u32, u32) {
    noticed_under(model, fault, (0..SEEDS).filter(|seed| chosen(messages(*seed))))
}

/// The same, only in windows.
fn noticed_in_windows(fault: fn(u32) -> Fault) -> (u32, u32) {
    noticed_under(&SPARSE, fault, (0..5 * SEEDS).filter(|seed| way(*seed).1))
}

fn noticed_under(
    model: &Chain,
    fault: fn(u32) -> Fault,
    seeds: impl Iterator<Item = u64>,
) -> (u32, u32) {
    let expected = expected(model);
    let mut done = 0;
    let mut noticed = 0;
    for seed in seeds {
        let outcome = run(model, PES, seed, fault(1 + (seed % 7) as u32));
        if outcome.done > 0 {
            done += 1;
            noticed += u32::from(outcome.end != expected);
        }
    }
    (done, noticed)
}

#[test]
fn faultless_wires_give_the_answer() {
    let mut rolled_back = 0;
    let mut longest = 0;
    for model in [NEAR, FAR, SPARSE] {
        let expected = expected(&model);
        for seed in 0..SEEDS {
            for pes in [2, PES, 5] {
                let outcome = run(&model, pes, seed, Fault::None);
                assert_eq!(
                    outcome.end, expected,
                    "{pes} PEs, seed {seed}, lookahead {}",
                    model.lookahead
                );
                rolled_back += outcome.rolled_back;
                longest = longest.max(outcome.steps);
            }
        }
    }
    assert!(longest < STEPS / 5, "the longest run takes {longest} steps");
    assert!(rolled_back > 1000, "{rolled_back} events were rolled back");
}

/// These faults upset the message counts by which GVT is found, or the books, or keep GVT from
/// being found: every one of them is noticed.
#[test]
fn every_lost_or_repeated_message_is_noticed() {
    for (name, fault) in [
        ("lost message", Fault::Lost as fn(u32) -> Fault),
        ("lost anti-message", Fault::LostAnti),
        ("message that came twice", Fault::Twice),
        ("anti-message that came twice", Fault::TwiceAnti),
        ("lost control message", Fault::LostControl),
    ] {
        for model in [NEAR, FAR] {
            let mut sum = 0;
            for messages in [Messages::Shared, Messages::Copy, Messages::Value] {
                let (done, noticed) = noticed_on(&model, fault, |chosen| chosen == messages);
                assert!(done > 3, "a {name} happened in {done} runs with {messages:?}");
                assert_eq!(
                    noticed, done,
                    "a {name} went unnoticed with {messages:?} and the lookahead {}",
                    model.lookahead
                );
                sum += done;
            }
            assert!(sum > SEEDS as u32 / 4, "a {name} happened in {sum} runs of {SEEDS}");
        }
    }
}

/// An anti-message by value may overtake its message: it waits for the message, and the answer is
/// the same.
#[test]
fn an_anti_message_that_overtakes_its_message_changes_nothing() {
    for model in [NEAR, FAR] {
        let (done, noticed) =
            noticed_on(&model, Fault::HastyAnti, |messages| messages == Messages::Copy);
        assert!(done > 3, "an anti-message overtook its message in {done} runs");
        assert_eq!(
            noticed, 0,
            "an anti-message that overtook its message led to another answer with the lookahead {}",
            model.lookahead
        );
    }
}

/// Bounds that arrive late, or never, say less than they could: PEs ask for GVT instead, and the
/// answer is the same.
#[test]
fn bounds_that_come_late_or_never_change_nothing() {
    for (name, fault) in
        [("late", Fault::LateBound as fn(u32) -> Fault), ("lost", Fault::LostBound)]
    {
        let (done, noticed) = noticed(&FAR, fault);
        assert!(done > SEEDS as u32 / 2, "bounds were {name} in {done} runs of {SEEDS}");
        assert_eq!(noticed, 0, "bounds that were {name} led to another answer, or to none");
    }
}

/// A run is over only when no buffer is in flight any more, with an event or without.
#[test]
fn a_run_waits_for_free_buffers_in_flight() {
    let expected = expected(&Bursts);
    // By value, no buffers are sent.
    for seed in (0..12).filter(|seed| seed % 3 != 1) {
        let outcome = run(&Bursts, 2, seed, Fault::None);
        assert_eq!(outcome.end, expected, "seed {seed}");
        assert!(outcome.returned > 1000, "{} free buffers were sent back", outcome.returned);
    }
    for seed in [0, 2, 3, 5] {
        let outcome = run(&Bursts, 2, seed, Fault::LostEmpty(1 + 300 * seed as u32));
        assert_eq!(outcome.done, 1, "a free buffer was lost");
        assert_ne!(outcome.end, expected, "a lost free buffer went unnoticed under seed {seed}");
    }
}

/// A GVT that is too late is a mistake only if something comes before it. So most of these faults
/// are noticed, and many if only one PE reports a wrong share.
#[test]
fn a_wrong_gvt_is_noticed() {
    for (name, fault, share) in [
        ("verdict that is too late", Fault::LateVerdict as fn(u32) -> Fault, 0.5),
        ("share that leaves something out", Fault::NothingLeft, 0.25),
        ("bound that is too high", Fault::HighBound, 0.5),
        ("bound that overtakes messages", Fault::HastyBound, 0.5),
    ] {
        // Without lookahead there are no bounds.
        let models = if name.starts_with("bound") { &[FAR][..] } else { &[NEAR, FAR] };
        for model in models {
            let (done, noticed) = noticed(model, fault);
            assert!(done > SEEDS as u32 / 4, "a {name} happened in {done} runs of {SEEDS}");
            assert!(
                f64::from(noticed) > share * f64::from(done),
                "a {name} was noticed in {noticed} runs of {done}"
            );
        }
    }
}

/// In windows, everything depends on the bounds of the round: a bound that is too high, overtakes
/// the messages it covers, or is of another round is usually noticed. One that is late or lost only
/// makes other PEs wait for GVT.
#[test]
fn wrong_bounds_of_rounds_are_noticed() {
    for (name, fault, least, most) in [
        ("too high", Fault::HighBound as fn(u32) -> Fault, 0.9, 1.0),
        ("ahead of messages", Fault::HastyBound, 0.9, 1.0),
        ("of another round", Fault::StaleRound, 0.5, 1.0),
        ("late", Fault::LateBound, 0.0, 0.0),
        ("lost", Fault::LostBound, 0.0, 0.0),
    ] {
        let (done, noticed) = noticed_in_windows(fault);
        assert!(done > SEEDS as u32 / 2, "bounds were {name} in {done} runs of {SEEDS}");
        let share = f64::from(noticed) / f64::from(done);
        assert!(
            (least..=most).contains(&share),
            "bounds that were {name} were noticed in {noticed} runs of {done}"
        );
    }
}

/// A message that arrives for a time before the horizon cannot be put right, as events there are
/// executed for good: it is noticed at once, and the panic says where.
#[test]
fn arrivals_before_the_horizon_are_noticed() {
    for model in [NEAR, FAR] {
        let mut done = 0;
        let mut noticed = 0;
        for seed in 0..SEEDS {
            let outcome = run(&model, PES, seed, Fault::LateVerdict(1 + (seed % 7) as u32));
            let End::Assertion(text) = &outcome.end else { continue };
            done += 1;
            if text.contains("horizon") {
                noticed += 1;
                let expected = [
                    "PE ",
                    " received ",
                    " from LP ",
                    " for LP ",
                    " at time ",
                    "before its horizon",
                    "GVT",
                ];
                assert!(expected.iter().all(|part| text.contains(part)), "{text}");
            }
        }
        assert!(
            2 * noticed > done && done > SEEDS / 2,
            "noticed in {noticed} runs of {done} with the lookahead {}",
            model.lookahead
        );
    }
}

/// A handle of a buffer that is free or belongs to another PE is refused.
#[test]
fn stale_handles_are_noticed() {
    let mut views = buffers::<String>(2);
    let mut receiver = views.pop().expect("two");
    let mut sender = views.pop().expect("two");
    let handle = sender.insert(1, "word".to_owned());
    receiver.accept(handle);
    let fails = |name: &str, act: &mut dyn FnMut()| {
        assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "{name} went unnoticed")
    };
    fails("a second accept", &mut || _ = receiver.accept(handle));
    fails("a release by the sender", &mut || _ = sender.release(handle));
    assert!(receiver.begin(handle));
    fails("a second begin", &mut || _ = receiver.begin(handle));
    receiver.release(handle);
    fails("a second release", &mut || _ = receiver.release(handle));
    fails("a cancellation of a free buffer", &mut || _ = sender.cancel(handle));
}
