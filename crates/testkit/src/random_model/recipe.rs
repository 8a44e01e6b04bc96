use proptest::prelude::*;
use warpline::{LpId, Random};

use super::fault::PlannedFault;
use crate::scaled;

/// Everything that defines a [`RandomModel`](super::RandomModel). A failing test prints its `Debug`
/// text.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The seed from which the recipe was made. It also lays out a sparse topology.
    pub seed: u64,
    /// How many LPs there are, at least 1.
    pub lps: u32,
    /// Who sends to whom.
    pub topology: Shape,
    /// The kinds of the LPs, repeated as often as needed.
    pub kinds: Vec<LpKind>,
    /// How long events take.
    pub delays: DelayKind,
    /// The least lookahead that is declared, in model time.
    pub lookahead: f64,
    /// How many events each LP sends itself, or a neighbour, at the start.
    pub starters: u32,
    /// How many events each starter leads to in all, itself included, but not forwarded ones. So
    /// the run is finite.
    pub energy: u32,
    /// The most events that an event usually sends.
    pub fan_out: u32,
    /// The most events that one event in sixteen sends; 0 if such events send no more than others.
    pub burst: u32,
    /// The probability that an LP sends to itself.
    pub to_self: f64,
    /// The probability of a delay of exactly zero, where one is allowed.
    pub zero_delay: f64,
    /// The most hops in a row that take no time.
    pub zero_chain: u32,
    /// Whether sends have priorities.
    pub priorities: bool,
    /// Whether ties are unbiased.
    pub unbiased: bool,
    /// What events carry besides a fixed number of words.
    pub payloads: Payloads,
    /// Whether events write statistics.
    pub observing: bool,
    /// Whether events record rows.
    pub recording: bool,
    /// Whether LPs lend to each other. A loan is always given before it is recalled. An event that
    /// is executed too early finds it missing, and panics. Only in topologies where any LP may send
    /// to any.
    pub loans: bool,
    /// The mistake that the model makes, if any.
    pub fault: Option<PlannedFault>,
    /// Whether it goes wrong in every LP instead of only the planned one. Then there are several
    /// mistakes, and the earliest must be reported.
    pub widespread: bool,
    /// The energy of events that go wrong when they commit, if any do.
    pub fails_at_commit: Option<u32>,
    /// What declares lookahead.
    pub declares: Declares,
    /// Whether LPs forward parcels that lead to no further sends.
    pub forwards: bool,
    /// Whether LPs set, cancel and reschedule timers.
    pub timers: bool,
}

/// What declares lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declares {
    /// The model as a whole.
    Model,
    /// Each LP: some have more than the model.
    Lps,
    /// Each link: some have more than the model. Where any LP may send to any, every second one has
    /// links to all, and the rest have lookahead of their own.
    Links,
}

impl Declares {
    /// All of them.
    pub const ALL: [Declares; 3] = [Declares::Model, Declares::Lps, Declares::Links];
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Any LP to any LP.
    Uniform,
    /// To the next `reach` LPs on either side of a ring.
    Ring {
        /// How far.
        reach: u32,
    },
    /// To the four neighbours in a grid that is as square as can be.
    Grid,
    /// Between LP 0 and all others: a hot spot.
    Star,
    /// To a few LPs drawn at random.
    Sparse {
        /// How many.
        degree: u32,
    },
}

/// The kind of an LP: what it does with an event, besides sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LpKind {
    /// Remembers where the last event came from.
    Forwarder,
    /// Keeps the last payloads in a queue on the heap.
    Memory,
    /// Adds up numbers whose sum depends on their order.
    Accumulator,
    /// A population that is born and dies.
    Colony,
}

impl LpKind {
    /// All kinds.
    pub const ALL: [LpKind; 4] =
        [LpKind::Forwarder, LpKind::Memory, LpKind::Accumulator, LpKind::Colony];
}

/// How long events take, on top of the lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayKind {
    /// Always 1, so that nearly all events have ties.
    Unit,
    /// 0, 1, 2 or 3.
    Integers,
    /// Exponential.
    Exponential,
    /// Very little more than 1.
    Narrow,
    /// Short or long.
    Bimodal,
    /// Often too short to move the clock at all.
    Vanishing,
    /// A power of two between 2⁻³⁰ and 2¹⁰.
    Powers,
}

impl DelayKind {
    /// All of them.
    pub const ALL: [DelayKind; 7] = [
        DelayKind::Unit,
        DelayKind::Integers,
        DelayKind::Exponential,
        DelayKind::Narrow,
        DelayKind::Bimodal,
        DelayKind::Vanishing,
        DelayKind::Powers,
    ];
}

/// What events carry besides a fixed number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payloads {
    /// Nothing, or a number.
    Small,
    /// Bytes of their own on the heap.
    Owned,
    /// A payload that is shared by all events sent together.
    Shared,
    /// Any of these.
    Mixed,
}

/// The most energy of a starter for a run of some thousand events.
fn most_energy(lps: u32, starters: u32) -> u32 {
    (scaled(6000) / (lps * starters)).clamp(3, 400)
}

