use warpline_model::{Cell, Counter, Histogram, Mean, Table, Text, TimeMean};

use super::Sim;
use crate::running::things::AtEnd;
use crate::running::with;

/// Statistics and rows, as `Observe` writes them.
impl<T> Sim<T> {
    /// Adds `by` to a counter.
    #[inline]
    pub fn count(self, counter: Counter, by: u64) {
        with(|running| running.lp.count(counter, by));
    }

    /// Adds a value to a mean.
    #[inline]
    pub fn observe(self, mean: Mean, value: f64) {
        with(|running| running.lp.observe(mean, value));
    }

    /// Adds a value to a histogram.
    #[inline]
    pub fn sample(self, histogram: Histogram, value: f64) {
        with(|running| running.lp.sample(histogram, value));
    }

    /// Adds the time from `from` to `to` at `level` to a mean over time.
    #[inline]
    pub fn span(self, mean: TimeMean, from: f64, to: f64, level: f64) {
        with(|running| running.lp.span(mean, from, to, level));
    }

    /// Adds a row to a table.
    #[inline]
    pub fn record(self, table: Table, row: &[Cell]) {
        with(|running| running.lp.record(table, row));
    }

    /// Tells what this process does, in words such as "pays", for those who follow the LP.
    pub fn tell(self, what: impl Into<Text>) {
        with(|running| {
            let what = what.into();
            running.tell(|| what.to_string());
        });
    }

    /// Has `act` look at what the LP's processes share, and observe, when the run has ended. It comes
    /// after all events, at the end time, even if this process ends or is cancelled before.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// const LEFT: Counter = Counter::slot(0);
    ///
    /// fn shut(sim: Sim<()>, till: Resource) {
    ///     sim.at_end(move |end| {
    ///         let left = end.waiting(till);
    ///         end.count(LEFT, left as u64); // who still waits when the shop shuts
    ///     });
    /// }
    /// ```
    pub fn at_end(self, act: impl Fn(&mut AtEnd<'_>) + Send + 'static) {
        with(|running| running.things.at_end(Box::new(act)));
    }

    /// Acts on the outside world once the event is settled.
    pub fn when_settled(self, act: impl Fn() + Send + Sync + 'static) {
        with(|running| running.lp.act_when_settled(Box::new(act)));
    }
}
