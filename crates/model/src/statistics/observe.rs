//! The methods by which a model observes.

use super::kinds::counter::Counter;
use super::kinds::histogram::Histogram;
use super::kinds::mean::Mean;
use super::kinds::time_mean::{Held, TimeMean};
use super::observations::{Observation, Observations};
use crate::outside::Act;
use crate::tables::{Cell, Table};

/// Writes statistics and rows, in [`Model`](crate::Model)'s `init`, `handle`, `commit` and
/// `finish`. They take effect when the event commits.
///
/// Observations before the end of the warm-up count only in [series](super::Declaration::series).
/// Rows always count.
///
/// # Faults
/// A handle that does not fit its declaration, a value that is NaN or infinite, a span that ends
/// before it begins, or a row of the wrong length ends the run with a [`Fault`](crate::Fault) if
/// the event commits. A counter whose total exceeds `u64::MAX` is a fault of the run as a whole,
/// reported after the last event.
pub trait Observe {
    /// The observations that wait for the commit.
    #[doc(hidden)]
    fn observations(&mut self) -> &mut Observations;

    /// Adds `by` to a counter. The total of each item over the whole run must not exceed
    /// `u64::MAX`.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const LOST: Counter = Counter::slot(0);
    /// declare.counter(LOST, "lost", "packets", "packets dropped for want of room");
    /// // In `handle`:
    /// lp.count(LOST, 2);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// // After the run:
    /// assert_eq!(statistics.counter(LOST), 2);
    /// ```
    #[inline]
    fn count(&mut self, counter: Counter, by: u64) {
        self.observations().push(Observation::Counter(counter, by));
    }

    /// Adds a value, which must be finite, to a mean.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const WAIT: Mean = Mean::slot(0);
    /// declare.mean(WAIT, "wait", "min", "time from arrival to service");
    /// // In `handle`:
    /// lp.observe(WAIT, 4.0);
    /// lp.observe(WAIT, 5.0);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// // After the run:
    /// assert_eq!(statistics.mean(WAIT).mean, Some(4.5));
    /// ```
    ///
    /// Each kind of statistic has its own method:
    /// ```compile_fail,E0308
    /// # use warpline_model::prelude::*;
    /// const WAIT: Counter = Counter::slot(0);
    /// # fn handle(lp: &mut impl Observe) {
    /// lp.observe(WAIT, 4.0); // error: mismatched types: expected `Mean`, found `Counter`
    /// # }
    /// ```
    #[inline]
    fn observe(&mut self, mean: Mean, value: f64) {
        self.observations().push(Observation::Mean(mean, value));
    }

    /// Adds a value, which must be finite, to a histogram.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const DELAY: Histogram = Histogram::slot(0);
    /// declare.histogram(DELAY, "delay", "ms", "time from sender to receiver");
    /// // In `handle`:
    /// for delay in 1..=100 {
    ///     lp.sample(DELAY, f64::from(delay));
    /// }
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// // After the run, to within 1.6 %:
    /// let p90 = statistics.histogram(DELAY).quantile(0.9).unwrap();
    /// assert!((p90 - 90.0).abs() < 1.5);
    /// ```
    #[inline]
    fn sample(&mut self, histogram: Histogram, value: f64) {
        self.observations().push(Observation::Histogram(histogram, value));
    }

    /// Adds the time from `from` to `to` (model units) at `level` to a mean over time. The span may
    /// reach into the future. Parts before the end of the warm-up or after the end of the run do
    /// not count. Overlapping spans add up. All three numbers must be finite, and the span must not
    /// end before it begins.
    ///
    /// [`Level`](crate::Level) does this for a quantity that changes from time to time.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const BUSY: TimeMean = TimeMean::slot(0);
    /// declare.time_mean(BUSY, "busy", "", "share of time that the server works");
    /// # let now = 2.0;
    /// // In `handle`, at time 2: the server is taken for the next 4 units of time.
    /// lp.span(BUSY, now, now + 4.0, 1.0);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// // After a run to time 10:
    /// assert_eq!(statistics.time_mean(BUSY).mean, Some(0.4));
    /// ```
    #[inline]
    fn span(&mut self, mean: TimeMean, from: f64, to: f64, level: f64) {
        self.observations().push(Observation::TimeMean(mean, Held::Span { from, to, level }));
    }

    /// Adds a row to a table, with as many cells as the table has columns. The engine puts time and
    /// LP in front.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
    /// # struct Lp(Observations);
    /// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let mut lp = Lp(Observations::default());
    /// # let mut declare = Declarations::default();
    /// const TRIPS: Table = Table(0);
    /// declare.table(TRIPS, "trips", &[("to", ""), ("way", "km"), ("by", "")]);
    /// // In `handle`:
    /// lp.record(TRIPS, &[LpId(7).into(), 12.5.into(), "train".into()]);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
    /// assert_eq!(lp.0.cells, [Cell::Whole(7), Cell::Real(12.5), Cell::Text("train".into())]);
    /// ```
    #[inline]
    fn record(&mut self, table: Table, row: &[Cell]) {
        let observations = self.observations();
        observations.push_row(table, row);
    }

    /// Acts on the outside world, such as printing a line, once the event is settled: when it is
    /// certain that the event happens, and that no fault anywhere in the run comes before it. So no
    /// act has to be undone in any engine, and a run that fails has performed the same acts as a
    /// sequential run.
    ///
    /// All acts and rows of a run are processed once each, in the order of their events, by the
    /// thread that watches the run. PEs do not wait for it unless it falls far behind, so the delay
    /// after the event's execution varies. An act cannot return anything into the run. If an act
    /// panics, no further acts are performed and the run goes on; its results say why the rest is
    /// missing. Verification and explanations perform no acts.
    ///
    /// In a run of several processes, an act is performed in the process of its LP, in its turn
    /// among the acts of all processes. So it sees the memory of that process, and a file that LPs
    /// of several processes write to must be opened by each process for appending. Output of acts
    /// on stdout goes through the first process, in order. Output on stderr does not, and may be
    /// out of order under an MPI launcher. If a process is lost, the remaining acts are never
    /// performed.
    ///
    /// An act costs an allocation, and about a tenth of a millisecond if the act before it belongs
    /// to another process.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Display;
    /// # impl Model for Display {
    /// #     type State = u32; type Event = f64;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { 0 }
    /// fn handle(&self, shown: &mut u32, level: &f64, lp: &mut Context<Self>) {
    ///     *shown += 1;
    ///     let line = format!("{:.1} s: {level} m", lp.now());
    ///     lp.when_settled(move || println!("{line}"));
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Display, 1, 9, false);
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Display.handle(&mut 0, &7.5, executor.lp());
    /// # assert_eq!(executor.observations_mut().acts.len(), 1);
    /// ```
    fn when_settled(&mut self, act: impl Fn() + Send + Sync + 'static)
    where
        Self: Sized,
    {
        self.observations().push_act(Act::new(act));
    }
}
