//! Events that pass on their payload unchanged: one answer, no needless copies, and errors like
//! those of other sends.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpline::Synchronisation;
use warpline::prelude::*;

/// LPs in a ring, round which letters travel. Each LP passes a letter on to the next `fan_out` LPs;
/// with `notes`, it writes notes to itself before and after that.
#[derive(Clone, Debug)]
struct Chain {
    fan_out: u32,
    notes: bool,
    /// Whether it sends copies instead, for comparison.
    sends: bool,
    copies: Arc<AtomicU64>,
    /// The time from which on copying the letter of LP 3 panics, if it does.
    worn_out: Option<f64>,
}

impl Chain {
    fn new(fan_out: u32, notes: bool) -> Self {
        Chain { fan_out, notes, sends: false, copies: Arc::default(), worn_out: None }
    }

    fn letter(&self, text: &str) -> Letter {
        Letter { text: text.to_owned(), copies: self.copies.clone(), worn_out: false }
    }
}

const LPS: u32 = 8;
const READ: Counter = Counter::slot(0);

struct Letter {
    text: String,
    copies: Arc<AtomicU64>,
    worn_out: bool,
}

/// Without the number of copies, which depends on the engine.
impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl Clone for Letter {
    fn clone(&self) -> Self {
        assert!(!self.worn_out, "the letter falls to pieces");
        self.copies.fetch_add(1, Ordering::Relaxed);
        Letter { text: self.text.clone(), copies: self.copies.clone(), worn_out: self.worn_out }
    }
}

impl Model for Chain {
    /// What was read, in order.
    type State = Vec<String>;
    type Event = Letter;

    fn lps(&self) -> u32 {
        LPS
    }

    fn lookahead(&self) -> f64 {
        0.5
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(READ, "read", "letters", "letters that were committed as read");
    }

    fn init(&self, lp: &mut Init<Self>) -> Vec<String> {
        let worn_out = self.worn_out.filter(|_| lp.id().0 == 3);
        let letter =
            Letter { worn_out: worn_out.is_some(), ..self.letter(&format!("from {}", lp.id().0)) };
        lp.send(lp.id(), worn_out.unwrap_or(0.5), letter);
        Vec::new()
    }

    fn handle(&self, read: &mut Vec<String>, letter: &Letter, lp: &mut Context<Self>) {
        read.push(letter.text.clone());
        if letter.text == "note" {
            return;
        }
        let delay = 0.5 + lp.random().exponential(1.0);
        for step in 1..=self.fan_out {
            if self.notes {
                lp.send(lp.id(), delay, self.letter("note"));
            }
            let next = (lp.id().0 + step) % LPS;
            if self.sends { lp.send(next, delay, letter.clone()) } else { lp.forward(next, delay) }
        }
        if self.notes {
            lp.send_with_priority(lp.id(), delay, -1, self.letter("note"));
        }
    }

    fn commit(&self, letter: &Letter, lp: &mut Commit<Self>) {
        assert!(!letter.text.is_empty(), "the payload is still there");
        lp.count(READ, 1);
    }
}

/// How often a run of this model copied a payload.
fn copies<T>(chain: &Chain, run: impl FnOnce() -> T) -> (T, u64) {
    chain.copies.store(0, Ordering::Relaxed);
    let outcome = run();
    (outcome, chain.copies.load(Ordering::Relaxed))
}

#[test]
fn what_is_forwarded_arrives_as_if_it_had_been_copied_and_sent() {
    for (fan_out, notes) in [(1, false), (1, true), (2, true)] {
        let chain = Chain::new(fan_out, notes);
        let sent = Simulation::new(Chain { sends: true, ..chain.clone() }).end(9.0).run().unwrap();
        let forwarded = Simulation::new(chain).end(9.0).run().unwrap();
        assert_eq!(
            (&forwarded.record.digest, &forwarded.states),
            (&sent.record.digest, &sent.states),
            "{fan_out}, {notes}"
        );
        assert!(forwarded.record.committed_events > 30);
    }
}

#[test]
fn nothing_is_copied_where_nothing_is_undone() {
    for (sync, threads) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Conservative, 1),
        (Synchronisation::Conservative, 3),
    ] {
        let chain = Chain::new(1, true);
        let (run, copied) = copies(&chain, || {
            Simulation::new(chain.clone()).end(300.0).sync(sync).threads(threads).run().unwrap()
        });
        assert!(run.record.committed_events > 1000);
        assert_eq!(copied, 0, "{sync:?}, {threads} threads");
    }
    let chain = Chain::new(3, false);
    let (run, copied) = copies(&chain, || Simulation::new(chain.clone()).end(6.0).run().unwrap());
    assert_eq!(copied, 2 * run.record.committed_events, "of three, one takes the payload itself");
}

#[test]
fn an_event_that_may_be_executed_again_keeps_its_payload() {
    let chain = Chain::new(1, false);
    let alone = Simulation::new(chain.clone()).end(300.0).run().unwrap();
    let ahead = |threads| {
        Simulation::new(chain.clone())
            .end(300.0)
            .threads(threads)
            .sync(Synchronisation::Optimistic)
            .use_lookahead(false)
            .run()
    };
    for threads in [1, 2, 4] {
        let (run, copied) = copies(&chain, || ahead(threads).unwrap());
        assert_eq!(
            (&run.record.digest, &run.states, &run.record.results),
            (&alone.record.digest, &alone.states, &alone.record.results)
        );
        let parallel = run.record.parallel.unwrap();
        assert!(
            copied <= parallel.processed_events
                && copied + parallel.certain_events >= parallel.processed_events,
            "{copied}: {parallel:?}"
        );
    }
}

#[test]
fn a_copy_that_panics_is_the_events_mistake() {
    let chain = Chain { worn_out: Some(4.0), ..Chain::new(2, false) };
    let mut errors = Vec::new();
    for (sync, threads) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Conservative, 2),
        (Synchronisation::Optimistic, 2),
    ] {
        let error =
            Simulation::new(chain.clone()).end(9.0).sync(sync).threads(threads).run().unwrap_err();
        errors.push(error.to_string());
    }
    assert!(
        errors[0].contains("the letter falls to pieces")
            && errors[0].contains("from 3")
            && errors[0].contains("LP 3"),
        "{}",
        errors[0]
    );
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:#?}");
}
