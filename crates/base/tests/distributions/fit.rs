//! Statistical tests on fixed seeds: the result never varies. A correct distribution would fail for
//! about one seed in 10⁵.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use warpline_base::LpId;
use warpline_base::random::Random;

/// The size of every sample.
pub(crate) const DRAWS: usize = 200_000;

/// The probability with which a test of a correct distribution fails.
const SIGNIFICANCE: f64 = 1e-5;

pub(crate) fn sample<T>(stream: u8, mut draw: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let mut random = Random::new(20_261_122, LpId(9), stream);
    (0..DRAWS).map(|_| draw(&mut random)).collect()
}

/// Asserts that mean and variance of the sample lie within 4.5 standard errors of the truth.
pub(crate) fn has_moments(what: &str, sample: &[f64], mean: f64, variance: f64) {
    let average = |term: &dyn Fn(f64) -> f64| {
        sample.iter().map(|&x| term(x)).sum::<f64>() / sample.len() as f64
    };
    let found = average(&|x| x - mean);
    let error = (variance / sample.len() as f64).sqrt();
    assert!(
        found.abs() <= 4.5 * error,
        "{what}: the mean is off by {} standard errors",
        found / error
    );
    let found = average(&|x| (x - mean).powi(2) - variance);
    let error =
        (average(&|x| ((x - mean).powi(2) - variance).powi(2)) / sample.len() as f64).sqrt();
    assert!(
        found.abs() <= 4.5 * error,
        "{what}: the variance is off by {} standard errors",
        found / error
    );
}

/// Probabilities between which tests count, closer to each other in the tails.
pub(crate) fn edges() -> impl Iterator<Item = f64> {
    let tail = [0.0002, 0.0005, 0.001, 0.002, 0.004, 0.007];
    let middle = (1..100).map(|percent| f64::from(percent) / 100.0);
    tail.into_iter().chain(middle).chain(tail.into_iter().rev().map(|p| 1.0 - p))
}

/// Asserts that `counts` follow the probabilities, which sum to 1, by a chi-square test.
pub(crate) fn follows_probabilities(what: &str, counts: &[usize], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len(), "{what}");
    let all = counts.iter().sum::<usize>() as f64;
    let least = probabilities.iter().fold(f64::INFINITY, |least, &p| least.min(p * all));
    assert!(
        least >= 5.0,
        "{what}: a chi-square test needs more than {least} expected draws in a cell"
    );
    let chi: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&n, p)| (n as f64 - p * all).powi(2) / (p * all))
        .sum();
    let freedom = (counts.len() - 1) as f64;
    let chance = 1.0 - ChiSquared::new(freedom).unwrap().cdf(chi);
    assert!(
        chance >= SIGNIFICANCE,
        "{what}: chi-square {chi} of {freedom} degrees of freedom, whose chance is {chance}"
    );
}

/// Asserts that the sample follows a continuous `cdf`, by a Kolmogorov-Smirnov and a chi-square
/// test.
pub(crate) fn follows(what: &str, sample: &[f64], cdf: impl Fn(f64) -> f64) {
    let mut levels: Vec<f64> = sample.iter().map(|&x| cdf(x)).collect();
    levels.sort_by(f64::total_cmp);
    let all = levels.len() as f64;
    let distance = levels
        .iter()
        .enumerate()
        .map(|(i, level)| (level - (i as f64 + 0.5) / all).abs())
        .fold(0.0, f64::max);
    // The distance that is exceeded with this probability, by the limit of Kolmogorov's
    // distribution.
    let limit = (-0.5 * (SIGNIFICANCE / 2.0).ln()).sqrt() / all.sqrt();
    assert!(
        distance < limit,
        "{what}: Kolmogorov-Smirnov distance {distance}, at most {limit} allowed"
    );

    let edges: Vec<f64> = edges().chain([1.0]).collect();
    let mut counts = vec![0; edges.len()];
    levels.iter().for_each(|&level| counts[edges.partition_point(|&edge| edge < level)] += 1);
    let widths: Vec<f64> = edges
        .iter()
        .scan(0.0, |below, &edge| Some(edge - std::mem::replace(below, edge)))
        .collect();
    follows_probabilities(what, &counts, &widths);
}

/// The probabilities of integers in a row, the first of which is `first`.
pub(crate) struct Integers {
    pub(crate) first: u64,
    pub(crate) probabilities: Vec<f64>,
}

impl Integers {
    /// From the ratio of the probabilities of k + 1 and k, starting at an integer that is likely.
    pub(crate) fn from_ratio(likely: u64, ratio: impl Fn(u64) -> f64) -> Self {
        const NEGLIGIBLE: f64 = 1e-20;
        let mut down = Vec::new();
        let mut p = 1.0;
        let mut first = likely;
        while first > 0 && p > NEGLIGIBLE {
            first -= 1;
            p /= ratio(first);
            down.push(p);
        }
        let mut probabilities: Vec<f64> = down.into_iter().rev().chain([1.0]).collect();
        let mut p = 1.0;
        let mut k = likely;
        while p > NEGLIGIBLE {
            p *= ratio(k);
            k += 1;
            probabilities.push(p);
        }
        let sum: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|p| *p /= sum);
        Integers { first, probabilities }
    }

    /// Asserts by a chi-square test that the sample follows these probabilities. A cell is one
    /// integer or several unlikely ones.
    pub(crate) fn are_followed_by(&self, what: &str, sample: &[u64]) {
        let mut targets = edges().peekable();
        let mut ends = Vec::new();
        let mut cells = Vec::new();
        let mut below = 0.0;
        let mut cell = 0.0;
        for (k, p) in (self.first..).zip(&self.probabilities) {
            cell += p;
            below += p;
            if targets.peek().is_some_and(|&target| below >= target) && cell * DRAWS as f64 >= 20.0
            {
                while targets.next_if(|&target| below >= target).is_some() {}
                ends.push(k);
                cells.push(cell);
                cell = 0.0;
            }
        }
        // The tail joins the last cell if it is too small for one of its own.
        if cell * (DRAWS as f64) < 20.0 {
            ends.pop();
            cell += cells.pop().unwrap_or(0.0);
        }
        cells.push(cell);
        let mut counts = vec![0; cells.len()];
        sample.iter().for_each(|k| counts[ends.partition_point(|end| end < k)] += 1);
        if cells.len() > 1 {
            follows_probabilities(what, &counts, &cells);
        }
        let last = self.first + self.probabilities.len() as u64;
        assert!(
            sample.iter().all(|k| (self.first..last).contains(k)),
            "{what}: a number that never occurs"
        );
    }
}
