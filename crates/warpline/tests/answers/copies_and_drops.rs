//! Models whose `Clone` or `Drop` panics. If the event or state really happens, the panic is
//! reported as the model's mistake; otherwise it is not reported. Nothing aborts.

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

/// A payload is dropped after its event, sequentially too.
#[test]
fn a_payload_that_panics_after_its_event_is_the_same_mistake_everywhere() {
    for (lp, seen) in [(Some(0), 1), (Some(5), 9), (Some(11), 40), (None, 30)] {
        let lp = lp.map(LpId);
        let trap = Trap::Handled(lp, seen);
        let expected = [sequential(trap, 0.0), sequential(trap, 0.02)]
            .map(|answer| answer.expect_err("a letter burns"));
        for failure in &expected {
            let Place::Event { lp: found, time, number, payload } = &failure.place else {
                panic!("{failure}")
            };
            assert!(lp.is_none_or(|lp| lp == *found), "{failure}");
            assert_eq!(
                (*time, *number, payload.as_str()),
                (failure.time, None, "its payload is gone")
            );
            let fault = failure.fault.to_string();
            assert!(
                fault.starts_with(&format!(
                    "panicked: a letter burns, when its payload was dropped ({}:",
                    file!()
                )),
                "{fault}"
            );
            assert!(failure.committed + 1 >= seen, "{failure}");
        }
        in_all_ways(trap, |lookahead, how, found| {
            let expected = &expected[usize::from(lookahead > 0.0)];
            let found = found.expect_err("a letter burns");
            if how.copies_all() {
                assert_eq!(&found, expected, "{how:?}");
            } else {
                // Payloads are kept as long as states may have to be restored with them, and more
                // events may have committed by then.
                assert_eq!(
                    (&found.place, &found.fault),
                    (&expected.place, &expected.fault),
                    "{how:?}"
                );
                assert!(found.committed >= expected.committed, "{how:?}: {found}");
            }
        });
    }
}

/// Cancelled events and those beyond the end never happen, nor do events sent on a state that is
/// undone.
#[test]
fn payloads_of_events_that_never_happened_may_panic() {
    let expected = [peace(0.0), peace(0.02)];
    for (expected, lookahead) in expected.iter().zip([0.0, 0.02]) {
        assert_eq!(&sequential(Trap::Unhandled, lookahead), expected);
    }
    let [_, payloads, _] = in_all_ways(Trap::Unhandled, |lookahead, how, found| {
        assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}");
    });
    let beyond = u64::from(LPS) * (ways(0.0).len() + ways(0.02).len()) as u64;
    assert!(payloads > beyond + 100, "{payloads} of which {beyond} lay beyond the end");
}

#[test]
fn states_may_panic_when_they_are_dropped() {
    let expected = [peace(0.0), peace(0.02)];
    let [_, _, states] = in_all_ways(Trap::State, |lookahead, how, found| {
        assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}");
    });
    assert!(states > 1000, "{states}");
}

/// A state that panics whenever it is dropped.
#[derive(Clone, Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

/// A run that fails drops all of its states.
#[test]
fn states_that_panic_hide_no_mistake() {
    struct Failing;
    impl Model for Failing {
        type State = Bomb;
        type Event = u32;
        fn lps(&self) -> u32 {
            4
        }
        fn init(&self, lp: &mut Init<Self>) -> Bomb {
            lp.send(lp.id(), 1.0, lp.id().0);
            Bomb
        }
        fn handle(&self, _: &mut Bomb, number: &u32, lp: &mut Context<Self>) {
            if *number == 2 {
                lp.fail("as planned");
            }
        }
    }
    let failure = |simulation: Simulation<'static, Failing>| match simulation.run() {
        Err(Error::Fault(failure)) => failure,
        other => panic!("it should have failed: {other:?}"),
    };
    let expected = failure(Simulation::new(Failing));
    assert_eq!(expected.fault, Fault::Failed("as planned".into()));
    for pes in [1, 2, 4] {
        let _limit = time_limit(pes);
        assert_eq!(
            failure(Simulation::new(Failing).sync(Synchronisation::Optimistic).threads(pes)),
            expected
        );
        assert_eq!(
            failure(
                Simulation::new(Failing)
                    .sync(Synchronisation::Optimistic)
                    .threads(pes)
                    .virtual_cluster(pes.into())
            ),
            expected
        );
    }
}

