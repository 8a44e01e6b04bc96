use serde::{Deserialize, Serialize};
use serde_json::Value;
use warpline_record::SeriesKind;

use super::future::{FutureSpan, FutureSpans};
use super::items::Items;
use super::kind::{Kind, Moment, handle};
use super::open_levels::{OpenLevel, OpenLevels};
use crate::statistics::series::SeriesTally;
use crate::statistics::sums::estimate::{Estimate, SumOf, half_width, interval};
use crate::statistics::sums::exact_sum::ExactSum;
use crate::statistics::sums::extremes::Extremes;
use crate::statistics::sums::horizon::Horizon;
use crate::statistics::sums::stretches::{Stretches, scaled};

handle! {
    /// The mean over time of a quantity that holds its value between events:
    /// [`Observe::span`](crate::Observe::span), or [`Level`](crate::Level), which have examples.
    ///
    /// Levels of several LPs in one item add up: the mean is that of their sum. For a mean of each,
    /// give each LP its own item. A level that is never set is 0.
    TimeMean
}

/// An observation of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// It was held over a span of time, in model units.
    Span {
        /// The start of the span.
        from: f64,
        /// The end of the span.
        to: f64,
        /// The level.
        level: f64,
    },
    /// A [`Level`](crate::Level) begins, at time 0.
    Open {
        /// The level.
        level: f64,
    },
    /// A [`Level`](crate::Level) has changed, at the time of the event.
    Change {
        /// The time of the change before.
        from: f64,
        /// The level until now.
        level: f64,
        /// The level from now on.
        next: f64,
    },
}

impl Kind for TimeMean {
    const NAME: &'static str = "mean over time";
    const SERIES: SeriesKind = SeriesKind::Level;
    // An item has sums for many stretches of time.
    const FEW_ITEMS: u32 = 1 << 4;

    type Observed = Held;
    type Tallies = TimeMeanTallies;
    type Outcome<'a> = Estimate;

    fn tallies(items: u32) -> TimeMeanTallies {
        TimeMeanTallies {
            items: Items::new(items as usize),
            open: OpenLevels::new(items),
            future: FutureSpans::default(),
        }
    }

    #[inline(always)]
    fn add(
        means: &mut TimeMeanTallies,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        held: Held,
    ) -> Option<()> {
        match held {
            Held::Span { from, to, level } => {
                means.add_span(series, event, FutureSpan { item, from, to, level })
            }
            Held::Open { level } => means.open(event, item, level),
            Held::Change { from, level, next } => {
                means.change(series, event, item, from, level, next)
            }
        }
    }

    fn merge(mine: &mut TimeMeanTallies, theirs: &TimeMeanTallies) {
        mine.items.merge(&theirs.items, TimeMeanTally::merge);
        theirs.open.iter().for_each(|(item, level)| mine.open.open(item, level));
        mine.future.merge(&theirs.future);
    }

    fn series(means: &TimeMeanTallies, horizon: &Horizon) -> Option<SeriesTally> {
        let mut all = Stretches::default();
        means.items.seen().iter().for_each(|tally| all.merge(&tally.quarters));
        Some(SeriesTally::of_levels(all, *horizon))
    }

    fn outcome(means: &TimeMeanTallies, horizon: &Horizon, item: u32) -> Estimate {
        if means.future.is_empty() {
            return means.items.read(item, |tally| tally.estimate(horizon));
        }
        let mut settled = means.clone();
        settled.settle(None, horizon);
        settled.items.read(item, |tally| tally.estimate(horizon))
    }

    /// Spans that end in the future do not count; after the run there are none.
    fn json(means: &TimeMeanTallies, horizon: &Horizon, item: u32) -> Value {
        means.items.read(item, |tally| tally.estimate(horizon)).to_json()
    }

    fn values(held: Held, time: f64) -> impl Iterator<Item = f64> {
        match held {
            Held::Span { from, to, level } => [from, to, level, 0.0],
            Held::Open { level } => [level, 0.0, 0.0, 0.0],
            Held::Change { from, level, next } => [from, time, level, next],
        }
        .into_iter()
    }

