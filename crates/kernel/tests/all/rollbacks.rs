//! Rollbacks made by hand: what is undone, and that everything is counted.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::by_hand::{Ended, Play, Sent, Setting, Stage, TUNING, last};
use warpline_kernel::gvt::{GvtAlgorithm, Work};
use warpline_kernel::{Counts, Lanes, Messages, Tuning, Undoing};
use warpline_model::prelude::*;

/// LPs 0 to 3 are on PE 0, and 4 to 7 on PE 1. LP 4 executes `a` to `d`. `b` is cancelled together
/// with what it sent: one event to its own PE, and one to the other, where it has been processed.
/// What `c` sent is pending there, and what `d` sent still in transit.
const PLAY: Play = Play { lps: 8, first, then, ..Play::NOTHING };

fn first(lp: u32) -> Vec<Sent> {
    match lp {
        0 => vec![(0, 1.0, "late")],
        1 => vec![(1, 7.5, "own")],
        4 => vec![(4, 2.0, "a"), (4, 3.0, "b"), (4, 4.0, "c"), (4, 5.0, "d")],
        _ => vec![],
    }
}

fn then(handled: &[&'static str]) -> Vec<Sent> {
    match last(handled) {
        "late" => vec![(4, 2.5, "straggler")],
        "b" => vec![(5, 6.0, "of b, here"), (1, 7.0, "of b, there")],
        "c" => vec![(1, 8.0, "of c")],
        "d" => vec![(2, 9.0, "of d")],
        _ => vec![],
    }
}

/// A histogram of lengths that starts with these numbers.
fn lengths(start: &[u64]) -> [u64; 32] {
    std::array::from_fn(|bits| start.get(bits).copied().unwrap_or(0))
}

/// What was executed, undone, sent and received, without what depends on how often a PE is stepped
/// and when GVT is found, and without its buffers.
fn done(counts: &Counts) -> Counts {
    let without = Counts {
        steps: 0,
        idle_steps: 0,
        waiting_steps: 0,
        gvt_epochs: 0,
        gvt_rounds: 0,
        receipts: 0,
        mailbox_depth_max: 0,
        ..counts.clone()
    };
    let without = Counts {
        committed: 0,
        remote_committed: 0,
        history_max: 0,
        repeated: 0,
        copy_interval: 0,
        ..without
    };
    Counts { buffers: 0, buffers_shared: 0, ..without }
}

fn every_rollback_is_counted(undoing: Undoing) {
    let mut stage = Stage::tuned(&PLAY, Tuning { undoing, ..TUNING });
    let executed = execute_everything(&mut stage);
    let after_straggler = undo_for_the_straggler(&mut stage, executed);
    let [zero, one] = undo_for_the_anti_message(&mut stage, after_straggler);
    stage.exhaust(1);
    let ended = stage.finish();
    // What `b` sends again is received and, in the same step, `own` is executed again; so that is
    // undone once more.
    let zero = Counts {
        processed: 8,
        rolled_back: 3,
        primary: 1,
        lengths: lengths(&[1, 1]),
        annihilated: 3,
        messages_received: 6,
        ..zero
    };
    let one = Counts { processed: 10, sent: 12, messages_sent: 6, ..one };
    assert_eq!(done(&ended.counts[0]), zero, "PE 0 in the end");
    assert_eq!(done(&ended.counts[1]), one, "PE 1 in the end");
    check_answer(&ended);
    check_copies(&ended, undoing);
    check_verdicts(&ended);
}

/// What both PEs count before anything is undone.
fn execute_everything(stage: &mut Stage<'_>) -> [Counts; 2] {
    stage.exhaust(1);
    let one = Counts { processed: 5, sent: 8, messages_sent: 3, ..Counts::default() };
    assert_eq!(done(stage.pes[1].counts()), one, "PE 1 before anything is undone");
    assert_eq!(stage.pes[1].counts().history_max, 5);
    // PE 0 executes its own event first, then the one from `b`, but not the one from `c`.
    assert_eq!(stage.deliver_first(0, 2), 2);
    stage.step(0, 3);
    let zero = Counts {
        processed: 3,
        sent: 3,
        messages_sent: 1,
        messages_received: 2,
        ..Counts::default()
    };
    assert_eq!(done(stage.pes[0].counts()), zero, "PE 0 before anything is undone");
    let counts = stage.pes[0].counts();
    assert_eq!((counts.history_max, counts.receipts, counts.mailbox_depth_max), (3, 1, 2));
    [zero, one]
}

/// PE 1 receives the straggler, and executes it.
fn undo_for_the_straggler(stage: &mut Stage<'_>, [zero, one]: [Counts; 2]) -> [Counts; 2] {
    assert_eq!(stage.deliver(1), 1);
    stage.step(1, 2);
    let one = Counts {
        processed: 6,
        // `d`, `c` and `b` in one rollback, and what `b` sent to LP 5 in another.
        rolled_back: 4,
        primary: 1,
        secondary: 1,
        lengths: lengths(&[1, 1]),
        annihilated: 1,
        anti_sent: 1,
        cancelled_in_place: 2,
        messages_received: 1,
        ..one
    };
    assert_eq!(done(stage.pes[1].counts()), one, "PE 1 after the straggler");
    [zero, one]
}

/// What `d` sent has been cancelled in transit. PE 0 undoes what `b` sent, together with what came
/// after it.
fn undo_for_the_anti_message(stage: &mut Stage<'_>, [zero, one]: [Counts; 2]) -> [Counts; 2] {
    assert_eq!(stage.deliver(0), 2);
    stage.step(0, 1);
    let zero = Counts {
        rolled_back: 2,
        secondary: 1,
        lengths: lengths(&[0, 1]),
        // The event from `c` when its turn came, and the one from `b`.
        annihilated: 2,
        messages_received: 3,
        anti_received: 1,
        ..zero
    };
    let counts = stage.pes[0].counts();
    assert_eq!(done(counts), zero, "PE 0 after the anti-message");
    assert_eq!(
        (counts.receipts, counts.mailbox_depth_max, counts.mailbox_depth_mean()),
        (2, 2, 2.0)
    );
    [zero, one]
}

fn check_answer(ended: &Ended) {
    assert_eq!(ended.failure, None);
    let committed: Vec<_> =
        ended.counts.iter().map(|counts| (counts.committed, counts.remote_committed)).collect();
    assert_eq!(committed, [(5, 3), (6, 1)]);
    let expected: [&[&str]; 8] = [
        &["late"],
        &["of b, there", "own", "of c"],
        &["of d"],
        &[],
        &["a", "straggler", "b", "c", "d"],
        &["of b, here"],
        &[],
        &[],
    ];
    assert_eq!(ended.handled, expected);
    assert_eq!(ended.observed, 11);
}

/// Events are executed again only where states are worked out from copies further back.
fn check_copies(ended: &Ended, undoing: Undoing) {
    let interval = match undoing {
        Undoing::Copy { interval } => interval,
        Undoing::CopyAdaptively => unreachable!("it would depend on how many rollbacks there are"),
        Undoing::Reverse => 64,
        Undoing::Journal => 0,
    };
    assert!(ended.counts.iter().all(|counts| counts.copy_interval == interval));
    assert_eq!(ended.counts[1].repeated > 0, matches!(undoing, Undoing::Copy { interval: 2.. }));
}

/// The verdicts cover all work, but for what was done since the last shares.
fn check_verdicts(ended: &Ended) {
    let reported = ended.verdicts.iter().fold(Work::default(), |sum, verdict| sum + verdict.work);
    assert_eq!((reported.processed, reported.rolled_back), (18, 7));
    let most = |of: fn(&Counts) -> u64| ended.counts.iter().map(of).sum::<u64>();
    assert!(reported.steps <= most(|counts| counts.steps), "{reported:?}");
    assert!(reported.idle_steps <= most(|counts| counts.idle_steps), "{reported:?}");
    let epochs = ended.verdicts.len() as u64;
    let rounds = ended.verdicts.iter().map(|verdict| u64::from(verdict.rounds)).sum();
    for counts in &ended.counts {
        assert_eq!((counts.gvt_epochs, counts.gvt_rounds), (epochs, rounds));
    }
}

#[test]
fn every_rollback_is_counted_with_copies() {
    every_rollback_is_counted(Undoing::Copy { interval: 1 });
}

#[test]
fn every_rollback_is_counted_with_rare_copies() {
    every_rollback_is_counted(Undoing::Copy { interval: 1000 });
}

#[test]
fn every_rollback_is_counted_with_a_journal() {
    every_rollback_is_counted(Undoing::Journal);
}

#[test]
fn every_rollback_is_counted_with_reverse_code() {
    every_rollback_is_counted(Undoing::Reverse);
}

/// Lets PE 0 execute what PE 1 sent, with a GVT that does not make it certain, and then PE 1 cancel
/// it.
fn cancel_after_gvt(
    first: fn(u32) -> Vec<Sent>,
    then: fn(&[&'static str]) -> Vec<Sent>,
    lookahead: f64,
    gvt: f64,
) {
    let play = Play { lookahead, first, then, ..Play::default() };
    [Messages::Shared, Messages::Copy]
        .into_iter()
        .for_each(|messages| cancel_on(messages, &play, gvt));
}

fn cancel_on(messages: Messages, play: &Play, gvt: f64) {
    let lanes = if play.lookahead > 0.0 { Lanes::Both } else { Lanes::Speculative };
    let mut stage = Stage::new(
        play,
        Setting {
            algorithm: GvtAlgorithm::Synchronous,
            tuning: Tuning { lanes, messages, ..TUNING },
            ..Setting::default()
        },
    );
    stage.step(1, 1);
    stage.step(0, 1);
    assert_eq!((stage.deliver(0), stage.deliver(1)), (1, 1));
    // Both receive, and pause until GVT is found.
    loop {
        stage.step(0, 1);
        if stage.pes[0].counts().gvt_epochs > 0 {
            break;
        }
        stage.step(1, 1);
    }
    assert_eq!(stage.gvt_time(0), gvt);
    stage.step(0, 1);
    assert_eq!(stage.pes[0].counts().processed, 2);
    stage.step(1, 1);
    assert_eq!((stage.pes[1].counts().primary, stage.pes[1].counts().anti_sent), (1, 1));
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 4));
    assert_eq!(
        (&ended.handled[1][..], &ended.handled[3][..]),
        (&["sent"][..], &["straggler", "sender"][..])
    );
}

/// An event sent at GVT itself may still be cancelled, because of another event at the same time.
#[test]
fn events_sent_at_gvt_may_be_cancelled() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            3 => vec![(3, 15.0, "sender")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled[handled.len() - 1] {
            "start" => vec![(3, 15.0, "straggler")],
            "sender" => vec![(1, 50.0, "sent")],
            _ => vec![],
        }
    }
    cancel_after_gvt(first, then, 0.0, 15.0);
}

