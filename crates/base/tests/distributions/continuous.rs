use statrs::distribution::{self as truth, ContinuousCDF};
use statrs::function::gamma::gamma;

use crate::fit::{follows, has_moments, sample};

/// Shapes on both sides of 1, where the method changes, and far from it.
#[test]
fn gamma_is_gamma() {
    for (stream, (shape, scale)) in (0..).zip([
        (0.05, 1.0),
        (0.5, 3.0),
        (0.999, 1.0),
        (1.0, 0.25),
        (1.001, 7.0),
        (2.0, 1.0),
        (3.7, 10.0),
        (60.0, 0.1),
        (1e4, 2.0),
    ]) {
        let what = format!("gamma({shape}, {scale})");
        let drawn = sample(stream, |random| random.gamma(shape, scale));
        has_moments(&what, &drawn, shape * scale, shape * scale * scale);
        let truth = truth::Gamma::new(shape, 1.0 / scale).unwrap();
        // The library takes numbers near 0 to be 0; of its series, the first term is enough for
        // them.
        let near_zero = |x: f64| (x / scale).powf(shape) / gamma(1.0 + shape);
        follows(&what, &drawn, |x| if x < 1e-12 { near_zero(x) } else { truth.cdf(x) });
    }
}

/// Where rounding could disturb the rejection. At a shape this large, a gamma number is normal but
/// for 2 in 10⁸.
#[test]
fn gamma_of_an_immense_shape_is_normal() {
    for (stream, shape) in [(10, 1e16), (11, 1e22)] {
        let drawn = sample(stream, |random| (random.gamma(shape, 1.0) - shape) / shape.sqrt());
        has_moments("gamma", &drawn, 0.0, 1.0);
        let normal = truth::Normal::new(0.0, 1.0).unwrap();
        follows("gamma", &drawn, |x| normal.cdf(x));
    }
}

#[test]
fn erlang_is_a_sum_of_exponentials() {
    for (stream, (stages, mean)) in (20..).zip([(1, 4.0), (2, 0.5), (3, 1.0), (40, 100.0)]) {
        let what = format!("erlang({stages}, {mean})");
        let drawn = sample(stream, |random| random.erlang(stages, mean));
        has_moments(&what, &drawn, mean, mean * mean / f64::from(stages));
        let truth = truth::Erlang::new(u64::from(stages), f64::from(stages) / mean).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}

#[test]
fn weibull_is_weibull() {
    for (stream, (shape, scale)) in
        (30..).zip([(0.5, 2.0), (1.0, 1.0), (1.5, 30.0), (3.6, 1e-3), (20.0, 5.0)])
    {
        let what = format!("weibull({shape}, {scale})");
        let drawn = sample(stream, |random| random.weibull(shape, scale));
        let mean = gamma(1.0 + 1.0 / shape);
        has_moments(
            &what,
            &drawn,
            scale * mean,
            scale * scale * (gamma(1.0 + 2.0 / shape) - mean * mean),
        );
        let truth = truth::Weibull::new(shape, scale).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}

#[test]
fn lognormal_has_a_normal_logarithm() {
    for (stream, (mu, sigma)) in (40..).zip([(0.0, 0.25), (-3.0, 0.5), (10.0, 0.1), (1.0, 3.0)]) {
        let what = format!("lognormal({mu}, {sigma})");
        let drawn = sample(stream, |random| random.lognormal(mu, sigma));
        let logarithms: Vec<f64> = drawn.iter().map(|x| x.ln()).collect();
        has_moments(&what, &logarithms, mu, sigma * sigma);
        // With a larger sigma, the variance of the sample is that of its few largest numbers.
        if sigma <= 0.5 {
            let square = sigma * sigma;
            let double = 2.0 * mu + sigma * sigma;
            has_moments(
                &what,
                &drawn,
                (mu + square / 2.0).exp(),
                (square.exp() - 1.0) * double.exp(),
            );
        }
        let truth = truth::LogNormal::new(mu, sigma).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}

#[test]
fn lognormal_with_mean_has_that_mean_and_deviation() {
    for (stream, (mean, deviation)) in
        (50..).zip([(1.0, 0.5), (12.0, 6.0), (1e6, 1e3), (1e-3, 4e-4)])
    {
        let what = format!("lognormal_with_mean({mean}, {deviation})");
        let drawn = sample(stream, |random| random.lognormal_with_mean(mean, deviation));
        has_moments(&what, &drawn, mean, deviation * deviation);
        let square = (1.0 + (deviation / mean).powi(2)).ln();
        let truth = truth::LogNormal::new(mean.ln() - square / 2.0, square.sqrt()).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}

#[test]
fn triangular_is_triangular() {
    let settings = [
        (0.0, 0.5, 1.0),
        (2.0, 3.0, 10.0),
        (-7.0, 4.0, 5.0),
        (1.0, 1.0, 4.0),
        (1.0, 4.0, 4.0),
        (1e9, 1e9 + 1.0, 1e9 + 3.0),
    ];
    for (stream, (low, mode, high)) in (60..).zip(settings) {
        let what = format!("triangular({low}, {mode}, {high})");
        let drawn = sample(stream, |random| random.triangular(low, mode, high));
        assert!(drawn.iter().all(|x| (low..=high).contains(x)), "{what}");
        let variance =
            ((mode - low).powi(2) + (high - low).powi(2) - (mode - low) * (high - low)) / 18.0;
        has_moments(&what, &drawn, (low + mode + high) / 3.0, variance);
        let truth = truth::Triangular::new(low, high, mode).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}

#[test]
fn pareto_is_pareto() {
    for (stream, (shape, scale)) in
        (70..).zip([(0.8, 1.0), (1.2, 4.0), (2.5, 0.1), (6.0, 1.0), (30.0, 1e3)])
    {
        let what = format!("pareto({shape}, {scale})");
        let drawn = sample(stream, |random| random.pareto(shape, scale));
        let logarithms: Vec<f64> = drawn.iter().map(|x| (x / scale).ln()).collect();
        has_moments(&what, &logarithms, 1.0 / shape, 1.0 / (shape * shape));
        // With a lower shape, the number has no fourth moment and its variance no standard error.
        if shape > 4.0 {
            let variance = scale * scale * shape / ((shape - 1.0).powi(2) * (shape - 2.0));
            has_moments(&what, &drawn, shape * scale / (shape - 1.0), variance);
        }
        let truth = truth::Pareto::new(scale, shape).unwrap();
        follows(&what, &drawn, |x| truth.cdf(x));
    }
}
