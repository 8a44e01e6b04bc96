//! The history keeps records long enough, and no more of them than allowed.

use crate::by_hand::{Play, Sent, Setting, Stage, TUNING};
use warpline_kernel::gvt::GvtAlgorithm;
use warpline_kernel::{Lanes, Tuning, Undoing};

/// Between the event before which the state of LP 0 is copied and the one that fails there, every
/// other LP executes an event, and all of them have committed. A new copy is made only after about
/// a thousand places, so the old one must be kept as long.
#[test]
fn a_copy_is_kept_as_long_as_it_may_be_needed() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 0.0, "copied"), (0, 99.0, "fails")],
            _ => vec![(lp, f64::from(lp) / 64.0, "other")],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        assert!(handled[handled.len() - 1] != "fails", "as planned");
        vec![]
    }
    for undoing in [Undoing::Copy { interval: 1_000_000 }, Undoing::Reverse, Undoing::Journal] {
        for kps in [1, 10_000] {
            for lps in [2, 100].into_iter().chain(1015..1035).chain([3000]) {
                let play = Play { lps, first, then, ..Play::default() };
                let tuning = Tuning { undoing, kps, gvt_interval: 1, ..TUNING };
                let ended =
                    Stage::new(&play, Setting { pes: 1, tuning, ..Setting::default() }).finish();
                let failure = ended.failure.map(|failure| (failure.time, failure.committed));
                assert_eq!(
                    (failure, &ended.handled[0][..]),
                    (Some((99.0, u64::from(lps))), &["copied"][..]),
                    "{undoing:?}, {kps} KPs, {lps} LPs"
                );
            }
        }
    }
}

/// As long as GVT stands still, here because of a message in flight, a PE stops at the limit,
/// except for events that come before ones it has already executed.
#[test]
fn a_full_history_takes_events_before_its_latest() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => (1..=40).map(|n| (0, f64::from(n), "own")).collect(),
            2 => vec![(2, 0.5, "start")],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled == ["start"] {
            vec![
                (1, 13.0, "in flight"),
                (1, 12.5, "late"),
                (1, 6.0, "early, too"),
                (1, 5.0, "early"),
            ]
        } else {
            vec![]
        }
    }
    let play = Play { first, then, ..Play::default() };
    let mut stage = Stage::tuned(&play, Tuning { batch: 4, history_most: 12, ..TUNING });
    stage.step(0, 20);
    assert_eq!(stage.pes[0].counts().processed, 12);
    stage.step(1, 1);
    assert_eq!(stage.deliver_first(0, 1), 1);
    stage.step(0, 20);
    assert_eq!((stage.pes[0].counts().processed, stage.pes[0].counts().committed), (13, 0));
    assert_eq!(stage.deliver_first(0, 2), 2);
    stage.step(0, 20);
    assert_eq!((stage.pes[0].counts().processed, stage.pes[0].counts().committed), (14, 0));
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed, ended.handled[0].len()), (None, 45, 40));
    assert_eq!(ended.handled[1], ["early", "early, too", "late", "in flight"]);
    assert!(ended.counts[0].history_max < 12 + 4, "{}", ended.counts[0].history_max);
    assert_eq!(ended.counts[0].rolled_back, 0, "only twice as much calls for room to be made");
}

/// Events due at GVT are executed even if they come at the same time as those that fill the
/// history, and before them in the order of ties.
#[test]
fn a_full_history_takes_events_due_at_gvt() {
    fn first(lp: u32) -> Vec<Sent> {
        match lp {
            0 => vec![(0, 1.0, "start")],
            2 => vec![(2, 5.0, "own"); 8],
            _ => vec![],
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled == ["start"] { vec![(3, 5.0, "due")] } else { vec![] }
    }
    let play = Play { first, then, ..Play::default() };
    let mut stage = Stage::tuned(&play, Tuning { history_most: 4, ..TUNING });
    stage.exhaust(1);
    assert_eq!(stage.pes[1].counts().processed, 4);
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 10));
}

/// An event within the lookahead of GVT leaves no record, but is counted like others.
#[test]
fn certain_events_need_no_history() {
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 { vec![(0, 1.0, "start")] } else { vec![] }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled == ["start"] {
            vec![(2, 50.0, "one"), (2, 51.0, "two"), (2, 52.0, "three"), (2, 59.0, "four")]
        } else {
            vec![]
        }
    }
    let play = Play { lookahead: 10.0, first, then, ..Play::default() };
    let mut stage = Stage::new(
        &play,
        Setting {
            algorithm: GvtAlgorithm::Synchronous,
            tuning: Tuning { lanes: Lanes::Both, ..TUNING },
            ..Setting::default()
        },
    );
    stage.exhaust(0);
    assert_eq!(stage.deliver(1), 4);
    stage.gvt();
    assert_eq!(stage.gvt_time(1), 50.0);
    stage.step(1, 3);
    // The first was executed before the PE knew of GVT.
    let counts = stage.pes[1].counts();
    assert_eq!(
        (counts.processed, counts.committed, counts.remote_committed, counts.history_max),
        (4, 4, 4, 1)
    );
    assert_eq!((counts.certain, counts.ahead()), (3, 1));
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, 5));
    assert_eq!(ended.handled[2], ["one", "two", "three", "four"]);
}

/// A PE that only sends gets its buffers back from one that only receives, and does not keep making
/// new ones.
#[test]
fn unneeded_buffers_come_back() {
    const WAVES: u32 = 20;
    const EACH: usize = 3000;
    fn first(lp: u32) -> Vec<Sent> {
        if lp == 0 {
            (1..=WAVES).map(|wave| (0, f64::from(wave), "wave")).collect()
        } else {
            vec![]
        }
    }
    fn then(handled: &[&'static str]) -> Vec<Sent> {
        if handled[handled.len() - 1] == "wave" {
            vec![(1, 0.5 + handled.len() as f64, "drop"); EACH]
        } else {
            vec![]
        }
    }
    let play = Play { lps: 2, first, then, ..Play::default() };
    // States are long here, and copying them would take too long.
    let mut stage = Stage::new(
        &play,
        Setting {
            algorithm: GvtAlgorithm::Synchronous,
            tuning: Tuning { undoing: Undoing::Reverse, ..TUNING },
            ..Setting::default()
        },
    );
    // The receiver handles everything that the sender sends in a step, and both have time to find
    // GVT.
    for _ in 0..6 * WAVES {
        stage.deliver(0);
        stage.step(0, 1);
        stage.deliver(1);
        stage.exhaust(1);
    }
    let ended = stage.finish();
    assert_eq!((ended.failure, ended.observed), (None, u64::from(WAVES) * (1 + EACH as u64)));
    let sent = u64::from(WAVES) * EACH as u64;
    assert!(ended.places < sent, "{} buffers for {sent} messages", ended.places);
}
