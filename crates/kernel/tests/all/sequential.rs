//! The sequential engine: the order of events, its counts, and how it reports a model's mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::by_hand::{END, HANDLED, Play, Sent, time};
use warpline_base::{EventKey, HistoryDigest, LpId, Priority, RunDigest, Sequence, TieBreak};
use warpline_kernel::pending::{Heap, Ladder, PendingSet};
use warpline_kernel::{Attempt, Sequential, Step, Stop};
use warpline_model::engine::{Executor, Limits};
use warpline_model::prelude::*;
use warpline_model::statistics::{Row, RowSink};
use warpline_model::{Declarations, Fault, Statistics};

struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: Row<'_>) {}
}

type Engine<'m, M, Q> = Sequential<'m, M, Q, NoRows>;

fn engine<M: Model, Q: PendingSet>(model: &M) -> Engine<'_, M, Q> {
    let mut declarations = Declarations::default();
    model.declare(&mut declarations);
    let statistics =
        Statistics::new(declarations.checked().expect("they are well formed"), 0.0, END);
    let executor = Executor::new(model, 1, Limits::ZERO_DELAY_HOPS, false);
    Sequential::new(
        model,
        executor,
        TieBreak::BySender,
        time(END),
        statistics,
        NoRows,
        Q::default(),
    )
}

/// An engine that has initialised all LPs.
fn initialised<M: Model, Q: PendingSet>(model: &M) -> Engine<'_, M, Q> {
    let mut engine = engine(model);
    while engine.next_lp().is_some() {
        engine.initialise_next().expect("nothing is wrong with it");
    }
    engine
}

/// Three LPs that send each other events, some at the same time, without delay, and at the end.
const TALK: Play = Play {
    lps: 3,
    first: |lp| match lp {
        0 => vec![(1, 2.0, "late"), (0, 1.0, "early")],
        2 => vec![(1, 2.0, "late too")],
        _ => Vec::new(),
    },
    then: |handled| match handled {
        ["early"] => vec![(2, 1.0, "at once"), (0, 3.0, "again"), (1, END, "at the end")],
        ["at once"] => vec![(1, 1.5, "between")],
        _ => Vec::new(),
    },
    ..Play::NOTHING
};

/// The parts of an executed event's key.
type Executed = (f64, u32, u32, u64, u32);

fn digest(lps: [&[Executed]; 3]) -> RunDigest {
    let mut run = RunDigest::default();
    for (lp, keys) in (0..).zip(lps) {
        let mut digest = HistoryDigest::default();
        for &(at, step, sender, event, index) in keys {
            let sequence = Sequence::first_of(event).nth(index);
            digest.push(&EventKey {
                time: time(at),
                step,
                priority: Priority::NORMAL,
                sender: LpId(sender),
                sequence,
            });
        }
        run.add(LpId(lp), keys.len() as u64, digest);
    }
    run
}

fn events_are_executed_in_order<Q: PendingSet>() {
    let mut engine: Engine<'_, Play, Q> = engine(&TALK);
    let mut pending = Vec::new();
    for lp in 0..3 {
        assert_eq!(engine.next_lp(), Some(LpId(lp)));
        engine.initialise_next().expect("nothing is wrong with it");
        pending.push(engine.pending());
    }
    assert_eq!(
        (pending, engine.next_lp(), engine.initialise_next()),
        (vec![2, 2, 3], None, Ok(()))
    );
    assert_eq!((engine.now(), engine.committed(), engine.running().is_none()), (0.0, 0, true));
    assert_eq!(engine.step(1), Ok(Step::Worked));
    // Its memory has been reused for an event that it sent.
    assert_eq!((engine.now(), engine.committed(), engine.pending()), (1.0, 1, 5));
    engine.balance();
    assert_eq!(engine.step(2), Ok(Step::Worked));
    assert_eq!((engine.now(), engine.committed(), engine.executor().id()), (1.5, 3, LpId(1)));
    assert_eq!(engine.step(100), Ok(Step::Finished));
    assert_eq!((engine.now(), engine.committed(), engine.pending()), (3.0, 6, 1));
    assert!(engine.running().is_none(), "its memory is free again");
    engine.balance();
    let done = engine.into_parts();
    let found = done.digest();
    let handled: Vec<_> = done.lps.into_iter().map(|lp| lp.state.labels).collect();
    assert_eq!(
        handled,
        [vec!["early", "again"], vec!["between", "late", "late too"], vec!["at once"]]
    );
    assert_eq!((done.committed, done.statistics.counter(HANDLED)), (6, 6));
    let keys = digest([
        &[(1.0, 0, 0, 0, 1), (3.0, 0, 0, 1, 1)],
        &[(1.5, 0, 2, 1, 0), (2.0, 0, 0, 0, 0), (2.0, 0, 2, 0, 0)],
        &[(1.0, 1, 0, 1, 0)],
    ]);
    assert_eq!(found, keys);
}

#[test]
fn events_are_executed_in_order_from_a_heap() {
    events_are_executed_in_order::<Heap>();
}

#[test]
fn events_are_executed_in_order_from_a_ladder() {
    events_are_executed_in_order::<Ladder>();
}

/// Far more events than fit the nearest cache, so that they are fetched ahead; and more events than
/// LPs.
#[test]
fn many_events_of_one_lp_are_executed() {
    fn first(_: u32) -> Vec<Sent> {
        (1..5000).map(|n| (0, f64::from(n % 70), "one")).collect()
    }
    let play = Play { lps: 1, first, ..Play::NOTHING };
    let mut engine: Engine<'_, Play, Ladder> = initialised(&play);
    assert_eq!(engine.step(10_000), Ok(Step::Finished));
    assert_eq!((engine.committed(), engine.pending()), (4999, 0));
    engine.balance();
}

