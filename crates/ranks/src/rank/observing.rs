use warpline_model::{Cell, Counter, Histogram, Mean, Random, Table, TimeMean};

use super::Rank;
use crate::running::with;

/// Random numbers, statistics and rows, as a `Context` has them.
impl Rank {
    /// Draws from the rank's random numbers.
    pub fn draw<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        with(|_, net| draw(net.services.stream(0)))
    }

    /// Adds `by` to a counter.
    pub fn count(&self, counter: Counter, by: u64) {
        with(|_, net| net.services.count(counter, by));
    }

    /// Adds a value to a mean.
    pub fn observe(&self, mean: Mean, value: f64) {
        with(|_, net| net.services.observe(mean, value));
    }

    /// Adds a value to a histogram.
    pub fn sample(&self, histogram: Histogram, value: f64) {
        with(|_, net| net.services.sample(histogram, value));
    }

    /// Adds the time from `from` to `to`, in seconds, at `level` to a mean over time.
    pub fn span(&self, mean: TimeMean, from: f64, to: f64, level: f64) {
        with(|_, net| net.services.span(mean, from, to, level));
    }

    /// Adds a row to a table.
    pub fn record(&self, table: Table, row: &[Cell]) {
        with(|_, net| net.services.record(table, row));
    }

    /// Ends the run with an error that names this rank and its call. The program goes on after
    /// this, so return.
    #[cold]
    pub fn fail(&self, why: impl Into<String>) {
        with(|progress, net| progress.fail(net, why.into()));
    }
}
