use serde_json::{Value, json};

/// Into how many equal spans of time a run is cut for confidence intervals.
pub const BATCHES: usize = 32;

/// Batches are halved to see whether they are correlated: halves are correlated while batches hardly are, and there are more of them, so that
/// an interval is suspected before it is wrong. Of runs of an M/M/1 queue whose 95 % intervals contain the truth in 80 % of cases, the halves
/// give away 97 %; the batches themselves would give away 56 %.
pub(super) const HALVES: usize = 2 * BATCHES;

/// The 97.5 % point of Student's t with `BATCHES - 1` degrees of freedom.
const STUDENT_T: f64 = 2.039_513_446_396_408;

/// A share of 5 % of sequences of independent halves have a von Neumann ratio below this: it has mean 2 and variance
/// 4 (n - 2) / (n² - 1), and is nearly normal (J. von Neumann, "Distribution of the ratio of the mean square successive difference to the
/// variance", 1941).
const LEAST_RATIO: f64 = 1.595_213_384_235_905;
/// An interval narrower than this share of its mean is due to rounding.
const ROUNDING: f64 = 1e-12;
/// What [`Estimate::to_json`] says of an interval whose batches are [correlated](Estimate::correlated).
const TOO_NARROW: &str = "probably too narrow: the run is short against its own correlation; a longer run gives a better interval";

/// An estimated mean.
///
/// ```
/// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
/// # struct Lp(Notes);
/// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
/// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
/// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
/// # const WAIT: Mean = Mean::slot(0);
/// # declare.mean(WAIT, "wait", "min", "");
/// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// # lp.observe(WAIT, 1.0);
/// # lp.observe(WAIT, 3.0);
/// # (0..100).for_each(|i| statistics.apply(&lp.0, f64::from(i) * 0.1, LpId(0), &mut Lp(Notes::default())).unwrap());
/// // After a run in which 100 customers waited 1 minute and 100 waited 3, by turns:
/// let wait = statistics.mean(WAIT);
/// assert_eq!((wait.mean, wait.min, wait.max, wait.count), (Some(2.0), Some(1.0), Some(3.0), 200));
/// let (mean, half) = (wait.mean.unwrap(), wait.ci95.unwrap());
/// assert!(mean - half <= 2.0 && 2.0 <= mean + half);
/// assert_eq!(wait.to_json()["mean"], 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean; `None` if nothing was observed.
    pub mean: Option<f64>,
    /// Half the width of the 95 % confidence interval by batch means, which allows for correlation between successive values; `None` with
    /// too few observations, which is if fewer than half of the [`BATCHES`] saw any.
    pub ci95: Option<f64>,
    /// Whether the interval is probably too narrow, because the run is short against its own correlation: the means of successive
    /// half batches are more alike than those of independent ones are in 19 of 20 cases.
    pub correlated: bool,
    /// The number of values; for means over time, of spans.
    pub count: u64,
    /// The standard deviation of single values; `None` for means over time, and with fewer than two values.
    pub deviation: Option<f64>,
    /// The least value; `None` if nothing was observed.
    pub min: Option<f64>,
    /// The largest value; `None` if nothing was observed.
    pub max: Option<f64>,
}

impl Estimate {
    /// The estimate as a JSON object: `mean`, `ci95`, `count`, `min`, `max` and, if there is one, `deviation`. If its batches are
    /// [correlated](Self::correlated), `ci95_note` says that the interval is probably too narrow.
    pub fn to_json(&self) -> Value {
        let mut all = json!({ "mean": self.mean, "ci95": self.ci95, "count": self.count, "min": self.min, "max": self.max });
        let more = [("deviation", self.deviation.map(Value::from)), ("ci95_note", self.ci95_note().map(Value::from))];
        if let Value::Object(fields) = &mut all {
            fields.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        all
    }

    /// What has to be said of [`ci95`](Self::ci95) wherever it is shown: that it is probably too narrow, if its batches are
    /// [correlated](Self::correlated). For models that make JSON of their own; beside `ci95`, reports look for it under this name.
    pub fn ci95_note(&self) -> Option<&'static str> {
        self.correlated.then_some(TOO_NARROW)
    }
}

/// A confidence interval by batch means.
pub(super) struct Interval {
    pub(super) half_width: f64,
    pub(super) correlated: bool,
}

/// The 95 % interval of a ratio of sums over batches, `(numerator, denominator)` each: the classical ratio estimator (Law, "Simulation
/// Modeling and Analysis", section 9.5). Whether they are correlated is seen in their halves.
pub(super) fn interval(batches: &[(f64, f64); BATCHES], halves: &[(f64, f64); HALVES]) -> Option<Interval> {
    let (top, bottom) = batches.iter().fold((0.0, 0.0), |(n, d), b| (n + b.0, d + b.1));
    if bottom <= 0.0 || batches.iter().filter(|b| b.1 > 0.0).count() < BATCHES / 2 {
        return None;
    }
    let ratio = top / bottom;
    let rests = batches.map(|(n, d)| n - ratio * d);
    let squares: f64 = rests.iter().map(|rest| rest.powi(2)).sum();
    let variance = squares / (BATCHES - 1) as f64;
    let half_width = STUDENT_T * (variance / BATCHES as f64).sqrt() / (bottom / BATCHES as f64);
    let rests = halves.map(|(n, d)| n - ratio * d);
    let squares: f64 = rests.iter().map(|rest| rest.powi(2)).sum();
    let steps: f64 = rests.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    Some(Interval { half_width, correlated: steps < LEAST_RATIO * squares && half_width > ROUNDING * ratio.abs() })
}
