//! Mistakes of a model in unlikely circumstances: which one is reported, and how many events
//! committed before it.

use crate::by_hand::{
    END, Failure, NO_COPY, Play, Sent, Setting, Stage, TUNING, in_time, last, time,
};
use warpline_base::Moment;
use warpline_kernel::gvt::GvtAlgorithm;
use warpline_kernel::{Lanes, Tuning, Undoing};

fn failure(time: f64, event: &str, fault: &str, committed: u64) -> Option<Failure> {
    Some(Failure {
        time,
        event: format!("{event:?}"),
        fault: format!("panicked: {fault}"),
        committed,
    })
}

/// Both events fail when they commit, which they do at once, in the order in which they were
/// executed.
#[test]
fn of_two_failures_at_commit_the_earlier_is_reported() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            3 => vec![(3, 3.0, "later")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if last(handled) == "start" { vec![(2, 2.0, "earlier")] } else { vec![] }
    }
    fn commit(label: &'static str) {
        assert!(label == "start", "{label} must not commit");
    }
    for undoing in [
        Undoing::Copy { interval: 1 },
        Undoing::Copy { interval: 5 },
        Undoing::Reverse,
        Undoing::Journal,
    ] {
        in_time(move || {
            let play = Play { first, then, commit, ..Play::default() };
            let mut stage = Stage::tuned(&play, Tuning { undoing, ..TUNING });
            stage.step(1, 1);
            stage.step(0, 1);
            assert_eq!(stage.deliver(1), 1);
            stage.step(1, 2);
            let executed: Vec<_> =
                stage.pes.iter().map(|pe| (pe.counts().processed, pe.counts().committed)).collect();
            assert_eq!(executed, [(1, 0), (2, 0)], "all is executed before anything commits");
            assert_eq!(
                stage.finish().failure,
                failure(2.0, "earlier", "earlier must not commit", 1)
            );
        });
    }
}

/// LP 2 receives what LP 4 sends in its first event. That event is `x` as long as `y` has not
/// arrived; then what `x` sent is cancelled, and replaced by other contents under the same key.
fn sent_again(again: fn(&[&'static str]) -> Vec<Sent>) -> Play {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            1 => vec![(1, 0.5, "start"), (1, 0.625, "fills a step")],
            4 => vec![(4, 2.0, "x")],
            6 => {
                vec![(6, 3.0, "fills a step"), (6, 4.0, "fills another"), (6, 5.0, "fills another")]
            }
            _ => vec![],
        }
    }
    Play { lps: 8, first, then: again, ..Play::default() }
}

fn again_and_right(handled: &[&'static str]) -> Vec<Sent> {
    match handled {
        ["start"] => vec![(4, 1.0, "y")],
        ["x"] => vec![(2, 10.0, "wrong")],
        ["y"] => vec![(2, 10.0, "right")],
        [.., "wrong"] => panic!("a mistake that never happens"),
        _ => vec![],
    }
}

fn again_and_worse(handled: &[&'static str]) -> Vec<Sent> {
    match handled {
        ["y"] => vec![(2, 10.0, "worse")],
        [.., "worse"] => panic!("a mistake that happens"),
        _ => again_and_right(handled),
    }
}

/// Lets `wrong` fail and be held back, and then be cancelled and replaced, before PE 0 executes
/// anything else.
fn cancel_what_is_held_back(play: &Play, algorithm: GvtAlgorithm) -> Stage<'_> {
    let mut stage = Stage::new(
        play,
        Setting { algorithm, tuning: Tuning { batch: 2, ..TUNING }, ..Setting::default() },
    );
    stage.step(1, 1);
    assert_eq!(stage.deliver(0), 1);
    // To execute `start` and to receive `wrong`.
    stage.step(0, 1);
    assert_eq!(stage.deliver(1), 1);
    stage.step(1, 1);
    stage.step(0, 1);
    assert_eq!(stage.pes[0].counts().held_back, 1);
    // By now PE 0 has asked for GVT, and is paused under the synchronous algorithm. PE 1 executes
    // `y`, and `x` again.
    stage.step(1, 1);
    assert_eq!((stage.pes[1].counts().primary, stage.pes[1].counts().cancelled_in_place), (1, 1));
    assert_eq!(stage.deliver(0), 1);
    stage
}

#[test]
fn an_event_held_back_and_replaced_by_a_good_one_is_no_failure() {
    for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous] {
        in_time(move || {
            let play = sent_again(again_and_right);
            let mut stage = cancel_what_is_held_back(&play, algorithm);
            stage.gvt();
            assert!(
                algorithm != GvtAlgorithm::Synchronous || stage.gvt_time(0) == 10.0,
                "GVT is at the held event, which is pending again"
            );
            let ended = stage.finish();
            assert_eq!(ended.failure, None);
            assert_eq!(
                (&ended.handled[2][..], &ended.handled[4][..]),
                (&["right"][..], &["y", "x"][..])
            );
            assert_eq!(ended.counts[0].annihilated, 1);
        });
    }
}

