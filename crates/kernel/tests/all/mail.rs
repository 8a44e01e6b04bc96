//! What PEs hand over to the wires, and when: messages that find no room, bounds, and requests for
//! GVT.

use crate::by_hand::{END, Play, Sent, Setting, Stage, TUNING, in_time};
use warpline_kernel::gvt::{Pacer, PacerDriver};
use warpline_kernel::{GoAhead, Lanes, Messages, Tuning};

/// LP 0 sends seven messages in its first event: PE 1 has LPs 2 and 3, and PE 2 has LPs 4 and 5.
const SENDER: Play = Play { lps: 6, lookahead: 10.0, first, then, ..Play::NOTHING };

fn first(lp: u32) -> Vec<Sent> {
    if lp == 0 { vec![(0, 1.0, "start"), (0, 5.0, "own")] } else { vec![] }
}

fn then(handled: &[&'static str]) -> Vec<Sent> {
    match handled {
        ["start"] => vec![
            (2, 11.0, "a"),
            (4, 12.0, "b"),
            (2, 13.0, "c"),
            (4, 14.0, "d"),
            (3, 15.0, "e"),
            (5, 16.0, "f"),
            (2, 17.0, "g"),
        ],
        _ => vec![],
    }
}

/// PE 0 knows that nothing comes before time 10, and has executed nothing.
fn about_to_send(messages: Messages) -> Stage<'static> {
    let tuning = Tuning { lanes: Lanes::Safe, patience: 1000, messages, ..TUNING };
    let mut stage = Stage::new(&SENDER, Setting { pes: 3, tuning, ..Setting::default() });
    stage.let_bounds_arrive();
    stage.step(0, 1);
    assert_eq!(stage.published(0), (Some(1.0), 0));
    stage
}

/// Checks that all seven messages arrive, once.
fn finish(stage: Stage<'_>) {
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 9));
    let expected: [&[&str]; 6] =
        [&["start", "own"], &[], &["a", "c", "g"], &["e"], &["b", "d"], &["f"]];
    assert_eq!(ended.handled, expected);
}

/// Runs a test with shared buffers, and with messages by value; it fails if it hangs.
fn on_each_wire(test: fn(Messages)) {
    [Messages::Shared, Messages::Copy]
        .into_iter()
        .for_each(|messages| in_time(move || test(messages)));
}

/// A bound promises that nothing before it will be sent, so everything sent must be on the wires
/// before the bound is published.
#[test]
fn messages_are_handed_over_before_a_bound_is_published() {
    on_each_wire(|messages| {
        let mut stage = about_to_send(messages);
        stage.step(0, 1);
        assert_eq!(stage.published(0), (Some(5.0), 7), "{messages:?}");
        finish(stage);
    });
}

/// Messages that find no room wait at their sender and are handed over, once each, as there is
/// room. Until then no bound is published, as it would not cover messages that may still arrive.
#[test]
fn messages_that_find_no_room_wait() {
    on_each_wire(|messages| {
        let mut stage = about_to_send(messages);
        stage.make_room_for(0);
        stage.step(0, 2);
        assert_eq!(
            (stage.pes[0].counts().certain, stage.deliver(1), stage.deliver(2)),
            (2, 0, 0),
            "there is no room"
        );
        for (room, left) in [(2, 5), (1, 4), (3, 1)] {
            stage.make_room_for(room);
            stage.step(0, 3);
            assert_eq!(
                stage.deliver(1) + stage.deliver(2),
                room,
                "{messages:?}: {left} of them wait"
            );
            assert_eq!(
                stage.published(0).0,
                Some(1.0),
                "{messages:?}: a bound was published, though {left} messages wait"
            );
        }
        stage.make_room_for(usize::MAX);
        stage.step(0, 1);
        assert_eq!(stage.deliver(1) + stage.deliver(2), 1);
        assert_eq!(
            stage.published(0),
            (Some(10.0), 7),
            "{messages:?}: the bound is published when nothing waits any more"
        );
        finish(stage);
    });
}

