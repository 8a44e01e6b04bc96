//! Models with one fault each, in programs that verify them, compare engines and search schedules.
//! Faults that only a second process shows must be found, too.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use warpline::Abilities;
use warpline::prelude::*;

/// The variable that names the fault of a program.
pub(crate) const FAULT: &str = "WARPLINE_TEST_FAULT";

/// What is wrong with a model.
#[derive(Clone, Copy)]
enum Fault {
    /// It sends to whoever comes first in a hash map.
    HashOrder,
    /// No fault: a hash map whose order no event depends on.
    TextOrder,
    /// Reverse code is wrong for all events but the first of each of many LPs.
    LateUndo,
    /// Copies of a state share it, and no event depends on it.
    Shared,
    /// Random numbers come from elsewhere, and no event depends on them.
    OtherRandom,
    /// A handler prints.
    Prints,
    /// No fault: states of 2 MB, whose text is several times as long.
    Large,
    /// Reverse code is wrong for all events but the first.
    WrongUndo,
    /// A state is outside all LPs, in the order in which events happen to be executed.
    Outside,
    /// Reverse code ends the program.
    Crash,
}

/// Events of all LPs, in a program with the fault `Outside`.
static EVENTS: AtomicU32 = AtomicU32::new(0);

impl Fault {
    fn named(name: &str) -> Option<Self> {
        let fault = match name {
            "hash order" => Fault::HashOrder,
            "text order" => Fault::TextOrder,
            "late undo" => Fault::LateUndo,
            "shared" => Fault::Shared,
            "random" => Fault::OtherRandom,
            "prints" => Fault::Prints,
            "large" => Fault::Large,
            "wrong undo" => Fault::WrongUndo,
            "outside" => Fault::Outside,
            "crash" => Fault::Crash,
            _ => return None,
        };
        Some(fault)
    }

    fn has_reverse(self) -> bool {
        matches!(self, Fault::LateUndo | Fault::WrongUndo | Fault::Crash)
    }

    fn lps(self) -> u32 {
        match self {
            Fault::LateUndo => 10_000,
            Fault::Large => 2,
            _ => 8,
        }
    }

    fn init(self) -> State {
        match self {
            Fault::HashOrder => State::Map(HashMap::new()),
            Fault::TextOrder => State::Map(HashMap::from([(9, 1), (10, 1), (11, 1)])),
            Fault::Shared => State::Shared(Arc::default()),
            Fault::Large => State::Bytes(vec![7; 2 << 20]),
            _ => State::Number(0),
        }
    }

    /// Changes the state; returns where the next event goes.
    fn handle(self, state: &mut State, event: &Event, to: u32) -> u32 {
        match state {
            State::Map(seen) => {
                *seen.entry(to).or_default() += 1;
                let first = seen.keys().next().copied();
                if matches!(self, Fault::HashOrder) { first.unwrap_or(to) } else { to }
            }
            State::Shared(shared) => {
                *shared.lock().unwrap() += 1;
                to
            }
            State::Bytes(bytes) => {
                bytes[1_000_000] = bytes[1_000_000].wrapping_add(1);
                to
            }
            State::Number(number) => self.handle_number(number, event, to),
        }
    }

    fn handle_number(self, number: &mut u64, event: &Event, to: u32) -> u32 {
        match (self, event) {
            (Fault::LateUndo | Fault::WrongUndo, Event::Later) => *number = *number * 3 + 1,
            (Fault::OtherRandom, _) => *number ^= RandomState::new().hash_one(to),
            (Fault::Outside, _) => {
                let executed = EVENTS.fetch_add(1, Ordering::Relaxed);
                *number = executed.into();
                return executed % self.lps();
            }
            _ => *number += 1,
        }
        if matches!((self, event), (Fault::Prints, Event::Later)) {
            let _ = writeln!(std::io::stderr(), "a later event");
        }
        to
    }

    fn reverse(self, state: &mut State, event: &Event) {
        if matches!(self, Fault::Crash) {
            std::process::abort();
        }
        let State::Number(number) = state else { unreachable!("only these have reverse code") };
        match event {
            Event::First => *number -= 1,
            Event::Later => *number /= 7,
        }
    }
}

#[derive(Clone)]
enum State {
    Number(u64),
    Map(HashMap<u32, u32>),
    Shared(Arc<Mutex<u64>>),
    Bytes(Vec<u8>),
}

/// As what it holds.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Number(number) => number.fmt(f),
            State::Map(map) => map.fmt(f),
            State::Shared(shared) => shared.fmt(f),
            State::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    First,
    Later,
}

/// A model with a fault, and reverse code if `REVERSES`. As few types as possible, as the whole
/// command is compiled for each of them.
struct Faulty<const REVERSES: bool>(Fault);

impl<const REVERSES: bool> Model for Faulty<REVERSES> {
    type State = State;
    type Event = Event;
    const ABILITIES: Abilities<State, Event> =
        if REVERSES { Abilities::NONE.with_reverse() } else { Abilities::NONE };

    fn lps(&self) -> u32 {
        self.0.lps()
    }

    fn kind(&self, lp: LpId) -> &str {
        if lp.0 < self.0.lps() { "node" } else { "nobody" }
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        lp.send(lp.id(), 0.0, Event::First);
        self.0.init()
    }

    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        let delay = lp.random().exponential(1.0);
        let to = lp.random().below(self.0.lps());
        let to = self.0.handle(state, event, to);
        lp.send(to, delay, Event::Later);
    }

    fn reverse(&self, state: &mut State, event: &Event, _: &mut Reverse<Self>) {
        self.0.reverse(state, event);
    }
}

/// The fault of this program.
fn own_fault() -> Option<Fault> {
    std::env::var(FAULT).ok().and_then(|name| Fault::named(&name))
}

impl<const REVERSES: bool> Configure for Faulty<REVERSES> {
    type Parameters = ();

    const NAME: &'static str = "faulty";
    const ABOUT: &'static str = "a model with a fault";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 100.0;

    fn configure((): &()) -> Result<Self, String> {
        own_fault().map(Faulty).ok_or_else(|| format!("{FAULT} names no fault"))
    }
}

/// Runs the command line around a model with the fault of this program.
pub(crate) fn command() -> ExitCode {
    match own_fault() {
        Some(fault) if fault.has_reverse() => warpline::command::<Faulty<true>>(),
        Some(_) => warpline::command::<Faulty<false>>(),
        None => ExitCode::FAILURE,
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
    let in_cluster = "compare --quiet --with optimistic --threads 4 --virtual-cluster 1 --go-ahead \
                      always --runs 1";
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
        (
            "late undo",
            "verify --undo reverse --end 2",
            false,
            &["`state` is", "Later", "after undoing it"],
        ),
        (
            "late undo",
            "verify --undo copy --end 2 --time-limit 1000",
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
