//! Events that ask for more memory than there is, in processes that have little.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use warpline::prelude::*;
use warpline::{Fault, Place};
use warpline_testkit::Story;

/// Set for child processes, to what their run is to do.
const CHILD: &str = "WARPLINE_TEST_MEMORY";
/// More than fits into the memory of a child, whatever it is.
const MANY: u32 = 14_000_000;

const OPENED: Counter = Counter::slot(0);
const SEEN: Table = Table(0);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Greed {
    Counts,
    Rows,
    Sends,
    Saves,
    /// No event is greedy, but all events record rows, for as long as there is room.
    Diary,
}

/// Events of LP 2, by which the door is opened or looked at.
const OPENS: u64 = 1;
const LOOKS: u64 = 0;

/// LP 0 opens a door that LP 1 asks for a little later. In the right order of events it is always
/// found open, unless it stays `closed`. An event that finds it closed asks for too much memory;
/// `greedy` counts them.
fn door(greedy_for: Greed, closed: bool, greedy: Arc<AtomicU32>) -> Story {
    Story::new(3)
        .declare(|declare| {
            declare.counter(OPENED, "opened", "", "doors opened");
            declare.table(SEEN, "seen", &[("door", "")]);
        })
        .init(|lp| {
            if lp.id() != LpId(2) {
                lp.send(lp.id(), 1.0, LOOKS);
            }
            0
        })
        .handle(move |open, event, lp| {
            if greedy_for == Greed::Diary {
                (0..200).for_each(|line: u32| lp.record(SEEN, &[line.into()]));
            }
            match lp.id() {
                // The event that opens the door comes first, and takes longer to make.
                LpId(0) => {
                    lp.send(2, 0.25, if closed { LOOKS } else { OPENS });
                    lp.send(0, 1.0, LOOKS);
                }
                LpId(1) => {
                    lp.send(2, 0.5, LOOKS);
                    lp.send(1, 1.0, LOOKS);
                }
                _ if event == OPENS => {
                    lp.save(*open);
                    *open += 1;
                    lp.count(OPENED, 1);
                }
                _ if *open == 0 => {
                    greedy.fetch_add(1, Ordering::Relaxed);
                    greedy_for.ask_for_too_much(lp);
                }
                _ => {
                    lp.save(*open);
                    *open = 0;
                }
            }
        })
        .reverse(|open, _, lp| {
            if lp.id() == LpId(2) {
                *open = lp.restore();
            }
        })
}

impl Greed {
    /// Asks for more than there is.
    fn ask_for_too_much(self, lp: &mut Context<Story>) {
        for number in 0..MANY {
            match self {
                Greed::Counts => lp.count(OPENED, 1),
                Greed::Rows => lp.record(SEEN, &[number.into()]),
                Greed::Sends => lp.send(2, 1.0 + f64::from(number), OPENS),
                Greed::Diary => return,
                Greed::Saves => (0..4).for_each(|_| lp.save(number)),
            }
        }
    }
}

#[test]
#[ignore = "the child of other tests"]
fn a_greedy_event() {
    let wanted = std::env::var(CHILD).expect("only as a child");
    let mut settings = warpline::Settings::default();
    let mut greedy_for = Greed::Counts;
    let mut closed = false;
    for word in wanted.split_whitespace() {
        match (word.split_once('='), word) {
            (Some((name, value)), _) => settings.set(name, value).expect("a setting"),
            (None, "closed") => closed = true,
            (None, "rows") => greedy_for = Greed::Rows,
            (None, "sends") => greedy_for = Greed::Sends,
            (None, "saves") => greedy_for = Greed::Saves,
            (None, "diary") => greedy_for = Greed::Diary,
            _ => panic!("{word}"),
        }
    }
    let greedy = Arc::new(AtomicU32::new(0));
    let end = if greedy_for == Greed::Diary { 1e12 } else { 40.0 };
    match Simulation::new(door(greedy_for, closed, greedy.clone()))
        .settings(settings)
        .end(end)
        .run()
    {
        Ok(run) => {
            let times = greedy.load(Ordering::Relaxed);
            println!(
                "opened {} digest {} greedy {times}",
                run.statistics.counter(OPENED),
                run.record.digest
            );
        }
        Err(Error::Fault(failure)) => {
            assert!(matches!(failure.fault, Fault::Memory(_)), "{failure}");
            assert!(
                matches!(failure.place, Place::Event { lp: LpId(2), time: 1.25, .. }),
                "{failure}"
            );
            println!("the right fault: {failure}");
        }
        Err(Error::Memory { place, why }) if greedy_for == Greed::Diary => {
            println!(
                "no memory {}: {why}",
                if place.is_some() { "at a PE" } else { "beside the PEs" }
            );
        }
        Err(other) => panic!("{other}"),
    }
}

/// Runs a child process with 450 MB of address space, and returns its output.
fn child(wanted: &str) -> String {
    let program = std::env::current_exe().expect("this is a program");
    let test = "memory::a_greedy_event --exact --nocapture --ignored";
    let script = format!("ulimit -v 450000; exec timeout 100 {} {test}", program.display());
    let output = Command::new("sh")
        .args(["-c", &script])
        .env(CHILD, wanted)
        .output()
        .expect("it runs again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{wanted}`: {text}");
    text
}

#[test]
fn an_event_that_wants_more_than_there_is_fails_where_it_is() {
    let engines = ["", "threads=2", "threads=3 virtual-cluster=5"];
    // Values are saved for reverse code only.
    let all = [
        ("", "observes", &engines[..]),
        ("rows", "observes", &engines),
        ("sends", "sends", &engines),
    ];
    for (greed, what, engines) in
        all.into_iter().chain([("saves undo=reverse", "saves", &engines[2..])])
    {
        for engine in engines {
            let said = child(&format!("closed {greed} {engine}"));
            let words = format!(
                "the right fault: model `Story`: event 1 of LP 2 at time 1.25 (0) the system has \
                 no memory for what an event {what}"
            );
            assert!(said.contains(&words), "{greed} {engine}: {said}");
        }
    }
}

/// The thread that watches the PEs keeps their rows. If it finds no memory for more, the PEs, which
/// would go on for ever, end with it.
#[test]
fn rows_that_do_not_fit_end_the_run_with_all_its_threads() {
    for engine in ["", "threads=2", "threads=3 virtual-cluster=5"] {
        let said = child(&format!("diary {engine}"));
        assert!(said.contains("no memory "), "{engine}: {said}");
    }
}

/// Only events executed too early find the door closed. They get no memory, and the run does not
/// fail.
#[test]
fn greed_that_never_happens_is_not_noticed() {
    let alone = child("");
    let told = |said: &str| {
        said.lines().find_map(|line| {
            line.split(" greedy ")
                .next()
                .filter(|told| told.starts_with("opened"))
                .map(str::to_owned)
        })
    };
    let mut greedy = false;
    for greed in ["", "rows", "sends"] {
        for seed in 0..2 {
            let said = child(&format!("{greed} threads=3 virtual-cluster={seed}"));
            assert_eq!(told(&said), told(&alone), "{said}");
            greedy |= !said.contains(" greedy 0");
        }
    }
    assert!(greedy, "in some order the door must have been found closed");
}
