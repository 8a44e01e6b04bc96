//! Models made at random, which use every feature of the model API and always come to an end.
//!
//! A model is a pure function of its [`Recipe`]. What it does depends only on the recipe, the seed
//! and the order of events, and so sensitively that one event out of order changes states,
//! statistics and rows.

mod behaviour;
mod diary;
mod fault;
mod mistakes;
mod parcel;
mod promise;
mod recipe;
mod state;
mod statistics;
mod timer_memory;
mod timers;
mod topology;

use warpline::prelude::*;
use warpline::{Abilities, Comparable, Journal};

pub use behaviour::RandomModel;
use behaviour::{ROUTES, TIMES};
pub use diary::Diary;
pub use fault::{Mistake, PlannedFault};
use parcel::{Errand, Load};
pub use parcel::{Inline, Owned, Parcel, Plain, Way, Written};
pub use recipe::{Declares, DelayKind, LpKind, Payloads, Recipe, Shape};
pub use state::State;
use statistics::{
    BUSY, COMMITTED, DELAYS, ENDS, ENERGY, EVENTS, LATE, LEVELS, OVERFLOWING, SIZES, VISITS,
};
pub use topology::neighbours;

impl<const WORDS: usize, O: Owned> Model for RandomModel<WORDS, O> {
    type State = State;
    type Event = Parcel<WORDS, O>;

    const ABILITIES: Abilities<State, Parcel<WORDS, O>> = Abilities::NONE
        .with_wire(O::Way::<WORDS>::WIRE)
        .with_comparable(Comparable::new())
        .with_journal(Journal::new())
        .with_reverse();

    fn lps(&self) -> u32 {
        self.recipe.lps
    }

    fn payload(parcel: &Parcel<WORDS, O>) -> Option<&Payload> {
        parcel.load.payload()
    }

    fn lookahead(&self) -> f64 {
        self.recipe.lookahead
    }

    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        promise::of_lp(&self.recipe, lp)
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let link = |to| Link { to, lookahead: promise::between(&self.recipe, lp, to) };
        let all = || (0..self.recipe.lps).map(LpId).filter(|to| *to != lp).collect();
        let ends = || {
            self.neighbours.as_ref().map_or_else(all, |neighbours| neighbours[lp.index()].clone())
        };
        promise::has_links(&self.recipe, lp).then(|| ends().into_iter().map(link).collect())
    }

    fn weight(&self, lp: LpId) -> f64 {
        if self.recipe.seed.is_multiple_of(2) {
            1.0
        } else {
            f64::from(lp.0.wrapping_mul(self.recipe.seed as u32) % 5)
        }
    }

    fn unbiased_ties(&self) -> bool {
        self.recipe.unbiased
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.table(ENDS, "ends", &[("seen", "events")]);
        declare.table(
            VISITS,
            "visits",
            &[("kind", ""), ("seen", "events"), ("luck", ""), ("small", "")],
        );
        declare.counter(EVENTS, "events", "events", "events handled, by kind").items(4).slices(7);
        declare.mean(ENERGY, "energy", "", "energy of events").series();
        declare
            .time_mean(LEVELS, "levels", "", "levels of accumulators and colonies")
            .items(2)
            .slices(9);
        declare.histogram(DELAYS, "delays", "s", "delays of sends").slices(1);
        declare
            .counter(COMMITTED, "committed", "events", "events committed, by half of the ids")
            .items(2);
        declare.time_mean(BUSY, "busy", "", "spans that reach into the future").items(4).slices(50);
        declare.mean(LATE, "late", "s", "times of commits").slices(13);
        declare.histogram(SIZES, "sizes", "bytes", "payloads").items(2);
        declare.counter(OVERFLOWING, "overflowing", "", "counts that are too large");
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        for _ in 0..self.recipe.starters {
            let to = self.receiver(lp.id(), lp.stream(ROUTES));
            let delay =
                self.delay(0.0, 0, promise::between(&self.recipe, lp.id(), to), lp.stream(TIMES));
            let words = [7; WORDS];
            lp.send(
                to,
                delay,
                Parcel {
                    energy: self.recipe.energy,
                    hops: u32::from(delay == 0.0),
                    errand: Errand::Spread,
                    load: Load::Nothing,
                    words,
                },
            );
        }
        if self.recipe.observing {
            lp.observe(ENERGY, 1.0);
        }
        if self.recipe.recording {
            lp.record(ENDS, &[0u64.into()]);
        }
        let id = lp.id();
        self.tell(lp, || format!("{id} begins"));
        State::new(self.kind(id), lp)
    }

    fn handle(&self, state: &mut State, parcel: &Parcel<WORDS, O>, lp: &mut Context<Self>) {
        state.absorb(parcel, lp);
        // Half of the LPs do this before they send anything.
        let early = lp.id().0.is_multiple_of(2);
        if self.recipe.timers && early {
            self.play_with_timers(&mut state.timers, parcel, lp);
        }
        match parcel.errand {
            Errand::Spread if parcel.energy == 1 && self.recipe.forwards => self.forward(lp),
            Errand::Spread => self.spread(state, parcel, lp),
            Errand::Recall(debtor) => {
                self.post(debtor, 0, parcel.hops, Errand::Return, Load::Nothing, lp)
            }
            Errand::Loop => lp.send(lp.id(), 0.0, parcel.clone()),
            Errand::Timeout => {
                let to = self.receiver(lp.id(), lp.stream(ROUTES));
                self.post(to, 1, parcel.hops, Errand::Spread, Load::Nothing, lp)
            }
            Errand::Lend | Errand::Return => {}
        }
        let uniform = self.neighbours.is_none();
        if self.recipe.loans
            && uniform
            && parcel.errand == Errand::Spread
            && lp.stream(ROUTES).below(4) == 0
        {
            self.lend(parcel.hops, lp);
        }
        if self.recipe.timers && !early {
            self.play_with_timers(&mut state.timers, parcel, lp);
        }
        self.note(state, parcel, lp);
        let here = |fault: &PlannedFault| {
            (self.recipe.widespread || fault.lp == lp.id().0) && fault.event == state.seen
        };
        if let Some(PlannedFault { mistake, .. }) = self.recipe.fault.filter(here) {
            mistake.make(self, lp);
        }
    }

    fn reverse(&self, state: &mut State, parcel: &Parcel<WORDS, O>, lp: &mut Reverse<Self>) {
        if self.recipe.timers {
            state.timers.release(lp);
        }
        state.release(parcel, lp);
    }

    fn commit(&self, parcel: &Parcel<WORDS, O>, lp: &mut Commit<Self>) {
        if self.recipe.fails_at_commit == Some(parcel.energy) {
            assert!(lp.id().0.is_multiple_of(2), "the cat ate {}", lp.id());
            lp.observe(LATE, f64::NAN);
        }
        if self.recipe.observing {
            lp.count(COMMITTED.at(u32::from(lp.id().0 * 2 >= lp.lps())), 1);
            lp.observe(LATE, lp.now());
        }
        let id = lp.id();
        let now = lp.now();
        if parcel.energy == 2 {
            self.tell(lp, || format!("{now} {id} commits"));
        }
    }

    fn finish(&self, state: &State, lp: &mut Finish<Self>) {
        if self.recipe.observing {
            lp.count(EVENTS.at(state.own.item()), 0);
        }
        if self.recipe.recording {
            lp.record(ENDS, &[state.seen.into()]);
        }
        let id = lp.id();
        self.tell(lp, || format!("{id} ends after {} events", state.seen));
    }
}
