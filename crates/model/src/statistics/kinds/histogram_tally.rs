use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use warpline_memory::{MakeRoom, prefetch};
use warpline_record::Bar;

use crate::statistics::STATISTICS;
use crate::statistics::sums::exact_sum::ExactSum;
use crate::statistics::sums::extremes::Extremes;

/// Counts of values in ranges. The width of a range is 1/64 of its power of two, so percentiles are
/// right to within 1.6 %.
///
/// Negative values have ranges of their own. Empty ranges take memory only between others.
///
/// ```
/// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
/// # struct Lp(Observations);
/// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
/// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
/// # let mut lp = Lp(Observations::default());
/// # let mut declare = Declarations::default();
/// # const DELAY: Histogram = Histogram::slot(0);
/// # declare.histogram(DELAY, "delay", "ms", "");
/// # (1..=1000).for_each(|delay| lp.sample(DELAY, f64::from(delay)));
/// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
/// // After a run that observed 1, 2, … 1000:
/// let delay = statistics.histogram(DELAY);
/// assert_eq!((delay.count(), delay.min(), delay.max()), (1000, Some(1.0), Some(1000.0)));
/// assert_eq!(delay.mean(), Some(500.5));
/// assert!((delay.quantile(0.99).unwrap() - 990.0).abs() < 0.016 * 990.0);
/// assert_eq!(delay.bars(4).iter().map(|bar| bar.count).sum::<u64>(), 1000);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HistogramTally {
    form: Form,
}

/// How values are kept. It depends only on the values, not on their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Form {
    /// Up to [`FEW`] values, in ascending order: a model may have millions of histograms with
    /// hardly any values.
    Few(Vec<f64>),
    Many(Box<Ranged>),
}

/// This many values fit into 128 bytes, including an allocator's overhead.
const FEW: usize = 15;

/// Any number of values, in ranges.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ranged {
    negative: Ranges,
    zeros: u64,
    positive: Ranges,
    sum: ExactSum,
    extremes: Extremes,
}

/// Counts of consecutive ranges, from the range of number `first`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Ranges {
    first: u32,
    counts: Vec<u64>,
}

/// The number of low bits of the mantissa that a range ignores.
const OPEN_BITS: u32 = 52 - 6;

impl Ranges {
    #[inline]
    fn add(&mut self, magnitude: f64, by: u64) {
        let range = (magnitude.to_bits() >> OPEN_BITS) as u32;
        self.add_range(range, by);
    }

    /// Prefetches the count of a magnitude.
    #[inline]
    fn fetch(&self, magnitude: f64) {
        let range = (magnitude.to_bits() >> OPEN_BITS) as u32;
        self.counts.get(range.wrapping_sub(self.first) as usize).into_iter().for_each(prefetch);
    }

    #[inline]
    fn add_range(&mut self, range: u32, by: u64) {
        match self.counts.get_mut(range.wrapping_sub(self.first) as usize) {
            Some(count) => *count += by,
            None => self.add_new_range(range, by),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_new_range(&mut self, range: u32, by: u64) {
        self.widen(range);
        self.counts[(range - self.first) as usize] += by;
    }

    /// Makes room for a range and some around it.
    #[cold]
    fn widen(&mut self, range: u32) {
        const BESIDE: u32 = 8;
        let (low, high) = (range.saturating_sub(BESIDE), range + BESIDE);
        if self.counts.is_empty() {
            self.first = low;
        }
        let more = self.first.saturating_sub(low)
            + (high + 1).saturating_sub(self.first + self.counts.len() as u32);
        self.counts.make_little_room(more as usize, STATISTICS);
        if range < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, (self.first - low) as usize));
            self.first = low;
        }
        let needed = (high - self.first) as usize + 1;
        if needed > self.counts.len() {
            self.counts.resize(needed, 0);
        }
    }

    fn merge(&mut self, other: &Ranges) {
        for (range, &count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.add_range(range, count);
        }
    }

    /// All ranges from the first to the last non-empty one.
    fn bars(&self) -> impl DoubleEndedIterator<Item = Bar> {
        let edge = |range: u32| f64::from_bits(u64::from(range) << OPEN_BITS);
        let seen = |count: &u64| *count > 0;
        let used = self.counts.iter().position(seen).unwrap_or(0)
            ..self.counts.iter().rposition(seen).map_or(0, |last| last + 1);
        used.map(move |index| {
            let range = self.first + index as u32;
            Bar { low: edge(range), high: edge(range + 1).min(f64::MAX), count: self.counts[index] }
        })
    }
}

impl Ranged {
    #[inline]
    fn add(&mut self, value: f64) {
        if value > 0.0 {
            self.positive.add(value, 1);
        } else if value < 0.0 {
            self.negative.add(-value, 1);
        } else {
            self.zeros += 1;
        }
        self.sum.add(value);
        self.extremes.add(value);
    }

    /// Prefetches the memory that adding `value` will touch.
    #[inline]
    fn fetch(&self, value: f64) {
        self.positive.fetch(value);
        self.sum.fetch();
        prefetch(&self.extremes);
    }

