//! Models with one fault each, in programs that verify them, compare engines and search schedules.
//! Faults that only a second process shows must be found, too.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use warpline::Abilities;
use warpline::prelude::*;

/// The variable that names the fault of a program.
pub(crate) const FAULT: &str = "WARPLINE_TEST_FAULT";

/// Runs the command line around a model with this fault.
pub(crate) fn command(fault: &str) -> ExitCode {
    match fault {
        "hash order" => warpline::command::<Faulty<HashOrder>>(),
        "text order" => warpline::command::<Faulty<TextOrder>>(),
        "late undo" => warpline::command::<Faulty<LateUndo>>(),
        "shared" => warpline::command::<Faulty<Shared>>(),
        "random" => warpline::command::<Faulty<OtherRandom>>(),
        "prints" => warpline::command::<Faulty<Prints>>(),
        "large" => warpline::command::<Faulty<Large>>(),
        "wrong undo" => warpline::command::<Faulty<WrongUndo>>(),
        "outside" => warpline::command::<Faulty<Outside>>(),
        "crash" => warpline::command::<Faulty<Crash>>(),
        _ => ExitCode::FAILURE,
    }
}

/// What a fault consists of.
trait Fault: Send + Sync + Sized + 'static {
    type State: Clone + std::fmt::Debug + Send;
    const LPS: u32 = 8;
    const END: f64 = 100.0;
    const HAS_REVERSE: bool = false;

    fn init() -> Self::State;
    /// Changes the state; returns where the next event goes.
    fn handle(state: &mut Self::State, event: &Event, to: u32) -> u32;
    fn reverse(_: &mut Self::State, _: &Event) {}
}

#[derive(Clone, Debug)]
enum Event {
    First,
    Later,
}

struct Faulty<F>(std::marker::PhantomData<F>);

impl<F: Fault> Model for Faulty<F> {
    type State = F::State;
    type Event = Event;
    const ABILITIES: Abilities<F::State, Event> =
        if F::HAS_REVERSE { Abilities::NONE.with_reverse() } else { Abilities::NONE };

    fn lps(&self) -> u32 {
        F::LPS
    }

    fn kind(&self, lp: LpId) -> &str {
        if lp.0 < F::LPS { "node" } else { "nobody" }
    }

    fn init(&self, lp: &mut Init<Self>) -> F::State {
        lp.send(lp.id(), 0.0, Event::First);
        F::init()
    }

    fn handle(&self, state: &mut F::State, event: &Event, lp: &mut Context<Self>) {
        let delay = lp.random().exponential(1.0);
        let to = lp.random().below(F::LPS);
        let to = F::handle(state, event, to);
        lp.send(to, delay, Event::Later);
    }

    fn reverse(&self, state: &mut F::State, event: &Event, _: &mut Reverse<Self>) {
        F::reverse(state, event);
    }
}

impl<F: Fault> Configure for Faulty<F> {
    type Parameters = ();

    const NAME: &'static str = "faulty";
    const ABOUT: &'static str = "a model with a fault";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = F::END;

    fn configure((): &()) -> Result<Self, String> {
        Ok(Faulty(std::marker::PhantomData))
    }
}

/// Sends to whoever comes first in a hash map.
struct HashOrder;

impl Fault for HashOrder {
    type State = HashMap<u32, u32>;

    fn init() -> Self::State {
        HashMap::new()
    }

    fn handle(seen: &mut Self::State, _: &Event, to: u32) -> u32 {
        *seen.entry(to).or_default() += 1;
        seen.keys().next().copied().unwrap_or(to)
    }
}

/// No fault: a hash map whose order no event depends on.
struct TextOrder;

impl Fault for TextOrder {
    type State = HashMap<u32, u32>;

    fn init() -> Self::State {
        HashMap::from([(9, 1), (10, 1), (11, 1)])
    }

    fn handle(seen: &mut Self::State, _: &Event, to: u32) -> u32 {
        *seen.entry(to).or_default() += 1;
        to
    }
}

/// Reverse code that is wrong for all events but the first of each LP.
struct LateUndo;

impl Fault for LateUndo {
    type State = u64;
    const LPS: u32 = 10_000;
    const END: f64 = 2.0;
    const HAS_REVERSE: bool = true;

    fn init() -> u64 {
        0
    }

    fn handle(state: &mut u64, event: &Event, to: u32) -> u32 {
        *state = match event {
            Event::First => *state + 1,
            Event::Later => *state * 3 + 1,
        };
        to
    }

    fn reverse(state: &mut u64, event: &Event) {
        match event {
            Event::First => *state -= 1,
            Event::Later => *state /= 7,
        }
    }
}

/// A state that its copies share, and no event depends on.
struct Shared;

impl Fault for Shared {
    type State = Arc<Mutex<u64>>;

    fn init() -> Self::State {
        Arc::default()
    }

    fn handle(state: &mut Self::State, _: &Event, to: u32) -> u32 {
        *state.lock().unwrap() += 1;
        to
    }
}

/// Random numbers from elsewhere, which no event depends on.
struct OtherRandom;

