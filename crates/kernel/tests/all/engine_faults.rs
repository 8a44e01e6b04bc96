//! The engine's own checks: wires that lose or repeat messages, or corrupt GVT, must not go
//! unnoticed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::faulty_wires::{Fault, wires};
use warpline_base::{RunDigest, TieBreak, VirtualTime};
use warpline_kernel::gvt::{AnyGvt, GvtAlgorithm, Hierarchy};
use warpline_kernel::pending::Heap;
use warpline_kernel::{
    Delays, Event, GoAhead, GvtStart, Horizon, Lanes, Messages, Partition, Parts, Pe, PeInputs,
    Port, Roles, Rule, Step, Task, Tuning, Undoing, Window, balance,
};
use warpline_memory::{Books, Buffers, Region, buffers};
use warpline_model::engine::Executor;
use warpline_model::prelude::*;
use warpline_model::{Declarations, LpId, Statistics};

const LPS: u32 = 12;
const END: f64 = 12.0;
const PES: u32 = 3;
/// Far more steps than any successful run takes, which a test checks.
const STEPS: u64 = 400_000;

/// LPs that send each other messages which depend on all that they have received, in order.
struct Chain {
    lookahead: f64,
    /// How much later than the lookahead messages come, about.
    later: f64,
    /// How many LPs begin.
    starters: u32,
}

const NEAR: Chain = Chain { lookahead: 0.0, later: 1.0, starters: LPS };
const FAR: Chain = Chain { lookahead: 0.4, later: 1.0, starters: LPS };
/// There is little to do, so PEs depend on each other for what comes next, and messages hardly come
/// later than they must.
const SPARSE: Chain = Chain { lookahead: 0.4, later: 0.05, starters: 1 };

impl Model for Chain {
    type State = u64;
    type Event = u64;

    fn lps(&self) -> u32 {
        LPS
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        for _ in 0..if lp.id().0 < self.starters { 2 } else { 0 } {
            let delay = lp.random().exponential(1.0);
            lp.send(lp.id(), delay, 1);
        }
        0
    }

    fn handle(&self, state: &mut u64, event: &u64, lp: &mut Context<Self>) {
        *state = state.rotate_left(7) ^ event ^ lp.random().next_u64();
        let to = LpId((*state % u64::from(LPS)) as u32);
        let least = if to == lp.id() { 0.0 } else { self.lookahead };
        let delay = lp.random().exponential(self.later) * if *state & 256 == 0 { 0.1 } else { 1.9 };
        lp.send(to, least + delay, *state);
    }
}

/// LP 0 sends LP 1 far more at once than a PE keeps of free buffers, in the middle of the run and
/// right before its end.
struct Bursts;

impl Model for Bursts {
    type State = u64;
    type Event = ();

    fn lps(&self) -> u32 {
        2
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        lp.send(lp.id(), 1.0, ());
        0
    }

    fn handle(&self, ticks: &mut u64, (): &(), lp: &mut Context<Self>) {
        *ticks += 1;
        if lp.id() == LpId(0) {
            lp.send(0, 1.0, ());
            let burst = if [4, 11].contains(&*ticks) { 6000 } else { 0 };
            (0..burst).for_each(|_| lp.send(1, 0.5, ()));
        }
    }
}

/// The result of a run in which nothing was noticed.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    digest: String,
    states: Vec<u64>,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Answer(Answer),
    /// An assertion of the engine or of its books.
    Assertion(String),
    /// The run hangs.
    Endless,
}

struct Outcome {
    end: End,
    /// How often the wires did something wrong.
    done: u32,
    steps: u64,
    rolled_back: u64,
    /// Free buffers that PEs sent back.
    returned: u64,
}

fn messages(seed: u64) -> Messages {
    [Messages::Shared, Messages::Copy, Messages::Value][seed as usize % 3]
}

/// Which lanes are executed, and whether PEs go in step.
fn way(seed: u64) -> (Lanes, bool) {
    let lanes =
        [Lanes::Both, Lanes::Speculative, Lanes::Both, Lanes::Safe, Lanes::Safe][seed as usize % 5];
    (lanes, seed % 5 == 4)
}

/// The algorithms that these faults are made for.
fn algorithm(seed: u64) -> GvtAlgorithm {
    [
        GvtAlgorithm::Synchronous,
        GvtAlgorithm::Asynchronous,
        GvtAlgorithm::OneSided,
        GvtAlgorithm::Gsu,
    ][seed as usize % 4]
}