/// What a PE last told others about GVT may still wait for room in its port when the PE is over,
/// and they wait for it.
#[test]
fn a_pe_that_is_over_goes_on_flushing() {
    on_each_wire(|messages| {
        let mut stage = about_to_send(messages);
        assert_eq!([0, 1, 2].map(|pe| stage.flushes_when_over(pe)), [1; 3], "{messages:?}");
        finish(stage);
    });
}

/// PE 0 knows that nothing comes before time 11, as all PEs have published the time of their first
/// event.
fn about_to_send_in_windows(messages: Messages) -> Stage<'static> {
    let tuning = Tuning { lanes: Lanes::Safe, patience: 1000, messages, windows: true, ..TUNING };
    let mut stage = Stage::new(&SENDER, Setting { pes: 3, tuning, ..Setting::default() });
    stage.let_bounds_arrive();
    assert_eq!(
        [0, 1, 2].map(|pe| stage.rounds(pe)),
        [vec![(1.0, 0)], vec![(END, 0)], vec![(END, 0)]]
    );
    stage
}

/// A window of two events takes two steps here. Its bound is published after both, and covers the
/// messages in transit, of which no other PE knows yet.
#[test]
fn a_round_covers_the_messages_of_its_window() {
    on_each_wire(|messages| {
        let mut stage = about_to_send_in_windows(messages);
        stage.step(0, 1);
        assert_eq!(
            (stage.pes[0].counts().certain, stage.rounds(0).len()),
            (1, 1),
            "{messages:?}: the window goes on"
        );
        stage.step(0, 5);
        assert_eq!(
            (stage.pes[0].counts().certain, &stage.rounds(0)[1..]),
            (2, &[(11.0, 7)][..]),
            "{messages:?}"
        );
        // Until the others have published, too, nothing else happens.
        stage.step(1, 1);
        stage.step(0, 5);
        assert_eq!((stage.rounds(0).len(), stage.rounds(1).len()), (2, 2));
        finish(stage);
    });
}

/// Nothing is published before all messages of a window have found room.
#[test]
fn a_round_waits_for_messages_that_find_no_room() {
    on_each_wire(|messages| {
        let mut stage = about_to_send_in_windows(messages);
        stage.make_room_for(6);
        stage.step(0, 5);
        assert_eq!(
            (stage.deliver(1) + stage.deliver(2), stage.rounds(0).len()),
            (6, 1),
            "{messages:?}: a message waits"
        );
        stage.make_room_for(1);
        stage.step(0, 1);
        assert_eq!(
            (stage.deliver(1) + stage.deliver(2), &stage.rounds(0)[1..]),
            (1, &[(11.0, 7)][..]),
            "{messages:?}"
        );
        finish(stage);
    });
}

/// Everything sent in a window is filed before the next one opens, in however many steps the
/// messages arrive.
#[test]
fn a_window_opens_with_all_messages_filed() {
    on_each_wire(|messages| {
        let mut stage = about_to_send_in_windows(messages);
        [2, 1, 1].into_iter().enumerate().for_each(|(pe, steps)| stage.step(pe, steps));
        assert_eq!([0, 1, 2].map(|pe| stage.rounds(pe).len()), [2, 2, 2]);
        assert_eq!(stage.deliver(1), 4);
        // It finds all bounds of the round and all messages in one step, in which it executes the
        // first of them.
        stage.step(1, 1);
        assert_eq!(stage.pes[1].counts().certain, 1, "{messages:?}");
        stage.deliver(2);
        stage.step(1, 5);
        // All events of the window from 11 to 21.
        assert_eq!((stage.pes[1].counts().certain, stage.rounds(1).len()), (4, 3), "{messages:?}");
        finish(stage);
    });
}

