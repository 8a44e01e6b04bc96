//! A random model, and what its LPs do.

use std::marker::PhantomData;

use warpline::prelude::*;

use super::diary::Diary;
use super::parcel::{Errand, Load, Owned, Parcel};
use super::recipe::{DelayKind, LpKind, Recipe};
use super::state::{self, State};
use super::statistics::{BUSY, DELAYS, ENERGY, EVENTS, SIZES, VISITS};
use super::{promise, topology};

/// The stream that decides where to send, apart from those that change states.
pub(super) const ROUTES: u8 = 1;
/// The stream that delays are drawn from.
pub(super) const TIMES: u8 = 5;
/// The stream that decides what is recorded.
const RECORDS: u8 = 7;
/// The stream that decides what is forwarded.
const FORWARDS: u8 = 8;

/// A model made from a [`Recipe`]. Its events carry `WORDS` words within themselves.
#[derive(Clone, Debug)]
pub struct RandomModel<const WORDS: usize, O = Vec<u8>> {
    pub(super) recipe: Recipe,
    pub(super) neighbours: Option<Vec<Vec<LpId>>>,
    /// Where LPs write lines, as a side effect outside the simulation.
    diary: Option<Diary>,
    owned: PhantomData<fn() -> O>,
}

impl<const WORDS: usize, O: Owned> RandomModel<WORDS, O> {
    /// The model of a recipe.
    pub fn new(recipe: &Recipe) -> Self {
        RandomModel {
            neighbours: topology::neighbours(recipe),
            recipe: recipe.clone(),
            diary: None,
            owned: PhantomData,
        }
    }

    /// The same model, whose LPs also keep a diary.
    pub fn with_diary(self, diary: Diary) -> Self {
        RandomModel { diary: Some(diary), ..self }
    }

    /// Lets an LP add a line to the diary, if there is one.
    pub(super) fn tell(&self, lp: &mut impl Observe, line: impl FnOnce() -> String) {
        if let Some(diary) = &self.diary {
            diary.note(lp, line());
        }
    }

    pub(super) fn kind(&self, lp: LpId) -> LpKind {
        self.recipe.kinds[lp.index() % self.recipe.kinds.len()]
    }

    /// The next receiver of `from`.
    pub(super) fn receiver(&self, from: LpId, random: &mut Random) -> LpId {
        let to_self = random.bernoulli(self.recipe.to_self);
        match &self.neighbours {
            _ if to_self => from,
            None => LpId(random.below(self.recipe.lps)),
            Some(all) if all[from.index()].is_empty() => from,
            Some(all) => all[from.index()][random.below(all[from.index()].len() as u32) as usize],
        }
    }

    /// Another LP that `from` may send to, or `from` itself if there is none.
    pub(super) fn other(&self, from: LpId) -> LpId {
        let next = LpId((from.0 + 1) % self.recipe.lps);
        self.links(from).map_or(next, |links| links.first().map_or(from, |link| link.to))
    }

    /// Draws a delay of at least `least`, when the last `hops` hops took no time.
    pub(super) fn delay(&self, now: f64, hops: u32, least: f64, random: &mut Random) -> f64 {
        let recipe = &self.recipe;
        let more = match recipe.delays {
            _ if random.bernoulli(recipe.zero_delay) => 0.0,
            DelayKind::Unit => 1.0,
            DelayKind::Integers => f64::from(random.below(4)),
            DelayKind::Exponential => random.exponential(1.0),
            DelayKind::Narrow => 1.0 + random.uniform() * 1e-12,
            DelayKind::Bimodal => random.uniform() * if random.bernoulli(0.8) { 1e-3 } else { 8.0 },
            DelayKind::Vanishing => [1e-17, 1e-300, 0.5][random.below(3) as usize],
            DelayKind::Powers => (1u64 << random.below(41)) as f64 / (1u64 << 30) as f64,
        };
        let stuck = now + (least + more) <= now;
        if stuck && hops >= recipe.zero_chain { least + 1.0 } else { least + more }
    }

