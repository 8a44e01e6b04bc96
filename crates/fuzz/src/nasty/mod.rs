//! `nasty`: a model with everything that is hard on an engine, each by a parameter: events without
//! delay, ties, times that collide by rounding, timers set to "never", cancelled and rescheduled,
//! bursts at one instant, large states and payloads, mistakes, and code that goes wrong on states
//! that only a wrong order of events leads to.
//!
//! Every run comes to an end, as events share out the energy that LPs begin with. The model is
//! sensitive: one event out of order changes states, statistics and rows.
//!
//! **States that never really exist.** An LP numbers its own events, and sends its neighbour a tick
//! with each number after a constant delay, so ticks arrive in order. An LP that misses a number
//! knows that it is executed too early, and does what the parameter `early` says. This must not
//! show in any answer.

mod events;
mod parameters;

use std::marker::PhantomData;

use warpline::prelude::*;
use warpline::{Abilities, Comparable, Journal};

use self::events::{Bomb, Errand, Event, mark};
pub(crate) use self::events::{Plain, Wires, Written};
pub(crate) use self::parameters::{Delays, NastyParameters, Wire};
use self::parameters::{Early, Mistake};

const EVENTS: Counter = Counter::slot(0);
const DELAY: Mean = Mean::slot(1);
const LEVEL: TimeMean = TimeMean::slot(2);
const SIZES: Histogram = Histogram::slot(3);
const VISITS: Table = Table(0);

/// The stream that decides where to send and when.
const ROUTES: u8 = 1;
/// The stream that decides what becomes of timers.
const TIMERS: u8 = 2;

/// The model, whose events leave their process as `W` says.
#[derive(Debug)]
pub(crate) struct Nasty<W> {
    parameters: NastyParameters,
    wire: PhantomData<fn() -> W>,
}

/// What an LP remembers.
#[derive(Clone, Debug, PartialEq, Journaled)]
pub(crate) struct State {
    seen: u64,
    sent_ticks: u64,
    next_tick: u64,
    checksum: u64,
    level: Level,
    last: Queue<u64>,
    timer: Option<Timer>,
    /// What it has been told of timers.
    told: u64,
}

/// An odd number, by which to multiply, and its inverse modulo 2^64.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const INVERSE: u64 = inverse(FACTOR);

/// The inverse of an odd number modulo 2^64, by Newton's method: each step doubles the number of
/// right bits.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut step = 0;
    while step < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        step += 1;
    }
    found
}

impl State {
    /// Takes an event in. Returns whether it comes too early.
    fn absorb<W: Wires>(&mut self, event: &Event, lp: &mut Context<Nasty<W>>) -> bool {
        let word = mark(event, lp.now());
        *lp.change(&mut self.seen) += 1;
        *lp.change(&mut self.checksum) = (self.checksum ^ word).wrapping_mul(FACTOR);
        if let Some(oldest) = self.last.pop_front(lp) {
            lp.save(oldest);
            self.last.push_back(word, lp);
        }
        self.level.set((self.seen % 7) as f64, LEVEL, lp);
        let Errand::Tick { number } = event.errand else { return false };
        lp.save(self.next_tick);
        let early = number != self.next_tick;
        *lp.change(&mut self.next_tick) = number + 1;
        early
    }

    /// Remembers a timer, and what it has been told of the one before.
    fn note_timer<W: Wires>(
        &mut self,
        timer: Option<Timer>,
        told: bool,
        lp: &mut Context<Nasty<W>>,
    ) {
        if let Some(timer) = self.timer {
            lp.save(timer);
        }
        lp.save(self.timer.is_some());
        lp.save(self.told);
        *lp.change(&mut self.timer) = timer;
        *lp.change(&mut self.told) = self.told.rotate_left(3) ^ (1 + u64::from(told));
    }

    /// Undoes [`note_timer`](Self::note_timer).
    fn forget_timer<W: Wires>(&mut self, lp: &mut Reverse<Nasty<W>>) {
        self.told = lp.restore();
        self.timer = if lp.restore() { Some(lp.restore()) } else { None };
    }

    /// Undoes [`absorb`](Self::absorb).
    fn release<W: Wires>(&mut self, event: &Event, lp: &mut Reverse<Nasty<W>>) {
        let word = mark(event, lp.now());
        if let Errand::Tick { .. } = event.errand {
            self.next_tick = lp.restore();
        }
        self.level.unset(lp);
        if self.last.pop_back(lp).is_some() {
            self.last.push_front(lp.restore(), lp);
        }
        self.checksum = self.checksum.wrapping_mul(INVERSE) ^ word;
        self.seen -= 1;
    }
}

