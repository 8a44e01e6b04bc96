//! Distributions fitted to what was measured, by maximum likelihood.

use std::f64::consts::{PI, SQRT_2};
use std::fmt;

use warpline_base::random::Random;
use warpline_base::significant;

use crate::error::SeriesError;
use crate::gamma::{digamma, trigamma};
use crate::series::Series;

/// The greatest shape of a gamma distribution. Numbers that vary less are constants with noise.
const MOST_SHAPE: f64 = 1e6;

/// The most steps of Newton's method. It takes about five.
const MOST_STEPS: usize = 100;

/// A relative change that is no progress.
const CLOSE: f64 = 1e-14;

/// A distribution of positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Exponential.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Lognormal: the logarithm is normal.
    Lognormal {
        /// The mean of the logarithm.
        mu: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
    /// Gamma.
    Gamma {
        /// The shape, a pure number.
        shape: f64,
        /// The scale; the mean is shape times scale.
        scale: f64,
    },
    /// Weibull.
    Weibull {
        /// The shape, a pure number.
        shape: f64,
        /// The scale, below which 63 % of all numbers lie.
        scale: f64,
    },
}

impl Distribution {
    /// Draws a number.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Distribution::Exponential { mean } => random.exponential(mean),
            Distribution::Lognormal { mu, sigma } => random.lognormal(mu, sigma),
            Distribution::Gamma { shape, scale } => random.gamma(shape, scale),
            Distribution::Weibull { shape, scale } => random.weibull(shape, scale),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Distribution::Exponential { mean } => mean,
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + 0.5 * sigma * sigma),
            Distribution::Gamma { shape, scale } => shape * scale,
            Distribution::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
        }
    }

    /// The share of all numbers up to `x`.
    pub fn share_up_to(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        match *self {
            Distribution::Exponential { mean } => -libm::expm1(-x / mean),
            Distribution::Lognormal { mu, sigma } => {
                0.5 * libm::erfc((mu - libm::log(x)) / (sigma * SQRT_2))
            }
            Distribution::Gamma { shape, scale } => gamma_share(shape, x / scale),
            Distribution::Weibull { shape, scale } => -libm::expm1(-libm::pow(x / scale, shape)),
        }
    }

    /// The logarithm of the density of all numbers together, where these parameters are the likeliest
    /// for them: then sums that both have in common cancel.
    fn log_likelihood(&self, about: &Sums) -> f64 {
        let mean_log = about.mean_log;
        about.count
            * match *self {
                Distribution::Exponential { mean } => -libm::log(mean) - 1.0,
                Distribution::Lognormal { mu, sigma } => {
                    -mu - libm::log(sigma) - 0.5 * libm::log(2.0 * PI) - 0.5
                }
                Distribution::Gamma { shape, scale } => {
                    (shape - 1.0) * mean_log
                        - shape
                        - shape * libm::log(scale)
                        - libm::lgamma(shape)
                }
                Distribution::Weibull { shape, scale } => {
                    libm::log(shape) - shape * libm::log(scale) + (shape - 1.0) * mean_log - 1.0
                }
            }
    }

    fn parameters(&self) -> f64 {
        if matches!(self, Distribution::Exponential { .. }) { 1.0 } else { 2.0 }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |number| significant(number, 5);
        match *self {
            Distribution::Exponential { mean } => write!(f, "exponential (mean {})", show(mean)),
            Distribution::Lognormal { mu, sigma } => {
                write!(f, "lognormal (mu {}, sigma {})", show(mu), show(sigma))
            }
            Distribution::Gamma { shape, scale } => {
                write!(f, "gamma (shape {}, scale {})", show(shape), show(scale))
            }
            Distribution::Weibull { shape, scale } => {
                write!(f, "Weibull (shape {}, scale {})", show(shape), show(scale))
            }
        }
    }
}

/// A distribution fitted to a series by maximum likelihood, and how well it fits.
///
/// ```
/// use warpline_base::{LpId, random::Random};
/// use warpline_series::{Distribution, Fit, Series};
/// let mut random = Random::new(1, LpId(0), 0);
/// let drawn = (0..10_000).map(|_| random.gamma(4.0, 0.5)).collect();
/// let best = Fit::best(&Series::new("services", drawn)?)?;
/// assert!(matches!(best.distribution(), Distribution::Gamma { .. }));
/// assert!(best.to_string().starts_with("gamma (shape "), "{best}");
/// # Ok::<(), warpline_series::SeriesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    distribution: Distribution,
    distance: f64,
    information: f64,
}

impl Fit {
    /// The exponential, lognormal, gamma and Weibull distribution with the likeliest parameters,
    /// best first: by Akaike's information criterion. With a 0 among the numbers, only the
    /// exponential one can be fitted.
    ///
    /// # Errors
    /// For the first number that is negative, if the unit is no unit of time, and if there are fewer
    /// than two different numbers.
    pub fn all(series: &Series) -> Result<Vec<Self>, SeriesError> {
        let mut sorted = series.as_durations()?.numbers().to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (least, greatest) = (sorted[0], sorted[sorted.len() - 1]);
        if least == greatest {
            let problem =
                "has the same number in each row; expected several to fit distributions to";
            return Err(series.error(None, problem));
        }
        let about = Sums::of(series.numbers());
        let mut fitted = vec![Distribution::Exponential { mean: about.mean }];
        if least > 0.0 {
            let logs: Vec<f64> = series.numbers().iter().map(|&number| libm::log(number)).collect();
            fitted.push(lognormal(&logs, &about));
            fitted.extend(gamma(&about));
            fitted.extend(weibull(&logs, &about, libm::log(greatest)));
        }
        let mut fits: Vec<Fit> =
            fitted.into_iter().map(|fit| Fit::judged(fit, &sorted, &about)).collect();
        fits.sort_by(|a, b| a.information.total_cmp(&b.information));
        Ok(fits)
    }

