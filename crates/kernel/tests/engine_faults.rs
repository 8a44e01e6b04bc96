//! The checks that watch over the engine are watched: wires that lose or repeat messages or lie about GVT must not go unnoticed.
#![cfg(not(miri))]

mod faulty_wires;

use std::panic::{AssertUnwindSafe, catch_unwind};

use faulty_wires::{Fault, wires};
use warpline_base::{RunDigest, TieBreak, VirtualTime};
use warpline_kernel::gvt::{AnyGvt, Asynchronous, Gvt, Synchronous};
use warpline_kernel::pending::Heap;
use warpline_kernel::{Delays, Event, Lanes, Partition, Parts, Pe, Port, Rule, Step, Task, Tuning, Undoing, Window, Wire, balance};
use warpline_memory::{Buffers, buffers};
use warpline_model::prelude::*;
use warpline_model::{Declarations, LpId, Statistics};

const LPS: u32 = 12;
const END: f64 = 12.0;
const PES: u32 = 3;
const LOOKAHEAD: f64 = 0.1;
/// Far more steps than any run takes that goes well; checked below.
const STEPS: u64 = 400_000;

/// LPs that send each other messages in a way that depends on all they have received, in order.
struct Chain;

impl Model for Chain {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        LPS
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        for _ in 0..2 {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 1);
        }
        0
    }

    fn handle(&self, state: &mut u64, event: &u64, lp: &mut Context<Self>) {
        *state = state.rotate_left(7) ^ event ^ lp.random().next_u64();
        let to = LpId((*state % u64::from(LPS)) as u32);
        let delay = LOOKAHEAD + lp.random().exponential(1.0) * if *state & 256 == 0 { 0.1 } else { 1.9 };
        lp.send(to, delay, *state);
    }
}

/// What a run comes to that ends, without anything having been noticed on the way.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    digest: String,
    states: Vec<u64>,
}

/// How a run is noticed to be wrong, or that it is not.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Answer(Answer),
    /// An assertion of the engine or of its books.
    Assertion(String),
    /// It does not come to an end.
    Endless,
}

struct Outcome {
    end: End,
    /// How often the wires did something wrong.
    done: u32,
    steps: u64,
    rolled_back: u64,
}

/// Every way to synchronise with every kind of wire, and a seed in four has synchronous GVT.
fn pe<P: Port<u64>>(port: P, buffers: Buffers<Event<u64>>, pes: u32, seed: u64) -> Pe<'static, Chain, Heap, P> {
    let end = VirtualTime::new(END).expect("it is a time");
    let delays = Delays::uniform(LOOKAHEAD);
    let task = Task { model: &Chain, partition: Partition::new(LPS, pes), ties: TieBreak::BySender, end, delays };
    let lanes = [Lanes::Ahead, Lanes::Both, Lanes::Ahead, Lanes::Both, Lanes::Certain][seed as usize % 5];
    let wire = [Wire::Shared, Wire::Value, Wire::Both][seed as usize % 3];
    let undoing = Undoing::Copy { interval: 1 };
    let tuning = Tuning { batch: 4, kps: 2, gvt_interval: 20, patience: 32, history_most: 1000, undoing, lanes, wire };
    let me = buffers.me();
    let gvt = if seed.is_multiple_of(4) {
        AnyGvt::Synchronous(Synchronous::new(me, pes, task.ties))
    } else {
        AnyGvt::Asynchronous(Asynchronous::new(me, pes, task.ties))
    };
    let statistics = Statistics::new(Declarations::default().checked().expect("there are none"), 0.0, END);
    let context = Context::new(&Chain, 1, 1000, false);
    let window = Window::new(Rule::Fixed(END), end, 0.0, pes);
    Pe::new(&task, tuning, (buffers, port), gvt, window, context, statistics).expect("there is memory")
}

/// Steps PEs at random until all are done.
fn run(pes: u32, seed: u64, fault: Fault) -> Outcome {
    let (network, ports) = wires(pes, seed, fault);
    let make = |(buffers, port)| pe(port, buffers, pes, seed);
    let mut all: Vec<_> = buffers(pes).into_iter().zip(ports).map(make).collect();
    let (mut steps, mut rolled_back, mut left) = (0, 0, vec![true; pes as usize]);
    let end = catch_unwind(AssertUnwindSafe(|| {
        while left.contains(&true) && steps < STEPS {
            let chosen = network.borrow_mut().below(u64::from(pes)) as usize;
            network.borrow_mut().tick();
            left[chosen] &= matches!(all[chosen].step().expect("there is memory"), Step::Worked | Step::Idle);
            steps += 1;
        }
        rolled_back = all.iter().map(|pe| pe.counts().rolled_back).sum();
        if left.contains(&true) {
            return End::Endless;
        }
        End::Answer(answer(all.drain(..).map(Pe::into_parts).collect()))
    }));
    let end = end.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        End::Assertion(text.unwrap_or_default())
    });
    let done = network.borrow().done;
    Outcome { end, done, steps, rolled_back }
}

