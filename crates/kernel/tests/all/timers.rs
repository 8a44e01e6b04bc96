//! Timers in the sequential engine: what cancelling changes, and what it costs.

use warpline_base::TieBreak;
use warpline_kernel::pending::{Heap, Ladder, PendingSet};
use warpline_kernel::{Sequential, Step};
use warpline_memory::{Budget, Region};
use warpline_model::engine::{Executor, Limits};
use warpline_model::prelude::*;
use warpline_model::statistics::{Row, RowSink};
use warpline_model::{Declarations, Statistics};

use crate::by_hand::time;

struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: Row<'_>) {}
}

fn engine<M: Model, Q: PendingSet>(model: &M, end: f64) -> Sequential<'_, M, Q, NoRows> {
    let statistics = Statistics::new(Declarations::default(), 0.0, end);
    let executor = Executor::new(model, 1, Limits::ZERO_DELAY_HOPS, false);
    let mut engine = Sequential::new(
        model,
        executor,
        TieBreak::BySender,
        time(end),
        statistics,
        NoRows,
        Q::default(),
    );
    while engine.next_lp().is_some() {
        engine.initialise_next().expect("nothing is wrong with it");
    }
    engine
}

/// An LP that follows a script: what it does with its timers at each event, by name.
struct Script(fn(&str, &mut Vec<Timer>, &mut Context<Script>) -> Option<bool>);

#[derive(Debug, Default, PartialEq)]
struct Log {
    timers: Vec<Timer>,
    /// What has happened, and what it was told.
    lines: Vec<(f64, &'static str, Option<bool>)>,
}

impl Clone for Log {
    fn clone(&self) -> Self {
        Log { timers: self.timers.clone(), lines: self.lines.clone() }
    }
}

impl Model for Script {
    type State = Log;
    type Event = &'static str;

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, lp: &mut Init<Self>) -> Log {
        lp.send(0, 1.0, "one");
        lp.send(0, 2.0, "two");
        lp.send(0, 3.0, "three");
        Log { timers: vec![lp.send_later(2.5, "bell")], lines: Vec::new() }
    }

    fn handle(&self, log: &mut Log, event: &&'static str, lp: &mut Context<Self>) {
        let told = (self.0)(event, &mut log.timers, lp);
        log.lines.push((lp.now(), event, told));
    }
}

fn lines(script: Script) -> Vec<(f64, &'static str, Option<bool>)> {
    let mut engine = engine::<_, Heap>(&script, 10.0);
    while engine.step(3) == Ok(Step::Worked) {}
    engine.balance();
    let parts = engine.into_parts();
    assert_eq!(parts.committed, parts.lps[0].state.lines.len() as u64, "only these happened");
    assert!(parts.pending.is_empty());
    parts.lps[0].state.lines.clone()
}

#[test]
fn a_cancelled_timer_never_happens_and_says_once_that_it_was_pending() {
    let script = Script(|event, timers, lp| match event {
        "one" => Some(lp.cancel(timers[0])),
        "two" => Some(lp.cancel(timers[0])),
        _ => None,
    });
    let expected = [(1.0, "one", Some(true)), (2.0, "two", Some(false)), (3.0, "three", None)];
    assert_eq!(lines(script), expected);
}

#[test]
fn a_timer_that_has_fired_is_not_pending() {
    let script = Script(|event, timers, lp| match event {
        "one" => Some(lp.is_pending(timers[0])),
        "bell" => Some(lp.is_pending(timers[0]) || lp.cancel(timers[0])),
        "three" => Some(lp.reschedule(timers[0], 1.0).is_some()),
        _ => None,
    });
    assert_eq!(
        lines(script),
        [
            (1.0, "one", Some(true)),
            (2.0, "two", None),
            (2.5, "bell", Some(false)),
            (3.0, "three", Some(false))
        ]
    );
}

#[test]
fn a_rescheduled_timer_keeps_its_event_and_is_another_timer() {
    let script = Script(|event, timers, lp| match event {
        "one" => {
            timers.extend(lp.reschedule(timers[0], 0.5));
            Some(lp.is_pending(timers[0]))
        }
        "two" => Some(lp.is_pending(timers[1])),
        _ => None,
    });
    assert_eq!(
        lines(script),
        [
            (1.0, "one", Some(false)),
            (1.5, "bell", None),
            (2.0, "two", Some(false)),
            (3.0, "three", None)
        ]
    );
}