impl Fault for OtherRandom {
    type State = u64;

    fn init() -> u64 {
        0
    }

    fn handle(state: &mut u64, _: &Event, to: u32) -> u32 {
        use std::hash::{BuildHasher, RandomState};
        *state ^= RandomState::new().hash_one(to);
        to
    }
}

/// Prints in a handler.
struct Prints;

impl Fault for Prints {
    type State = u64;

    fn init() -> u64 {
        0
    }

    fn handle(state: &mut u64, event: &Event, to: u32) -> u32 {
        *state += 1;
        if matches!(event, Event::Later) {
            let _ = writeln!(std::io::stderr(), "a later event");
        }
        to
    }
}

/// States of 2 MB, whose text is several times as long.
struct Large;

impl Fault for Large {
    type State = Vec<u8>;
    const LPS: u32 = 2;
    const END: f64 = 20.0;

    fn init() -> Vec<u8> {
        vec![7; 2 << 20]
    }

    fn handle(state: &mut Vec<u8>, _: &Event, to: u32) -> u32 {
        state[1_000_000] = state[1_000_000].wrapping_add(1);
        to
    }
}

/// Reverse code that is wrong for all events but the first.
struct WrongUndo;

impl Fault for WrongUndo {
    type State = u64;
    const HAS_REVERSE: bool = true;

    fn init() -> u64 {
        0
    }

    fn handle(state: &mut u64, event: &Event, to: u32) -> u32 {
        LateUndo::handle(state, event, to)
    }

    fn reverse(state: &mut u64, event: &Event) {
        LateUndo::reverse(state, event);
    }
}

/// A state outside all LPs, in the order in which events happen to be executed.
struct Outside;

static EVENTS: AtomicU32 = AtomicU32::new(0);

impl Fault for Outside {
    type State = u32;

    fn init() -> u32 {
        0
    }

    fn handle(last: &mut u32, _: &Event, _: u32) -> u32 {
        *last = EVENTS.fetch_add(1, Ordering::Relaxed);
        *last % Self::LPS
    }
}

/// Reverse code that ends the program.
struct Crash;

impl Fault for Crash {
    type State = u64;
    const HAS_REVERSE: bool = true;

    fn init() -> u64 {
        0
    }

    fn handle(state: &mut u64, _: &Event, to: u32) -> u32 {
        *state += 1;
        to
    }

    fn reverse(_: &mut u64, _: &Event) {
        std::process::abort();
    }
}

/// Whether a program with a fault succeeds, and what it prints.
fn outcome(fault: &str, line: &str) -> (bool, String) {
    let this = std::env::current_exe().expect("this program");
    let output =
        Command::new(this).env(FAULT, fault).args(line.split(' ')).output().expect("a process");
    let text = [&output.stdout, &output.stderr]
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .concat();
    (output.status.success(), text)
}

/// How many faults are not found, of how many.
pub(crate) fn not_found() -> (usize, usize) {
    let compare = "compare --quiet --with optimistic --threads 2 --runs 2";
    let in_cluster = "compare --quiet --with optimistic --threads 4 --virtual-cluster 1 --go-ahead always --runs 1";
    let cases: [(&str, &str, bool, &[&str]); 12] = [
        ("hash order", "verify", false, &["two equal runs differ in their history", "HashMap"]),
        ("hash order", compare, false, &["sequential runs differ from each other", "HashMap"]),
        (
            "text order",
            "verify",
            true,
            &["the texts of equal states differ", "a second process came to the same history"],
        ),
        ("text order", compare, true, &["the texts of equal states differ", "same answer: yes"]),
        ("late undo", "verify --undo reverse", false, &["`state` is", "Later", "after undoing it"]),
        (
            "late undo",
            "verify --undo copy --time-limit 1000",
            true,
            &["First at node  5261 of 10000", "Later at node  6636 of 19808"],
        ),
        ("shared", "verify", false, &["after undoing it", "state.data"]),
        ("shared", in_cluster, false, &["results that differ: final states", "if `processes"]),
        ("random", "verify", false, &["executed a second time", "`state`"]),
        (
            "random",
            compare,
            false,
            &["results that differ: final states", "sequential runs differ from each other"],
        ),
        (
            "prints",
            "verify",
            false,
            &["output to files, pipes or terminals", "when_settled", "Later"],
        ),
        (
            "large",
            "verify --end 0.5 --time-limit 1000",
            true,
            &["First at node", "a second process came to the same history"],
        ),
    ];
    let failed = cases.iter().filter(|(fault, line, succeeds, words)| {
        let (success, text) = outcome(fault, line);
        let missing: Vec<_> = words.iter().filter(|word| !text.contains(**word)).collect();
        // Nothing that the model does takes long.
        let wrong =
            success != *succeeds || !missing.is_empty() || text.contains("has been running");
        if wrong {
            eprintln!(
                "`{line}` with the fault `{fault}`: success {success}, without {missing:?}: {text}"
            );
        }
        wrong
    });
    (failed.count(), cases.len())
}
