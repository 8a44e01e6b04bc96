//! Counts: distributions over the integers from 0.

use super::{Random, ziggurat};

/// Below this mean, single arrivals or hits are counted, which takes about as many draws. From this
/// mean on, Hörmann's methods are used.
const FEW: f64 = 10.0;

/// Results are exact up to 2⁵³. Beyond, their relative error is 2⁻⁵³, far less than their
/// deviation.
impl Random {
    /// The number of independent events in a time in which `mean` are expected (Poisson
    /// distribution): mean and variance `mean`.
    ///
    /// A mean that is not positive, or is NaN, gives 0; results beyond [`u64::MAX`], as of an
    /// infinite mean, are [`u64::MAX`]. It takes about `mean` draws up to a mean of 10, and two or
    /// three beyond.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let (per_hour, hours) = (40.0, 0.25);
    /// let total: u64 = (0..10_000).map(|_| random.poisson(per_hour * hours)).sum(); // customers in a quarter of an hour
    /// assert!((99_000..101_000).contains(&total));
    /// ```
    ///
    /// Source: Hörmann, "The transformed rejection method for generating Poisson random variables",
    /// Insurance: Math. Econ. 12 (1993), algorithm PTRS; small means by counting exponential gaps.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        // Means from here on give results beyond `u64::MAX`, which lies many standard deviations,
        // of 6·10⁹ each, below.
        const BEYOND: f64 = (1u128 << 65) as f64;
        if mean >= FEW {
            return if mean < BEYOND { poisson_by_rejection(self, mean) as u64 } else { u64::MAX };
        }
        let mut count = 0;
        let mut left = mean - ziggurat::exponential(self);
        while left > 0.0 {
            count += 1;
            left -= ziggurat::exponential(self);
        }
        count
    }

    /// The number of successes in `n` independent trials of probability `p`: mean `n * p`, variance
    /// `n * p * (1 - p)`.
    ///
    /// No trial succeeds for `p <= 0` or NaN, all of them for `p >= 1`, as with
    /// [`bernoulli`](Self::bernoulli). It takes about as many draws as successes or failures are
    /// expected, whichever are fewer. Where both exceed 10, it takes two or three.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let lost = random.binomial(1_000_000, 0.01); // of a million packets
    /// assert!((9_500..10_500).contains(&lost));
    /// ```
    ///
    /// Source: Hörmann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46
    /// (1993), algorithm BTRS; small means by counting how many of `n` exponential times end early
    /// enough.
    pub fn binomial(&mut self, n: u64, p: f64) -> u64 {
        if p > 0.5 {
            n - binomial_up_to_half(self, n, 1.0 - p)
        } else {
            binomial_up_to_half(self, n, p)
        }
    }

    /// The number of failures before the first success, in trials of probability `p`: mean
    /// `(1 - p) / p`, variance `(1 - p) / p²`.
    ///
    /// The success itself is not counted. The result is 0 for `p >= 1`, and [`u64::MAX`] for
    /// `p <= 0` or NaN, where success never comes.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let total: u64 = (0..10_000).map(|_| random.geometric(0.2)).sum(); // times that a frame is sent in vain
    /// assert!((39_000..41_000).contains(&total));
    /// ```
    ///
    /// By inversion, as the quotient of an exponential number and its parameter.
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            0
        } else if p > 0.0 {
            // The integer part, or the largest integer.
            (ziggurat::exponential(self) / -libm::log1p(-p)) as u64
        } else {
            u64::MAX
        }
    }
}

/// Algorithm PTRS, with the names of the paper.
fn poisson_by_rejection(random: &mut Random, mean: f64) -> f64 {
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let v_r = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = random.uniform() - 0.5;
        let v = random.uniform();
        let u_s = 0.5 - u.abs();
        let k = ((2.0 * a / u_s + b) * u + mean + 0.43).floor();
        if u_s >= 0.07 && v <= v_r {
            return k;
        }
        if u_s < 0.013 && v > u_s {
            continue;
        }
        if libm::log(v * inverse_alpha / (a / (u_s * u_s) + b)) <= log_poisson(k, mean) {
            return k;
        }
    }
}

