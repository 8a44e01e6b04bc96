//! Rows do not pile up when their writer is slow: PEs wait for it.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use warpline::Synchronisation;
use warpline::prelude::*;
use warpline_testkit::Story;

const LINES: Table = Table(0);
const LINES_PER_EVENT: u64 = 8;

/// LPs that write many lines; `lines` counts those of committed events.
fn talkative(lines: Arc<AtomicU64>) -> Story {
    Story::new(64)
        .declare(|declare| declare.table(LINES, "lines", &[("number", "")]))
        .init(|lp| {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 0);
            0
        })
        .handle(|events, _, lp| {
            *events += 1;
            let to = lp.random().below(64);
            let delay = lp.random().exponential(1.0);
            lp.send(to, delay, 0);
        })
        .commit(move |_, lp| {
            lines.fetch_add(LINES_PER_EVENT, Ordering::Relaxed);
            (0..LINES_PER_EVENT).for_each(|number| lp.record(LINES, &[number.into()]));
        })
}

/// The file is a pipe, which the test does not read before lines have stopped committing.
#[test]
fn pes_wait_for_a_slow_writer() {
    let simulation = || {
        let lines = Arc::new(AtomicU64::new(0));
        (Simulation::new(talkative(lines.clone())).end(1000.0), lines)
    };
    let directory = || tempfile::tempdir().expect("there is room for a directory");
    let usual = directory();
    let (whole, lines) = simulation();
    let expected = whole.records(Records::Write(usual.path().to_owned())).run().expect("it runs");
    let total = lines.load(Ordering::Relaxed);
    let expected_text =
        fs::read_to_string(usual.path().join("lines.csv")).expect("the file was written");
    for threads in [1, 2, 8] {
        let slow = directory();
        let (simulation, lines) = simulation();
        let pipe = slow.path().join("lines.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is a mkfifo").success());
        let reader = thread::spawn(move || {
            let mut file = File::open(pipe).expect("the pipe is there");
            let mut seen = 0;
            let mut since = Instant::now();
            while seen == 0 || since.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(20));
                let now = lines.load(Ordering::Relaxed);
                if now != seen {
                    seen = now;
                    since = Instant::now();
                }
            }
            let mut text = String::new();
            file.read_to_string(&mut text).expect("somebody writes");
            (seen, text)
        });
        let simulation = simulation
            .records(Records::Write(slow.path().to_owned()))
            .sync(Synchronisation::Optimistic)
            .threads(threads);
        let run = simulation.run().expect("it runs");
        let (seen, text) = reader.join().expect("nothing goes wrong");
        assert!(
            4 * seen < total,
            "{seen} lines of {total} had committed before the first was read, with {threads} \
             threads"
        );
        assert_eq!(run.record.digest, expected.record.digest);
        assert!(text == expected_text, "the lines with {threads} threads");
    }
}