#[test]
fn an_event_held_back_and_replaced_by_a_bad_one_is_another_failure() {
    for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous] {
        in_time(move || {
            let play = sent_again(again_and_worse);
            let mut stage = cancel_what_is_held_back(&play, algorithm);
            stage.gvt();
            assert_eq!(stage.finish().failure, failure(10.0, "worse", "a mistake that happens", 7));
        });
    }
}

/// PE 0 commits events within the lookahead of GVT, and is two GVTs ahead when PE 1 commits an
/// earlier event, which fails.
#[test]
fn events_that_committed_after_a_failure_do_not_count() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 19.0, "ahead"), (0, 20.0, "ahead")],
            1 => vec![(5, 11.0, "1st")],
            4 => vec![(4, 18.0, "fails")],
            _ => vec![],
        }
    }
    // One is executed when a PE joins in GVT, and one when it receives the verdict. So there is one
    // left for every commit but the last.
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match last(handled) {
            "1st" => vec![(5, 15.0, "2nd")],
            "2nd" => vec![(5, 16.0, "3rd")],
            "3rd" => vec![(5, 17.0, "4th")],
            // Within the lookahead, and so executed for good.
            "4th" => vec![(5, 20.5, "after")],
            _ => vec![],
        }
    }
    fn commit(label: &'static str) {
        assert!(label != "fails", "as planned");
    }
    in_time(|| {
        let play = Play { lps: 8, lookahead: 10.0, first, then, commit, ..Play::default() };
        let mut stage = Stage::new(
            &play,
            Setting {
                algorithm: GvtAlgorithm::Synchronous,
                tuning: Tuning { lanes: Lanes::Both, ..TUNING },
                ..Setting::default()
            },
        );
        stage.step(1, 1);
        stage.exhaust(0);
        assert_eq!(stage.deliver(1), 1);
        stage.gvt();
        let committed = |stage: &Stage<'_>| [0, 1].map(|pe| stage.pes[pe].counts().committed);
        assert_eq!((stage.gvt_time(0), committed(&stage)), (11.0, [2, 1]));
        stage.gvt();
        assert_eq!((stage.gvt_time(0), committed(&stage)), (16.0, [2, 3]));
        // Rows after this moment must not come out: the failure, which is not known yet, comes
        // before the next GVT.
        let settled = stage.pes[0].settled().map(|moment| moment.time(time(END)));
        assert_eq!(settled, Some(time(11.0)));
        assert_eq!(stage.finish().failure, failure(18.0, "fails", "as planned", 4));
    });
}

/// Lets an event of PE 1 fail for certain, and then a later one be undone.
fn undo_after_a_certain_failure(
    then: fn(&[&'static str]) -> Vec<Sent>,
    commit: fn(&'static str),
    expected: Option<Failure>,
) {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 20.0, "undone")],
            1 => vec![(6, 15.25, "speculative"), (6, 15.5, "certain")],
            4 => vec![(4, 10.0, "start")],
            7 => vec![(7, 60.0, "fills a step")],
            _ => vec![],
        }
    }
    let play = Play { lps: 8, lookahead: 1.0, first, then, commit, ..Play::default() };
    let mut stage = Stage::new(
        &play,
        Setting {
            algorithm: GvtAlgorithm::Synchronous,
            tuning: Tuning { lanes: Lanes::Both, ..TUNING },
            ..Setting::default()
        },
    );
    stage.step(1, 1);
    stage.step(0, 1);
    stage.deliver_last(1);
    // To receive what will be cancelled, and to execute it.
    stage.step(1, 2);
    assert_eq!((stage.deliver(0), stage.deliver(1)), (1, 2));
    stage.step(1, 1);
    // PE 1 executes one event when it receives the verdict, before it acts on it.
    stage.gvt();
    assert_eq!((stage.gvt_time(0), stage.gvt_time(1)), (15.0, 15.0));
    // PE 1 fails and asks for GVT; PE 0 joins in when it has executed the straggler.
    stage.step(1, 1);
    stage.step(0, 1);
    assert_eq!((stage.pes[0].counts().primary, stage.pes[0].counts().anti_sent), (1, 1));
    assert_eq!(stage.deliver(1), 1);
    stage.step(1, 1);
    assert_eq!(
        (stage.pes[1].counts().secondary, stage.pes[1].counts().held_back),
        (1, 0),
        "the failed event was never undone"
    );
    assert_eq!(stage.finish().failure, expected);
}