/// How many features can be taken out of a recipe, to find the one that matters.
const FEATURES: usize = 13;

impl Recipe {
    /// The recipe of a seed. The same seed always gives the same recipe.
    pub fn from_seed(seed: u64) -> Self {
        let random = &mut Random::new(seed, LpId(0), 0);
        let lps = [1, 2 + random.below(6), 8 + random.below(40), 50 + random.below(151)]
            [random.below(4) as usize];
        let topology = [
            Shape::Uniform,
            Shape::Ring { reach: 1 + random.below(3) },
            Shape::Grid,
            Shape::Star,
            Shape::Sparse { degree: 1 + random.below(4) },
        ][random.below(5) as usize];
        let kinds =
            (0..1 + random.below(4)).map(|_| LpKind::ALL[random.below(4) as usize]).collect();
        let delays = DelayKind::ALL[random.below(7) as usize];
        let lookahead = [0.0, 0.0, 0.125, 1.0, 0.1 + random.uniform()][random.below(5) as usize];
        let starters = [1, 2, 3, 12][random.below(4) as usize];
        let energy = 1 + random.below(most_energy(lps, starters));
        Recipe {
            seed,
            lps,
            topology,
            kinds,
            delays,
            lookahead,
            starters,
            energy,
            fan_out: 1 + random.below(4),
            burst: [0, 0, 20, 200][random.below(4) as usize],
            to_self: [0.0, 0.2, 0.9][random.below(3) as usize],
            zero_delay: [0.0, 0.1, 0.6][random.below(3) as usize],
            zero_chain: [0, 3, 9, 40][random.below(4) as usize],
            priorities: random.bernoulli(0.5),
            unbiased: random.bernoulli(0.5),
            payloads: [Payloads::Small, Payloads::Owned, Payloads::Shared, Payloads::Mixed]
                [random.below(4) as usize],
            observing: random.bernoulli(0.7),
            recording: random.bernoulli(0.5),
            loans: random.bernoulli(0.3),
            fault: None,
            widespread: false,
            fails_at_commit: None,
            declares: [
                Declares::Model,
                Declares::Model,
                Declares::Lps,
                Declares::Links,
                Declares::Links,
            ][random.below(5) as usize],
            forwards: random.bernoulli(0.4),
            timers: random.bernoulli(0.4),
        }
    }

    /// The same recipe, with the plainest value for each feature whose flag is not set.
    pub fn with_features(self, keep: [bool; FEATURES]) -> Self {
        let plain = Recipe {
            topology: Shape::Uniform,
            kinds: vec![LpKind::Forwarder],
            delays: DelayKind::Unit,
            lookahead: 0.0,
            fan_out: 1,
            burst: 0,
            zero_delay: 0.0,
            priorities: false,
            unbiased: false,
            payloads: Payloads::Small,
            declares: Declares::Model,
            ..self.clone()
        };
        fn either<T>(keep: bool, rich: T, plain: T) -> T {
            if keep { rich } else { plain }
        }
        Recipe {
            topology: either(keep[0], self.topology, plain.topology),
            kinds: either(keep[1], self.kinds, plain.kinds),
            delays: either(keep[2], self.delays, plain.delays),
            lookahead: either(keep[3], self.lookahead, plain.lookahead),
            declares: either(keep[3], self.declares, plain.declares),
            fan_out: either(keep[4], self.fan_out, plain.fan_out),
            burst: either(keep[5], self.burst, plain.burst),
            zero_delay: either(keep[6], self.zero_delay, plain.zero_delay),
            priorities: keep[7] && self.priorities,
            unbiased: keep[8] && self.unbiased,
            payloads: either(keep[9], self.payloads, plain.payloads),
            observing: keep[10] && self.observing,
            recording: keep[10] && self.recording,
            loans: keep[11] && self.loans,
            forwards: keep[11] && self.forwards,
            timers: keep[12] && self.timers,
            ..plain
        }
    }

    /// How many words every event carries within itself: 0, 1 or 13, by the recipe's seed.
    pub fn words(&self) -> usize {
        [0, 1, 13][(self.seed % 3) as usize]
    }
}

/// Shrinks to few LPs, few events and few features.
impl Arbitrary for Recipe {
    type Parameters = ();
    type Strategy = BoxedStrategy<Recipe>;

    fn arbitrary_with((): ()) -> BoxedStrategy<Recipe> {
        let features = prop::array::uniform13(prop::bool::weighted(0.95));
        let sizes = prop_oneof![1u32..5, 1u32..40, 1u32..=scaled(200).max(4)];
        let strategy = (
            any::<u64>().no_shrink(),
            sizes,
            prop_oneof![3 => 1u32..=3, 1 => 4u32..=12],
            0.0..1.0,
            features,
        );
        strategy
            .prop_map(|(seed, lps, starters, energy, features)| {
                // Small models are more frequent: a large one takes the time of several.
                let energy = 1 + (energy * energy * f64::from(most_energy(lps, starters))) as u32;
                Recipe { lps, starters, energy, ..Recipe::from_seed(seed).with_features(features) }
            })
            .boxed()
    }
}