/// For `p` up to 0.5.
fn binomial_up_to_half(random: &mut Random, n: u64, p: f64) -> u64 {
    let mean = n as f64 * p;
    if mean >= FEW {
        return n.min(binomial_by_rejection(random, n as f64, p) as u64);
    }
    // An exponential time ends by `left` with probability p. The first of m ends after a mean of
    // 1/m, then the first of the others.
    let mut count = 0;
    let mut left = -libm::log1p(-p);
    while count < n {
        left -= ziggurat::exponential(random) / (n - count) as f64;
        if left > 0.0 {
            count += 1;
        } else {
            break;
        }
    }
    count
}

/// Algorithm BTRS, with the names of the paper.
fn binomial_by_rejection(random: &mut Random, n: f64, p: f64) -> f64 {
    let mean = n * p;
    let others = n * (1.0 - p);
    let spq = (mean * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * spq;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let c = mean + 0.5;
    let alpha = (2.83 + 5.1 / b) * spq;
    let v_r = 0.92 - 4.2 / b;
    // A binomial number is one of two Poisson numbers with a given sum. Terms that depend on the
    // sum alone cancel.
    let log_density = |k: f64| log_poisson(k, mean) + log_poisson(n - k, others);
    loop {
        let u = random.uniform() - 0.5;
        let v = random.uniform();
        let u_s = 0.5 - u.abs();
        let k = ((2.0 * a / u_s + b) * u + c).floor();
        if u_s >= 0.07 && v <= v_r {
            return k;
        }
        let m = ((n + 1.0) * p).floor();
        if libm::log(v * alpha / (a / (u_s * u_s) + b)) <= log_density(k) - log_density(m) {
            return k;
        }
    }
}

/// The logarithm of the probability of `k` with a Poisson distribution, precise for any mean.
///
/// Source: Loader, "Fast and accurate computation of binomial probabilities" (2000).
fn log_poisson(k: f64, mean: f64) -> f64 {
    if k < 0.0 {
        return f64::NEG_INFINITY;
    }
    if k < 10.0 {
        let factorial: f64 = (2..=k as u32).map(f64::from).product();
        return k * libm::log(mean) - mean - libm::log(factorial);
    }
    let square = k * k;
    let stirling = (1.0 / 12.0
        - (1.0 / 360.0
            - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square)
            / square)
        / k;
    -0.5 * libm::log(std::f64::consts::TAU * k) - stirling - deviance(k, mean)
}

/// `x * ln(x / mean) + mean - x`, without cancellation where `x` is near the mean.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    let v = difference / (x + mean);
    if v.abs() > 0.1 {
        return x * libm::log(x / mean) - difference;
    }
    let square = v * v;
    // The series of the inverse hyperbolic tangent, up to an error of 10⁻¹⁷.
    let series = (1..=8).rev().fold(0.0, |sum, i| (sum + 1.0 / f64::from(2 * i + 1)) * square);
    difference * v + 2.0 * x * v * series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities as products, whose logarithms are precise while the numbers are small.
    #[test]
    fn small_numbers_have_their_probabilities() {
        for mean in [0.5, 10.0, 11.5, 40.0] {
            let mut p = libm::exp(-mean);
            for k in 0..100 {
                let error = log_poisson(f64::from(k), mean) - libm::log(p);
                assert!(error.abs() < 1e-12, "{k} of {mean}: {error}");
                p *= mean / f64::from(k + 1);
            }
        }
        for k in [-1.0, f64::NEG_INFINITY] {
            assert_eq!(log_poisson(k, 10.0), f64::NEG_INFINITY, "there are no negative counts");
        }
    }

    /// `d² / 2m - d³ / 6m² + d⁴ / 12m³`, where what follows is less than 10⁻¹² of it.
    #[test]
    fn deviance_is_precise_near_an_immense_mean() {
        for (mean, difference) in [(1e12, 1e7), (1e15, -1e8), (1e18, 4e9), (1e8, 3e4)] {
            let t = difference / mean;
            let truth = difference * t * (0.5 - t / 6.0 + t * t / 12.0 - t * t * t / 20.0);
            assert!(
                (deviance(mean + difference, mean) / truth - 1.0).abs() < 1e-12,
                "{mean} {difference}"
            );
        }
        for x in [0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 3.0] {
            assert!((deviance(x, 1.0) - (x * libm::log(x) + 1.0 - x)).abs() < 1e-15, "{x}");
        }
    }
}
