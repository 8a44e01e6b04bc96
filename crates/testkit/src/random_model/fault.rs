use warpline::{Cell, Context, Counter, Histogram, LpId, Mean, Model, Observe, Table};

use super::parcel::{Errand, Load, Owned, Parcel};
use super::{ENDS, ENERGY, EVENTS, OVERFLOWING, RandomModel, VISITS, promise};

/// A mistake of a model, and where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// The mistake.
    pub crime: Crime,
    /// The LP that makes it.
    pub lp: u32,
    /// Which of that LP's events makes it, from 1.
    pub event: u64,
}

/// A mistake that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crime {
    /// A delay that is NaN.
    NanDelay,
    /// A delay below zero.
    NegativeDelay,
    /// An infinite delay.
    InfiniteDelay,
    /// A delay below the lookahead. Where that is zero, or no other LP is there, the same as `NegativeDelay`.
    BelowLookahead,
    /// A receiver that does not exist.
    UnknownLp,
    /// An event that sends itself on without delay for ever.
    ZeroDelayLoop,
    /// A panic with a message.
    Panic,
    /// A division by zero.
    DivideByZero,
    /// A statistic that is not declared.
    UndeclaredStatistic,
    /// A statistic of another kind than declared.
    WrongKind,
    /// An item beyond those declared.
    WrongItem,
    /// An observation that is NaN.
    NanObservation,
    /// A counter beyond the largest number, which is noticed when the results are made.
    CounterOverflow,
    /// A row that is too short.
    WrongRow,
    /// A table that is not declared.
    UndeclaredTable,
    /// A call of `fail`.
    Fail,
    /// A delay just below the lookahead.
    JustBelowLookahead,
    /// A receiver to which there is no link. Where there are links to all or none are declared, the same as `NegativeDelay`.
    UndeclaredLink,
}

impl Crime {
    /// All of them.
    pub const ALL: [Crime; 18] = [
        Crime::NanDelay,
        Crime::NegativeDelay,
        Crime::InfiniteDelay,
        Crime::BelowLookahead,
        Crime::UnknownLp,
        Crime::ZeroDelayLoop,
        Crime::Panic,
        Crime::DivideByZero,
        Crime::UndeclaredStatistic,
        Crime::WrongKind,
        Crime::WrongItem,
        Crime::NanObservation,
        Crime::CounterOverflow,
        Crime::WrongRow,
        Crime::UndeclaredTable,
        Crime::Fail,
        Crime::JustBelowLookahead,
        Crime::UndeclaredLink,
    ];

    /// Makes it.
    pub(super) fn commit<const W: usize, O: Owned>(self, model: &RandomModel<W, O>, lp: &mut Context<RandomModel<W, O>>) {
        let (id, lps) = (lp.id(), lp.lps());
        let other = model.other(id);
        let least = promise::between(&model.recipe, id, other);
        let parcel = |errand| Parcel { energy: 1, hops: 0, errand, load: Load::Nothing, words: [0; W] };
        let mut send = |to: LpId, delay| lp.send(to, delay, parcel(Errand::Spread));
        match self {
            Crime::NanDelay => send(id, f64::NAN),
            Crime::NegativeDelay => send(id, -1.5),
            Crime::InfiniteDelay => send(id, f64::INFINITY),
            Crime::BelowLookahead => send(other, least - 0.0625),
            Crime::JustBelowLookahead => send(other, least.next_down()),
            Crime::UndeclaredLink => {
                let links = model.links(id).unwrap_or_default();
                let stranger = (0..lps).map(LpId).find(|to| *to != id && links.iter().all(|link| link.to != *to));
                let stranger = stranger.filter(|_| promise::has_links(&model.recipe, id));
                match stranger {
                    Some(to) => send(to, 9.0),
                    None => send(id, -1.5),
                }
            }
            Crime::UnknownLp => send(LpId(lps + 3), model.recipe.lookahead),
            Crime::ZeroDelayLoop => lp.send(id, 0.0, parcel(Errand::Loop)),
            Crime::Panic => panic!("the dog ate {id}"),
            Crime::DivideByZero => lp.count(EVENTS, 1 / (u64::from(id.0) >> 32)),
            Crime::UndeclaredStatistic => lp.observe(Mean::slot(99), 1.0),
            Crime::WrongKind => lp.sample(Histogram::slot(0), 1.0),
            Crime::WrongItem => lp.count(EVENTS.at(1000), 1),
            Crime::NanObservation => lp.observe(ENERGY, f64::NAN),
            Crime::CounterOverflow => (0..2).for_each(|_| lp.count(OVERFLOWING, u64::MAX)),
            Crime::WrongRow => lp.record(VISITS, &[Cell::Flag(true)]),
            Crime::UndeclaredTable => lp.record(Table(ENDS.0 + 40), &[]),
            Crime::Fail => lp.fail(format!("{id} has had enough")),
        }
        // Nothing after a mistake is looked at any more.
        lp.count(Counter::slot(0), 1);
    }
}
