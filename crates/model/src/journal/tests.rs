use std::fmt;
use std::marker::PhantomData;

use proptest::prelude::*;

use warpline_base::VirtualTime;

use crate::Plain;
use crate::engine::Executor;
use crate::prelude::*;

/// A model whose events are made by the tests.
struct Script;

#[model(journal)]
impl Model for Script {
    type State = State;
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, _: &mut Init<Self>) -> State {
        State::default()
    }

    fn handle(&self, _: &mut State, (): &(), _: &mut Context<Self>) {}
}

#[derive(Clone, Debug, Default, PartialEq, Journaled)]
struct State {
    first: First,
    pair: (u32, f64),
    counts: [Counts; 3],
    bytes: [u8; 5],
    level: Level,
    queue: Queue<(u16, f32)>,
    queues: [Queue<u8>; 2],
    machine: Machine,
    stage: Stage,
    last: Option<LpId>,
    nothing: (),
    none: PhantomData<u64>,
    #[journal(fixed)]
    name: String,
}

/// Has the same address as the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
#[journal(whole)]
struct First {
    a: u64,
    b: [i16; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Journaled)]
struct Counts {
    small: u8,
    large: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
enum Stage {
    #[default]
    Begun,
    Halfway,
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
#[journal(whole)]
enum Machine {
    #[default]
    Idle,
    Busy {
        since: f64,
        parts: Option<u8>,
    },
    Broken(Stage),
}

/// Changes one thing, chosen by the first number, in a way that depends on the others.
fn change(state: &mut State, (which, by): (u8, u64), lp: &mut Context<Script>) {
    let place = by as usize % 4;
    match which {
        0 => *lp.change(&mut state.first.a) ^= by,
        1 => *lp.change(&mut state.first) = First { a: by, b: [1, by as i16] },
        2 => *lp.change(&mut state.first.b) = [by as i16, 3],
        3 => *lp.change(&mut state.first.b[0]) = by as i16,
        4 => *lp.change(&mut state.pair) = (by as u32, by as f64),
        5 => *lp.change(&mut state.pair.1) += 0.1,
        6 => *lp.change(&mut state.counts[place % 3].small) = by as u8,
        7 => *lp.change(&mut state.counts[place % 3].large) = by,
        8 => *lp.change(&mut state.bytes[place]) = by as u8,
        9 => *lp.change(&mut state.bytes) = by.to_le_bytes()[..5].try_into().unwrap(),
        10 => state.level.set(by as f64, crate::TimeMean::slot(0), lp),
        11 => state.queue.push_back((by as u16, 0.5), lp),
        12 => state.queue.push_front((by as u16, 1.5), lp),
        13 => _ = state.queue.pop_back(lp),
        14 => _ = state.queue.pop_front(lp),
        15 => state.queue.insert(place.min(state.queue.len()), (by as u16, 2.5), lp),
        16 => _ = state.queue.remove(place, lp),
        17 => _ = state.queue.change(place, lp).map(|item| item.1 += 1.0),
        18 => state.queues[place % 2].push_back(by as u8, lp),
        19 => state.queues[place % 2].clear(lp),
        20 => {
            *lp.change(&mut state.machine) =
                Machine::Busy { since: by as f64, parts: by.is_multiple_of(2).then_some(by as u8) }
        }
        21 => {
            *lp.change(&mut state.machine) =
                [Machine::Idle, Machine::Broken(Stage::Done)][place % 2]
        }
        22 => {
            if let Machine::Busy { since, parts } = &mut state.machine {
                *lp.change(since) = by as f64;
                *lp.change(parts) = Some(by as u8);
                if let Some(parts) = parts {
                    *lp.change(parts) ^= 1;
                }
            }
        }
        23 => *lp.change(&mut state.stage) = [Stage::Begun, Stage::Halfway, Stage::Done][place % 3],
        24 => *lp.change(&mut state.last) = by.is_multiple_of(3).then_some(LpId(by as u32)),
        25 => *lp.change(&mut state.nothing) = (),
        _ => *lp.change(&mut state.none) = PhantomData,
    }
}

fn executor() -> Executor<Script> {
    let mut executor = Executor::new(&Script, 1, 9, false);
    executor.begin(LpId(0), 1, VirtualTime::new(2.5).unwrap(), 0);
    executor
}

proptest! {
    /// All changes are undone, whatever events change and in whatever order; several events, each
    /// with its own log, last first.
    #[test]
    fn all_changes_are_undone(events in prop::collection::vec(prop::collection::vec((0..27u8, any::<u64>()), 0..12), 1..6)) {
        let mut executor = executor();
        let mut state = State::default();
        let mut past = Vec::new();
        for event in &events {
            let before = state.clone();
            executor.begin_log(&state);
            event.iter().for_each(|&what| change(&mut state, what, executor.lp()));
            past.push((before, std::mem::take(executor.logged_mut())));
        }
        for (before, log) in past.into_iter().rev() {
            // States may have moved in memory by then.
            let mut moved = Box::new(state.clone());
            *executor.logged_mut() = log;
            prop_assert!(executor.undo_logged(&mut moved));
            prop_assert!(executor.logged_mut().is_empty() && !executor.logs());
            prop_assert_eq!(&*moved, &before);
            state = *moved;
        }
    }

    /// An event that stopped halfway can be undone as well.
    #[test]
    fn an_event_that_stops_is_undone(done in prop::collection::vec((0..27u8, any::<u64>()), 0..30)) {
        let mut executor = executor();
        let mut state = State::default();
        done.iter().for_each(|&what| change(&mut state, what, executor.lp()));
        prop_assert!(executor.logged_mut().is_empty(), "nothing is logged unless the engine asks \
            for it");
        let before = state.clone();
        executor.begin_log(&state);
        done.iter().rev().for_each(|&what| change(&mut state, what, executor.lp()));
        _ = executor.lp().change(&mut state.first.a); // and what was to be written is not
        prop_assert!(executor.undo_logged(&mut state));
        prop_assert_eq!(state, before);
    }
}

#[test]
fn what_is_changed_without_a_word_stays_changed() {
    let mut executor = executor();
    let mut state = State::default();
    executor.begin_log(&state);
    *executor.lp().change(&mut state.first.a) = 7;
    state.pair.0 = 8;
    assert!(executor.undo_logged(&mut state));
    assert_eq!((state.first.a, state.pair.0), (0, 8));
}

/// If the variant of an enum changed without being logged, the changed field no longer exists.
#[test]
fn what_is_not_found_again_is_told() {
    let mut executor = executor();
    let mut state =
        State { machine: Machine::Busy { since: 1.0, parts: None }, ..State::default() };
    executor.begin_log(&state);
    if let Machine::Busy { since, .. } = &mut state.machine {
        *executor.lp().change(since) = 2.0;
    }
    *executor.lp().change(&mut state.first.a) = 7;
    state.machine = Machine::Idle;
    assert!(!executor.undo_logged(&mut state));
    assert_eq!(state.first.a, 0, "the rest is undone all the same");
}

#[test]
fn what_is_no_part_of_the_state_cannot_be_changed() {
    let mut executor = executor();
    let mut state = State::default();
    executor.begin_log(&state);
    let mut copy = state.first;
    *executor.lp().change(&mut copy.a) = 7;
    let fault = executor.take_fault().expect("a copy is no state");
    assert!(
        matches!(fault, Fault::Failed(_))
            && fault.to_string().contains("outside of the LP's state"),
        "{fault}"
    );
    assert!(executor.undo_logged(&mut state) && state == State::default());
    *executor.lp().change(&mut copy.a) = 8;
    assert_eq!(executor.take_fault(), None, "it does no harm where nothing is logged");
}

#[test]
fn forgetting_ends_the_log() {
    let mut executor = executor();
    let mut state = State::default();
    executor.begin_log(&state);
    assert!(executor.logs());
    *executor.lp().change(&mut state.first.a) = 7;
    executor.forget();
    assert!(!executor.logs() && executor.logged_mut().is_empty());
}

/// Values of more than a word come back from their words, whatever follows them.
#[test]
fn plain_values_take_as_many_words_as_they_say() {
    fn check<T: Plain + PartialEq + fmt::Debug>(value: T) {
        let mut log = vec![99];
        value.keep(&mut log);
        assert_eq!(log.len(), 1 + T::WORDS, "{value:?}");
        assert_eq!((T::take(&mut log), log), (value, vec![99]));
    }
    check(());
    check((1u8, -2i64, 0.5f32));
    check([(1u8, true), (2, false)]);
    check(Some([1u16, 2]));
    check(None::<(u8, f64)>);
    check(Some(Some(Machine::Broken(Stage::Halfway))));
    for machine in
        [Machine::Idle, Machine::Busy { since: -0.5, parts: Some(3) }, Machine::Broken(Stage::Done)]
    {
        check(machine);
        check((machine, First { a: 1, b: [2, -3] }));
    }
    let mut level = Level::default();
    level.set(7.5, crate::TimeMean::slot(0), executor().lp());
    check(level);
    assert_eq!(Machine::WORDS, 1 + 3);
}
