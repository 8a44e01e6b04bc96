//! Counter-based random streams: every draw is a function of (seed, LP, stream, event, draw) alone.
//!
//! A [`Random`] holds no generator state that could get out of step: the engine points its
//! [`Stream`] at an LP's n-th event, which determines the numbers that this event will draw.
//! Undoing the event means pointing the stream at it again. All distributions give the same bits on
//! every platform: they use only exact arithmetic and the pure-Rust `libm`.

mod continuous;
mod counts;
mod empirical;
mod philox;
mod stream;
mod weighted;
mod ziggurat;
mod ziggurat_tables;

pub use empirical::{Continuous, Discrete, PointsError};
pub use philox::philox2x64;
pub use stream::Stream;
pub use weighted::{Weighted, WeightsError};

/// Mixes the bits of a word so that every input bit moves every output bit (the finaliser of
/// SplitMix64).
#[inline]
pub fn mix64(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Both halves of the product of two words, folded into one.
#[inline]
pub fn fold64(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The random numbers of one LP's current event, from one stream.
///
/// - Times and sizes: [`uniform`](Self::uniform), [`exponential`](Self::exponential),
///   [`erlang`](Self::erlang), [`gamma`](Self::gamma), [`weibull`](Self::weibull),
///   [`normal`](Self::normal), [`lognormal`](Self::lognormal), [`triangular`](Self::triangular),
///   [`pareto`](Self::pareto), and [`continuous`](Self::continuous) for what was measured.
/// - Counts: [`below`](Self::below), [`poisson`](Self::poisson), [`binomial`](Self::binomial),
///   [`geometric`](Self::geometric).
/// - Choices: [`bernoulli`](Self::bernoulli), [`choose`](Self::choose) among indices,
///   [`discrete`](Self::discrete) among values.
///
/// Different streams of one LP are independent: drawing more from one does not affect another. A
/// model gets one from `Context::random`. Tests and other code make their own:
/// ```
/// use warpline_base::{LpId, random::Random};
/// let mut random = Random::new(42, LpId(7), 0);
/// let drawn = (random.uniform(), random.exponential(2.0), random.below(6));
/// let mut again = Random::new(42, LpId(7), 0);
/// assert_eq!(drawn, (again.uniform(), again.exponential(2.0), again.below(6)));
/// ```
///
/// # Panics
/// If one event draws more than [`DRAW_LIMIT`](Self::DRAW_LIMIT) words from one stream.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    event: u64,
    /// LP (32 bits), stream (8 bits) and, while drawing, the block within the event (24 bits).
    place: u64,
    draws: u32,
    spare: u64,
}

impl Random {
    /// The maximum number of words that one event may draw from one stream: 2²⁵. Most draws take
    /// one word, some two or more.
    pub const DRAW_LIMIT: u32 = 1 << 25;

    /// The given stream of an LP, before its first event (where `init` draws).
    #[inline]
    pub fn new(seed: u64, lp: LpId, stream: u8) -> Self {
        let place = u64::from(lp.0) << 32 | u64::from(stream) << 24;
        Random { seed, event: 0, place, draws: 0, spare: 0 }
    }

    fn lp(&self) -> LpId {
        LpId((self.place >> 32) as u32)
    }

    /// How many words the current event has drawn so far.
    #[inline]
    pub fn position(&self) -> u32 {
        self.draws
    }

    /// The next 64 random bits.
    ///
    /// # Panics
    /// If one event draws more than [`DRAW_LIMIT`](Self::DRAW_LIMIT) words from this stream.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        if self.draws & 1 == 0 {
            return self.next_block();
        }
        self.draws += 1;
        self.spare
    }

    /// The first word of the next block; keeps the second.
    #[inline(never)]
    fn next_block(&mut self) -> u64 {
        if self.draws >= Self::DRAW_LIMIT {
            too_many_draws();
        }
        let block = u64::from(self.draws >> 1);
        let [word, spare] = philox2x64([self.event, self.place | block], self.seed);
        self.draws += 1;
        self.spare = spare;
        word
    }

    /// A number in `[0, 1)`, a multiple of 2⁻⁵³.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let share = random.uniform();
    /// assert!((0.0..1.0).contains(&share));
    /// let angle = 360.0 * random.uniform(); // in [0, 360)
    /// # assert!((0.0..360.0).contains(&angle));
    /// ```
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        unit(self.next_u64())
    }

    /// An integer in `0..bound`, all equally likely.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let die = 1 + random.below(6);
    /// assert!((1..=6).contains(&die));
    /// ```
    ///
    /// # Panics
    /// If `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "below(0): there is no integer below zero; ask for at least below(1)");
        let product = u128::from(self.next_u64()) * u128::from(bound);
        // The lowest 2^64 mod bound fractions are over-represented.
        if product as u64 >= u64::from(bound) {
            (product >> 64) as u32
        } else {
            self.below_exactly(bound, product)
        }
    }

    #[cold]
    fn below_exactly(&mut self, bound: u32, mut product: u128) -> u32 {
        let bound = u64::from(bound);
        while (product as u64) < bound.wrapping_neg() % bound {
            product = u128::from(self.next_u64()) * u128::from(bound);
        }
        (product >> 64) as u32
    }

    /// `true` with probability `p` (never for `p <= 0` or NaN, always for `p >= 1`).
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let lost = (0..10_000).filter(|_| random.bernoulli(0.01)).count(); // of 10 000 packets
    /// assert!((70..130).contains(&lost));
    /// ```
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// An index of `weights`, each with probability proportional to its weight.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::{Random, Weighted}};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let sizes = Weighted::new(&[0.7, 0.0, 0.3])?; // make it once, in the model
    /// let drawn: Vec<usize> = (0..1000).map(|_| random.choose(&sizes)).collect();
    /// assert!(drawn.contains(&0) && !drawn.contains(&1) && drawn.contains(&2));
    /// # Ok::<(), warpline_base::random::WeightsError>(())
    /// ```
    #[inline]
    pub fn choose(&mut self, weights: &Weighted) -> usize {
        weights.pick(self.next_u64())
    }
}

/// For distributions from other crates, which are only as portable as their own arithmetic.
impl rand_core::RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        (Random::next_u64(self) >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        Random::next_u64(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&Random::next_u64(self).to_le_bytes()[..chunk.len()]);
        }
    }
}

#[inline]
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cold]
fn too_many_draws() -> ! {
    panic!(
        "one event drew more than {} random numbers from one stream; draw them over several events",
        Random::DRAW_LIMIT
    )
}

use crate::LpId;

#[cfg(test)]
mod tests;
