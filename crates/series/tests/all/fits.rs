//! Fits find the parameters that numbers were drawn with.

use warpline_base::random::Random;
use warpline_series::{Distribution, Fit, Series};

use crate::random;

const SIZE: usize = 4000;

fn drawn(seed: u64, draw: impl Fn(&mut Random) -> f64) -> Series {
    let mut random = random(seed);
    Series::new("drawn", (0..SIZE).map(|_| draw(&mut random)).collect()).unwrap()
}

fn two(distribution: Distribution) -> [f64; 2] {
    match distribution {
        Distribution::Exponential { mean } => [mean, 0.0],
        Distribution::Lognormal { mu, sigma } => [mu, sigma],
        Distribution::Gamma { shape, scale } | Distribution::Weibull { shape, scale } => {
            [shape, scale]
        }
    }
}

/// The fit of the same kind.
fn same_kind(series: &Series, truth: Distribution) -> Fit {
    let kind = std::mem::discriminant(&truth);
    let fits = Fit::all(series).unwrap();
    fits.into_iter().find(|fit| std::mem::discriminant(&fit.distribution()) == kind).unwrap()
}

/// Estimates are unbiased and have the deviations that Fisher's information says, in 200 samples: the
/// mean of the estimates lies within 4 of its own deviations, and their deviation within a quarter.
fn recovers(truth: Distribution, deviations: [f64; 2]) {
    const SAMPLES: u64 = 200;
    let estimates: Vec<[f64; 2]> = (0..SAMPLES)
        .map(|seed| two(same_kind(&drawn(seed, |random| truth.draw(random)), truth).distribution()))
        .collect();
    for (index, expected) in two(truth).into_iter().enumerate() {
        let deviation = deviations[index] / (SIZE as f64).sqrt();
        let samples = SAMPLES as f64;
        let mean = estimates.iter().map(|found| found[index]).sum::<f64>() / samples;
        let square = |found: &[f64; 2]| (found[index] - mean) * (found[index] - mean);
        let found = (estimates.iter().map(square).sum::<f64>() / (samples - 1.0)).sqrt();
        let off = (mean - expected).abs();
        assert!(off <= 4.0 * deviation / samples.sqrt() + 1e-3 * expected.abs(), "{truth}: {mean}");
        assert!((found - deviation).abs() <= 0.25 * deviation, "{truth}: {found}, not {deviation}");
    }
}

#[test]
fn exponential_numbers_give_their_mean() {
    recovers(Distribution::Exponential { mean: 3.0 }, [3.0, 0.0]);
}

#[test]
fn lognormal_numbers_give_mu_and_sigma() {
    recovers(Distribution::Lognormal { mu: -1.0, sigma: 0.8 }, [0.8, 0.8 / 2f64.sqrt()]);
}

#[test]
fn gamma_numbers_give_shape_and_scale() {
    let (shape, scale) = (2.5, 4.0);
    // Fisher's information: [[ψ'(shape), 1/scale], [1/scale, shape/scale²]].
    let trigamma = 0.490357756100234; // of 2.5: π²/2 - 4 - 4/9
    let determinant = trigamma * shape - 1.0;
    let deviations = [shape / determinant, trigamma * scale * scale / determinant];
    recovers(Distribution::Gamma { shape, scale }, deviations.map(f64::sqrt));
}

#[test]
fn weibull_numbers_give_shape_and_scale() {
    let (shape, scale) = (1.7, 0.02);
    // Cohen (1965): 0.6079 shape² and 1.1087 (scale/shape)² are the variances.
    recovers(
        Distribution::Weibull { shape, scale },
        [0.6079f64.sqrt() * shape, 1.1087f64.sqrt() * scale / shape],
    );
}

#[test]
fn the_best_fit_is_mostly_of_the_kind_that_was_drawn() {
    for truth in [
        Distribution::Lognormal { mu: 0.0, sigma: 1.0 },
        Distribution::Gamma { shape: 4.0, scale: 1.0 },
        Distribution::Weibull { shape: 3.0, scale: 1.0 },
    ] {
        let is_found = |seed: &u64| {
            let best = Fit::best(&drawn(*seed, |random| truth.draw(random))).unwrap();
            std::mem::discriminant(&best.distribution()) == std::mem::discriminant(&truth)
        };
        let found = (0..40).filter(is_found).count();
        assert!(found >= 38, "{truth}: {found} of 40");
    }
}

