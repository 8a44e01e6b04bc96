//! Models whose `Clone` or `Drop` panics. If the event or state really happens, the panic is
//! reported as the model's mistake; otherwise it is not reported. Nothing aborts.

mod copies;
mod drops;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use warpline::prelude::*;
use warpline::{Failure, Fault, Messages, Place, Synchronisation};
use warpline_testkit::time_limit;

/// What panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Nothing,
    /// Copying the state of any LP that has seen this many events.
    Copy(u64),
    /// The same, but only of a state that is a copy itself.
    CopyOfCopy(u64),
    /// Copying an odd state, to which no right order of events leads.
    OddCopy,
    /// Copying a copy of an odd state.
    OddCopyOfCopy,
    /// Executing an event again on a copy of the state of an LP that has seen this many events.
    Repeat(u64),
    /// Dropping the payload of this LP's event of this number, or of a later one; without an LP, of
    /// any LP's.
    Handled(Option<LpId>, u64),
    /// Dropping a payload that was sent from an odd state, or for a time beyond the end.
    Unhandled,
    /// Dropping a state that the run does not return.
    State,
}

/// How often each kind of trap snapped.
#[derive(Debug, Default)]
struct Snaps {
    copies: AtomicU64,
    payloads: AtomicU64,
    states: AtomicU64,
    /// The run is over, and states may be dropped without a panic.
    over: AtomicBool,
}

/// LPs that lend, and ask for their loans back by way of other LPs. In the right order of events, a
/// loan is there when it is asked for. If it is not, the state is *odd*.
#[derive(Clone, Debug)]
struct Loans {
    trap: Trap,
    lookahead: f64,
    snaps: Arc<Snaps>,
}

const LPS: u32 = 12;
const END: f64 = 8.0;

#[derive(Debug)]
struct Book {
    seen: u64,
    loans: u64,
    sum: u64,
    odd: bool,
    is_copy: bool,
    trap: Trap,
    snaps: Arc<Snaps>,
}

impl Book {
    fn answer(&self) -> (u64, u64, u64) {
        assert!(!self.odd, "the run ended on an odd state");
        (self.seen, self.loans, self.sum)
    }
}