/// Every way to synchronise that the model allows, with every kind of messages and every way to
/// find GVT.
fn pe<M: Model, P: Port<M::Event>>(
    model: &M,
    port: P,
    gvt: AnyGvt,
    buffers: Buffers<Event<M::Event>>,
    pes: u32,
    seed: u64,
) -> Pe<'_, (M, Heap, P)> {
    let end = VirtualTime::new(END).expect("it is a time");
    let delays = Delays::uniform(pes, model.lookahead());
    let task = Task {
        model,
        partition: Partition::new(model.lps(), pes),
        ties: TieBreak::BySender,
        end,
        delays,
        roles: Roles::default(),
        near: 0..pes,
    };
    let (lanes, windows) =
        if model.lookahead() > 0.0 { way(seed) } else { (Lanes::Speculative, false) };
    let messages = messages(seed);
    let undoing = Undoing::Copy { interval: 1 };
    let tuning = Tuning {
        batch: 4,
        kps: 2,
        gvt_interval: 20,
        adapts_interval: seed.is_multiple_of(5),
        patience: 32,
        measures: true,
        history_most: 1000,
        undoing,
        cancellation: warpline_kernel::Cancellation::Aggressive,
        lanes,
        go_ahead: GoAhead::Always,
        horizon: Horizon::Bounds,
        gvt_start: GvtStart::OnDemand,
        messages,
        windows,
    };
    let statistics =
        Statistics::new(Declarations::default().checked().expect("there are none"), 0.0, END);
    let executor = Executor::new(model, 1, 1000, false);
    let window = Window::new(Rule::Fixed(END), end, model.lookahead(), pes);
    let pending = Heap::default();
    let inputs = PeInputs { buffers, port, pending, gvt, window, executor, statistics };
    Pe::new(&task, tuning, inputs)
}

/// Steps PEs at random until all are done.
fn run<M: Model<State = u64, Event: Clone>>(
    model: &M,
    pes: u32,
    seed: u64,
    fault: Fault,
) -> Outcome {
    let (network, ports) = wires(pes, seed, fault);
    let gvts = AnyGvt::all(
        &Region::own(),
        algorithm(seed),
        Hierarchy::new(pes, 1 + (seed / 4 % 3) as u32),
        TieBreak::BySender,
    );
    let make = |((buffers, port), gvt)| pe(model, port, gvt, buffers, pes, seed);
    let mut all: Vec<_> = buffers(pes).into_iter().zip(ports).zip(gvts).map(make).collect();
    let mut steps = 0;
    let mut rolled_back = 0;
    let mut returned = 0;
    let mut left = vec![true; pes as usize];
    let end = catch_unwind(AssertUnwindSafe(|| {
        while left.contains(&true) && steps < STEPS {
            let chosen = network.borrow_mut().below(u64::from(pes)) as usize;
            network.borrow_mut().tick();
            left[chosen] &=
                matches!(all[chosen].step().expect("there is memory"), Step::Worked | Step::Idle);
            steps += 1;
        }
        rolled_back = all.iter().map(|pe| pe.counts().rolled_back).sum();
        if left.contains(&true) {
            return End::Endless;
        }
        let parts: Vec<_> = all.drain(..).map(Pe::into_parts).collect();
        returned = parts.iter().map(|pe| pe.books.returned).sum();
        End::Answer(answer(parts))
    }));
    let end = end.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        End::Assertion(text.unwrap_or_default())
    });
    let done = network.borrow().done;
    Outcome { end, done, steps, rolled_back, returned }
}

