use serde::{Deserialize, Serialize};
use warpline_memory::{list_of, prefetch};

use super::estimate::{BATCHES, HALVES, interval};
use super::{Estimate, ExactSum, STATISTICS};

/// The span of time that is observed, cut into batches, and these into halves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Horizon {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Of half a batch.
    width: f64,
    /// Halves of batches per unit of time.
    per_time: f64,
    /// How far the run came: to the end, unless it was cut short.
    reached: f64,
}

impl Horizon {
    pub(super) const fn new(start: f64, end: f64) -> Self {
        let length = end - start;
        Horizon { start, end, width: length / HALVES as f64, per_time: HALVES as f64 / length, reached: end }
    }

    /// The run ends here. Batches stay as they are.
    pub(super) fn cut_short(&mut self, end: f64) {
        self.reached = end;
    }

    /// How much of half a batch was observed.
    fn covered(&self, half: usize) -> f64 {
        if self.reached == self.end { self.width } else { (self.reached.min(self.edge(half + 1)) - self.edge(half)).max(0.0) }
    }

    #[inline]
    fn half(&self, time: f64) -> usize {
        (((time - self.start) * self.per_time) as usize).min(HALVES - 1)
    }

    /// The start of half a batch.
    fn edge(&self, half: usize) -> f64 {
        if half == HALVES { self.end } else { self.start + half as f64 * self.width }
    }
}

/// The least and the largest of some values.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Extremes {
    min: f64,
    max: f64,
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes { min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Extremes {
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        // Of the two zeros the positive one, so that the order of adding does not show.
        let value = value + 0.0;
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    pub(super) fn merge(&mut self, other: &Extremes) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub(super) fn min(&self) -> Option<f64> {
        (self.min <= self.max).then_some(self.min)
    }

    pub(super) fn max(&self) -> Option<f64> {
        (self.min <= self.max).then_some(self.max)
    }
}

/// A sum rounded once.
fn exact_sum<'a>(parts: impl IntoIterator<Item = &'a ExactSum>) -> f64 {
    let mut sum = ExactSum::default();
    parts.into_iter().for_each(|part| sum.merge(part));
    sum.value()
}

/// A mean of values, in batches of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct MeanTally {
    /// Sum and count of each half of a batch; made at the first value.
    halves: Vec<(ExactSum, u64)>,
    squares: ExactSum,
    extremes: Extremes,
}

impl MeanTally {
    #[inline]
    pub(super) fn add(&mut self, horizon: &Horizon, time: f64, value: f64) {
        if self.halves.is_empty() {
            self.halves = list_of(Default::default(), HALVES, STATISTICS);
        }
        let (sum, count) = &mut self.halves[horizon.half(time)];
        sum.add(value);
        *count += 1;
        self.squares.add_square(value);
        self.extremes.add(value);
    }

    /// Fetches the memory that adding a value will touch, except for the batch.
    #[inline]
    pub(super) fn fetch(&self) {
        self.squares.fetch();
        prefetch(&self.extremes);
    }

    pub(super) fn merge(&mut self, other: &MeanTally) {
        self.halves.resize_with(HALVES, Default::default);
        for ((sum, count), (other_sum, other_count)) in self.halves.iter_mut().zip(&other.halves) {
            sum.merge(other_sum);
            *count += other_count;
        }
        self.squares.merge(&other.squares);
        self.extremes.merge(&other.extremes);
    }

    /// The sum of (value - center)², without cancellation: all of Σx² - 2 center Σx + n center² is exact before the one rounding.
    fn squares_about(&self, center: f64, total: &ExactSum, count: u64) -> f64 {
        let (mut sum, mut rest) = (self.squares.clone(), total.clone());
        for _ in 0..3 {
            let part = rest.value();
            rest.add(-part);
            sum.add_product(-2.0 * center, part);
        }
        let square = center * center;
        sum.add_product(count as f64, square);
        sum.add_product(count as f64, center.mul_add(center, -square));
        sum.value().max(0.0)
    }