/// The time of sending is kept with less precision than GVT, but must not be rounded down.
#[test]
fn events_sent_just_after_gvt_may_be_cancelled() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            3 => vec![(3, 15.0 + 2e-9, "sender")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled[handled.len() - 1] {
            "start" => vec![(3, 15.0 + 1e-9, "straggler")],
            "sender" => vec![(1, 50.0, "sent")],
            _ => vec![],
        }
    }
    cancel_after_gvt(first, then, 0.0, 15.0 + 1e-9);
}

/// An event exactly the lookahead after GVT may be cancelled as well.
#[test]
fn events_at_the_horizon_may_be_cancelled() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            3 => vec![(3, 15.0, "sender")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled[handled.len() - 1] {
            "start" => vec![(3, 15.0, "straggler")],
            "sender" => vec![(1, 25.0, "sent")],
            _ => vec![],
        }
    }
    cancel_after_gvt(first, then, 10.0, 15.0);
}

/// Lets LP 3 of PE 1 execute `ahead`, and then undo it by reverse code, as a straggler comes before
/// it. If `certain`, what LP 2 executes first on the same PE is certain by then.
fn undo_by_reverse_code(
    reverse: fn(&mut Vec<&'static str>, &'static str, &mut Reverse<Play>),
    certain: bool,
) {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => (1..12).map(|n| (0, f64::from(n), "own")).chain([(0, 12.0, "start")]).collect(),
            2 => (2..9).map(|n| (2, f64::from(n), "saves")).collect(),
            // The first is executed ahead as well, before anything is certain. The state is copied
            // before it, but not before the second.
            3 => vec![(3, 1.5, "before"), (3, 40.0, "ahead")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled[handled.len() - 1] == "start" { vec![(3, 30.0, "straggler")] } else { vec![] }
    }
    fn save(label: &'static str, lp: &mut Context<Play>) {
        if label == "saves" {
            lp.save(7u64);
        }
    }
    let play = Play { lookahead: 10.0, first, then, save, reverse, ..Play::default() };
    let lanes = if certain { Lanes::Both } else { Lanes::Speculative };
    let mut stage =
        Stage::tuned(&play, Tuning { undoing: Undoing::Reverse, lanes, gvt_interval: 2, ..TUNING });
    while [0, 1].map(|pe| stage.pes[pe].counts().processed) != [12, 9] {
        (0..2).for_each(|pe| stage.step(pe, 1));
    }
    let counts = stage.pes[1].counts();
    assert_eq!(
        (counts.certain > 0, counts.certain < 8),
        (certain, true),
        "the first and the last are executed ahead"
    );
    assert_eq!(stage.deliver(1), 1);
    stage.step(1, 2);
    assert_eq!((stage.pes[1].counts().primary, stage.pes[1].counts().rolled_back), (1, 1));
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 22));
    assert_eq!(ended.handled[3], ["before", "straggler", "ahead"]);
}