impl<W: Wires> Nasty<W> {
    /// A delay of at least `least`.
    fn delay(&self, now: f64, least: f64, random: &mut Random) -> f64 {
        if random.bernoulli(self.parameters.zero) {
            return least;
        }
        least + self.parameters.delays.draw(now, random)
    }

    /// The least delay of an event from one LP to another, or to itself.
    fn least(&self, from: LpId, to: LpId) -> f64 {
        if from == to { 0.0 } else { self.parameters.lookahead }
    }

    fn event(&self, errand: Errand, word: u64) -> Event {
        let payload = match (&errand, self.parameters.payload as usize) {
            (Errand::Spread { .. }, size @ 1..) => Payload::filled(size, |bytes| {
                let last = bytes.len() - 1;
                bytes[0] = word as u8;
                bytes[last] = (word >> 8) as u8;
            }),
            _ => Payload::empty(),
        };
        Event { errand, payload }
    }

    fn post(&self, to: LpId, energy: u32, word: u64, lp: &mut Context<Self>) {
        let now = lp.now();
        let least = self.least(lp.id(), to);
        let delay = self.delay(now, least, lp.stream(ROUTES));
        lp.observe(DELAY, delay);
        let event = self.event(Errand::Spread { energy }, word);
        if self.parameters.priorities {
            let level = [-128, -1, 0, 0, 1, 127][lp.stream(ROUTES).below(6) as usize];
            lp.send_with_priority(to, delay, level, event);
        } else {
            lp.send(to, delay, event);
        }
    }

    /// Sends on the energy of an event.
    fn spread(&self, state: &mut State, energy: u32, lp: &mut Context<Self>) {
        let left = energy - 1;
        let children = (1 + lp.stream(ROUTES).below(self.parameters.fan_out)).min(left);
        for child in 0..children {
            let share = left / children + u32::from(child < left % children);
            let to = LpId(lp.stream(ROUTES).below(self.parameters.lps));
            self.post(to, share, state.checksum.rotate_right(child), lp);
        }
        let next = LpId((lp.id().0 + 1) % self.parameters.lps);
        let tick = self.event(Errand::Tick { number: state.sent_ticks }, 0);
        *lp.change(&mut state.sent_ticks) += 1;
        lp.send(next, self.parameters.lookahead + 1.0, tick);
        if lp.stream(ROUTES).bernoulli(self.parameters.never) {
            lp.send(lp.id(), f64::MAX - lp.now(), self.event(Errand::Dust, 0));
        }
    }

    /// Sets, cancels or reschedules a timer, or asks for it. The one that it remembers may have
    /// fired or been cancelled, and others may be pending.
    fn play_with_timer(&self, state: &mut State, lp: &mut Context<Self>) {
        if !lp.stream(TIMERS).bernoulli(self.parameters.timers) {
            return state.note_timer(state.timer, false, lp);
        }
        let now = lp.now();
        let delay = self.delay(now, 0.0, lp.stream(TIMERS));
        let old = state.timer;
        let (timer, told) = match lp.stream(TIMERS).below(5) {
            0 | 1 => (Some(lp.send_later(delay, self.event(Errand::Dust, 0))), false),
            2 => (old, old.is_some_and(|timer| lp.cancel(timer))),
            3 => {
                let again = old.and_then(|timer| lp.reschedule(timer, delay));
                (again.or(old), again.is_some())
            }
            _ => (old, old.is_some_and(|timer| lp.is_pending(timer))),
        };
        state.note_timer(timer, told, lp);
    }

    /// Does something wrong on a state that never really exists.
    fn go_wrong(&self, lp: &mut Context<Self>) {
        let id = lp.id();
        let next = LpId((lp.id().0 + 1) % self.parameters.lps);
        let lookahead = self.parameters.lookahead;
        match self.parameters.early {
            Early::Nothing => {}
            Early::Panic => panic!("a tick is missing at {id}"),
            Early::Flood => {
                for number in 0..1000 {
                    lp.send(
                        LpId((id.0 + number) % self.parameters.lps),
                        lookahead,
                        self.event(Errand::Dust, 0),
                    );
                }
            }
            Early::Loop => lp.send(id, 0.0, self.event(Errand::Loop, 0)),
            Early::Unwritable => {
                lp.send(next, lookahead, self.event(Errand::Unwritable(Bomb(0)), 0))
            }
            Early::Negative => lp.send(id, -1.0, self.event(Errand::Dust, 0)),
        }
    }

