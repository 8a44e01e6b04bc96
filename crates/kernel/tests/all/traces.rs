//! Traces: what they say agrees with the counts of the PE, and with the wall clock.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::by_hand::{END, Ended, Play, Sent, Setting, Stage, TUNING, in_time};
use warpline_kernel::{Activity, Lanes, SpanLimits, Trace, TraceLimits, Tuning, Undoing};
use warpline_model::LpId;

/// PE 0 has LPs 0 and 1, and PE 1 the others. LP 0 sends a straggler to LP 2. That cancels an event
/// which PE 0 has already executed.
const PLAY: Play = Play { lookahead: 10.0, first, then, ..Play::NOTHING };

fn first(lp: u32) -> Vec<Sent> {
    match lp {
        0 => (1..=20)
            .map(|n| (0, f64::from(n), "own"))
            .chain([(0, 21.0, "start"), (0, 80.0, "late")])
            .collect(),
        2 => (1..=20)
            .map(|n| (2, 2.0 * f64::from(n), "own"))
            .chain([(2, 45.0, "undone"), (2, 90.0, "last")])
            .collect(),
        _ => vec![],
    }
}

fn then(handled: &[&'static str]) -> Vec<Sent> {
    match handled[handled.len() - 1] {
        "start" => vec![(2, 31.5, "straggler")],
        "undone" => vec![(1, 55.0, "sent again")],
        _ => vec![],
    }
}

/// A thread that is on its core all the time.
fn on_core() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// Runs the play, with pauses before and after the LPs are initialised. PE 0 has a thread of its
/// own, as far as it knows.
fn traced(lanes: Lanes, undoing: Undoing) -> (Ended, Duration) {
    const PAUSE: Duration = Duration::from_millis(20);
    let tuning = Tuning { lanes, undoing, batch: 4, gvt_interval: 8, ..TUNING };
    let mut stage = Stage::bare(&PLAY, Setting { tuning, ..Setting::default() });
    let spans = SpanLimits { block: 100, blocks: 100, sums: 102 };
    let limits = TraceLimits {
        origin: Instant::now(),
        spans,
        snapshots: 10_000,
        events: 10_000,
        lp_every: 1,
    };
    stage.pes.iter_mut().for_each(|pe| pe.trace(limits));
    stage.pes[0].begin_thread(on_core, true);
    std::thread::sleep(PAUSE);
    let mut stage = stage.initialised();
    let since = Instant::now();
    std::thread::sleep(PAUSE);
    assert_eq!(stage.pes[0].window(), END);
    // PE 1 goes ahead alone, and PE 0 executes what will be cancelled.
    if lanes != Lanes::Safe {
        stage.exhaust(1);
        stage.deliver(0);
        stage.step(0, 3);
    }
    let ended = stage.finish();
    let waited = PAUSE.as_secs_f64();
    let phases =
        ended.phases.iter().map(|phases| phases.list().iter().map(|(_, time)| time).sum::<f64>());
    let phases: Vec<f64> = phases.collect();
    assert!(
        phases[0] >= waited && phases[0] <= since.elapsed().as_secs_f64() + waited,
        "{phases:?} of {:?}",
        since.elapsed()
    );
    assert_eq!((&ended.failure, ended.observed), (&None, 46));
    (ended, limits.origin.elapsed())
}

/// What the spans of a trace say: LPs made, events executed, committed and undone, and idle steps.
fn sums(trace: &Trace) -> [u64; 5] {
    trace.spans.kept().fold([0; 5], |[made, executed, committed, undone, idle], span| {
        match span.activity {
            Activity::Making { lps } => [made + lps, executed, committed, undone, idle],
            Activity::Batch { executed: more, committed: at_once } => {
                [made, executed + more, committed + at_once, undone, idle]
            }
            Activity::Rollback { length, .. } => [made, executed, committed, undone + length, idle],
            Activity::Commit { committed: more } => {
                [made, executed, committed + more, undone, idle]
            }
            Activity::Idle { steps } => [made, executed, committed, undone, idle + steps],
        }
    })
}

fn check(trace: &Trace, pe: usize, ended: &Ended, elapsed: Duration) {
    let counts = &ended.counts[pe];
    assert_eq!(
        sums(trace),
        [2, counts.processed, counts.committed, counts.rolled_back, counts.idle_steps],
        "PE {pe}"
    );
    let spans: Vec<_> = trace.spans.kept().collect();
    assert!(
        spans.iter().all(|span| span.since <= span.until)
            && spans.windows(2).all(|pair| pair[0].until <= pair[1].since)
    );
    assert!(u128::from(spans[spans.len() - 1].until) <= elapsed.as_nanos());
    // The clock goes on.
    assert!(
        spans[0].since >= 20_000_000 && spans[spans.len() - 1].until >= 40_000_000,
        "{spans:?}"
    );
    // Committed events, in order for each LP.
    assert_eq!((trace.offered, trace.events.len() as u64), (counts.committed, counts.committed));
    for lp in [2 * pe as u32, 2 * pe as u32 + 1].map(LpId) {
        let times: Vec<_> = trace
            .events
            .iter()
            .filter(|event| event.lp == lp)
            .map(|event| event.key.time)
            .collect();
        assert!(
            times.len() == ended.handled[lp.0 as usize].len() && times.is_sorted(),
            "{lp}: {times:?}"
        );
    }
    let snapshots = trace.snapshots.items();
    assert_eq!(snapshots.len(), ended.verdicts.len());
    for (snapshot, verdict) in snapshots.iter().zip(&ended.verdicts) {
        let gvt = verdict.gvt.time(crate::by_hand::time(END)).get();
        assert_eq!((snapshot.gvt, snapshot.window), (gvt, END));
    }
    let last = snapshots[snapshots.len() - 1];
    assert_eq!((last.gvt, last.pending, last.uncommitted), (END, 0, 0));
}

#[test]
fn traces_agree_with_the_counts() {
    in_time(|| {
        for (lanes, undoing) in [
            (Lanes::Safe, Undoing::Copy { interval: 1 }),
            (Lanes::Speculative, Undoing::Copy { interval: 1 }),
            (Lanes::Speculative, Undoing::Copy { interval: 5 }),
            (Lanes::Both, Undoing::Copy { interval: 1 }),
            (Lanes::Both, Undoing::Reverse),
            (Lanes::Both, Undoing::Journal),
        ] {
            let (ended, elapsed) = traced(lanes, undoing);
            assert_eq!(
                ended.counts.iter().any(|counts| counts.rolled_back > 0),
                lanes != Lanes::Safe,
                "{lanes:?}"
            );
            let traces: Vec<_> = ended.traces.iter().flatten().collect();
            for (pe, trace) in traces.iter().enumerate() {
                check(trace, pe, &ended, elapsed);
                let mut batches = trace.spans.kept().filter_map(|span| match span.activity {
                    Activity::Batch { executed, committed } => Some((executed, committed)),
                    _ => None,
                });
                // Certain events commit at once, and others never do.
                match lanes {
                    Lanes::Safe => {
                        assert!(batches.all(|(executed, committed)| executed == committed))
                    }
                    Lanes::Speculative => assert!(batches.all(|(_, committed)| committed == 0)),
                    Lanes::Both => {}
                }
            }
            assert_eq!(traces.len(), 2);
        }
    });
}