/// How often GVT was computed while a PE executed this many events of its own, one per step, beside
/// another PE that has nothing to do.
fn epochs(events: u32, lanes: Lanes, gvt_interval: u32) -> u64 {
    const EVENTS: u32 = 1000;
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 {
            (1..=EVENTS).map(|n| (0, f64::from(n) / 25.0, "own")).collect()
        } else {
            vec![]
        }
    }
    let play = Play { lps: 2, lookahead: 50.0, first, ..Play::default() };
    let tuning = Tuning { lanes, gvt_interval, patience: 1_000_000, ..TUNING };
    let mut stage = Stage::tuned(&play, tuning);
    while stage.pes[0].counts().processed < u64::from(events) {
        stage.step(0, 1);
        // It takes part without executing anything. If bounds do not advance, it would ask for GVT
        // itself then.
        if lanes != Lanes::Speculative || stage.pes[0].counts().processed > 1 {
            stage.step(1, 1);
        }
    }
    stage.pes[0].counts().gvt_epochs
}

/// A PE that executes events ahead asks for GVT after an interval, and not before. Certain events
/// commit without GVT, which is asked for far less often then.
#[test]
fn gvt_is_asked_for_after_an_interval() {
    in_time(|| {
        assert_eq!(epochs(200, Lanes::Both, 1000), 0);
        // By the first GVT the horizon comes after all of these events.
        assert_eq!(epochs(200, Lanes::Both, 50), 1);
        let certain = epochs(1000, Lanes::Both, 10);
        assert!((2..6).contains(&certain), "GVT was found {certain} times");
    });
}

/// A single PE finds GVT at once.
#[test]
fn a_single_pe_finds_gvt_once_per_interval() {
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 { (1..=100).map(|n| (0, f64::from(n) / 2.0, "own")).collect() } else { vec![] }
    }
    for gvt_interval in [1, 7, 25, 102] {
        let play = Play { lps: 1, first, ..Play::default() };
        let mut stage = Stage::new(
            &play,
            Setting { pes: 1, tuning: Tuning { gvt_interval, ..TUNING }, ..Setting::default() },
        );
        stage.step(0, 100);
        let counts = stage.pes[0].counts();
        // The initialisation of the LP counts, too.
        assert_eq!(
            (counts.processed, counts.gvt_epochs),
            (100, 101 / u64::from(gvt_interval)),
            "with an interval of {gvt_interval}"
        );
    }
}

/// A PE that never waits for GVT has it found less and less often: four times per interval, which
/// doubles up to eight times the first.
#[test]
fn an_interval_that_is_adapted_grows_where_nobody_waits() {
    let mut stage = about_to_execute_alone(10);
    stage.step(0, 1000);
    let counts = stage.pes[0].counts();
    assert_eq!(
        (counts.processed, counts.gvt_epochs),
        (1000, 12 + (1001 - 4 * (10 + 20 + 40)) / 80)
    );
}

/// Where another thread has the interval, a PE that is not idle asks when that thread says so, and
/// not before.
#[test]
fn a_pe_that_follows_another_thread_asks_when_it_is_told() {
    let pacer = Pacer::new(10);
    let mut driver = PacerDriver::new(pacer.clone());
    let mut stage = about_to_execute_alone(10);
    stage.pes[0].follow(pacer);
    for epochs in 0..4 {
        (0..9).for_each(|_| driver.pass());
        stage.step(0, 200);
        assert_eq!(stage.pes[0].counts().gvt_epochs, epochs, "the thread has said nothing");
        driver.pass();
        stage.step(0, 1);
        assert_eq!(stage.pes[0].counts().gvt_epochs, epochs + 1);
    }
}

/// A PE with the events of 1000 steps ahead, which adapts the interval from this many events at
/// first.
fn about_to_execute_alone(gvt_interval: u32) -> Stage<'static> {
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 { (1..=1000).map(|n| (0, f64::from(n) / 25.0, "own")).collect() } else { vec![] }
    }
    static PLAY: Play = Play { lps: 1, first, ..Play::NOTHING };
    Stage::new(
        &PLAY,
        Setting {
            pes: 1,
            tuning: Tuning { gvt_interval, adapts_interval: true, ..TUNING },
            ..Setting::default()
        },
    )
}