    fn span(held: Held, time: f64) -> Option<(f64, f64)> {
        match held {
            Held::Span { from, to, .. } => Some((from, to)),
            Held::Change { from, .. } => Some((from, time)),
            Held::Open { .. } => None,
        }
    }

    fn waits(means: &TimeMeanTallies) -> bool {
        !means.future.is_empty()
    }

    fn settle(means: &mut TimeMeanTallies, series: Option<&mut SeriesTally>, horizon: &Horizon) {
        means.settle(series, horizon);
    }

    fn close(
        means: &mut TimeMeanTallies,
        mut series: Option<&mut SeriesTally>,
        horizon: &Horizon,
        end: f64,
    ) {
        means.settle(series.as_deref_mut(), horizon);
        for (item, OpenLevel { since, value, .. }) in means.open.iter() {
            means
                .items
                .get_mut(item)
                .into_iter()
                .for_each(|tally| tally.add(horizon, since, end, value));
            if let Some(series) = &mut series {
                series.span(since, end, value);
            }
        }
        means.open.clear();
    }

    fn take_levels(means: &mut TimeMeanTallies) -> Vec<(u32, OpenLevel)> {
        means.open.take()
    }

    fn put_level(means: &mut TimeMeanTallies, item: u32, level: OpenLevel) {
        means.open.open(item, level);
    }
}

/// The sums of all items of a mean over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct TimeMeanTallies {
    items: Items<TimeMeanTally>,
    open: OpenLevels,
    /// Spans that have yet to be added.
    future: FutureSpans,
}

impl TimeMeanTallies {
    /// Adds a span, or keeps it if it reaches beyond the event.
    #[inline(always)]
    fn add_span(
        &mut self,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        span: FutureSpan,
    ) -> Option<()> {
        let FutureSpan { item, from, to, level } = span;
        let valid = from <= to && from.is_finite() && to.is_finite() && level.is_finite();
        if !valid {
            return None;
        }
        if to <= event.time {
            self.items.get_mut(item)?.add_single(event.horizon, from, to, level);
            if let Some(series) = series {
                series.span(from, to, level);
            }
        } else {
            self.items.check(item)?;
            if self.future.keep(event.time, span) {
                self.add_past(series, event.horizon);
            }
        }
        Some(())
    }

    #[inline]
    fn open(&mut self, event: &Moment<'_>, item: u32, level: f64) -> Option<()> {
        self.items.get_mut(item).filter(|_| level.is_finite())?.add_level();
        self.open.open(item, OpenLevel { lp: event.lp, since: event.time, value: level });
        Some(())
    }

    #[inline(always)]
    fn change(
        &mut self,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        from: f64,
        level: f64,
        next: f64,
    ) -> Option<()> {
        let time = event.time;
        let lp = event.lp;
        let valid = from <= time && from.is_finite() && level.is_finite() && next.is_finite();
        let tally = self.items.get_mut(item).filter(|_| valid)?;
        tally.add(event.horizon, from, time, level);
        if let Some(series) = series {
            series.span(from, time, level);
        }
        let before = OpenLevel { lp, since: from, value: level };
        if self.open.change(item, before, OpenLevel { lp, since: time, value: next }) {
            tally.add_level();
        }
        Some(())
    }

    /// Adds the kept spans that are past by now.
    #[cold]
    #[inline(never)]
    fn add_past(&mut self, mut series: Option<&mut SeriesTally>, horizon: &Horizon) {
        let mut spans = self.future.take();
        spans.retain(|span| {
            let is_past = self.future.is_past(span);
            if is_past {
                self.add_kept(series.as_deref_mut(), horizon, span);
            }
            !is_past
        });
        self.future.put_back(spans);
    }

