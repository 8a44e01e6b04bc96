use serde::{Deserialize, Serialize};
use serde_json::Value;
use warpline_memory::prefetch;
use warpline_record::SeriesKind;

use super::items::Items;
use super::kind::{Kind, Moment, handle};
use crate::statistics::series::SeriesTally;
use crate::statistics::sums::estimate::{Estimate, half_width, interval};
use crate::statistics::sums::exact_sum::ExactSum;
use crate::statistics::sums::extremes::Extremes;
use crate::statistics::sums::horizon::Horizon;
use crate::statistics::sums::spread::deviation;
use crate::statistics::sums::stretches::{Stretches, scaled};

handle! {
    /// The mean of observed values, with a confidence interval:
    /// [`Observe::observe`](crate::Observe::observe), which has an example.
    Mean
}

impl Kind for Mean {
    const NAME: &'static str = "mean";
    const SERIES: SeriesKind = SeriesKind::Mean;
    // An item has sums for many stretches of time.
    const FEW_ITEMS: u32 = 1 << 4;

    type Observed = f64;
    type Tallies = Items<MeanTally>;
    type Outcome<'a> = Estimate;

    fn tallies(items: u32) -> Items<MeanTally> {
        Items::new(items as usize)
    }

    #[inline(always)]
    fn add(
        means: &mut Items<MeanTally>,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        value: f64,
    ) -> Option<()> {
        let add = |tally: &mut MeanTally| tally.add(event.horizon, event.time, value);
        means.observe(series, event, item, value, add)
    }

    fn merge(mine: &mut Items<MeanTally>, theirs: &Items<MeanTally>) {
        mine.merge(theirs, MeanTally::merge);
    }

    fn series(means: &Items<MeanTally>, horizon: &Horizon) -> Option<SeriesTally> {
        let mut all = Stretches::default();
        means.seen().iter().for_each(|tally| all.merge(&tally.quarters));
        Some(SeriesTally::of_means(all, *horizon))
    }

    fn outcome(means: &Items<MeanTally>, horizon: &Horizon, item: u32) -> Estimate {
        means.read(item, |tally| tally.estimate(horizon))
    }

    fn json(means: &Items<MeanTally>, horizon: &Horizon, item: u32) -> Value {
        Mean::outcome(means, horizon, item).to_json()
    }

    fn values(value: f64, _: f64) -> impl Iterator<Item = f64> {
        [value].into_iter()
    }

    #[inline(always)]
    fn fetch(means: &Items<MeanTally>, item: u32, _: f64) {
        means.get(item).into_iter().for_each(MeanTally::fetch);
    }
}

/// A mean of values, in batches of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::statistics) struct MeanTally {
    /// Sum and count for each quarter of a batch.
    pub(super) quarters: Stretches<(ExactSum, u64)>,
    squares: ExactSum,
    extremes: Extremes,
}

impl MeanTally {
    #[inline]
    pub(super) fn add(&mut self, horizon: &Horizon, time: f64, value: f64) {
        let (sum, count) = self.quarters.at(horizon, time);
        sum.add(value);
        *count += 1;
        self.squares.add_square(value);
        self.extremes.add(value);
    }

    /// Prefetches the memory that adding a value will touch, except for the batch.
    #[inline]
    pub(super) fn fetch(&self) {
        self.squares.fetch();
        prefetch(&self.extremes);
    }

    pub(super) fn merge(&mut self, other: &MeanTally) {
        self.quarters.merge(&other.quarters);
        self.squares.merge(&other.squares);
        self.extremes.merge(&other.extremes);
    }

    pub(super) fn estimate(&self, horizon: &Horizon) -> Estimate {
        let quarters = self.quarters.of(horizon);
        let mut total = ExactSum::default();
        let mut count = 0;
        for (sum, n) in &quarters.list {
            total.merge(sum);
            count += n;
        }
        let (sums, exponent) = scaled(quarters.list.iter().map(|(sum, _)| sum));
        let pairs: Vec<(f64, f64)> =
            sums.into_iter().zip(quarters.list.iter().map(|(_, count)| *count as f64)).collect();
        let interval = interval(&pairs);
        Estimate {
            mean: (count > 0).then(|| total.over(count)),
            ci95: half_width(interval.as_ref(), exponent),
            correlated: interval.is_some_and(|interval| interval.correlated),
            count,
            deviation: deviation(&total, &self.squares, count),
            min: self.extremes.min(),
            max: self.extremes.max(),
            sum_of: None,
            of_values: true,
        }
    }
}