/// Steps a play to its failure. Returns the fault, its event and time, and how many events have
/// committed.
fn failure(play: Play) -> (String, Option<&'static str>, f64, u64) {
    let mut engine: Engine<'_, Play, Heap> = initialised(&play);
    let Err(Stop::Fault(fault)) = engine.step(100) else { panic!("the play is wrong") };
    (
        fault.to_string(),
        engine.running().map(|event| event.payload),
        engine.now(),
        engine.committed(),
    )
}

#[test]
fn a_mistake_is_found_where_it_is_made() {
    fn panics(handled: &[&'static str]) -> Vec<Sent> {
        assert!(handled != ["between"], "never between");
        (TALK.then)(handled)
    }
    fn fails(label: &'static str, lp: &mut Context<Play>) {
        if label == "between" {
            lp.fail("not this one");
        }
    }
    let (fault, event, at, committed) = failure(Play { then: panics, ..TALK });
    assert!(fault.contains("never between"), "{fault}");
    assert_eq!((event, at, committed), (Some("between"), 1.5, 2));
    // A fault before the panic takes precedence.
    for then in [TALK.then, panics] {
        let (fault, event, at, committed) = failure(Play { save: fails, then, ..TALK });
        assert!(fault.contains("not this one"), "{fault}");
        assert_eq!((event, at, committed), (Some("between"), 1.5, 2));
    }
}

#[test]
fn a_mistake_while_an_lp_is_initialised_is_found() {
    fn panics(lp: u32) -> Vec<Sent> {
        assert!(lp != 1, "not LP 1");
        Vec::new()
    }
    let play = Play { first: panics, ..Play::NOTHING };
    let mut engine: Engine<'_, Play, Heap> = engine(&play);
    assert_eq!(engine.initialise_next(), Ok(()));
    let Err(Stop::Fault(Fault::Panic(message))) = engine.initialise_next() else {
        panic!("it panics")
    };
    assert!(message.contains("not LP 1") && engine.next_lp() == Some(LpId(1)), "{message}");
    let strays = Play { first: |lp| vec![(lp + 3, 1.0, "too far")], ..Play::NOTHING };
    let mut engine: Engine<'_, Play, Heap> = self::engine(&strays);
    assert_eq!(engine.initialise_next(), Ok(()));
    assert_eq!(
        engine.initialise_next(),
        Err(Stop::Fault(Fault::UnknownLp { to: LpId(4), lps: 4 }))
    );
}

#[test]
fn events_are_tried_out_before_they_are_executed() {
    let mut engine: Engine<'_, Play, Heap> = initialised(&TALK);
    let mut tried = Vec::new();
    for number in 1..=6 {
        let outcome = engine.step_after(|Attempt { event, lp, .. }| {
            tried.push((event.payload, lp.state.labels.len()));
            Ok::<_, ()>(())
        });
        assert_eq!((outcome, engine.committed()), (Ok(Some(Ok(()))), number));
    }
    let in_order =
        [("early", 0), ("at once", 0), ("between", 0), ("late", 1), ("late too", 2), ("again", 1)];
    assert_eq!((&tried[..], engine.now()), (&in_order[..], 3.0));
    assert_eq!(engine.step_after(|_| Err("there is none")), Ok(None));
    engine.balance();
}

#[test]
fn an_event_that_was_tried_out_and_refused_is_not_executed() {
    let mut engine: Engine<'_, Play, Heap> = initialised(&TALK);
    assert_eq!(engine.step_after(|_| Err("refused")), Ok(Some(Err("refused"))));
    assert_eq!((engine.committed(), engine.now()), (0, 1.0));
    assert_eq!(engine.running().map(|event| event.payload), Some("early"));
    // It was taken out and not executed.
    assert!(
        catch_unwind(AssertUnwindSafe(|| engine.balance())).is_err(),
        "a lost event went unnoticed"
    );
    let panicked = engine.step_after(|_| -> Result<(), ()> { panic!("no good") });
    assert!(
        matches!(&panicked, Err(Stop::Fault(Fault::Panic(message))) if message == "no good"),
        "{panicked:?}"
    );
}

#[test]
fn other_code_of_the_model_may_panic_too() {
    let mut engine: Engine<'_, Play, Heap> = engine(&TALK);
    assert_eq!(engine.try_model(|play, _| play.lps), Ok(3));
    assert_eq!(
        engine.try_model(|_, _| -> u32 { panic!("no good") }),
        Err(Stop::Fault(Fault::Panic("no good".into())))
    );
}

/// A payload that panics when it is dropped.
#[derive(Debug)]
struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "a bomb");
    }
}

/// An LP whose second event carries a bomb. If `last`, the event sends nothing.
struct Bombs {
    last: bool,
}

impl Model for Bombs {
    type State = u32;
    type Event = Bomb;

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, lp: &mut Init<Self>) -> u32 {
        lp.send(0, 1.0, Bomb(false));
        0
    }

    fn handle(&self, handled: &mut u32, _: &Bomb, lp: &mut Context<Self>) {
        *handled += 1;
        if *handled < 2 || !self.last {
            lp.send(0, 1.0, Bomb(*handled == 1));
        }
    }
}

#[test]
fn a_panic_in_dropping_a_payload_after_its_event_is_reported_as_such() {
    for last in [false, true] {
        let bombs = Bombs { last };
        let mut engine: Engine<'_, Bombs, Heap> = initialised(&bombs);
        let stopped = engine.step(10);
        let message = "a bomb, when its payload was dropped".to_owned();
        assert_eq!(stopped, Err(Stop::Fault(Fault::Panic(message))));
        assert!(engine.running().is_none(), "the payload is gone");
        assert_eq!((engine.now(), engine.committed()), (2.0, 1));
    }
}
