//! Runs over faulty wires, and how they end.

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

const END: f64 = 12.0;

/// Far more steps than any successful run takes, which a test checks.
pub(super) const STEPS: u64 = 100_000;

/// The result of a run in which nothing was noticed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    digest: String,
    states: Vec<u64>,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Answer(Answer),
    /// An assertion of the engine or of its books.
    Assertion(String),
    /// The run hangs.
    Endless,
}

pub(super) struct Outcome {
    pub(super) end: End,
    /// How often the wires did something wrong.
    pub(super) done: u32,
    pub(super) steps: u64,
    pub(super) rolled_back: u64,
    /// Free buffers that PEs sent back.
    pub(super) returned: u64,
}

pub(super) fn messages(seed: u64) -> Messages {
    [Messages::Shared, Messages::Copy, Messages::Value][seed as usize % 3]
}

/// Which lanes are executed, and whether PEs go in step.
pub(super) fn way(seed: u64) -> (Lanes, bool) {
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
        crowded: false,
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
pub(super) fn run<M: Model<State = u64, Event: Clone>>(
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
pub(super) fn expected(model: &impl Model<State = u64, Event: Clone>) -> End {
    let end = run(model, 1, 1, Fault::None).end;
    assert!(matches!(end, End::Answer(_)), "a single PE has no faulty wires: {end:?}");
    end
}
