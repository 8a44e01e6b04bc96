use serde_json::{Value, json};
use warpline_record::{HistogramView, SeriesKind, View};

use super::histogram_tally::HistogramTally;
use super::items::Items;
use super::kind::{Kind, Moment, handle};
use crate::statistics::series::SeriesTally;
use crate::statistics::sums::horizon::Horizon;

static NO_VALUES: HistogramTally = HistogramTally::EMPTY;

handle! {
    /// The distribution of observed values, with percentiles:
    /// [`Observe::sample`](crate::Observe::sample), which has an example.
    Histogram
}

impl Kind for Histogram {
    const NAME: &'static str = "histogram";
    const SERIES: SeriesKind = SeriesKind::Mean;
    // An item has counts for many ranges of values.
    const FEW_ITEMS: u32 = 1 << 4;

    type Observed = f64;
    type Tallies = Items<HistogramTally>;
    type Outcome<'a> = &'a HistogramTally;

    fn tallies(items: u32) -> Items<HistogramTally> {
        Items::new(items as usize)
    }

    #[inline(always)]
    fn add(
        histograms: &mut Items<HistogramTally>,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        value: f64,
    ) -> Option<()> {
        histograms.observe(series, event, item, value, |tally| tally.add(value))
    }

    fn merge(mine: &mut Items<HistogramTally>, theirs: &Items<HistogramTally>) {
        mine.merge(theirs, HistogramTally::merge);
    }

    fn outcome<'a>(
        histograms: &'a Items<HistogramTally>,
        _: &Horizon,
        item: u32,
    ) -> &'a HistogramTally {
        histograms.get(item).unwrap_or(&NO_VALUES)
    }

    fn json(histograms: &Items<HistogramTally>, horizon: &Horizon, item: u32) -> Value {
        Histogram::outcome(histograms, horizon, item).to_json()
    }

    fn values(value: f64, _: f64) -> impl Iterator<Item = f64> {
        [value].into_iter()
    }

    #[inline(always)]
    fn fetch(histograms: &Items<HistogramTally>, item: u32, value: f64) {
        histograms.get(item).into_iter().for_each(|tally| tally.fetch(value));
    }

    fn view(
        histograms: &Items<HistogramTally>,
        title: &str,
        quantity: &str,
        unit: &str,
    ) -> Option<View> {
        let single = histograms.count() == 1;
        single.then(|| {
            View::Histogram(histograms.get(0).unwrap_or(&NO_VALUES).view(title, quantity, unit))
        })
    }
}

impl HistogramTally {
    /// Count, mean, extremes and percentiles as a JSON object.
    pub fn to_json(&self) -> Value {
        let [p50, p90, p95, p99] = self.quantiles([0.5, 0.9, 0.95, 0.99]);
        json!({ "count": self.count(), "mean": self.mean(), "min": self.min(), "p50": p50, "p90": p90, "p95": p95, "p99": p99, "max": self.max() })
    }

    /// A picture of the distribution, with the median and the 99th percentile marked. Use it for
    /// histograms with several items, which
    /// [`Statistics::histogram_views`](crate::Statistics::histogram_views) leaves out.
    pub fn view(&self, title: &str, quantity: &str, unit: &str) -> HistogramView {
        let marks = [("median", 0.5), ("p99", 0.99)]
            .into_iter()
            .filter_map(|(name, q)| Some((name.to_owned(), self.quantile(q)?)));
        let [title, quantity, unit, counted] =
            [title, quantity, unit, "observations"].map(str::to_owned);
        HistogramView {
            title,
            quantity,
            unit,
            counted,
            bars: self.bars(60),
            marks: marks.collect(),
        }
    }
}