/// An event without a copy of the state before it is undone by reverse code alone.
#[test]
fn reverse_code_undoes_events_without_a_copy() {
    static UNDONE: AtomicU32 = AtomicU32::new(0);
    fn counts(handled: &mut Vec<&'static str>, label: &'static str, _: &mut Reverse<Play>) {
        UNDONE.fetch_add(1, Ordering::Relaxed);
        assert_eq!((handled.pop(), label), (Some("ahead"), "ahead"));
    }
    undo_by_reverse_code(counts, false);
    assert_eq!(UNDONE.load(Ordering::Relaxed), 1);
}

/// Reverse code that fails leaves an unknown state. The state is worked out by coasting forward,
/// and the answer is the same.
#[test]
fn failing_reverse_code_does_not_change_the_answer() {
    fn panics(handled: &mut Vec<&'static str>, _: &'static str, _: &mut Reverse<Play>) {
        handled.push("spoilt");
        panic!("as planned");
    }
    undo_by_reverse_code(restores_too_much, false);
    undo_by_reverse_code(panics, false);
}

fn restores_too_much(handled: &mut Vec<&'static str>, _: &'static str, lp: &mut Reverse<Play>) {
    handled.push("spoilt");
    lp.restore::<u64>();
}

/// Reverse code finds what its own event saved, and nothing that certain events saved, which will
/// never be undone.
#[test]
fn values_saved_by_certain_events_are_forgotten() {
    undo_by_reverse_code(restores_too_much, true);
}