fn answer(parts: Vec<Parts<Chain>>) -> Answer {
    balance(parts.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
    let (mut digest, mut states) = (RunDigest::default(), Vec::new());
    for (id, lp) in (0..).map(LpId).zip(parts.iter().flat_map(|pe| &pe.lps)) {
        digest.add(id, lp.events, lp.digest);
        states.push(lp.state);
    }
    Answer { digest: digest.to_string(), states }
}

/// The answer of one PE, which has nobody to send to.
fn expected() -> Answer {
    let End::Answer(answer) = run(1, 1, Fault::None).end else { panic!("one PE alone does nothing wrong") };
    answer
}

const SEEDS: u64 = 40;

/// Tries a fault at several places and under several seeds. Returns in how many runs it was done and in how many it was noticed.
fn noticed(fault: fn(u32) -> Fault) -> (u32, u32) {
    let (expected, mut done, mut noticed) = (End::Answer(expected()), 0, 0);
    for seed in 0..SEEDS {
        let outcome = run(PES, seed, fault(1 + (seed % 7) as u32));
        if outcome.done > 0 {
            done += 1;
            noticed += u32::from(outcome.end != expected);
        }
    }
    (done, noticed)
}

#[test]
fn wires_that_work_go_unnoticed() {
    let (expected, mut rolled_back, mut longest) = (End::Answer(expected()), 0, 0);
    for seed in 0..SEEDS {
        for pes in [2, PES, 5] {
            let outcome = run(pes, seed, Fault::None);
            assert_eq!(outcome.end, expected, "{pes} PEs, seed {seed}");
            rolled_back += outcome.rolled_back;
            longest = longest.max(outcome.steps);
        }
    }
    assert!(longest < STEPS / 20, "the longest run takes {longest} steps");
    assert!(rolled_back > 1000, "{rolled_back} events were rolled back");
}

/// These disturb the counts of messages, by which GVT is found, or the books, or GVT is never found: every single one is noticed.
#[test]
fn every_lost_or_repeated_message_is_noticed() {
    for (name, fault) in [
        ("lost message", Fault::Lost as fn(u32) -> Fault),
        ("lost anti-message", Fault::LostAnti),
        ("message that came twice", Fault::Twice),
        ("anti-message that came twice", Fault::TwiceAnti),
        ("lost control message", Fault::LostControl),
    ] {
        let (done, noticed) = noticed(fault);
        assert!(done > SEEDS as u32 / 4, "a {name} happened in {done} runs of {SEEDS}");
        assert_eq!(noticed, done, "a {name} went unnoticed");
    }
}

/// A GVT that is too late is a mistake only where something comes before it: most of these are noticed, or many where only one of the PEs
/// lies.
#[test]
fn gvt_that_lies_is_noticed() {
    for (name, fault, share) in [
        ("verdict that is too late", Fault::LateVerdict as fn(u32) -> Fault, 0.5),
        ("share that leaves something out", Fault::NothingLeft, 0.25),
        ("bound that is too high", Fault::HighBound, 0.5),
    ] {
        let (done, noticed) = noticed(fault);
        assert!(done > SEEDS as u32 / 4, "a {name} happened in {done} runs of {SEEDS}");
        assert!(f64::from(noticed) > share * f64::from(done), "a {name} was noticed in {noticed} runs of {done}");
    }
}

/// A handle of a buffer that is free already, or is another's, is worth nothing.
#[test]
fn stale_handles_are_noticed() {
    let mut views = buffers::<String>(2);
    let (mut receiver, mut sender) = (views.pop().expect("two"), views.pop().expect("two"));
    let handle = sender.insert(1, "word".to_owned()).expect("there is memory");
    receiver.accept(handle);
    let fails = |name: &str, act: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "{name} went unnoticed");
    fails("a second accept", &mut || _ = receiver.accept(handle));
    fails("a release by the sender", &mut || _ = sender.release(handle));
    assert!(receiver.begin(handle));
    fails("a second begin", &mut || _ = receiver.begin(handle));
    receiver.release(handle);
    fails("a second release", &mut || _ = receiver.release(handle));
    fails("a cancellation of a free buffer", &mut || _ = sender.cancel(handle));
}
