//! Times, sizes and loads: continuous distributions.

use super::{Random, ziggurat};

impl Random {
    /// An exponentially distributed number of the given mean, such as the time between independent
    /// arrivals.
    ///
    /// The mean is in any unit, and is not a rate. It is not checked: a negative or NaN mean gives
    /// meaningless numbers.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let total: f64 = (0..10_000).map(|_| random.exponential(2.0)).sum();
    /// assert!((total / 10_000.0 - 2.0).abs() < 0.06);
    /// ```
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        mean * ziggurat::exponential(self)
    }

    /// A normally distributed number of the given mean and standard deviation, neither of which is
    /// checked.
    ///
    /// It can be negative, which no delay may be:
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let delay = random.normal(5.0, 2.0).max(0.0);
    /// assert!(delay >= 0.0);
    /// let total: f64 = (0..10_000).map(|_| random.normal(5.0, 2.0)).sum();
    /// assert!((total / 10_000.0 - 5.0).abs() < 0.06);
    /// ```
    #[inline]
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        mean + deviation * ziggurat::normal(self)
    }
}

/// Invalid shapes and corners give NaN. A delay or an observation that is NaN is an error that
/// names its event, so the mistake is found where it was made.
impl Random {
    /// A gamma distributed number: mean `shape * scale`, variance `shape * scale²`.
    ///
    /// The scale is in the unit of the result; the shape is a pure number, 1 for the exponential
    /// distribution, less for a more uneven one, more for a more even one. A shape that is not
    /// positive and finite gives NaN; the scale is not checked. With a shape below 0.01 or so, some
    /// numbers are too small for an `f64`, and are 0.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// // From the mean and the deviation of measured repair times, in hours:
    /// let (mean, deviation) = (3.0, 1.5);
    /// let variance = deviation * deviation;
    /// let (shape, scale) = (mean * mean / variance, variance / mean);
    /// let total: f64 = (0..10_000).map(|_| random.gamma(shape, scale)).sum();
    /// assert!((total / 10_000.0 - 3.0).abs() < 0.06);
    /// ```
    ///
    /// Source: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM Trans. Math.
    /// Software 26 (2000).
    pub fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        if !(shape > 0.0 && shape < f64::INFINITY) {
            return f64::NAN;
        }
        if shape < 1.0 {
            // Section 6 of the paper. The power of a uniform number is computed as the exponential
            // of an exponential number.
            let share = libm::exp(-ziggurat::exponential(self) / shape);
            return scale * (share * standard_gamma(self, shape + 1.0));
        }
        scale * standard_gamma(self, shape)
    }

    /// The sum of `stages` independent exponential numbers of equal mean: mean `mean`, variance
    /// `mean² / stages`.
    ///
    /// The mean is that of the sum, in any unit. (Arena's `ERLA` takes the mean of one stage.) It
    /// is not checked. With 0 stages the result is NaN. A draw takes the same time for any number
    /// of stages.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// // Calls of 3 minutes on average: hardly ever as short as exponential ones often are.
    /// let short = (0..10_000).filter(|_| random.erlang(4, 3.0) < 0.5).count();
    /// let exponential = (0..10_000).filter(|_| random.exponential(3.0) < 0.5).count();
    /// assert!(short < 100 && exponential > 1400);
    /// ```
    pub fn erlang(&mut self, stages: u32, mean: f64) -> f64 {
        let stages = f64::from(stages);
        self.gamma(stages, mean / stages)
    }

    /// A Weibull distributed number: mean `scale * Γ(1 + 1/shape)`, variance `scale² * (Γ(1 +
    /// 2/shape) - Γ(1 + 1/shape)²)`.
    ///
    /// The scale is in the unit of the result: 63.2 % (1 - 1/e) of all numbers lie below it. The
    /// shape is a pure number. For a time to failure, the failure rate falls with age if the shape
    /// is below 1, and rises if it is above 1. A shape that is not positive gives NaN; the scale is
    /// not checked.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// // Bearings that wear out, after 10 000 hours on average: Γ(1 + 1/2) = √π / 2.
    /// let scale = 10_000.0 / (0.5 * std::f64::consts::PI.sqrt());
    /// let total: f64 = (0..10_000).map(|_| random.weibull(2.0, scale)).sum();
    /// assert!((total / 10_000.0 - 10_000.0).abs() < 200.0);
    /// ```
    ///
    /// By inversion, as the power of an exponential number.
    pub fn weibull(&mut self, shape: f64, scale: f64) -> f64 {
        if shape > 0.0 {
            scale * libm::pow(ziggurat::exponential(self), 1.0 / shape)
        } else {
            f64::NAN
        }
    }

    /// A number whose natural logarithm is normally distributed with mean `mu` and standard
    /// deviation `sigma`: mean `exp(mu + sigma² / 2)`, variance `(exp(sigma²) - 1) * exp(2 * mu +
    /// sigma²)`, median `exp(mu)`.
    ///
    /// These are the parameters of Python's `lognormvariate`, of NumPy, R, OMNeT++, ns-3 and
    /// AnyLogic. They belong to the logarithm and have no unit;
    /// [`lognormal_with_mean`](Self::lognormal_with_mean) takes mean and deviation of the number
    /// itself. Neither is checked.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let mu = 3.0; // half of all files are smaller than exp(3) = 20.1 kB
    /// let small = (0..10_000).filter(|_| random.lognormal(mu, 1.2) < 20.0855).count();
    /// assert!((4800..5200).contains(&small));
    /// ```
    pub fn lognormal(&mut self, mu: f64, sigma: f64) -> f64 {
        libm::exp(self.normal(mu, sigma))
    }

    /// A [lognormal](Self::lognormal) number that itself has the given mean and standard deviation,
    /// both in its own unit.
    ///
    /// These are the parameters of Arena's `LOGN`. The logarithm has variance `sigma² = ln(1 +
    /// deviation² / mean²)` and mean `ln(mean) - sigma² / 2`; this method computes them identically
    /// on every platform, which `f64::ln` does not. The mean must be positive, and the deviation at
    /// most 10¹⁵⁰ times the mean. Neither is checked.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let minutes: Vec<f64> = (0..10_000).map(|_| random.lognormal_with_mean(12.0, 6.0)).collect(); // to treat a patient
    /// assert!((minutes.iter().sum::<f64>() / 10_000.0 - 12.0).abs() < 0.24);
    /// assert!(minutes.iter().all(|&time| time > 0.0));
    /// ```
    pub fn lognormal_with_mean(&mut self, mean: f64, deviation: f64) -> f64 {
        let ratio = deviation / mean;
        let square = ratio * ratio;
        let median = mean / (1.0 + square).sqrt();
        median * libm::exp(libm::log1p(square).sqrt() * ziggurat::normal(self))
    }

    /// A number between `low` and `high` whose density rises in a straight line up to `mode` and
    /// falls in a straight line after it: mean `(low + mode + high) / 3`, variance `(low² + mode² +
    /// high² - low * mode - low * high - mode * high) / 18`.
    ///
    /// Use it where only the least, the most likely and the greatest value are known, all in one
    /// unit. Values that are not in this order, or not finite, give NaN. If all three are equal,
    /// the result is that value.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let days: Vec<f64> = (0..10_000).map(|_| random.triangular(2.0, 3.0, 10.0)).collect(); // "3 as a rule, 2 at best, 10 at worst"
    /// assert!((days.iter().sum::<f64>() / 10_000.0 - 5.0).abs() < 0.08);
    /// assert!(days.iter().all(|days| (2.0..=10.0).contains(days)));
    /// ```
    ///
    /// By inversion.
    pub fn triangular(&mut self, low: f64, mode: f64, high: f64) -> f64 {
        let range = high - low;
        if !(low <= mode && mode <= high && range < f64::INFINITY) {
            return f64::NAN;
        }
        if range == 0.0 {
            return mode;
        }
        let u = self.uniform();
        let peak = (mode - low) / range;
        let x = if u < peak {
            low + range * (u * peak).sqrt()
        } else {
            high - range * ((1.0 - u) * (1.0 - peak)).sqrt()
        };
        x.clamp(low, high)
    }

    /// A Pareto distributed number, which exceeds `x` with probability `(scale / x)^shape` for any
    /// `x >= scale`: mean `shape * scale / (shape - 1)`, infinite for a shape up to 1; variance
    /// `scale² * shape / ((shape - 1)² * (shape - 2))`, infinite for a shape up to 2.
    ///
    /// The scale is the least number, in the unit of the result. The shape is a pure number: the
    /// lower it is, the larger the share of the total that comes from a few numbers. (NumPy's
    /// `pareto` and Lomax's distribution start at 0 instead: subtract the scale.) A shape that is
    /// not positive gives NaN; the scale is not checked. With a shape below 0.06 or so, numbers may
    /// be infinite.
    ///
    /// ```
    /// # use warpline_base::{LpId, random::Random};
    /// # let mut random = Random::new(1, LpId(0), 0);
    /// let mut sizes: Vec<f64> = (0..10_000).map(|_| random.pareto(1.2, 4.0)).collect(); // of web pages, in kB
    /// sizes.sort_by(f64::total_cmp);
    /// let (all, largest): (f64, f64) = (sizes.iter().sum(), sizes[9_000..].iter().sum());
    /// assert!(sizes[0] >= 4.0 && largest > 0.5 * all); // a tenth of them makes up more than half of the load
    /// ```
    ///
    /// By inversion, as the exponential of an exponential number.
    pub fn pareto(&mut self, shape: f64, scale: f64) -> f64 {
        if shape > 0.0 { scale * libm::exp(ziggurat::exponential(self) / shape) } else { f64::NAN }
    }
}

/// A gamma distributed number of scale 1 and a finite shape of at least 1.
fn standard_gamma(random: &mut Random, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = ziggurat::normal(random);
        let t = c * x;
        if t <= -1.0 {
            continue;
        }
        let u = random.uniform();
        let square = x * x;
        let v = (1.0 + t) * (1.0 + t) * (1.0 + t);
        let accepted = u < 1.0 - 0.0331 * square * square
            || libm::log(u) < 0.5 * square + d * (1.0 - v + libm::log(v));
        if accepted {
            return d * v;
        }
    }
}