    /// Splits the energy of an event among the events that it sends.
    pub(super) fn spread(&self, state: &State, parcel: &Parcel<WORDS, O>, lp: &mut Context<Self>) {
        let left = parcel.energy.saturating_sub(1);
        if left == 0 {
            return;
        }
        let random = lp.stream(ROUTES);
        let burst = self.recipe.burst > 0 && random.below(16) == 0;
        let wanted = if burst { self.recipe.burst } else { 1 + random.below(self.recipe.fan_out) };
        // The sends depend on what the state remembers.
        let children = (wanted + (state.checksum & 1) as u32).min(left);
        let uneven = state.checksum & 2 == 0;
        let shared =
            Payload::from([state.checksum, u64::from(left)].map(u64::to_le_bytes).as_flattened());
        for child in 0..children {
            let share = match (uneven, child) {
                (true, 0) => left - (children - 1),
                (true, _) => 1,
                (false, _) => left / children + u32::from(child < left % children),
            };
            let to = self.receiver(lp.id(), lp.stream(ROUTES));
            let load = Load::draw(self.recipe.payloads, &shared, lp.stream(ROUTES));
            self.post(to, share, parcel.hops, Errand::Spread, load, lp);
        }
    }

    /// Sends one parcel.
    pub(super) fn post(
        &self,
        to: LpId,
        energy: u32,
        hops: u32,
        errand: Errand,
        load: Load<O>,
        lp: &mut Context<Self>,
    ) {
        let now = lp.now();
        let least = promise::between(&self.recipe, lp.id(), to);
        let delay = self.delay(now, hops, least, lp.stream(TIMES));
        let hops = if now + delay > now { 0 } else { hops + 1 };
        let words = [0; WORDS].map(|_: u64| lp.stream(TIMES).next_u64());
        let parcel = Parcel { energy, hops, errand, load, words };
        if self.recipe.observing {
            lp.sample(DELAYS, delay);
        }
        if self.recipe.priorities {
            let level = [-128, -127, -1, 0, 0, 0, 1, 127][lp.stream(ROUTES).below(8) as usize];
            lp.send_with_priority(to, delay, level, parcel);
        } else {
            lp.send(to, delay, parcel);
        }
    }

    /// Forwards a parcel that leads to no further sends: half a time on average, so that there is
    /// an end.
    pub(super) fn forward(&self, lp: &mut Context<Self>) {
        let times = [0, 0, 0, 0, 0, 1, 1, 2][lp.stream(FORWARDS).below(8) as usize];
        for priority in 0..times {
            let to = self.receiver(lp.id(), lp.stream(FORWARDS));
            let delay =
                promise::between(&self.recipe, lp.id(), to) + 0.125 + lp.stream(FORWARDS).uniform();
            if self.recipe.priorities {
                lp.forward_with_priority(to, delay, priority);
            } else {
                lp.forward(to, delay);
            }
        }
    }

    /// Lends to an LP, and asks a second one to recall the loan. These are two paths to one
    /// receiver, the second of which is longer.
    pub(super) fn lend(&self, hops: u32, lp: &mut Context<Self>) {
        let debtor = LpId(lp.stream(ROUTES).below(self.recipe.lps));
        let agent = state::creditor(lp.id(), self.recipe.lps);
        let least = [debtor, agent]
            .map(|to| promise::between(&self.recipe, lp.id(), to))
            .into_iter()
            .fold(self.recipe.lookahead, f64::max);
        let delay = self.delay(lp.now(), hops, least, lp.stream(TIMES));
        let hops = if lp.now() + delay > lp.now() { 0 } else { hops + 1 };
        for (to, errand) in [(debtor, Errand::Lend), (agent, Errand::Recall(debtor))] {
            lp.send(
                to,
                delay,
                Parcel { energy: 0, hops, errand, load: Load::Nothing, words: [0; WORDS] },
            );
        }
    }

    /// Writes statistics and rows, at random.
    pub(super) fn note(&self, state: &State, parcel: &Parcel<WORDS, O>, lp: &mut Context<Self>) {
        if self.recipe.observing {
            let item = state.own.item();
            lp.count(EVENTS.at(item), 1);
            lp.observe(ENERGY, f64::from(parcel.energy) / 3.0);
            lp.span(BUSY.at(item), lp.now(), lp.now() + 1.5, 1.0);
            lp.sample(SIZES.at(item % 2), parcel.load.bytes().len() as f64);
        }
        let id = lp.id();
        let now = lp.now();
        for part in 0..state.checksum % 3 {
            self.tell(lp, || format!("{now} {id} {} {:x} {part}", state.seen, state.checksum));
        }
        if self.recipe.recording {
            for _ in 0..lp.stream(RECORDS).below(3) {
                let luck = lp.stream(RECORDS).uniform();
                // Some texts are literals, and some are made during the run.
                let name = state.own.name();
                let is_made = state.seen % 2 == 1;
                let kind: Cell =
                    if is_made { format!("{name} {}", state.seen).into() } else { name.into() };
                lp.record(VISITS, &[kind, state.seen.into(), luck.into(), (luck < 0.5).into()]);
            }
        }
    }
}