/// A cancelled event and the one that replaces it have the same key: neither is a straggler to the
/// other, even if the replacement arrives before the anti-message.
#[test]
fn a_replacement_is_no_straggler() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            1 => vec![(1, 0.5, "start")],
            4 => vec![(4, 2.0, "x")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        match handled {
            ["start"] => vec![(4, 1.0, "y")],
            ["x"] => vec![(2, 10.0, "wrong")],
            ["y"] => vec![(2, 10.0, "right")],
            _ => vec![],
        }
    }
    for undoing in [
        Undoing::Copy { interval: 1 },
        Undoing::Copy { interval: 5 },
        Undoing::Reverse,
        Undoing::Journal,
    ] {
        let play = Play { lps: 8, first, then, ..Play::default() };
        let mut stage = Stage::tuned(&play, Tuning { undoing, ..TUNING });
        stage.step(1, 1);
        assert_eq!(stage.deliver(0), 1);
        // To execute `start` and to receive `wrong`, and to execute that.
        stage.step(0, 2);
        assert_eq!((stage.deliver(1), stage.pes[0].counts().processed), (1, 2));
        // To receive `y`, to execute it, and to execute `x` again.
        stage.step(1, 3);
        assert_eq!((stage.pes[1].counts().primary, stage.pes[1].counts().anti_sent), (1, 1));
        stage.deliver_last(0);
        stage.step(0, 2);
        let counts = stage.pes[0].counts();
        assert_eq!(
            (counts.processed, counts.primary, counts.rolled_back),
            (3, 0, 0),
            "both are executed, and nothing is undone"
        );
        assert_eq!(stage.deliver(0), 1);
        stage.step(0, 1);
        let counts = stage.pes[0].counts();
        assert_eq!((counts.primary, counts.secondary, counts.rolled_back), (0, 1, 2));
        let ended = stage.finish();
        assert_eq!(
            (ended.failure, &ended.handled[2][..], &ended.handled[4][..]),
            (None, &["right"][..], &["y", "x"][..])
        );
    }
}