    /// Adds a kept span.
    fn add_kept(
        &mut self,
        series: Option<&mut SeriesTally>,
        horizon: &Horizon,
        &FutureSpan { item, from, to, level }: &FutureSpan,
    ) {
        self.items
            .get_mut(item)
            .into_iter()
            .for_each(|tally| tally.add_single(horizon, from, to, level));
        if let Some(series) = series {
            series.span(from, to, level);
        }
    }

    /// Adds all kept spans.
    fn settle(&mut self, mut series: Option<&mut SeriesTally>, horizon: &Horizon) {
        let spans = self.future.take();
        spans.iter().for_each(|span| self.add_kept(series.as_deref_mut(), horizon, span));
    }
}

/// A mean over time, in batches of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TimeMeanTally {
    /// Level times time in each quarter of a batch.
    pub(super) quarters: Stretches<ExactSum>,
    spans: u64,
    /// The number of levels.
    levels: u64,
    /// The number of spans that belong to no level.
    single: u64,
    extremes: Extremes,
}

impl TimeMeanTally {
    /// Adds a span of one of the levels.
    #[inline]
    pub(super) fn add(&mut self, horizon: &Horizon, from: f64, to: f64, level: f64) {
        // A span that only touches the observed time is ignored.
        if from >= horizon.reached || to < horizon.start || to == horizon.start && from < to {
            return;
        }
        self.spans += 1;
        self.extremes.add(level);
        if level != 0.0 {
            // Without NaN, a comparison does, which takes fewer instructions than `max` and `min`.
            let from = if from > horizon.start { from } else { horizon.start };
            let to = if to < horizon.reached { to } else { horizon.reached };
            self.quarters.add_span(horizon, from, to, level);
        }
    }

    /// Adds a span that belongs to no level.
    #[inline]
    pub(super) fn add_single(&mut self, horizon: &Horizon, from: f64, to: f64, level: f64) {
        self.single += 1;
        self.add(horizon, from, to, level);
    }

    /// Counts another level.
    pub(super) fn add_level(&mut self) {
        self.levels += 1;
    }

    pub(super) fn merge(&mut self, other: &TimeMeanTally) {
        self.quarters.merge(&other.quarters);
        self.spans += other.spans;
        self.levels += other.levels;
        self.single += other.single;
        self.extremes.merge(&other.extremes);
    }

    pub(super) fn estimate(&self, horizon: &Horizon) -> Estimate {
        let quarters = self.quarters.of(horizon);
        let mut total = ExactSum::default();
        quarters.list.iter().for_each(|area| total.merge(area));
        let (areas, exponent) = scaled(quarters.list.iter());
        let pairs: Vec<(f64, f64)> = areas
            .into_iter()
            .enumerate()
            .map(|(quarter, area)| (area, quarters.covered(horizon, quarter)))
            .collect();
        let seen = horizon.length() > 0.0;
        let interval = if seen { interval(&pairs) } else { None };
        let mean = seen.then(|| total.over_distance(horizon.start, horizon.reached));
        // Without levels and spans, the value is 0. Levels that were never set are 0 too, and add
        // nothing to a single level.
        let extremes = match (self.levels, self.single) {
            (0, 0) => mean.map(|_| (0.0, 0.0)),
            (1, 0) => self.extremes.min().zip(self.extremes.max()),
            _ => None,
        };
        let parts = self.extremes.min().zip(self.extremes.max());
        let sum = || parts.map(|(min, max)| SumOf { levels: self.levels, min, max });
        Estimate {
            // The quotient may be off by a rounding error.
            mean: mean.map(|mean| extremes.map_or(mean, |(min, max)| mean.clamp(min, max))),
            ci95: half_width(interval.as_ref(), exponent - quarters.exponent),
            correlated: interval.is_some_and(|interval| interval.correlated),
            count: self.spans,
            deviation: None,
            min: extremes.map(|(min, _)| min),
            max: extremes.map(|(_, max)| max),
            sum_of: if extremes.is_none() { sum() } else { None },
            of_values: false,
        }
    }
}