    /// Makes the mistake that was asked for.
    fn make_mistake(&self, lp: &mut Context<Self>) {
        let id = lp.id();
        let lookahead = self.parameters.lookahead;
        let next = LpId((id.0 + 1) % self.parameters.lps);
        match self.parameters.mistake {
            Mistake::None => {}
            Mistake::Panic => panic!("{id} has had enough"),
            Mistake::Fail => lp.fail(format!("{id} gives up")),
            Mistake::Nan => lp.send(id, f64::NAN, self.event(Errand::Dust, 0)),
            Mistake::Negative => lp.send(id, -0.5, self.event(Errand::Dust, 0)),
            Mistake::Stranger => {
                lp.send(LpId(self.parameters.lps), lookahead, self.event(Errand::Dust, 0))
            }
            Mistake::Loop => lp.send(id, 0.0, self.event(Errand::Loop, 0)),
            Mistake::Unwritable => {
                lp.send(next, lookahead, self.event(Errand::Unwritable(Bomb(0)), 0))
            }
        }
    }
}

impl<W: Wires> Model for Nasty<W> {
    type State = State;
    type Event = Event;

    const ABILITIES: Abilities<State, Event> = Abilities::NONE
        .with_wire(W::WIRE)
        .with_comparable(Comparable::new())
        .with_journal(Journal::new())
        .with_reverse();

    fn payload(event: &Event) -> Option<&Payload> {
        Some(&event.payload).filter(|payload| !payload.is_empty())
    }

    fn lps(&self) -> u32 {
        self.parameters.lps
    }

    fn lookahead(&self) -> f64 {
        self.parameters.lookahead
    }

    fn kind(&self, lp: LpId) -> &str {
        ["even", "odd"][lp.index() % 2]
    }

    fn unbiased_ties(&self) -> bool {
        self.parameters.unbiased
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(EVENTS, "events", "events", "events handled").series();
        declare.mean(DELAY, "delay", "", "delays of what was sent");
        declare.time_mean(LEVEL, "level", "", "events handled, modulo 7").items(2).series();
        declare.histogram(SIZES, "sizes", "bytes", "sizes of payloads");
        declare.table(VISITS, "visits", &[("word", "")]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        for number in 0..self.parameters.starters {
            let delay = self.delay(0.0, 0.0, lp.stream(ROUTES));
            lp.send(
                lp.id(),
                delay,
                self.event(Errand::Spread { energy: self.parameters.energy }, u64::from(number)),
            );
        }
        if lp.id() == LpId(0) {
            for number in 0..self.parameters.burst {
                lp.send(
                    LpId(number % self.parameters.lps),
                    self.parameters.lookahead + 0.75,
                    self.event(Errand::Dust, 0),
                );
            }
        }
        State {
            seen: 0,
            sent_ticks: 0,
            next_tick: 0,
            checksum: 0,
            level: Level::default(),
            last: std::iter::repeat_n(0, self.parameters.state as usize).collect(),
            timer: None,
            told: 0,
        }
    }

    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        let early = state.absorb(event, lp);
        lp.count(EVENTS, 1);
        match event.errand {
            Errand::Spread { energy } => {
                lp.sample(SIZES, event.payload.len() as f64);
                self.spread(state, energy, lp);
                if self.parameters.timers > 0.0 {
                    self.play_with_timer(state, lp);
                }
            }
            Errand::Loop => lp.send(lp.id(), 0.0, event.clone()),
            Errand::Tick { .. } | Errand::Dust | Errand::Unwritable(_) => {}
        }
        if self.parameters.rows && state.checksum.is_multiple_of(3) {
            lp.record(VISITS, &[state.checksum.into()]);
        }
        // If a hash decides ties, ticks of one instant have no fixed order.
        if early && !self.parameters.unbiased {
            self.go_wrong(lp);
        }
        if lp.id().0 == self.parameters.lps / 2 && state.seen == self.parameters.mistake_at {
            self.make_mistake(lp);
        }
    }

    fn reverse(&self, state: &mut State, event: &Event, lp: &mut Reverse<Self>) {
        if let Errand::Spread { .. } = event.errand {
            if self.parameters.timers > 0.0 {
                state.forget_timer(lp);
            }
            state.sent_ticks -= 1;
        }
        state.release(event, lp);
    }
}

impl<W: Wires> Configure for Nasty<W> {
    type Parameters = NastyParameters;

    const NAME: &'static str = "nasty";
    const ABOUT: &'static str = "everything that is hard on an engine";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1e6;

    fn configure(parameters: &NastyParameters) -> Result<Self, String> {
        Ok(Nasty { parameters: parameters.clone(), wire: PhantomData })
    }
}
