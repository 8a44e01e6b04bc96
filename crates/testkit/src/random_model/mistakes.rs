//! The mistakes that LPs make.

use warpline::{Cell, Context, Counter, Histogram, LpId, Mean, Model, Observe, Table};

use super::behaviour::RandomModel;
use super::fault::Mistake;
use super::parcel::{Errand, Load, Owned, Parcel};
use super::promise;
use super::statistics::{ENDS, ENERGY, EVENTS, OVERFLOWING, VISITS};

impl Mistake {
    /// Makes this mistake.
    pub(super) fn make<const W: usize, O: Owned>(
        self,
        model: &RandomModel<W, O>,
        lp: &mut Context<RandomModel<W, O>>,
    ) {
        let id = lp.id();
        let lps = lp.lps();
        let other = model.other(id);
        let least = promise::between(&model.recipe, id, other);
        let parcel =
            |errand| Parcel { energy: 1, hops: 0, errand, load: Load::Nothing, words: [0; W] };
        let mut send = |to: LpId, delay| lp.send(to, delay, parcel(Errand::Spread));
        match self {
            Mistake::NanDelay => send(id, f64::NAN),
            Mistake::NegativeDelay => send(id, -1.5),
            Mistake::InfiniteDelay => send(id, f64::INFINITY),
            Mistake::BelowLookahead => send(other, least - 0.0625),
            Mistake::JustBelowLookahead => send(other, least.next_down()),
            Mistake::UndeclaredLink => {
                let links = model.links(id).unwrap_or_default();
                let stranger = (0..lps)
                    .map(LpId)
                    .find(|to| *to != id && links.iter().all(|link| link.to != *to));
                let stranger = stranger.filter(|_| promise::has_links(&model.recipe, id));
                match stranger {
                    Some(to) => send(to, 9.0),
                    None => send(id, -1.5),
                }
            }
            Mistake::UnknownLp => send(LpId(lps + 3), model.recipe.lookahead),
            Mistake::ZeroDelayLoop => lp.send(id, 0.0, parcel(Errand::Loop)),
            Mistake::NegativeTimer => {
                let timer = lp.send_later(-0.5, parcel(Errand::Timeout));
                assert!(!lp.is_pending(timer), "a timer that was refused is not pending");
            }
            Mistake::Panic => panic!("the dog ate {id}"),
            Mistake::DivideByZero => lp.count(EVENTS, 1 / (u64::from(id.0) >> 32)),
            Mistake::UndeclaredStatistic => lp.observe(Mean::slot(99), 1.0),
            Mistake::WrongKind => lp.sample(Histogram::slot(0), 1.0),
            Mistake::WrongItem => lp.count(EVENTS.at(1000), 1),
            Mistake::NanObservation => lp.observe(ENERGY, f64::NAN),
            Mistake::CounterOverflow => (0..2).for_each(|_| lp.count(OVERFLOWING, u64::MAX)),
            Mistake::WrongRow => lp.record(VISITS, &[Cell::Flag(true)]),
            Mistake::UndeclaredTable => lp.record(Table(ENDS.0 + 40), &[]),
            Mistake::Fail => lp.fail(format!("{id} has had enough")),
        }
        // Whatever follows a mistake is ignored.
        lp.count(Counter::slot(0), 1);
    }
}
