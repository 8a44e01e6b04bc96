//! An event that does not end is reported while it runs, and can end its run; all runs have the
//! same large stacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::settings;
use warpline::prelude::*;
use warpline::{GvtAlgorithm, LongEvent, Synchronisation};
use warpline_testkit::{Story, time_limit};

/// Where a model waits until the test ends: in event 5 of LP 3, or in its `finish`.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    InEvent,
    InFinish,
}

/// Four LPs that send each other tokens, one of which waits.
fn waiting(waits: Waits, free: &Arc<AtomicBool>) -> Story {
    fn wait(free: &AtomicBool) {
        while !free.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(1));
        }
    }
    let free_event = Arc::clone(free);
    let free_finish = Arc::clone(free);
    Story::new(4)
        .lookahead(1.0)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(move |events, _, lp| {
            *events += 1;
            if waits == Waits::InEvent && (lp.id(), *events) == (LpId(3), 5) {
                wait(&free_event);
            }
            lp.send((lp.id().0 + 1) % 4, 1.0, 0);
        })
        .finish(move |_, lp| {
            if waits == Waits::InFinish && lp.id() == LpId(3) {
                wait(&free_finish);
            }
        })
}

type Engine = fn(Simulation<'_, Story>) -> Simulation<'_, Story>;

const ENGINES: [(&str, Engine); 5] = [
    ("sequential", |run| run.sync(Synchronisation::Sequential)),
    ("conservative", |run| run.sync(Synchronisation::Conservative).threads(2)),
    ("optimistic", |run| {
        run.sync(Synchronisation::Optimistic).threads(2).gvt(GvtAlgorithm::Synchronous)
    }),
    ("Time Warp alone", |run| {
        run.sync(Synchronisation::Optimistic).threads(2).use_lookahead(false)
    }),
    ("virtual cluster", |run| run.threads(2).virtual_cluster(7)),
];

/// In seconds: a busy machine does not hold up a thread within any other event for so long.
const LIMIT: f64 = 1.0;

/// The error of a run in which the model waits.
fn stuck(engine: Engine, waits: Waits, heard: &mut dyn FnMut(&LongEvent)) -> LongEvent {
    let free = Arc::new(AtomicBool::new(false));
    let error = engine(Simulation::new(waiting(waits, &free)).end(20.0))
        .event_limit(LIMIT)
        .on_long_event(heard)
        .run()
        .expect_err("it waits");
    free.store(true, Ordering::Relaxed);
    match error {
        Error::LongEvent(long) => *long,
        other => panic!("{other}"),
    }
}

#[test]
fn an_event_that_never_ends_is_an_error() {
    let _limit = time_limit(60);
    for (name, engine) in ENGINES {
        let since = Instant::now();
        let LongEvent { pe, lp, time, event, seconds, .. } =
            stuck(engine, Waits::InEvent, &mut |_| {});
        assert_eq!((lp, event), (LpId(3), 5), "{name}");
        assert_eq!(time, 5.0, "{name}");
        assert_eq!(pe.is_none(), name == "sequential", "{name}: {pe:?}");
        let all = since.elapsed().as_secs_f64();
        assert!((LIMIT..all).contains(&seconds), "{name}: {seconds} of {all}");
    }
}

#[test]
fn only_time_warp_reports_uncertain_events() {
    let _limit = time_limit(60);
    for (name, engine) in ENGINES {
        let certain = stuck(engine, Waits::InEvent, &mut |_| {}).certain;
        assert!(certain || !matches!(name, "sequential" | "conservative"), "{name}");
        assert!(!certain || name != "Time Warp alone", "{name}");
    }
}

#[test]
fn a_finish_that_never_ends_is_an_error() {
    let _limit = time_limit(60);
    for (name, engine) in ENGINES {
        let LongEvent { lp, event, certain, .. } = stuck(engine, Waits::InFinish, &mut |_| {});
        assert_eq!((lp, event, certain), (LpId(3), 0, true), "{name}");
    }
}

#[test]
fn a_listener_hears_of_a_long_event_before_it_ends() {
    let _limit = time_limit(60);
    let free = Arc::new(AtomicBool::new(false));
    let model = waiting(Waits::InEvent, &free);
    let mut heard = Vec::new();
    let count = AtomicU64::new(0);
    let mut hear = |long: &LongEvent| {
        heard.push(long.clone());
        count.fetch_add(1, Ordering::Relaxed);
        free.store(true, Ordering::Relaxed);
    };
    let run = Simulation::new(model)
        .end(20.0)
        .threads(2)
        .on_long_event(&mut hear)
        .run()
        .expect("it ends after all");
    assert_eq!(run.record.committed_events, 4 * 19);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!((heard[0].lp, heard[0].event) == (LpId(3), 5) && heard[0].seconds >= 5.0, "{heard:?}");
}

/// 12 MiB: more than the main thread of a program usually has, and less than the default.
#[inline(never)]
fn large_locals() -> u64 {
    let mut table = [1u8; 12 << 20];
    std::hint::black_box(&mut table);
    table.iter().step_by(1 << 20).map(|&one| u64::from(one)).sum()
}

/// Reserves a large piece of stack in `init`, `handle`, `reverse` and `finish`.
fn large() -> Story {
    Story::new(4)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            large_locals()
        })
        .handle(|sum, _, lp| {
            *sum += large_locals();
            let delay = lp.random().exponential(1.0);
            lp.send((lp.id().0 + 1) % 4, delay, 0);
        })
        .reverse(|sum, _, lp| {
            *sum -= large_locals();
            lp.random().exponential(1.0);
        })
        .finish(|_, _| assert_eq!(large_locals(), 12))
}