    /// The best of [all](Self::all).
    ///
    /// # Errors
    /// Like [`all`](Self::all).
    pub fn best(series: &Series) -> Result<Self, SeriesError> {
        // The exponential distribution is always among them.
        Ok(Fit::all(series)?[0])
    }

    fn judged(distribution: Distribution, sorted: &[f64], about: &Sums) -> Self {
        let distance = distance(sorted, |x| distribution.share_up_to(x));
        let information =
            2.0 * distribution.parameters() - 2.0 * distribution.log_likelihood(about);
        Fit { distribution, distance, information }
    }

    /// The distribution, with its parameters.
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// The Kolmogorov-Smirnov distance: the greatest difference between the share of numbers up to
    /// some number that was measured, and that of the distribution.
    ///
    /// Tables of the Kolmogorov-Smirnov test do not apply, as the parameters were fitted to the same
    /// numbers: distances are less than these tables say.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// Akaike's information criterion: less is better, among fits to the same series.
    pub fn information(&self) -> f64 {
        self.information
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (distance, information) =
            (significant(self.distance, 3), significant(self.information, 6));
        write!(
            f,
            "{}: Kolmogorov-Smirnov distance {distance}, AIC {information}",
            self.distribution
        )
    }
}

/// What fits know of the numbers.
struct Sums {
    count: f64,
    mean: f64,
    mean_log: f64,
}

impl Sums {
    fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        // Divided first, as the sum may be too large a number.
        let mean = numbers.iter().map(|number| number / count).sum();
        let mean_log = numbers.iter().map(|&number| libm::log(number)).sum::<f64>() / count;
        Sums { count, mean, mean_log }
    }
}

fn lognormal(logs: &[f64], about: &Sums) -> Distribution {
    let mu = about.mean_log;
    let variance = logs.iter().map(|log| (log - mu) * (log - mu)).sum::<f64>() / about.count;
    Distribution::Lognormal { mu, sigma: variance.sqrt() }
}

/// By the generalised method of Newton in Minka, Estimating a Gamma distribution (2002).
fn gamma(about: &Sums) -> Option<Distribution> {
    let spread = libm::log(about.mean) - about.mean_log;
    if spread.is_nan() || spread < 0.5 / MOST_SHAPE {
        return None;
    }
    let mut shape = (3.0 - spread + libm::sqrt((spread - 3.0) * (spread - 3.0) + 24.0 * spread))
        / (12.0 * spread);
    for _ in 0..MOST_STEPS {
        let slope = shape * shape * (1.0 / shape - trigamma(shape));
        let next = 1.0 / (1.0 / shape + (libm::log(shape) - digamma(shape) - spread) / slope);
        let is_close = (next - shape).abs() <= CLOSE * shape;
        shape = next;
        if is_close {
            break;
        }
    }
    let scale = about.mean / shape;
    let is_sound = shape > 0.0 && shape <= MOST_SHAPE && scale > 0.0 && scale.is_finite();
    is_sound.then_some(Distribution::Gamma { shape, scale })
}

/// The shape is where a function is 0 that only rises: by Newton's method, within bounds that close
/// in. Numbers are divided by the greatest, so that no power is too large.
fn weibull(logs: &[f64], about: &Sums, greatest: f64) -> Option<Distribution> {
    let mean_log = about.mean_log - greatest;
    // The function, its slope, and the mean of the powers.
    let at = |shape: f64| {
        let (mut powers, mut first, mut second) = (0.0, 0.0, 0.0);
        for log in logs {
            let log = log - greatest;
            let power = libm::exp(shape * log);
            powers += power;
            first += power * log;
            second += power * log * log;
        }
        let (first, second) = (first / powers, second / powers);
        let value = first - 1.0 / shape - mean_log;
        (value, second - first * first + 1.0 / (shape * shape), powers / about.count)
    };
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut shape = 1.0;
    for _ in 0..MOST_STEPS {
        let (value, slope, _) = at(shape);
        if value > 0.0 {
            high = shape
        } else {
            low = shape
        }
        let newton = shape - value / slope;
        let middle = if high < f64::INFINITY { 0.5 * (low + high) } else { 2.0 * shape };
        let next = if newton > low && newton < high { newton } else { middle };
        let is_close = (next - shape).abs() <= CLOSE * shape;
        shape = next;
        if is_close {
            break;
        }
    }
    let scale = libm::exp(greatest + libm::log(at(shape).2) / shape);
    let is_sound = shape > 0.0 && shape < MOST_SHAPE && scale > 0.0 && scale.is_finite();
    is_sound.then_some(Distribution::Weibull { shape, scale })
}

/// The regularised incomplete gamma function, which `statrs` has between 0 and infinity.
fn gamma_share(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x.is_infinite() {
        1.0
    } else {
        statrs::function::gamma::gamma_lr(shape, x)
    }
}

/// The Kolmogorov-Smirnov distance between sorted numbers and a distribution function.
fn distance(sorted: &[f64], share_up_to: impl Fn(f64) -> f64) -> f64 {
    let count = sorted.len() as f64;
    let apart = |(below, &x): (usize, &f64)| {
        let share = share_up_to(x);
        (share - below as f64 / count).max((below + 1) as f64 / count - share)
    };
    sorted.iter().enumerate().map(apart).fold(0.0, f64::max)
}
