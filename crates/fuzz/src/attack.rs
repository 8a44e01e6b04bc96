//! The attack: draws and runs cases until time is up.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use warpline_cases::{Case, Shrunk, Wrong, shrink};

use crate::check::{Checked, Checker, InKind};
use crate::draw;

/// Ways to run each model.
const WAYS: u64 = 12;
/// The most failures of one kind that are shrunk; others are only counted.
const SHRUNK_MOST: usize = 3;
/// The slowest runs that are shown.
const SLOWEST: usize = 5;

/// What an attack does, and for how long.
#[derive(Clone, Debug)]
pub struct Attack {
    /// The seed of the first model.
    pub seed: u64,
    /// How long it lasts.
    pub time: Duration,
    /// How many cases at a time.
    pub jobs: usize,
    /// How long each failure is shrunk.
    pub shrink_time: Duration,
    /// Whether it prints one JSON object, and no text.
    pub json: bool,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    runs: u64,
    refused: u64,
    excused: u64,
    unfinished: u64,
    /// How many runs there were of each sort.
    sorts: BTreeMap<&'static str, u64>,
    failures: Vec<Shrunk>,
    /// All failures, by kind.
    kinds: BTreeMap<&'static str, u64>,
    /// The slowest cases, each with the ratio of its time to the limit of slow runs.
    slow: Vec<(f64, Case)>,
}

impl Found {
    fn add(&mut self, case: &Case, outcome: &Result<Checked, Wrong>) {
        self.runs += 1;
        *self.sorts.entry(sort(case)).or_default() += 1;
        match outcome {
            Ok(Checked::Refused) => self.refused += 1,
            Ok(Checked::Excused) => self.excused += 1,
            Ok(Checked::Unfinished) => self.unfinished += 1,
            Ok(Checked::Equal { slow: Some(ratio) }) => {
                self.slow.push((*ratio, case.clone()));
                self.slow.sort_by(|(a, _), (b, _)| b.total_cmp(a));
                self.slow.truncate(SLOWEST);
            }
            Ok(Checked::Equal { slow: None }) => {}
            Err(wrong) => *self.kinds.entry(wrong.kind).or_default() += 1,
        }
    }

    fn failed(&self) -> u64 {
        self.kinds.values().sum()
    }
}

/// The sort of run that a case asks for, in a word or two.
fn sort(case: &Case) -> &'static str {
    let sorts = [
        ("kill-after", "killed"),
        ("signal-after", "signalled"),
        ("ranks", "ranks"),
        ("processes", "processes"),
        ("memory", "budgets"),
        ("stop-after", "stopped"),
        ("virtual-cluster", "virtual clusters"),
        ("machine", "modelled machines"),
        ("changes", "changing engines"),
    ];
    let found = sorts.into_iter().find(|(option, _)| case.get(option).is_some());
    found.map_or(
        if case.get("sync") == Some("sequential") { "sequential" } else { "threads" },
        |(_, sort)| sort,
    )
}

/// Runs the attack, and prints what it found.
pub fn attack(attack: &Attack) -> ExitCode {
    let begin = Instant::now();
    let until = begin + attack.time;
    let next = AtomicU64::new(0);
    let found = Mutex::new(Found::default());
    let bar = ProgressBar::new(attack.time.as_secs());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {elapsed} of {len} s, {msg}") {
        bar.set_style(style);
    }
    std::thread::scope(|scope| {
        for _ in 0..attack.jobs {
            scope.spawn(|| {
                let mut checker = Checker::until(until);
                while Instant::now() < until {
                    // Relaxed: it only has to be a new number; it orders nothing else.
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    try_model(attack, number, until, &mut checker, &found);
                    bar.set_position(begin.elapsed().as_secs().min(attack.time.as_secs()));
                    bar.set_message(progress(&lock(&found), begin));
                }
            });
        }
    });
    bar.finish_and_clear();
    let found = lock(&found);
    if attack.json {
        println!("{}", as_json(attack, &found, begin.elapsed()));
    } else {
        print!("{}", as_text(attack, &found, begin.elapsed()));
    }
    if found.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn lock(found: &Mutex<Found>) -> std::sync::MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs one model in several ways.
