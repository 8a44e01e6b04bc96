//! Models that are hard on optimistic execution, each in its own way.
//!
//! In all of them a constant population of messages hops between LPs. They differ in who sends to
//! whom, how soon, and at what cost.

use std::hint::black_box;

use warpline::prelude::*;

/// What makes a model hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hostility {
    /// PHOLD without lookahead, where every message goes to the other half.
    Remote,
    /// A fifth of the messages goes to one LP.
    HotSpot,
    /// One half has eight times as many events.
    Uneven,
    /// Events of one half cost ten times as much.
    Costly,
    /// Two distant LPs exchange messages with tiny delays. Their echo reaches all others, which run
    /// far ahead.
    PingPong,
    /// Activity alternates between the halves.
    Bursts,
    /// Tokens circulate in hops without delay.
    Tokens,
    /// Half of the LPs have events every 10⁻⁶, the others every 1.
    TwoScales,
    /// Friendly, hostile, and friendly again.
    Phases,
    /// The classic: uniform PHOLD with some lookahead.
    Friendly,
}

/// Name, kind, what it stresses, LPs, messages per LP, end.
pub(crate) const MODELS: [(&str, Hostility, &str, u32, u32, f64); 10] = [
    ("remote", Hostility::Remote, "no lookahead, all remote", 1024, 1, 1000.0),
    ("hot-spot", Hostility::HotSpot, "20 % go to one LP", 1024, 1, 1000.0),
    ("uneven", Hostility::Uneven, "8 × the events on one half", 1024, 1, 1000.0),
    ("costly", Hostility::Costly, "10 × the cost on one half", 1024, 1, 300.0),
    ("ping-pong", Hostility::PingPong, "an echo through far futures", 1024, 1, 500.0),
    ("bursts", Hostility::Bursts, "halves take turns", 1024, 1, 1000.0),
    ("tokens", Hostility::Tokens, "rings without delay", 256, 1, 1000.0),
    ("two-scales", Hostility::TwoScales, "delays of 1e-6 and 1", 1024, 1, 2e-3),
    ("phases", Hostility::Phases, "friendly, hostile, friendly", 1024, 1, 1000.0),
    ("friendly", Hostility::Friendly, "uniform, some lookahead", 8192, 1, 150.0),
];

/// A hostile model.
pub(crate) struct Hostile {
    kind: Hostility,
    lps: u32,
    population: u32,
    end: f64,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Hops on for ever.
    Hop(u64),
    /// Goes back and forth between the first LP and the last.
    Ball(u64),
    /// Ends where it arrives.
    Echo(u64),
}

impl Hostile {
    /// The model of that name, and where its run ends.
    pub(crate) fn find(name: &str) -> Option<(Self, f64)> {
        let &(_, kind, _, lps, population, end) = MODELS.iter().find(|model| model.0 == name)?;
        Some((Hostile { kind, lps, population, end }, end))
    }

    /// The model of that name, in a run that is longer by this factor.
    pub(crate) fn longer(name: &str, factor: f64) -> Option<(Self, f64)> {
        let (model, end) = Self::find(name)?;
        let end = factor * end;
        Some((Hostile { end, ..model }, end))
    }

    /// Any LP of the same half as `id`, or of the other.
    fn in_half(&self, id: u32, same: bool, random: &mut Random) -> u32 {
        let half = self.lps / 2;
        let first = if (id < half) == same { 0 } else { half };
        first + random.below(half)
    }

    /// The delay of the next hop of a message, and where it goes.
    fn hop(&self, id: u32, now: f64, random: &mut Random) -> (f64, u32) {
        match self.kind {
            Hostility::Remote => (random.exponential(1.0), self.in_half(id, false, random)),
            Hostility::HotSpot => {
                let hot = random.bernoulli(0.2);
                (random.exponential(1.0), if hot { 0 } else { random.below(self.lps) })
            }
            Hostility::Uneven => {
                let busy = random.bernoulli(8.0 / 9.0);
                (random.exponential(1.0), self.in_half(0, busy, random))
            }
            Hostility::Costly => (random.exponential(1.0), random.below(self.lps)),
            Hostility::PingPong => (1.0 + random.exponential(1.0), id),
            Hostility::Bursts => {
                let first = ((now / 5.0) as u64).is_multiple_of(2);
                let active = random.bernoulli(0.9);
                (random.exponential(1.0), self.in_half(0, first == active, random))
            }
            Hostility::Tokens => {
                let delay = if random.bernoulli(0.9) { 0.0 } else { random.exponential(1.0) };
                (delay, (id + 1) % self.lps)
            }
            Hostility::TwoScales => {
                let parity = id % 2;
                let to = 2 * random.below(self.lps / 2) + parity;
                let mean = if parity == 1 { 1e-6 } else { 1.0 };
                (random.exponential(mean), to)
            }
            Hostility::Phases => {
                let friendly = (3.0 * now / self.end) as u64 != 1;
                let leaves = !friendly || random.bernoulli(0.02);
                (
                    random.exponential(1.0) + if leaves && friendly { 1.0 } else { 0.0 },
                    self.in_half(id, !leaves, random),
                )
            }
            Hostility::Friendly => (0.1 + random.exponential(1.0), random.below(self.lps)),
        }
    }

    fn work(&self, id: u32) {
        let rounds = match self.kind {
            Hostility::Costly if id < self.lps / 2 => 1000,
            Hostility::Costly => 100,
            _ => return,
        };
        let mut x = black_box(1.0f64);
        for _ in 0..rounds {
            x = x * 0.999_999 + 1e-6;
        }
        black_box(x);
    }
}

impl Model for Hostile {
    type State = u64;
    type Event = Message;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        if self.kind == Hostility::Friendly { 0.1 } else { 0.0 }
    }

    fn init(&self, lp: &mut Init<Self>) -> u64 {
        let id = lp.id().0;
        for number in 0..self.population {
            let (delay, _) = self.hop(id, 0.0, lp.random());
            lp.send(id, delay, Message::Hop(u64::from(number)));
        }
        if self.kind == Hostility::PingPong && id == 0 {
            lp.send(id, 0.0, Message::Ball(0));
        }
        0
    }

    fn handle(&self, state: &mut u64, message: &Message, lp: &mut Context<Self>) {
        let id = lp.id().0;
        let now = lp.now();
        self.work(id);
        match *message {
            Message::Hop(value) => {
                *state = state.wrapping_mul(31).wrapping_add(value);
                let (delay, to) = self.hop(id, now, lp.random());
                lp.send(to, delay, Message::Hop(value ^ *state));
            }
            Message::Ball(value) => {
                *state = state.wrapping_mul(31).wrapping_add(value);
                let delay = lp.random().exponential(1e-1);
                lp.send(self.lps - 1 - id, delay, Message::Ball(*state));
                let soon = lp.random().exponential(1e-1);
                let to = lp.random().below(self.lps);
                lp.send(to, soon, Message::Echo(*state));
            }
            Message::Echo(value) => *state = state.wrapping_mul(31).wrapping_add(value),
        }
    }
}