#[test]
fn an_event_may_cancel_and_reschedule_what_it_has_just_set() {
    let script = Script(|event, timers, lp| {
        if event != "one" {
            return None;
        }
        let first = lp.send_later(0.25, "first");
        let second = lp.send_later(0.5, "second");
        let old = lp.reschedule(timers[0], 3.0)?;
        let newer = lp.reschedule(old, 0.75)?;
        let third = lp.reschedule(second, 1.25)?;
        lp.send(0, 1.5, "after");
        let gone = lp.cancel(first) && !lp.is_pending(second) && !lp.is_pending(old);
        Some(gone && lp.is_pending(newer) && lp.is_pending(third))
    });
    assert_eq!(
        lines(script),
        [
            (1.0, "one", Some(true)),
            (1.75, "bell", None),
            (2.0, "two", None),
            (2.25, "second", None),
            (2.5, "after", None),
            (3.0, "three", None)
        ]
    );
}

/// LPs that, at every tick, cancel a far timer and set another.
struct Restless {
    lps: u32,
}

impl Model for Restless {
    type State = Timer;
    type Event = ();

    fn lps(&self) -> u32 {
        self.lps
    }

    fn init(&self, lp: &mut Init<Self>) -> Timer {
        lp.send(lp.id(), 1.0, ());
        lp.send_later(1e7, ())
    }

    fn handle(&self, far: &mut Timer, (): &(), lp: &mut Context<Self>) {
        assert!(lp.cancel(*far), "it is far away");
        *far = lp.send_later(1e7, ());
        lp.send(lp.id(), 1.0, ());
    }
}

fn memory_follows_what_is_pending<Q: PendingSet>(lps: u32) {
    const TIMERS: u64 = 3_000_000;
    let model = Restless { lps };
    let mut engine = engine::<_, Q>(&model, 4e6);
    let mut most = 0;
    while engine.committed() < TIMERS {
        assert_eq!(engine.step(1), Ok(Step::Worked));
        most = most.max(engine.pending());
    }
    // A tick and a timer of each LP are pending. A tick is out while it is executed.
    let live = 2 * lps as usize;
    assert!(most <= 2 * live + 130, "{most} events where {live} are pending");
    engine.balance();
    let parts = engine.into_parts();
    assert_eq!((parts.committed, parts.pending.len()), (TIMERS, live));
}

#[test]
fn millions_of_cancelled_timers_leave_no_more_than_what_is_pending() {
    memory_follows_what_is_pending::<Heap>(1);
    memory_follows_what_is_pending::<Ladder>(1000);
}

/// LPs that send themselves events, or set as many timers.
struct Clocks {
    each: u32,
    timers: bool,
}

impl Model for Clocks {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        1000
    }

    fn init(&self, lp: &mut Init<Self>) {
        for number in 1..=self.each {
            if self.timers {
                lp.send_later(f64::from(number), ());
            } else {
                lp.send(lp.id(), f64::from(number), ());
            }
        }
    }

    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

/// What an engine has drawn on its budget once all LPs have set their timers.
fn drawn(each: u32, timers: bool) -> u64 {
    let model = Clocks { each, timers };
    let statistics = Statistics::new(Declarations::default(), 0.0, 1e3);
    let executor = Executor::new(&model, 1, Limits::ZERO_DELAY_HOPS, false);
    let pending = Heap::default();
    let mut engine = Sequential::new(
        &model,
        executor,
        TieBreak::BySender,
        time(1e3),
        statistics,
        NoRows,
        pending,
    );
    let budget = Budget::new(&Region::own(), 1 << 30, 0);
    engine.draw_on(budget.account());
    while engine.next_lp().is_some() {
        engine.initialise_next().expect("nothing is wrong with it");
    }
    budget.taken()
}

#[test]
fn tables_of_timers_count_against_the_budget() {
    let of_tables = |each| drawn(each, true) - drawn(each, false);
    // A cache line for each LP, with spare room for as many at most.
    assert!((64_000..=130_000).contains(&of_tables(3)), "{} bytes", of_tables(3));
    // Twenty timers lie beside it, with 16 bytes each.
    assert!((384_000..=1_000_000).contains(&of_tables(20)), "{} bytes", of_tables(20));
}