    fn merge(&mut self, other: &Ranged) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
        self.zeros += other.zeros;
        self.sum.merge(&other.sum);
        self.extremes.merge(&other.extremes);
    }

    fn count(&self) -> u64 {
        self.zeros + self.positive.counts.iter().chain(&self.negative.counts).sum::<u64>()
    }

    fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum.over(count))
    }

    fn quantile(&self, q: f64) -> Option<f64> {
        let (min, max) = (self.extremes.min()?, self.extremes.max()?);
        let target = q.clamp(0.0, 1.0) * self.count() as f64;
        let mut below = 0.0;
        for bar in self.ranges() {
            let count = bar.count as f64;
            if count > 0.0 && below + count >= target {
                let value = bar.low + (bar.high - bar.low) * (target - below) / count;
                return Some(value.clamp(min, max));
            }
            below += count;
        }
        Some(max)
    }

    /// All ranges from the lowest to the highest value seen, including empty ones between them.
    fn ranges(&self) -> impl Iterator<Item = Bar> {
        let negative =
            self.negative.bars().rev().map(|bar| Bar { low: -bar.high, high: -bar.low, ..bar });
        let zero = (self.zeros > 0).then_some(Bar { low: 0.0, high: 0.0, count: self.zeros });
        negative.chain(zero).chain(self.positive.bars())
    }
}

impl FromIterator<f64> for Ranged {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut all = Ranged::default();
        values.into_iter().for_each(|value| all.add(value));
        all
    }
}

impl Default for HistogramTally {
    fn default() -> Self {
        HistogramTally::EMPTY
    }
}

impl HistogramTally {
    /// No values.
    pub(super) const EMPTY: HistogramTally = HistogramTally { form: Form::Few(Vec::new()) };

    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        match &mut self.form {
            Form::Many(many) => many.add(value),
            Form::Few(_) => self.add_to_few(value),
        }
    }

    #[inline(never)]
    fn add_to_few(&mut self, value: f64) {
        let Form::Few(few) = &mut self.form else { return self.add(value) };
        if few.len() == FEW {
            self.many().add(value);
            return;
        }
        if few.len() == few.capacity() {
            // Capacities are 3, 7 and 15 values.
            few.make_little_room((few.len() + 1).max(3), STATISTICS);
        }
        // Makes -0.0 positive, so that the order of adding does not show.
        let value = value + 0.0;
        few.insert(few.partition_point(|other| *other <= value), value);
    }

    /// Prefetches the memory that adding `value` will touch.
    #[inline]
    pub(super) fn fetch(&self, value: f64) {
        match &self.form {
            Form::Few(few) => few.first().into_iter().for_each(prefetch),
            Form::Many(many) => many.fetch(value),
        }
    }

    /// The values in ranges. Converts few values for good.
    fn many(&mut self) -> &mut Ranged {
        if let Form::Few(few) = &self.form {
            self.form = Form::Many(Box::new(few.iter().copied().collect()));
        }
        let Form::Many(many) = &mut self.form else { unreachable!("there are many now") };
        many
    }

    /// The values in ranges.
    fn ranged(&self) -> Cow<'_, Ranged> {
        match &self.form {
            Form::Few(few) => Cow::Owned(few.iter().copied().collect()),
            Form::Many(many) => Cow::Borrowed(many),
        }
    }

    /// Adds another histogram of the same quantity.
    pub fn merge(&mut self, other: &HistogramTally) {
        match &other.form {
            Form::Few(few) => few.iter().for_each(|value| self.add(*value)),
            Form::Many(many) => self.many().merge(many),
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        match &self.form {
            Form::Few(few) => few.len() as u64,
            Form::Many(many) => many.count(),
        }
    }

    /// The mean of the values, exact up to one rounding; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        self.ranged().mean()
    }

    /// The least value; `None` without values.
    pub fn min(&self) -> Option<f64> {
        match &self.form {
            Form::Few(few) => few.first().copied(),
            Form::Many(many) => many.extremes.min(),
        }
    }

    /// The largest value; `None` without values.
    pub fn max(&self) -> Option<f64> {
        match &self.form {
            Form::Few(few) => few.last().copied(),
            Form::Many(many) => many.extremes.max(),
        }
    }

    /// The value below which the share `q` (0 to 1) of the values lies, to within 1.6 %; `None`
    /// without values. A `q` outside 0 to 1 is clamped. See the [example](Self).
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.ranged().quantile(q)
    }

    /// Several [quantiles](Self::quantile), in less time than one by one.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [Option<f64>; N] {
        let ranged = self.ranged();
        shares.map(|q| ranged.quantile(q))
    }

    /// All ranges from the lowest to the highest value seen, including empty ones between them.
    pub fn ranges(&self) -> impl Iterator<Item = Bar> + use<> {
        self.ranged().ranges().collect::<Vec<_>>().into_iter()
    }

    /// The values in at most `most` bars (at least 1) of whole ranges, for a picture.
    pub fn bars(&self, most: usize) -> Vec<Bar> {
        let ranges: Vec<Bar> = self.ranges().collect();
        let group = ranges.len().div_ceil(most.max(1)).max(1);
        let bar = |group: &[Bar]| Bar {
            low: group[0].low,
            high: group[group.len() - 1].high,
            count: group.iter().map(|bar| bar.count).sum(),
        };
        ranges.chunks(group).map(bar).collect()
    }
}

#[cfg(test)]
#[path = "histogram_tally_tests.rs"]
mod tests;
