//! Means with confidence intervals by batch means, which allow for correlation.
//!
//! An interval that is probably too narrow is marked, not corrected: with fewer, longer batches it
//! would be wide instead of wrong, but no more informative. Von Neumann's ratio distinguishes
//! correlation from chance, using sums that do not depend on the order of execution. It is computed
//! from quarters of batches, which are still correlated when batches hardly are. So it finds nearly
//! all intervals that are too narrow, and also some that are still good.

use serde_json::{Value, json};

use super::magnitude::power;

/// The maximum number of equal spans of time into which a run is cut for confidence intervals; the
/// minimum is half as many.
///
/// Their length is a power of 2 in model time, so it depends only on how far the run came: a run
/// that is stopped early has the intervals of a run to that end.
pub const BATCHES: usize = 32;

/// The maximum number of quarters of batches, which show whether batches are correlated.
pub(in crate::statistics) const QUARTERS: usize = 4 * BATCHES;

/// The 97.5 % points of Student's t with `BATCHES / 2` degrees of freedom, one more, and so on.
const STUDENT_T: [f64; BATCHES / 2] = [
    2.119_905_299_221,
    2.109_815_577_833,
    2.100_922_040_241,
    2.093_024_054_408,
    2.085_963_447_266,
    2.079_613_844_728,
    2.073_873_067_904,
    2.068_657_610_419,
    2.063_898_561_628,
    2.059_538_552_753,
    2.055_529_438_643,
    2.051_830_516_480,
    2.048_407_141_795,
    2.045_229_642_133,
    2.042_272_456_301,
    2.039_513_446_396,
];

/// The 95 % point of the standard normal distribution.
const NORMAL: f64 = 1.644_853_626_951_472_7;

/// For 5 % of sequences of `quarters` independent values, the von Neumann ratio is below this: it
/// has mean 2 and variance 4 (n - 2) / (n² - 1), and is nearly normal (J. von Neumann,
/// "Distribution of the ratio of the mean square successive difference to the variance", 1941).
fn least_ratio(quarters: usize) -> f64 {
    let n = quarters as f64;
    2.0 - NORMAL * (4.0 * (n - 2.0) / (n * n - 1.0)).sqrt()
}

/// An interval narrower than this share of its mean is due to rounding.
const ROUNDING: f64 = 1e-12;
/// What [`Estimate::to_json`] says about an interval from [correlated](Estimate::correlated)
/// batches.
const TOO_NARROW: &str = "probably too narrow: the run is short against its own correlation; a \
                          longer run gives a better interval";

/// An estimated mean.
///
/// ```
/// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
/// # struct Lp(Observations);
/// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
/// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
/// # let mut lp = Lp(Observations::default());
/// # let mut declare = Declarations::default();
/// # const WAIT: Mean = Mean::slot(0);
/// # declare.mean(WAIT, "wait", "min", "");
/// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// # lp.observe(WAIT, 1.0);
/// # lp.observe(WAIT, 3.0);
/// # (0..100).for_each(|i| statistics.apply(&lp.0, f64::from(i) * 0.1, LpId(0), &mut Lp(Observations::default())).unwrap());
/// // After a run in which 100 customers waited 1 minute and 100 waited 3, by turns:
/// let wait = statistics.mean(WAIT);
/// assert_eq!((wait.mean, wait.min, wait.max, wait.count), (Some(2.0), Some(1.0), Some(3.0), 200));
/// let (mean, half) = (wait.mean.unwrap(), wait.ci95.unwrap());
/// assert!(mean - half <= 2.0 && 2.0 <= mean + half);
/// assert_eq!(wait.to_json()["mean"], 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean; `None` if nothing was observed. A mean over time is then 0, if any time was
    /// observed.
    pub mean: Option<f64>,
    /// Half the width of the 95 % confidence interval by batch means, which allows for correlation
    /// between successive values; `None` if fewer than half of the [batches](BATCHES) have
    /// observations.
    pub ci95: Option<f64>,
    /// Whether the interval is probably too narrow, because the run is short compared with its own
    /// correlation: the means of successive quarters of batches are more alike than independent
    /// ones would be in 19 of 20 cases.
    pub correlated: bool,
    /// The number of values; for means over time, of spans.
    pub count: u64,
    /// The standard deviation of single values; `None` for means over time, and with fewer than two
    /// values.
    pub deviation: Option<f64>,
    /// The least value; `None` if nothing was observed, and for the mean over time of a sum, whose
    /// extremes are unknown.
    pub min: Option<f64>,
    /// The greatest value; `None` like `min`.
    pub max: Option<f64>,
    /// The parts of the sum, if this is the mean over time of a sum.
    pub sum_of: Option<SumOf>,
    /// Whether it is a mean of values, not over time.
    pub(in crate::statistics) of_values: bool,
}

