//! What keeps a core from its work: interruptions by the system, and cores that are slower than the
//! others. It is drawn from a seed, so that the same run has the same noise.

use warpline_base::random::mix64;

use crate::Time;

/// Noise of a machine. All zero means none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The mean time from one interruption of a core to the next; none if it is zero.
    pub every: Time,
    /// How long an interruption lasts.
    pub lasts: Time,
    /// The share of cores that are stragglers, from 0 to 1.
    pub stragglers: f64,
    /// How many times as long a straggler takes for everything, at least 1.
    pub slowdown: f64,
}

/// A draw from 0 to 1, from a seed and two numbers.
fn draw(seed: u64, a: u64, b: u64) -> f64 {
    let word = mix64(mix64(seed ^ a.wrapping_mul(0x9E37_79B9_7F4A_7C15)) ^ b);
    (word >> 11) as f64 / (1u64 << 53) as f64
}

impl Noise {
    /// How many times as long core `core` takes.
    pub fn slowdown_of(&self, seed: u64, core: u32) -> f64 {
        let straggles =
            self.stragglers > 0.0 && draw(seed, u64::from(core), u64::MAX) < self.stragglers;
        if straggles { self.slowdown } else { 1.0 }
    }

    /// When the `number`-th interruption of a core begins: one falls into each period, at a random
    /// place.
    pub fn interruption(&self, seed: u64, core: u32, number: u64) -> Option<Time> {
        (self.every > Time::ZERO && self.lasts > Time::ZERO).then(|| {
            let within = draw(seed, u64::from(core), number);
            self.every * number + Time::rounded(within * self.every.as_picoseconds() as f64)
        })
    }
}