/// A state whose LP fails in `init` is dropped at once.
#[test]
fn a_state_that_panics_hides_no_mistake_in_init() {
    struct Failing;
    impl Model for Failing {
        type State = Bomb;
        type Event = ();
        fn lps(&self) -> u32 {
            4
        }
        fn init(&self, lp: &mut Init<Self>) -> Bomb {
            if lp.id().0 == 2 {
                lp.fail("as planned");
            }
            Bomb
        }
        fn handle(&self, _: &mut Bomb, (): &(), _: &mut Context<Self>) {}
    }
    for (sync, pes) in [
        (Synchronisation::Sequential, 1),
        (Synchronisation::Optimistic, 1),
        (Synchronisation::Optimistic, 3),
    ] {
        let _limit = time_limit((sync, pes));
        let Err(Error::Fault(failure)) = Simulation::new(Failing).sync(sync).threads(pes).run()
        else {
            panic!("it should have failed")
        };
        assert_eq!(
            (failure.place, failure.fault),
            (Place::Init(LpId(2)), Fault::Failed("as planned".into()))
        );
    }
}

fn is_copy_fault(failure: &Failure) -> bool {
    let says = |words: &str| failure.to_string().contains(words);
    says("panicked: cannot be copied, when the state was copied")
        && says("--sync conservative or sequential")
}

/// With a copy before every event, the first event before which the state cannot be copied fails,
/// and it is always the same one.
#[test]
fn a_state_that_cannot_be_copied_is_a_mistake_of_the_model() {
    let trap = Trap::Copy(7);
    let mut first: [Option<Failure>; 2] = [None, None];
    let quiet = [peace(0.0), peace(0.02)];
    assert_eq!(
        [sequential(trap, 0.0), sequential(trap, 0.02)],
        quiet,
        "sequentially nothing is copied"
    );
    let mut failures = 0;
    in_all_ways(trap, |lookahead, how, found| {
        let first = &mut first[usize::from(lookahead > 0.0)];
        let quiet = &quiet[usize::from(lookahead > 0.0)];
        let failure = match found {
            Err(failure) => failure,
            Ok(_) => {
                // No copy was needed, so the answer is the usual one.
                assert_eq!(&found, quiet, "{how:?}");
                assert!(how.lookahead || !how.copies_all(), "{how:?}");
                return;
            }
        };
        failures += 1;
        assert!(
            is_copy_fault(&failure) && how.sync == Synchronisation::Optimistic,
            "{how:?}: {failure}"
        );
        assert!(
            matches!(&failure.place, Place::Event { payload, .. } if payload.starts_with("Letter")),
            "{failure}"
        );
        if !how.lookahead && how.copies_all() {
            let expected = first.get_or_insert_with(|| (*failure).clone());
            // The text of a letter shows its other fields as well.
            let at = |failure: &Failure| (failure.time, failure.committed);
            assert_eq!(at(&failure), at(expected), "{how:?}");
        }
    });
    assert!(failures > 15, "{failures}");
}

/// The state after a rollback cannot be restored. Either a later rollback goes further back, or the
/// LP has no next event.
#[test]
fn a_state_that_cannot_be_restored_is_a_mistake_of_the_model() {
    for (trap, words) in [
        (Trap::CopyOfCopy(3), "panicked: cannot be copied, when the state was copied"),
        (Trap::Repeat(3), "panicked: never again"),
    ] {
        let quiet = [peace(0.0), peace(0.02)];
        let mut failures = 0;
        let mut successes = 0;
        in_all_ways(trap, |lookahead, how, found| match found {
            Ok(_) => {
                successes += 1;
                assert_eq!(found, quiet[usize::from(lookahead > 0.0)], "{how:?}");
            }
            Err(failure) => {
                failures += 1;
                assert!(failure.to_string().contains(words), "{how:?}: {failure}");
                assert!(
                    matches!(failure.place, Place::Event { .. } | Place::Finish(_)),
                    "{how:?}: {failure}"
                );
                assert!(how.sync == Synchronisation::Optimistic, "{how:?}");
            }
        });
        assert!(
            failures > 10 && successes > 10,
            "{trap:?}: {failures} failures and {successes} answers"
        );
    }
}

#[test]
fn states_that_never_happened_may_panic_when_they_are_copied() {
    for trap in [Trap::OddCopy, Trap::OddCopyOfCopy] {
        let expected = [peace(0.0), peace(0.02)];
        let [copies, ..] = in_all_ways(trap, |lookahead, how, found| {
            assert_eq!(found, expected[usize::from(lookahead > 0.0)], "{how:?}")
        });
        assert!(copies > 0, "{trap:?}");
    }
}