/// If bounds advance, a PE with nothing to execute waits for them for a while before it asks for
/// GVT. It does not wait for long if bounds would have to creep up to an event that is far away.
#[test]
fn a_pe_that_waits_for_bounds_has_patience() {
    fn near(lp: u32) -> Vec<Sent> {
        vec![(lp, 3.0, "own")]
    }
    fn far(lp: u32) -> Vec<Sent> {
        vec![(lp, 60.0, "own")]
    }
    in_time(|| {
        for (first, at_most, at_least) in [(near as fn(u32) -> Vec<Sent>, 64, 56), (far, 32, 4)] {
            let play = Play { lps: 2, lookahead: 1.0, first, ..Play::default() };
            let mut stage =
                Stage::tuned(&play, Tuning { lanes: Lanes::Safe, patience: 64, ..TUNING });
            let mut steps = 0;
            while stage.pes[0].counts().gvt_epochs == 0 {
                (0..2).for_each(|pe| stage.step(pe, 1));
                steps += 1;
            }
            assert!((at_least..at_most + 16).contains(&steps), "GVT was found after {steps} steps");
            assert_eq!(stage.finish().observed, 2);
        }
    });
}

/// Whoever steps a PE may leave idle steps out. PE 1 publishes nothing here, so PE 0 waits.
#[test]
fn a_pe_says_after_how_many_idle_steps_it_asks_for_gvt() {
    fn near(lp: u32) -> Vec<Sent> {
        vec![(lp, 3.0, "own")]
    }
    in_time(|| {
        let play = Play { lps: 2, lookahead: 1.0, first: near, ..Play::default() };
        let mut stage = Stage::tuned(&play, Tuning { lanes: Lanes::Safe, patience: 64, ..TUNING });
        stage.step(0, 4);
        let left = stage.pes[0].idle_steps_left().expect("it will ask");
        assert!(left <= 64);
        stage.step(0, 1);
        assert_eq!(stage.pes[0].idle_steps_left(), Some(left - 1));
        stage.pes[0].note_idle_steps(left - 2);
        assert_eq!(stage.pes[0].idle_steps_left(), Some(1));
        stage.step(0, 1);
        assert_eq!(stage.pes[0].idle_steps_left(), None, "it has asked");
    });
}

/// Without a safe lane or without lookahead, bounds do not advance, and nothing is gained by
/// waiting for them.
#[test]
fn a_pe_without_bounds_asks_for_gvt_at_once() {
    fn first(lp: u32) -> Vec<Sent> {
        vec![(lp, 3.0, "own")]
    }
    in_time(|| {
        for (lanes, lookahead) in [
            (Lanes::Speculative, 0.0),
            (Lanes::Speculative, 1.0),
            (Lanes::Both, 0.0),
            (Lanes::Safe, 0.0),
        ] {
            let play = Play { lps: 2, lookahead, first, ..Play::default() };
            let mut stage = Stage::tuned(&play, Tuning { lanes, patience: 1_000_000, ..TUNING });
            stage.let_bounds_arrive();
            for _ in 0..10 {
                (0..2).for_each(|pe| stage.step(pe, 1));
            }
            assert!(
                stage.pes[0].counts().gvt_epochs > 0,
                "{lanes:?} with the lookahead {lookahead}"
            );
            assert_eq!(stage.finish().observed, 2);
        }
    });
}