/// The parts of a sum over time: levels of several LPs, or spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumOf {
    /// The number of levels; 0 if the sum consists of spans only.
    pub levels: u64,
    /// The least value of any single part.
    pub min: f64,
    /// The greatest value of any single part.
    pub max: f64,
}

impl Estimate {
    /// The estimate as a JSON object: `mean`, `ci95`, `count`, `min`, `max` and, if there is one,
    /// `deviation`. If its batches are [correlated](Self::correlated), `ci95_note` says that the
    /// interval is probably too narrow.
    ///
    /// A mean over time has `spans` instead of `count`. That of a [sum](Self::sum_of) has `levels`,
    /// their number, and instead of `min` and `max` the extremes of single levels or spans,
    /// `single_min` and `single_max`.
    pub fn to_json(&self) -> Value {
        let count = if self.of_values { "count" } else { "spans" };
        let mut all = json!({ "mean": self.mean, "ci95": self.ci95, count: self.count });
        let extremes = match self.sum_of {
            None => [("min", json!(self.min)), ("max", json!(self.max))],
            Some(SumOf { min, max, .. }) => {
                [("single_min", json!(min)), ("single_max", json!(max))]
            }
        };
        let levels = self.sum_of.map(|of| of.levels).filter(|levels| *levels > 0);
        let more = [
            ("levels", levels.map(Value::from)),
            ("deviation", self.deviation.map(Value::from)),
            ("ci95_note", self.ci95_note().map(Value::from)),
        ];
        if let Value::Object(fields) = &mut all {
            let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
            fields.extend(
                extremes.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value)),
            );
        }
        all
    }

    /// The note to show with [`ci95`](Self::ci95): that it is probably too narrow, if its batches
    /// are [correlated](Self::correlated). For models that make their own JSON: reports look for it
    /// beside `ci95`, under the name `ci95_note`.
    pub fn ci95_note(&self) -> Option<&'static str> {
        self.correlated.then_some(TOO_NARROW)
    }
}

/// A confidence interval by batch means.
pub(in crate::statistics) struct Interval {
    pub(in crate::statistics) half_width: f64,
    pub(in crate::statistics) correlated: bool,
}

/// The 95 % interval of a ratio of sums, from `(numerator, denominator)` of each quarter of a
/// batch: the classical ratio estimator (Law, "Simulation Modeling and Analysis", section 9.5). The
/// quarters show whether batches are correlated. Numerators must be at most about 1, so that no
/// square overflows, or underflows where it matters.
pub(in crate::statistics) fn interval(quarters: &[(f64, f64)]) -> Option<Interval> {
    let sum = |parts: &[(f64, f64)]| {
        parts.iter().fold((0.0, 0.0), |(n, d), part| (n + part.0, d + part.1))
    };
    let batches: Vec<(f64, f64)> = quarters.chunks(4).map(sum).collect();
    let (top, bottom) = sum(&batches);
    let freedom = batches.len().saturating_sub(1);
    let t = STUDENT_T.get(freedom.checked_sub(BATCHES / 2)?)?;
    if bottom <= 0.0 || batches.iter().filter(|b| b.1 > 0.0).count() < batches.len().div_ceil(2) {
        return None;
    }
    let ratio = top / bottom;
    let rest = |&(n, d): &(f64, f64)| n - ratio * d;
    let squares: f64 = batches.iter().map(|batch| rest(batch).powi(2)).sum();
    let count = batches.len() as f64;
    let variance = squares / freedom as f64;
    let half_width = t * (variance / count).sqrt() / (bottom / count);
    let rests: Vec<f64> = quarters.iter().map(rest).collect();
    let squares: f64 = rests.iter().map(|rest| rest.powi(2)).sum();
    let steps: f64 = rests.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let correlated =
        steps < least_ratio(quarters.len()) * squares && half_width > ROUNDING * ratio.abs();
    Some(Interval { half_width, correlated })
}

/// The half width of an interval whose numerators were divided by 2^`exponent`.
pub(in crate::statistics) fn half_width(interval: Option<&Interval>, exponent: i32) -> Option<f64> {
    interval.map(|interval| power(interval.half_width, exponent)).filter(|half| half.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand for 64: 2 - 1.644854 √(4 · 62 / 4095).
    #[test]
    fn the_least_ratio_follows_from_the_number() {
        assert!((least_ratio(64) - 1.595_213_384_235_905).abs() < 1e-12);
        assert!(least_ratio(65) > least_ratio(64) && least_ratio(QUARTERS) < 1.8);
    }
}
