use statrs::distribution::{ContinuousCDF, Normal};

use crate::fit::{Integers, follows, has_moments, sample};

fn as_numbers(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&k| k as f64).collect()
}

/// Means on both sides of 10, where the method changes, and up to ten thousand million.
#[test]
fn poisson_is_poisson() {
    for (stream, mean) in
        (80..).zip([0.001, 0.5, 3.0, 9.999, 10.0, 10.5, 12.0, 18.0, 40.0, 1e3, 1e6, 1e10])
    {
        let what = format!("poisson({mean})");
        let drawn = sample(stream, |random| random.poisson(mean));
        has_moments(&what, &as_numbers(&drawn), mean, mean);
        Integers::from_ratio(mean as u64, |k| mean / (k as f64 + 1.0))
            .are_followed_by(&what, &drawn);
    }
}

/// At such means, a Poisson number is normal but for one in 10⁷.
#[test]
fn poisson_of_an_immense_mean_is_normal() {
    for (stream, mean) in (100..).zip([1e14, 1e16, 1e18]) {
        let what = format!("poisson({mean})");
        let drawn = sample(stream, |random| random.poisson(mean));
        let standard: Vec<f64> =
            drawn.iter().map(|&k| (k as i128 - mean as i128) as f64 / mean.sqrt()).collect();
        has_moments(&what, &standard, 0.0, 1.0);
        let normal = Normal::new(0.0, 1.0).unwrap();
        follows(&what, &standard, |x| normal.cdf(x));
    }
}

/// On both sides of a mean of 10 and of a probability of 0.5, where the methods change, and with as
/// many trials as there can be.
#[test]
fn binomial_is_binomial() {
    let few = [
        (1, 0.5),
        (10, 0.3),
        (19, 0.5),
        (20, 0.5),
        (20, 0.501),
        (25, 0.4),
        (12, 0.9),
        (40, 0.7),
        (100, 0.9),
    ];
    let many = [
        (1000, 0.0099),
        (1000, 0.0101),
        (1000, 0.45),
        (1_000_000, 0.5),
        (10_000_000_000, 0.7),
        (u64::MAX, 2e-19),
        (u64::MAX, 1e-18),
    ];
    for (stream, (n, p)) in (110..).zip(few.into_iter().chain(many)) {
        let what = format!("binomial({n}, {p})");
        let drawn = sample(stream, |random| random.binomial(n, p));
        let mean = n as f64 * p;
        has_moments(&what, &as_numbers(&drawn), mean, mean * (1.0 - p));
        Integers::from_ratio(mean as u64, |k| (n - k) as f64 / (k as f64 + 1.0) * (p / (1.0 - p)))
            .are_followed_by(&what, &drawn);
    }
}

/// Success is almost certain, so the failures are counted.
#[test]
fn binomial_failures_may_be_rare() {
    let n = 100_000_000_000_000_000;
    let q = f64::EPSILON / 2.0;
    let drawn = sample(130, |random| n - random.binomial(n, 1.0 - q));
    let mean = n as f64 * q;
    has_moments("binomial", &as_numbers(&drawn), mean, mean);
    Integers::from_ratio(mean as u64, |k| mean / (k as f64 + 1.0))
        .are_followed_by("binomial", &drawn);
}

#[test]
fn binomial_of_immensely_many_trials_is_normal() {
    for (stream, (n, p)) in (140..).zip([(1 << 60, 0.5), (u64::MAX, 0.25), (u64::MAX, 0.875)]) {
        let what = format!("binomial({n}, {p})");
        let drawn = sample(stream, |random| random.binomial(n, p));
        let (mean, deviation) = ((n as f64 * p) as i128, (n as f64 * p * (1.0 - p)).sqrt());
        let standard: Vec<f64> =
            drawn.iter().map(|&k| (i128::from(k) - mean) as f64 / deviation).collect();
        has_moments(&what, &standard, 0.0, 1.0);
        let normal = Normal::new(0.0, 1.0).unwrap();
        follows(&what, &standard, |x| normal.cdf(x));
    }
}

#[test]
fn geometric_counts_failures() {
    for (stream, p) in (150..).zip([0.999, 0.7, 0.5, 0.2, 0.01, 1e-4]) {
        let what = format!("geometric({p})");
        let drawn = sample(stream, |random| random.geometric(p));
        has_moments(&what, &as_numbers(&drawn), (1.0 - p) / p, (1.0 - p) / (p * p));
        Integers::from_ratio(0, |_| 1.0 - p).are_followed_by(&what, &drawn);
    }
    // Where success is rare, the number of failures is exponential.
    let drawn = sample(160, |random| random.geometric(1e-12) as f64);
    follows("geometric(1e-12)", &drawn, |k| -(-k * 1e-12).exp_m1());
}