#[inline(never)]
fn recursion(depth: u32) -> u64 {
    let mut table = [u64::from(depth); 128];
    std::hint::black_box(&mut table);
    if depth == 0 { table[0] } else { recursion(depth - 1) + table[64] }
}

/// Recurses too deeply in one event of LP 3.
fn deep() -> Story {
    Story::new(4)
        .init(|lp| {
            lp.send(lp.id(), 1.0, 0);
            0
        })
        .handle(|sum, _, lp| {
            if lp.id() == LpId(3) && lp.now() == 7.0 {
                *sum += recursion(100_000);
            }
            lp.send(lp.id(), 1.0, 0);
        })
}

/// Set for child processes, to the settings of their run.
const CHILD: &str = "WARPLINE_TEST_LAST_WORDS";

#[test]
#[ignore = "the child of the_last_words_name_the_event"]
fn a_stack_overflows() {
    let settings = settings(&std::env::var(CHILD).expect("only as a child"));
    let run = Simulation::new(deep()).settings(settings).end(20.0).run().expect("a run");
    println!("the sum is {}", run.states[3]);
}

/// A stack overflow names the event that ran; with a larger stack, the same run succeeds.
#[test]
#[cfg(target_os = "linux")]
fn the_last_words_name_the_event() {
    let program = std::env::current_exe().expect("this is a program");
    let run = |settings: &str| {
        let test = ["--exact", "long_events::a_stack_overflows", "--nocapture", "--ignored"];
        let output = std::process::Command::new(&program)
            .args(test)
            .env(CHILD, settings)
            .output()
            .expect("it runs again");
        (
            output.status,
            String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr),
        )
    };
    for engine in ["", "threads=2", "threads=3 virtual-cluster=7"] {
        let (status, text) = run(engine);
        assert!(!status.success(), "{text}");
        let words = "the program ends in event 7 of LP 3 at time 7; if its stack is too small, \
                     give it a larger one (--stack)";
        assert!(text.contains(words), "{engine}: {text}");
        assert!(text.contains("has overflowed its stack"), "{engine}: {text}");
        let (status, text) = run(&format!("{engine} stack=512"));
        assert!(status.success() && text.contains("the sum is 5000050000"), "{engine}: {text}");
    }
}

#[test]
fn all_code_of_a_model_has_the_same_stack_everywhere() {
    let _limit = time_limit(120);
    let run = || Simulation::new(large()).end(8.0);
    let alone = run().run().expect("sequentially");
    for undo in [Undo::Copy, Undo::Reverse] {
        for run in [run().threads(3), run().threads(3).virtual_cluster(3)] {
            let together = run.undo(undo).run().expect("in parallel");
            assert_eq!(
                (together.states, together.record.digest),
                (alone.states.clone(), alone.record.digest.clone())
            );
        }
        assert_eq!(run().undo(undo).verify().expect("tried out").digest, alone.record.digest);
    }
}