fn straggler_and_undone(handled: &[&'static str]) -> Vec<Sent> {
    match last(handled) {
        "start" => vec![(0, 15.0, "straggler")],
        "undone" => vec![(5, 50.0, "cancelled")],
        _ => vec![],
    }
}

/// An event that failed for certain is not tried again when later ones are undone: it would find
/// its own changes.
#[test]
fn a_certain_event_fails_only_once() {
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        assert!(last(handled) != "certain", "number {} of its LP", handled.len());
        straggler_and_undone(handled)
    }
    in_time(|| {
        undo_after_a_certain_failure(
            then,
            |_| {},
            failure(15.5, "certain", "number 2 of its LP", 3),
        )
    });
}

/// Nor is an event that was executed speculatively and failed when it committed.
#[test]
fn an_event_that_fails_at_commit_is_not_executed_again() {
    fn commit(label: &'static str) {
        assert!(label != "speculative", "as planned");
    }
    in_time(|| {
        undo_after_a_certain_failure(
            straggler_and_undone,
            commit,
            failure(15.25, "speculative", "as planned", 2),
        )
    });
}

/// No PE may believe that all before a failure is done until all PEs know of the failure.
#[test]
fn a_failure_that_is_held_back_bounds_what_its_pe_publishes() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            2 => vec![(2, 5.0, "fails"), (2, 7.0, "later")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        assert!(last(handled) != "fails", "as planned");
        vec![]
    }
    in_time(|| {
        let play = Play { lookahead: 10.0, first, then, ..Play::default() };
        let mut stage =
            Stage::tuned(&play, Tuning { lanes: Lanes::Safe, patience: 1000, ..TUNING });
        stage.let_bounds_arrive();
        for _ in 0..5 {
            stage.step(0, 1);
            stage.step(1, 1);
        }
        let handled = stage.pes.iter().map(|pe| pe.counts().processed).collect::<Vec<_>>();
        assert_eq!((handled, stage.published(1).0), (vec![1, 0], Some(5.0)));
        assert_eq!(stage.finish().failure, failure(5.0, "fails", "as planned", 1));
    });
}

/// PE 1 finds at once that one of its LPs cannot be initialised. But PE 0, which is slow, fails at
/// an earlier LP.
#[test]
fn of_two_failures_at_initialisation_the_earlier_is_reported() {
    fn first(lp: u32) -> Vec<Sent> {
        assert!(![90, 101].contains(&lp), "LP {lp} cannot be initialised");
        vec![]
    }
    for algorithm in [GvtAlgorithm::Asynchronous, GvtAlgorithm::Synchronous] {
        in_time(move || {
            let play = Play { lps: 200, first, ..Play::default() };
            let mut stage = Stage::bare(&play, Setting { algorithm, ..Setting::default() });
            stage.step(1, 3);
            // GVT is computed again and again before PE 0 reaches the LP at which it fails.
            for _ in 0..5 {
                stage.gvt();
            }
            assert_eq!(stage.pes[1].verdict().map(|verdict| verdict.failure), Some(Moment::Never));
            let expected = Failure {
                time: 0.0,
                event: String::new(),
                fault: "panicked: LP 90 cannot be initialised".into(),
                committed: 0,
            };
            assert_eq!(stage.finish().failure, Some(expected));
        });
    }
}

/// The panic of a state that cannot be copied is not the model's own, and its text says so. A
/// straggler that comes before the event makes no difference.
#[test]
fn a_state_that_cannot_be_copied_is_a_failure_of_its_own() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            2 => vec![(2, 2.0, NO_COPY), (2, 4.0, "fails")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if last(handled) == "start" { vec![(2, 3.0, "straggler")] } else { vec![] }
    }
    for arrives_late in [false, true] {
        in_time(move || {
            let play = Play { first, then, ..Play::default() };
            let mut stage = Stage::new(&play, Setting::default());
            if arrives_late {
                stage.step(1, 2);
                assert_eq!(
                    (stage.pes[1].counts().processed, stage.pes[1].counts().held_back),
                    (1, 1)
                );
            }
            let failure = stage.finish().failure.expect("the run fails");
            assert_eq!(
                (failure.time, &failure.event[..], failure.committed),
                (3.0, "\"straggler\"", 2)
            );
            let expected = "panicked: this state cannot be copied, when the state was copied";
            assert!(failure.fault.starts_with(expected), "{}", failure.fault);
        });
    }
}
