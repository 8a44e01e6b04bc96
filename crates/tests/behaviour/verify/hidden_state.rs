//! What no way of undoing reaches: state outside of the LP's own, and effects on the outside world.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::mismatch;
use crate::support::assert_words;
use warpline::prelude::*;
use warpline::{Place, VerifyError};

/// State that undoing does not reach.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hidden {
    /// Shared between a state and its copy.
    InState,
    /// In the model, and the state depends on it.
    ReachesState,
    ReachesDelay,
    ReachesReceiver,
    ReachesPayload,
    ReachesPriority,
    ReachesNumberOfSends,
    ReachesDraws,
    ReachesObservations,
    ReachesRows,
}

#[derive(Debug)]
struct Secretive {
    hidden: Hidden,
    secret: AtomicU64,
}

const SECRETS: Counter = Counter::slot(0);
const ROWS: Table = Table(0);

#[derive(Clone, Debug)]
struct Open {
    seen: u64,
    shared: Arc<AtomicU64>,
}

#[model]
impl Model for Secretive {
    type State = Open;
    type Event = u64;
    fn lps(&self) -> u32 {
        1000
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(SECRETS, "secrets", "", "");
        declare.table(ROWS, "rows", &[("secret", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> Open {
        if lp.id().0 == 7 {
            lp.send(7, 2.5, 1000);
        }
        Open { seen: 0, shared: Arc::default() }
    }

    fn handle(&self, state: &mut Open, _: &u64, lp: &mut Context<Self>) {
        let secret = self.secret.fetch_add(1, Ordering::Relaxed);
        let when = |hidden| if self.hidden == hidden { secret } else { 0 };
        if self.hidden == Hidden::InState {
            state.shared.fetch_add(1, Ordering::Relaxed);
        }
        state.seen += 1 + when(Hidden::ReachesState);
        let to = 7 + when(Hidden::ReachesReceiver) as u32;
        let delay = 1.0 + when(Hidden::ReachesDelay) as f64;
        for _ in 0..=when(Hidden::ReachesNumberOfSends) {
            lp.send_with_priority(
                to,
                delay,
                when(Hidden::ReachesPriority) as i8,
                when(Hidden::ReachesPayload),
            );
        }
        for _ in 0..when(Hidden::ReachesDraws) {
            lp.stream(3).uniform();
        }
        lp.count(SECRETS, when(Hidden::ReachesObservations));
        lp.record(ROWS, &[when(Hidden::ReachesRows).into()]);
    }

    fn reverse(&self, state: &mut Open, _: &u64, _: &mut Reverse<Self>) {
        state.seen -= 1;
    }
}

#[test]
fn what_copies_cannot_undo_is_found() {
    for undo in [Undo::Copy, Undo::Reverse] {
        let model = Secretive { hidden: Hidden::InState, secret: AtomicU64::new(0) };
        let (mismatch, text) = mismatch(Simulation::new(model).undo(undo));
        assert_eq!((mismatch.when, mismatch.field.as_str()), ("after undoing it", "state.shared"));
        assert_eq!(
            (mismatch.expected.as_str(), mismatch.found.as_str(), mismatch.events),
            ("0", "1", 0)
        );
        assert_words(
            &text,
            &["`Secretive`", undo.name(), "LP 7", "time 2.5", "event 1 of", "(1000)"],
        );
    }
}

#[test]
fn what_depends_on_hidden_state_is_found() {
    let cases = [
        (Hidden::ReachesState, "state.seen"),
        (Hidden::ReachesDelay, "sends[0].time"),
        (Hidden::ReachesReceiver, "sends[0].to"),
        (Hidden::ReachesPayload, "sends[0].event"),
        (Hidden::ReachesPriority, "sends[0].priority"),
        (Hidden::ReachesNumberOfSends, "sends"),
        (Hidden::ReachesDraws, "random_positions"),
        (Hidden::ReachesObservations, "observations"),
        (Hidden::ReachesRows, "observations.cells"),
    ];
    for (hidden, field) in cases {
        let model = Secretive { hidden, secret: AtomicU64::new(0) };
        let (mismatch, text) = mismatch(Simulation::new(model).undo(Undo::Copy));
        assert_eq!(mismatch.when, "executed a second time", "{hidden:?}");
        assert!(
            mismatch.field.starts_with(field),
            "{hidden:?}: `{field}` and not `{}`",
            mismatch.field
        );
        assert_eq!(
            mismatch.place,
            Place::Event { lp: LpId(7), time: 2.5, number: Some(1), payload: "1000".into() },
            "{hidden:?}"
        );
        assert_words(&text, &["`Secretive`", "LP 7", "time 2.5", "a second time", field]);
    }
}

/// What decides when the next event happens, or what else the model does.
#[derive(Clone, Copy, PartialEq)]
enum Whim {
    FirstOfAHashMap,
    SharedByRuns,
    Writes,
}

struct Moody {
    whim: Whim,
    calls: AtomicU64,
    file: std::path::PathBuf,
}

impl Model for Moody {
    type State = HashMap<u64, u64>;
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, lp: &mut Init<Self>) -> HashMap<u64, u64> {
        if self.whim == Whim::SharedByRuns {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
        lp.send(0, 1.0, ());
        HashMap::new()
    }

    fn handle(&self, seen: &mut HashMap<u64, u64>, (): &(), lp: &mut Context<Self>) {
        seen.insert(seen.len() as u64, 0);
        match self.whim {
            Whim::FirstOfAHashMap => {
                lp.send(0, 1.0 + seen.keys().next().copied().unwrap_or_default() as f64, ())
            }
            Whim::SharedByRuns => lp.send(0, self.calls.load(Ordering::Relaxed) as f64, ()),
            Whim::Writes => {
                std::fs::write(&self.file, "an event").expect("there is room for a file");
                lp.send(0, 1.0, ());
            }
        }
    }
}

fn moody(whim: Whim, directory: &std::path::Path) -> Simulation<'static, Moody> {
    Simulation::new(Moody { whim, calls: AtomicU64::new(0), file: directory.join("file") })
}

#[test]
fn what_differs_between_two_equal_runs_is_found() {
    for whim in [Whim::FirstOfAHashMap, Whim::SharedByRuns] {
        let error = moody(whim, std::path::Path::new("")).verify().expect_err("two runs differ");
        let VerifyError::Unequal(unequal) = &error else { panic!("{error}") };
        assert_eq!((unequal.what[0], unequal.second), ("history", "in another thread"));
        assert_words(&error.to_string(), &["`Moody`", "two equal runs differ", "HashMap", "Mutex"]);
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "only Linux tells what a thread writes")]
fn handlers_that_write_are_found() {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let (found, text) = mismatch(moody(Whim::Writes, directory.path()));
    assert_eq!(
        (found.place, found.found.as_str()),
        (
            Place::Event { lp: LpId(0), time: 1.0, number: Some(1), payload: "()".into() },
            "16 bytes in 2 writes"
        )
    );
    assert_words(&text, &["output to files, pipes or terminals", "when_settled"]);
}