/// The likeliest parameters: none near them are likelier. By densities that are written out here.
#[test]
fn no_parameters_near_a_fit_are_likelier() {
    let series = drawn(5, |random| random.gamma(0.7, 2.0) + 0.01);
    let log_density = |distribution: &Distribution, x: f64| match *distribution {
        Distribution::Exponential { mean } => -mean.ln() - x / mean,
        Distribution::Lognormal { mu, sigma } => {
            let z = (x.ln() - mu) / sigma;
            -x.ln() - sigma.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln() - 0.5 * z * z
        }
        Distribution::Gamma { shape, scale } => {
            (shape - 1.0) * x.ln()
                - x / scale
                - shape * scale.ln()
                - statrs::function::gamma::ln_gamma(shape)
        }
        Distribution::Weibull { shape, scale } => {
            (shape / scale).ln() + (shape - 1.0) * (x / scale).ln() - (x / scale).powf(shape)
        }
    };
    let likelihood = |distribution: &Distribution| -> f64 {
        series.numbers().iter().map(|&x| log_density(distribution, x)).sum()
    };
    for fit in Fit::all(&series).unwrap() {
        let best = likelihood(&fit.distribution());
        let [one, two] = two(fit.distribution());
        for (by_one, by_two) in [(1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99)] {
            let (one, two) = (one * by_one, two * by_two);
            let near = match fit.distribution() {
                Distribution::Exponential { .. } if by_one == 1.0 => continue,
                Distribution::Exponential { .. } => Distribution::Exponential { mean: one },
                Distribution::Lognormal { .. } => Distribution::Lognormal { mu: one, sigma: two },
                Distribution::Gamma { .. } => Distribution::Gamma { shape: one, scale: two },
                Distribution::Weibull { .. } => Distribution::Weibull { shape: one, scale: two },
            };
            assert!(likelihood(&near) < best, "{near} is likelier than {fit}");
        }
        let parameters =
            if matches!(fit.distribution(), Distribution::Exponential { .. }) { 1.0 } else { 2.0 };
        let expected = 2.0 * parameters - 2.0 * best;
        assert!((fit.information() - expected).abs() < 1e-6 * expected.abs(), "{fit}: {expected}");
    }
}

/// Distances of fits are below the tables of Kolmogorov and Smirnov; for the exponential distribution,
/// Lilliefors (1969) has 1.06 / √n as the 5 % point.
#[test]
fn distances_are_as_lilliefors_says() {
    let truth = Distribution::Exponential { mean: 2.0 };
    let is_far = |seed: &u64| {
        let fit = same_kind(&drawn(*seed, |random| truth.draw(random)), truth);
        fit.distance() > 1.0753 / (SIZE as f64).sqrt() // Durbin (1975), in the limit
    };
    let far = (0..600).filter(is_far).count();
    assert!((14..=48).contains(&far), "{far} of 600");
}

#[test]
fn shares_and_means_are_those_of_what_is_drawn() {
    for truth in [
        Distribution::Exponential { mean: 2.0 },
        Distribution::Lognormal { mu: 0.5, sigma: 0.4 },
        Distribution::Gamma { shape: 0.8, scale: 3.0 },
        Distribution::Weibull { shape: 1.5, scale: 2.0 },
    ] {
        let mut numbers = drawn(11, |random| truth.draw(random)).numbers().to_vec();
        let mean = numbers.iter().sum::<f64>() / SIZE as f64;
        assert!((mean / truth.mean() - 1.0).abs() < 0.06, "{truth}: {mean}");
        numbers.sort_by(f64::total_cmp);
        let far = numbers
            .iter()
            .enumerate()
            .map(|(below, &x)| (truth.share_up_to(x) - below as f64 / SIZE as f64).abs());
        let far = far.fold(0.0, f64::max);
        assert!(far < 1.95 / (SIZE as f64).sqrt(), "{truth}: {far}"); // 0.1 %
        assert_eq!(truth.share_up_to(0.0), 0.0);
    }
}

#[test]
fn extreme_numbers_are_fitted_or_refused() {
    let fits = |numbers: &[f64]| Fit::all(&Series::new("x", numbers.to_vec()).unwrap());
    let why = fits(&[3.0, 3.0, 3.0]).unwrap_err().to_string();
    assert!(why.contains("the same number in each row"), "{why}");
    assert!(fits(&[3.0, -1.0]).unwrap_err().to_string().contains("line 2: found -1"));
    // With a 0, no density but the exponential one is finite.
    assert_eq!(fits(&[0.0, 1.0, 2.0]).unwrap().len(), 1);
    for numbers in [
        [1e-300, 2e-300, 5e-300],
        [1e300, 1.5e308, 1.7e308],
        [1e-300, 1.0, 1e300],
        [1.0, 1.0, 1.0 + 1e-12],
        [5e-324, 1.0, 2.0],
    ] {
        for fit in fits(&numbers).unwrap() {
            let said = fit.to_string();
            assert!(!said.contains("NaN") && !said.contains("inf"), "{numbers:?}: {said}");
            assert!((0.0..=1.0).contains(&fit.distance()), "{numbers:?}: {said}");
        }
    }
}