fn answer<M: Model<State = u64>>(parts: Vec<Parts<M>>) -> Answer {
    balance(parts.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
    let mut books = Books::default();
    parts.iter().for_each(|pe| books.merge(&pe.books));
    assert_eq!(books.in_flight(), 0, "a buffer is in flight though the run is over");
    let mut digest = RunDigest::default();
    let mut states = Vec::new();
    for (id, lp) in (0..).map(LpId).zip(parts.iter().flat_map(|pe| &pe.lps)) {
        digest.add(id, lp.events, lp.digest);
        states.push(lp.state);
    }
    Answer { digest: digest.to_string(), states }
}

/// The answer of a single PE, which sends nothing to others.
fn expected(model: &impl Model<State = u64, Event: Clone>) -> End {
    let end = run(model, 1, 1, Fault::None).end;
    assert!(matches!(end, End::Answer(_)), "a single PE has no faulty wires: {end:?}");
    end
}

const SEEDS: u64 = 40;

/// Injects a fault at several places and under several seeds. Returns in how many runs it occurred,
/// and in how many it was noticed.
fn noticed(model: &Chain, fault: fn(u32) -> Fault) -> (u32, u32) {
    noticed_under(model, fault, 0..SEEDS)
}

/// The same, only with some kinds of messages.
fn noticed_on(
    model: &Chain,
    fault: fn(u32) -> Fault,
    chosen: impl Fn(Messages) -> bool,
) -> (u32, u32) {
    noticed_under(model, fault, (0..SEEDS).filter(|seed| chosen(messages(*seed))))
}

/// The same, only in windows.
fn noticed_in_windows(fault: fn(u32) -> Fault) -> (u32, u32) {
    noticed_under(&SPARSE, fault, (0..5 * SEEDS).filter(|seed| way(*seed).1))
}

fn noticed_under(
    model: &Chain,
    fault: fn(u32) -> Fault,
    seeds: impl Iterator<Item = u64>,
) -> (u32, u32) {
    let expected = expected(model);
    let mut done = 0;
    let mut noticed = 0;
    for seed in seeds {
        let outcome = run(model, PES, seed, fault(1 + (seed % 7) as u32));
        if outcome.done > 0 {
            done += 1;
            noticed += u32::from(outcome.end != expected);
        }
    }
    (done, noticed)
}

#[test]
fn faultless_wires_give_the_answer() {
    let mut rolled_back = 0;
    let mut longest = 0;
    for model in [NEAR, FAR, SPARSE] {
        let expected = expected(&model);
        for seed in 0..SEEDS {
            for pes in [2, PES, 5] {
                let outcome = run(&model, pes, seed, Fault::None);
                assert_eq!(
                    outcome.end, expected,
                    "{pes} PEs, seed {seed}, lookahead {}",
                    model.lookahead
                );
                rolled_back += outcome.rolled_back;
                longest = longest.max(outcome.steps);
            }
        }
    }
    assert!(longest < STEPS / 20, "the longest run takes {longest} steps");
    assert!(rolled_back > 1000, "{rolled_back} events were rolled back");
}

/// These faults upset the message counts by which GVT is found, or the books, or keep GVT from
/// being found: every one of them is noticed.
#[test]
fn every_lost_or_repeated_message_is_noticed() {
    for (name, fault) in [
        ("lost message", Fault::Lost as fn(u32) -> Fault),
        ("lost anti-message", Fault::LostAnti),
        ("message that came twice", Fault::Twice),
        ("anti-message that came twice", Fault::TwiceAnti),
        ("lost control message", Fault::LostControl),
    ] {
        for model in [NEAR, FAR] {
            let mut sum = 0;
            for messages in [Messages::Shared, Messages::Copy, Messages::Value] {
                let (done, noticed) = noticed_on(&model, fault, |chosen| chosen == messages);
                assert!(done > 3, "a {name} happened in {done} runs with {messages:?}");
                assert_eq!(
                    noticed, done,
                    "a {name} went unnoticed with {messages:?} and the lookahead {}",
                    model.lookahead
                );
                sum += done;
            }
            assert!(sum > SEEDS as u32 / 4, "a {name} happened in {sum} runs of {SEEDS}");
        }
    }
}

/// An anti-message by value may overtake its message: it waits for the message, and the answer is
/// the same.
#[test]
fn an_anti_message_that_overtakes_its_message_changes_nothing() {
    for model in [NEAR, FAR] {
        let (done, noticed) =
            noticed_on(&model, Fault::HastyAnti, |messages| messages == Messages::Copy);
        assert!(done > 3, "an anti-message overtook its message in {done} runs");
        assert_eq!(
            noticed, 0,
            "an anti-message that overtook its message led to another answer with the lookahead {}",
            model.lookahead
        );
    }
}

/// Bounds that arrive late, or never, say less than they could: PEs ask for GVT instead, and the
/// answer is the same.
#[test]
fn bounds_that_come_late_or_never_change_nothing() {
    for (name, fault) in
        [("late", Fault::LateBound as fn(u32) -> Fault), ("lost", Fault::LostBound)]
    {
        let (done, noticed) = noticed(&FAR, fault);
        assert!(done > SEEDS as u32 / 2, "bounds were {name} in {done} runs of {SEEDS}");
        assert_eq!(noticed, 0, "bounds that were {name} led to another answer, or to none");
    }
}

/// A run is over only when no buffer is in flight any more, with an event or without.
#[test]
fn a_run_waits_for_free_buffers_in_flight() {
    let expected = expected(&Bursts);
    // By value, no buffers are sent.
    for seed in (0..12).filter(|seed| seed % 3 != 1) {
        let outcome = run(&Bursts, 2, seed, Fault::None);
        assert_eq!(outcome.end, expected, "seed {seed}");
        assert!(outcome.returned > 1000, "{} free buffers were sent back", outcome.returned);
    }
    for seed in [0, 2, 3, 5] {
        let outcome = run(&Bursts, 2, seed, Fault::LostEmpty(1 + 300 * seed as u32));
        assert_eq!(outcome.done, 1, "a free buffer was lost");
        assert_ne!(outcome.end, expected, "a lost free buffer went unnoticed under seed {seed}");
    }
}

/// A GVT that is too late is a mistake only if something comes before it. So most of these faults
/// are noticed, and many if only one PE reports a wrong share.
#[test]
fn a_wrong_gvt_is_noticed() {
    for (name, fault, share) in [
        ("verdict that is too late", Fault::LateVerdict as fn(u32) -> Fault, 0.5),
        ("share that leaves something out", Fault::NothingLeft, 0.25),
        ("bound that is too high", Fault::HighBound, 0.5),
        ("bound that overtakes messages", Fault::HastyBound, 0.5),
    ] {
        // Without lookahead there are no bounds.
        let models = if name.starts_with("bound") { &[FAR][..] } else { &[NEAR, FAR] };
        for model in models {
            let (done, noticed) = noticed(model, fault);
            assert!(done > SEEDS as u32 / 4, "a {name} happened in {done} runs of {SEEDS}");
            assert!(
                f64::from(noticed) > share * f64::from(done),
                "a {name} was noticed in {noticed} runs of {done}"
            );
        }
    }
}

/// In windows, everything depends on the bounds of the round: a bound that is too high, overtakes
/// the messages it covers, or is of another round is usually noticed. One that is late or lost only
/// makes other PEs wait for GVT.
#[test]
fn wrong_bounds_of_rounds_are_noticed() {
    for (name, fault, least, most) in [
        ("too high", Fault::HighBound as fn(u32) -> Fault, 0.9, 1.0),
        ("ahead of messages", Fault::HastyBound, 0.9, 1.0),
        ("of another round", Fault::StaleRound, 0.5, 1.0),
        ("late", Fault::LateBound, 0.0, 0.0),
        ("lost", Fault::LostBound, 0.0, 0.0),
    ] {
        let (done, noticed) = noticed_in_windows(fault);
        assert!(done > SEEDS as u32 / 2, "bounds were {name} in {done} runs of {SEEDS}");
        let share = f64::from(noticed) / f64::from(done);
        assert!(
            (least..=most).contains(&share),
            "bounds that were {name} were noticed in {noticed} runs of {done}"
        );
    }
}

/// A message that arrives for a time before the horizon cannot be put right, as events there are
/// executed for good: it is noticed at once, and the panic says where.
#[test]
fn arrivals_before_the_horizon_are_noticed() {
    for model in [NEAR, FAR] {
        let mut done = 0;
        let mut noticed = 0;
        for seed in 0..SEEDS {
            let outcome = run(&model, PES, seed, Fault::LateVerdict(1 + (seed % 7) as u32));
            let End::Assertion(text) = &outcome.end else { continue };
            done += 1;
            if text.contains("horizon") {
                noticed += 1;
                let expected = [
                    "PE ",
                    " received ",
                    " from LP ",
                    " for LP ",
                    " at time ",
                    "before its horizon",
                    "GVT",
                ];
                assert!(expected.iter().all(|part| text.contains(part)), "{text}");
            }
        }
        assert!(
            2 * noticed > done && done > SEEDS / 2,
            "noticed in {noticed} runs of {done} with the lookahead {}",
            model.lookahead
        );
    }
}

/// A handle of a buffer that is free or belongs to another PE is refused.
#[test]
fn stale_handles_are_noticed() {
    let mut views = buffers::<String>(2);
    let mut receiver = views.pop().expect("two");
    let mut sender = views.pop().expect("two");
    let handle = sender.insert(1, "word".to_owned());
    receiver.accept(handle);
    let fails = |name: &str, act: &mut dyn FnMut()| {
        assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "{name} went unnoticed")
    };
    fails("a second accept", &mut || _ = receiver.accept(handle));
    fails("a release by the sender", &mut || _ = sender.release(handle));
    assert!(receiver.begin(handle));
    fails("a second begin", &mut || _ = receiver.begin(handle));
    receiver.release(handle);
    fails("a second release", &mut || _ = receiver.release(handle));
    fails("a cancellation of a free buffer", &mut || _ = sender.cancel(handle));
}