fn try_model(
    attack: &Attack,
    number: u64,
    until: Instant,
    checker: &mut Checker,
    found: &Mutex<Found>,
) {
    let seed = attack.seed.wrapping_add(number);
    let model = draw::model(seed);
    for way in 0..WAYS {
        if Instant::now() >= until {
            return;
        }
        let case = draw::way(&model, seed, way);
        let outcome = checker.check(&case);
        lock(found).add(&case, &outcome);
        let Err(wrong) = outcome else { continue };
        eprintln!("failure of seed {seed}, way {way}: {wrong}\n  {}", command(&case));
        let known =
            lock(found).failures.iter().filter(|failure| failure.wrong.kind == wrong.kind).count();
        if known < SHRUNK_MOST {
            let kind = wrong.kind;
            let shrunk = shrink(case, wrong, &mut InKind { checker, kind }, attack.shrink_time);
            eprintln!(
                "shrunk: {} of {} runs fail: {}\n  {}",
                shrunk.failed,
                shrunk.runs,
                shrunk.wrong,
                command(&shrunk.case)
            );
            lock(found).failures.push(shrunk);
        }
    }
}

/// The command that runs a case again.
fn command(case: &Case) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "warpline-fuzz".to_owned());
    format!("{program} try {case}")
}

fn progress(found: &Found, begin: Instant) -> String {
    let rate = found.runs as f64 / begin.elapsed().as_secs_f64();
    format!("{} runs, {rate:.0} a second, {} failures", found.runs, found.failed())
}

fn as_text(attack: &Attack, found: &Found, took: Duration) -> String {
    let mut text = String::new();
    let rate = found.runs as f64 / took.as_secs_f64();
    let sorts: Vec<String> =
        found.sorts.iter().map(|(sort, runs)| format!("{runs} {sort}")).collect();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{} runs from seed {} in {:.0} s: {}",
        found.runs,
        attack.seed,
        took.as_secs_f64(),
        sorts.join(", ")
    );
    let _ = writeln!(
        text,
        "{} were refused, {} excused; {} were still running at the end",
        found.refused, found.excused, found.unfinished
    );
    let _ = writeln!(
        text,
        "{rate:.1} runs a second; 10 million would take {:.1} h",
        1e7 / rate / 3600.0
    );
    for (ratio, case) in &found.slow {
        let _ =
            writeln!(text, "slow, {ratio:.1} times as long as it should take: {}", command(case));
    }
    for Shrunk { case, wrong, failed, runs } in &found.failures {
        let _ = writeln!(text, "FAILURE {wrong}\n  {failed} of {runs} runs of: {}", command(case));
    }
    let kinds: Vec<String> =
        found.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let _ = writeln!(
        text,
        "{} failures{}{}",
        found.failed(),
        if kinds.is_empty() { "" } else { ": " },
        kinds.join(", ")
    );
    text
}

fn as_json(attack: &Attack, found: &Found, took: Duration) -> serde_json::Value {
    let failure = |Shrunk { case, wrong, failed, runs }: &Shrunk| json!({ "kind": wrong.kind, "why": wrong.why, "case": case.to_string(), "failed": failed, "runs": runs });
    let slow = |(ratio, case): &(f64, Case)| json!({ "ratio": ratio, "case": case.to_string() });
    json!({
        "seed": attack.seed,
        "seconds": took.as_secs_f64(),
        "runs": found.runs,
        "sorts": found.sorts,
        "refused": found.refused,
        "excused": found.excused,
        "unfinished": found.unfinished,
        "kinds": found.kinds,
        "failures": found.failures.iter().map(failure).collect::<Vec<_>>(),
        "slow": found.slow.iter().map(slow).collect::<Vec<_>>(),
    })
}