    pub(super) fn estimate(&self) -> Estimate {
        let mut total = ExactSum::default();
        let (mut batches, mut halves) = ([(0.0, 0.0); BATCHES], [(0.0, 0.0); HALVES]);
        let mut count = 0;
        for ((sum, n), half) in self.halves.iter().zip(&mut halves) {
            total.merge(sum);
            count += n;
            *half = (sum.value(), *n as f64);
        }
        for (pair, batch) in self.halves.chunks(2).zip(&mut batches) {
            let sum = exact_sum(pair.iter().map(|(sum, _)| sum));
            *batch = (sum, pair.iter().map(|(_, n)| *n as f64).sum());
        }
        let mean = (count > 0).then(|| total.value() / count as f64);
        let interval = interval(&batches, &halves);
        let spread = |mean: f64| (self.squares_about(mean, &total, count) / (count - 1) as f64).sqrt();
        Estimate {
            mean,
            ci95: interval.as_ref().map(|interval| interval.half_width),
            correlated: interval.is_some_and(|interval| interval.correlated),
            count,
            deviation: mean.filter(|_| count > 1).map(spread).filter(|deviation| deviation.is_finite()),
            min: self.extremes.min(),
            max: self.extremes.max(),
        }
    }
}

/// A mean over time, in batches of time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TimeMeanTally {
    /// Level times time in each half of a batch; made at the first span.
    halves: Vec<ExactSum>,
    spans: u64,
    extremes: Extremes,
}

impl TimeMeanTally {
    #[inline]
    pub(super) fn add(&mut self, horizon: &Horizon, from: f64, to: f64, level: f64) {
        // A span that only touches the observed time is ignored, and so is one of length zero.
        if from >= horizon.end || to < horizon.start || to == horizon.start && from < to {
            return;
        }
        let (from, to) = (from.max(horizon.start), to.min(horizon.end));
        if self.halves.is_empty() {
            self.halves = list_of(ExactSum::default(), HALVES, STATISTICS);
        }
        self.spans += 1;
        self.extremes.add(level);
        let (first, last) = (horizon.half(from), horizon.half(to));
        if first == last { self.halves[first].add((to - from) * level) } else { self.add_long(horizon, from, to, level) }
    }

    /// Adds a span that does not lie within half a batch.
    fn add_long(&mut self, horizon: &Horizon, from: f64, to: f64, level: f64) {
        let (first, last) = (horizon.half(from), horizon.half(to));
        for half in first..=last {
            let begin = if half == first { from } else { horizon.edge(half) };
            let end = if half == last { to } else { horizon.edge(half + 1) };
            self.halves[half].add((end - begin) * level);
        }
    }

    pub(super) fn merge(&mut self, other: &TimeMeanTally) {
        self.halves.resize_with(HALVES, Default::default);
        for (area, other) in self.halves.iter_mut().zip(&other.halves) {
            area.merge(other);
        }
        self.spans += other.spans;
        self.extremes.merge(&other.extremes);
    }