/// What was executed ahead commits as soon as bounds make it certain, without GVT.
#[test]
fn what_has_become_certain_commits_without_gvt() {
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 { vec![(0, 15.0, "ahead")] } else { vec![(1, 5.0, "ahead")] }
    }
    let play = Play { lps: 2, lookahead: 10.0, first, ..Play::default() };
    let mut stage = Stage::tuned(&play, Tuning { lanes: Lanes::Both, patience: 1000, ..TUNING });
    stage.let_bounds_arrive();
    let counts = |stage: &Stage<'_>| {
        [0, 1].map(|pe| (stage.pes[pe].counts().ahead(), stage.pes[pe].counts().committed))
    };
    stage.step(0, 1);
    stage.step(1, 1);
    assert_eq!(counts(&stage), [(1, 0), (1, 0)]);
    // There is nothing else to do, and PE 0 can send nothing before 10.
    stage.step(1, 1);
    assert_eq!((counts(&stage), stage.published(1).0), ([(1, 0), (1, 1)], Some(10.0)));
    stage.step(0, 1);
    assert_eq!((counts(&stage), stage.pes[0].counts().gvt_epochs), ([(1, 1), (1, 1)], 0));
    assert_eq!(stage.finish().observed, 2);
}

/// A PE that is free to choose begins by waiting for its horizon; one that must not wait goes ahead
/// at once.
#[test]
fn a_pe_that_may_wait_for_its_horizon_does() {
    fn first(lp: u32) -> Vec<Sent> {
        vec![(lp, 50.0, "own")]
    }
    for (go_ahead, ahead) in [(GoAhead::Always, 1), (GoAhead::Auto, 0)] {
        let play = Play { lps: 2, lookahead: 10.0, first, ..Play::default() };
        let tuning = Tuning { lanes: Lanes::Both, go_ahead, patience: 1000, ..TUNING };
        let mut stage = Stage::tuned(&play, tuning);
        stage.step(0, 10);
        assert_eq!(stage.pes[0].counts().processed, ahead, "{go_ahead:?}");
        let ended = stage.finish();
        assert_eq!((ended.observed, ended.counts[0].ahead()), (2, ahead), "{go_ahead:?}");
    }
    // Without lookahead nothing is gained by waiting.
    let play = Play { lps: 2, first, ..Play::default() };
    let tuning = Tuning { lanes: Lanes::Both, go_ahead: GoAhead::Auto, ..TUNING };
    let mut stage = Stage::tuned(&play, tuning);
    stage.step(0, 1);
    assert_eq!(stage.pes[0].counts().processed, 1);
}

/// A PE that always has something to do commits, too, once it has executed enough to make looking
/// through it worth while.
#[test]
fn a_busy_pe_commits_without_gvt_when_that_is_worth_it() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => (0..40).map(|n| (0, 11.0 + f64::from(n) / 100.0, "certain later")).collect(),
            1 => (0..200).map(|n| (1, 35.0 + f64::from(n) / 100.0, "ahead")).collect(),
            _ => vec![],
        }
    }
    let play = Play { lookahead: 10.0, first, ..Play::default() };
    let mut stage = Stage::tuned(&play, Tuning { lanes: Lanes::Both, patience: 1000, ..TUNING });
    stage.let_bounds_arrive();
    // By the bound of PE 1, what comes before 20 is certain.
    stage.step(0, 50);
    stage.step(1, 1);
    let counts =
        |stage: &Stage<'_>| (stage.pes[0].counts().ahead(), stage.pes[0].counts().committed);
    stage.step(0, 13);
    assert_eq!((counts(&stage), stage.published(1).0), ((63, 0), Some(10.0)));
    stage.step(0, 1);
    assert_eq!(counts(&stage), (64, 40));
    // The 24 that are left would be looked through again. That takes more of them: 64 are too few
    // now, even as soon as all are certain.
    stage.step(0, 40);
    stage.step(1, 1);
    stage.step(0, 1);
    assert_eq!((counts(&stage), stage.published(1).0), ((105, 40), Some(30.0)));
    assert_eq!(stage.pes[0].counts().gvt_epochs, 0);
    assert_eq!(stage.finish().observed, 240);
}