impl Clone for Book {
    fn clone(&self) -> Self {
        let snaps = match self.trap {
            Trap::Copy(seen) => self.seen >= seen,
            Trap::CopyOfCopy(seen) => self.is_copy && self.seen >= seen,
            Trap::OddCopy => self.odd,
            Trap::OddCopyOfCopy => self.is_copy && self.odd,
            _ => false,
        };
        if snaps {
            self.snaps.copies.fetch_add(1, Ordering::Relaxed);
            panic!("cannot be copied");
        }
        Book { is_copy: true, snaps: self.snaps.clone(), ..*self }
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        if self.trap == Trap::State && !self.snaps.over.load(Ordering::Relaxed) {
            self.snaps.states.fetch_add(1, Ordering::Relaxed);
            panic!("a book burns");
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Word {
    Start,
    Lend,
    Recall { debtor: LpId },
    Return,
}

#[derive(Debug)]
struct Letter {
    word: Word,
    /// Whether dropping it panics: handling it may change that.
    burns: AtomicBool,
    snaps: Arc<Snaps>,
}

/// The file that a burning letter names.
const LETTERS_BURN_IN: &str = file!();

impl Drop for Letter {
    fn drop(&mut self) {
        if *self.burns.get_mut() {
            self.snaps.payloads.fetch_add(1, Ordering::Relaxed);
            panic!("a letter burns");
        }
    }
}

impl Loans {
    fn letter(&self, word: Word, burns: bool) -> Letter {
        Letter {
            word,
            burns: AtomicBool::new(burns && self.trap == Trap::Unhandled),
            snaps: self.snaps.clone(),
        }
    }
}

#[model]
impl Model for Loans {
    type State = Book;
    type Event = Letter;

    fn lps(&self) -> u32 {
        LPS
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn init(&self, lp: &mut Init<Self>) -> Book {
        let delay = lp.random().exponential(1.0);
        lp.send(lp.id(), delay, self.letter(Word::Start, false));
        lp.send(lp.id(), 2.0 * END, self.letter(Word::Start, true));
        Book {
            seen: 0,
            loans: 0,
            sum: 0,
            odd: false,
            is_copy: false,
            trap: self.trap,
            snaps: self.snaps.clone(),
        }
    }

    fn handle(&self, book: &mut Book, letter: &Letter, lp: &mut Context<Self>) {
        book.seen += 1;
        book.sum = book.sum.wrapping_add(lp.random().next_u64());
        match self.trap {
            Trap::Handled(who, seen) => {
                let burns = who.is_none_or(|who| who == lp.id()) && book.seen >= seen;
                letter.burns.store(burns, Ordering::Relaxed);
            }
            Trap::Unhandled => letter.burns.store(book.odd, Ordering::Relaxed),
            Trap::Repeat(seen) if book.is_copy && book.seen >= seen => panic!("never again"),
            _ => {}
        }
        let mut delay = || self.lookahead + lp.random().exponential(0.05);
        let delays = [delay(), delay()];
        match letter.word {
            Word::Start => {
                let (debtor, agent) = (LpId(lp.random().below(LPS)), LpId(lp.random().below(LPS)));
                let next = lp.random().exponential(0.5);
                lp.send(debtor, delays[0], self.letter(Word::Lend, book.odd));
                lp.send(agent, delays[0], self.letter(Word::Recall { debtor }, book.odd));
                lp.send(lp.id(), next, self.letter(Word::Start, book.odd));
            }
            Word::Lend => book.loans += 1,
            Word::Recall { debtor } => {
                lp.send(debtor, delays[1], self.letter(Word::Return, book.odd))
            }
            Word::Return => {
                let lent = book.loans.checked_sub(1);
                book.odd |= lent.is_none();
                lp.save(book.loans);
                book.loans = lent.unwrap_or(0);
            }
        }
    }

    fn reverse(&self, book: &mut Book, letter: &Letter, lp: &mut Reverse<Self>) {
        assert!(!book.odd, "what led there is not known");
        book.sum = book.sum.wrapping_sub(lp.random().next_u64());
        book.seen -= 1;
        match letter.word {
            Word::Lend => book.loans -= 1,
            Word::Return => book.loans = lp.restore(),
            Word::Start | Word::Recall { .. } => {}
        }
    }
}

type Answer = Result<(String, Vec<(u64, u64, u64)>), Box<Failure>>;

/// How a model is run.
#[derive(Clone, Copy, Debug)]
struct How {
    sync: Synchronisation,
    lookahead: bool,
    /// The number of PEs, and the seed of a virtual cluster, if it is one.
    pes: u32,
    cluster: Option<u64>,
    undo: Undo,
    copy_interval: u32,
    messages: Messages,
}

impl How {
    fn copies_all(&self) -> bool {
        self.undo == Undo::Copy && self.copy_interval == 1
    }
}

/// All ways to run in parallel with this lookahead.
fn ways(lookahead: f64) -> Vec<How> {
    let mut all = Vec::new();
    let lanes = [
        (Synchronisation::Conservative, true),
        (Synchronisation::Optimistic, true),
        (Synchronisation::Optimistic, false),
    ];
    for (sync, use_lookahead) in lanes {
        if lookahead == 0.0 && use_lookahead {
            continue;
        }
        for (pes, cluster) in [
            (1, None),
            (2, None),
            (8, None),
            (2, Some(1)),
            (3, Some(2)),
            (8, Some(3)),
            (5, Some(4)),
        ] {
            for (undo, copy_interval) in [(Undo::Copy, 1), (Undo::Copy, 5), (Undo::Reverse, 1)] {
                // Chosen so that each kind of messages meets each of the settings above.
                let messages =
                    [Messages::Copy, Messages::Shared, Messages::Auto][all.len() % 4 % 3];
                all.push(How {
                    sync,
                    lookahead: use_lookahead,
                    pes,
                    cluster,
                    undo,
                    copy_interval,
                    messages,
                });
            }
        }
    }
    all
}

fn answer(simulation: Simulation<'static, Loans>, snaps: &Snaps) -> Answer {
    match simulation.end(END).seed(7).run() {
        Ok(run) => {
            snaps.over.store(true, Ordering::Relaxed);
            Ok((run.record.digest, run.states.iter().map(Book::answer).collect()))
        }
        Err(Error::Fault(failure)) => Err(failure),
        Err(other) => panic!("this error cannot come from a model: {other}"),
    }
}

fn sequential(trap: Trap, lookahead: f64) -> Answer {
    let snaps = Arc::<Snaps>::default();
    answer(Simulation::new(Loans { trap, lookahead, snaps: snaps.clone() }), &snaps)
}

fn parallel(trap: Trap, lookahead: f64, how: How) -> (Answer, Arc<Snaps>) {
    let snaps = Arc::<Snaps>::default();
    let How { sync, lookahead: use_lookahead, pes, cluster, undo, copy_interval, messages } = how;
    let _limit = time_limit((trap, lookahead, how));
    let simulation = Simulation::new(Loans { trap, lookahead, snaps: snaps.clone() })
        .sync(sync)
        .use_lookahead(use_lookahead);
    let simulation = simulation.threads(pes).messages(messages).batch(8).gvt_interval(64);
    let ahead = sync == Synchronisation::Optimistic;
    let simulation = if ahead {
        simulation.undo(undo).copy_interval(copy_interval).window(END)
    } else {
        simulation
    };
    let simulation = cluster.into_iter().fold(simulation, Simulation::virtual_cluster);
    (answer(simulation, &snaps), snaps)
}

/// Runs a model in all ways, and adds up the traps that snapped.
fn in_all_ways(trap: Trap, mut check: impl FnMut(f64, How, Answer)) -> [u64; 3] {
    let mut all = [0; 3];
    for lookahead in [0.0, 0.02] {
        for how in ways(lookahead) {
            let (found, snaps) = parallel(trap, lookahead, how);
            for (all, snapped) in
                all.iter_mut().zip([&snaps.copies, &snaps.payloads, &snaps.states])
            {
                *all += snapped.load(Ordering::Relaxed);
            }
            check(lookahead, how, found);
        }
    }
    all
}

/// The answer if nothing panics.
fn peace(lookahead: f64) -> Answer {
    let answer = sequential(Trap::Nothing, lookahead);
    assert!(answer.is_ok(), "{answer:?}");
    answer
}

#[test]
fn without_a_trap_all_runs_agree() {
    let expected = [peace(0.0), peace(0.02)];
    in_all_ways(Trap::Nothing, |lookahead, how, found| {
        assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}")
    });
}