    pub(super) fn estimate(&self, horizon: &Horizon) -> Estimate {
        let mut total = ExactSum::default();
        let mut halves: [(f64, f64); HALVES] = std::array::from_fn(|half| (0.0, horizon.covered(half)));
        for (area, half) in self.halves.iter().zip(&mut halves) {
            total.merge(area);
            half.0 = area.value();
        }
        let mut batches: [(f64, f64); BATCHES] = std::array::from_fn(|batch| (0.0, halves[2 * batch].1 + halves[2 * batch + 1].1));
        for (pair, batch) in self.halves.chunks(2).zip(&mut batches) {
            batch.0 = exact_sum(pair);
        }
        let seen = self.spans > 0 && horizon.reached > horizon.start;
        let interval = if seen { interval(&batches, &halves) } else { None };
        Estimate {
            mean: seen.then(|| total.value() / (horizon.reached - horizon.start)),
            ci95: interval.as_ref().map(|interval| interval.half_width),
            correlated: interval.is_some_and(|interval| interval.correlated),
            count: self.spans,
            deviation: None,
            min: self.extremes.min(),
            max: self.extremes.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HORIZON: Horizon = Horizon::new(10.0, 42.0);

    #[test]
    fn mean_of_known_values() {
        let mut tally = MeanTally::default();
        (0..320).for_each(|i| tally.add(&HORIZON, 10.0 + 0.1 * f64::from(i), f64::from(i % 4)));
        let estimate = tally.estimate();
        assert_eq!((estimate.mean, estimate.count, estimate.min, estimate.max), (Some(1.5), 320, Some(0.0), Some(3.0)));
        assert!((estimate.deviation.unwrap() - 1.25f64.sqrt() * (320.0f64 / 319.0).sqrt()).abs() < 1e-12);
        assert!(estimate.ci95.unwrap() < 0.2);
    }

    #[test]
    fn deviation_survives_a_large_mean() {
        let mut tally = MeanTally::default();
        (0..1000).for_each(|i| tally.add(&HORIZON, 20.0, 1e9 + f64::from(i % 2)));
        let deviation = tally.estimate().deviation.unwrap();
        assert!((deviation - 0.5 * (1000.0f64 / 999.0).sqrt()).abs() < 1e-12, "{deviation}");
    }

    #[test]
    fn what_ends_with_the_warmup_is_not_seen() {
        let mut tally = TimeMeanTally::default();
        tally.add(&HORIZON, 0.0, 10.0, 7.0);
        tally.add(&HORIZON, 10.0, 42.0, 1.0);
        tally.add(&HORIZON, 42.0, 50.0, 9.0);
        let estimate = tally.estimate(&HORIZON);
        assert_eq!((estimate.mean, estimate.count, estimate.max), (Some(1.0), 1, Some(1.0)));
    }

    #[test]
    fn a_single_batch_gives_no_interval() {
        let mut tally = MeanTally::default();
        (0..100).for_each(|i| tally.add(&HORIZON, 10.1, f64::from(i)));
        assert_eq!(tally.estimate().ci95, None);
        assert_eq!(MeanTally::default().estimate().mean, None);
    }

    /// A value at the very end of a batch belongs to the next one; at the end of the run, to the last.
    #[test]
    fn a_value_on_the_edge_of_a_batch_belongs_to_the_later_one() {
        let mut tally = MeanTally::default();
        (0..=HALVES).for_each(|edge| tally.add(&HORIZON, HORIZON.edge(edge), 1.0));
        let counts: Vec<u64> = tally.halves.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [vec![1; HALVES - 1], vec![2]].concat());
        let mut tally = MeanTally::default();
        tally.add(&HORIZON, 11.0f64.next_down(), 3.0);
        tally.add(&HORIZON, 11.0, 4.0);
        assert_eq!((tally.halves[1].0.value(), tally.halves[2].0.value()), (3.0, 4.0));
    }

    #[test]
    fn a_span_between_edges_fills_the_batches_between_them() {
        let mut tally = TimeMeanTally::default();
        tally.add(&HORIZON, 12.0, 14.0, 3.0);
        tally.add(&HORIZON, 41.0, 42.0, 5.0);
        let areas: Vec<f64> = tally.halves.iter().map(ExactSum::value).collect();
        let mut expected = [0.0; HALVES];
        expected[4..8].fill(1.5);
        expected[62..].fill(2.5);
        assert_eq!(areas, expected);
    }

    /// As [`Estimate::ci95`] says: none where fewer than half of the batches saw anything.
    #[test]
    fn half_of_the_batches_are_enough_for_an_interval() {
        let seen_in = |batches: usize| {
            let mut tally = MeanTally::default();
            (0..batches).for_each(|batch| tally.add(&HORIZON, HORIZON.edge(2 * batch), batch as f64));
            tally.estimate().ci95
        };
        assert_eq!(seen_in(BATCHES / 2 - 1), None);
        assert!(seen_in(BATCHES / 2).is_some_and(|half| half > 0.0), "{:?}", seen_in(BATCHES / 2));
    }

    #[test]
    fn spans_are_cut_at_warmup_end_and_batches() {
        let mut tally = TimeMeanTally::default();
        tally.add(&HORIZON, 0.0, 26.0, 2.0);
        tally.add(&HORIZON, 26.0, 1e9, 1.0);
        let estimate = tally.estimate(&HORIZON);
        assert_eq!(estimate.mean, Some(1.5));
        tally.add(&HORIZON, 0.0, 9.0, 7.0);
        assert_eq!(tally.estimate(&HORIZON).mean, Some(1.5));
        assert_eq!((tally.halves[0].value(), tally.halves[1].value()), (1.0, 1.0));
    }

    /// Intervals of independent values contain the truth about 95 times in 100.
    #[test]
    fn intervals_cover_the_truth() {
        use warpline_base::{LpId, random::Random};
        let covered = (0..1000u32).filter(|&run| {
            let (mut tally, mut random) = (MeanTally::default(), Random::new(1, LpId(run), 0));
            (0..640).for_each(|i| tally.add(&HORIZON, 10.0 + 0.05 * f64::from(i), random.exponential(1.0)));
            let estimate = tally.estimate();
            (estimate.mean.unwrap() - 1.0).abs() < estimate.ci95.unwrap()
        });
        let covered = covered.count();
        assert!((925..=970).contains(&covered), "{covered} of 1000");
    }
    /// A walk whose step is redrawn now and then: once in `lasts` values, which are 20 to a batch.
    fn walked(run: u32, lasts: u32) -> Estimate {
        use warpline_base::{LpId, random::Random};
        let (mut tally, mut random, mut value) = (MeanTally::default(), Random::new(1, LpId(run), 0), 0.0);
        (0..640).for_each(|i| {
            value = if i % lasts == 0 { random.exponential(1.0) } else { value };
            tally.add(&HORIZON, 10.0 + 0.05 * f64::from(i), value);
        });
        tally.estimate()
    }

    /// Values that last for five batches make batches alike; the interval is then far too narrow, and says so.
    #[test]
    fn an_interval_from_correlated_batches_says_so() {
        let warned = |lasts: u32| (0..1000).filter(|&run| walked(run, lasts).correlated).count();
        assert!((30..=70).contains(&warned(1)), "independent values: {} of 1000", warned(1));
        assert!((30..=70).contains(&warned(5)), "four values to a batch: {} of 1000", warned(5));
        assert!(warned(40) > 900, "one value to two batches: {} of 1000", warned(40));
        assert!(warned(100) > 995, "one value to five batches: {} of 1000", warned(100));
        let covered = |run| (walked(run, 100).mean.unwrap() - 1.0).abs() < walked(run, 100).ci95.unwrap();
        assert!((0..1000).filter(|&run| covered(run)).count() < 750, "the warning is deserved");
    }

    /// Of this many runs of a queue with one server, each to this time and with this load, how many have an interval for the mean wait that
    /// says that it is too narrow, and how many an interval that contains the truth.
    fn queues(runs: u32, end: f64, load: f64) -> (usize, usize) {
        use warpline_base::{LpId, random::Random};
        let truth = load / (1.0 - load);
        let (mut warned, mut covered) = (0, 0);
        for run in 0..runs {
            let (mut tally, mut random, mut time, mut wait) = (MeanTally::default(), Random::new(2, LpId(run), 0), 0.0, 0.0f64);
            while time < end {
                tally.add(&Horizon::new(0.0, end), time, wait);
                let gap = random.exponential(1.0 / load);
                // D. V. Lindley's recursion.
                wait = (wait + random.exponential(1.0) - gap).max(0.0);
                time += gap;
            }
            let estimate = tally.estimate();
            warned += usize::from(estimate.correlated);
            covered += usize::from((estimate.mean.unwrap() - truth).abs() < estimate.ci95.unwrap());
        }
        (warned, covered)
    }

    #[test]
    fn short_runs_of_a_busy_queue_say_so_and_long_runs_of_a_calm_one_do_not() {
        for end in [1000.0, 3000.0, 10_000.0] {
            let (warned, covered) = queues(200, end, 0.95);
            assert!(warned >= 194 && covered <= 140, "to {end}: {warned} warned, {covered} covered of 200");
        }
        let (warned, covered) = queues(200, 30_000.0, 0.5);
        assert!(warned <= 30 && covered >= 180, "{warned} warned, {covered} covered of 200");
    }

    #[test]
    fn what_is_constant_but_for_rounding_is_not_correlated() {
        let mut tally = TimeMeanTally::default();
        (0..320).for_each(|i| tally.add(&HORIZON, 10.0 + 0.1 * f64::from(i), 10.0 + 0.1 * f64::from(i + 1), 0.7));
        let estimate = tally.estimate(&HORIZON);
        assert!(!estimate.correlated && estimate.ci95.unwrap() < 1e-12, "{estimate:?}");
        assert_eq!(estimate.to_json().get("ci95_note"), None);
    }

    #[test]
    fn means_over_time_say_it_too() {
        let mut tally = TimeMeanTally::default();
        tally.add(&HORIZON, 10.0, 42.0, 1.0);
        tally.add(&HORIZON, 30.0, 42.0, 5.0);
        let estimate = tally.estimate(&HORIZON);
        assert!(estimate.correlated);
        assert!(estimate.to_json()["ci95_note"].as_str().unwrap().starts_with("probably too narrow"));
    }
}
