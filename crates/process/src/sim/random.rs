use warpline_base::random::Random;

use super::Sim;
use crate::running::with;

impl<T> Sim<T> {
    /// Draws from the LP's random numbers.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn arrivals(sim: Sim<()>) {
    ///     const WALKS: u8 = 1; // a stream of their own, so that arrivals stay the same
    ///     sim.sleep(sim.exponential(5.0) + sim.uniform(0.0, 1.0)).await;
    ///     sim.sleep(sim.draw(|random| random.normal(2.0, 0.1))).await;
    ///     sim.sleep(sim.draw_from(WALKS, |random| random.exponential(1.0))).await;
    ///     sim.tell(["left", "right"][sim.below(2) as usize]);
    /// }
    /// ```
    #[inline]
    pub fn draw<R>(self, draw: impl FnOnce(&mut Random) -> R) -> R {
        with(|running| draw(running.lp.random()))
    }

    /// Draws from another stream of the LP; see `Context::stream`.
    #[inline]
    pub fn draw_from<R>(self, stream: u8, draw: impl FnOnce(&mut Random) -> R) -> R {
        with(|running| draw(running.lp.stream(stream)))
    }

    /// An exponential number with this mean.
    #[inline]
    pub fn exponential(self, mean: f64) -> f64 {
        self.draw(|random| random.exponential(mean))
    }

    /// A number between `low` and `high`, all equally likely.
    #[inline]
    pub fn uniform(self, low: f64, high: f64) -> f64 {
        self.draw(|random| low + (high - low) * random.uniform())
    }

    /// A whole number below `bound`, all equally likely.
    #[inline]
    pub fn below(self, bound: u32) -> u32 {
        self.draw(|random| random.below(bound))
    }
}
