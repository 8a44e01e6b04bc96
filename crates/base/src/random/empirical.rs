use std::error::Error;
use std::fmt;

use super::{Random, Weighted, WeightsError};

/// Values with weights: Arena's `DISC`. Weights need not sum to 1; make it once, in the model.
///
/// ```
/// use warpline_base::{LpId, random::{Discrete, Random}};
/// let packets = Discrete::new([(64, 0.55), (576, 0.25), (1500, 0.2)])?; // sizes in bytes
/// let mut random = Random::new(1, LpId(0), 0);
/// let bytes: u32 = *random.discrete(&packets);
/// assert!([64, 576, 1500].contains(&bytes));
/// # Ok::<(), warpline_base::random::WeightsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Discrete<T> {
    values: Vec<T>,
    weights: Weighted,
}

impl<T> Discrete<T> {
    /// Prepares a choice among values, each with a probability proportional to its weight.
    ///
    /// # Errors
    /// If there is no value, if a weight is negative or not finite, or if they do not sum to a
    /// positive finite number.
    ///
    /// ```
    /// use warpline_base::random::Discrete;
    /// let why = Discrete::new([("card", 3.0), ("cash", f64::NAN)]).unwrap_err();
    /// assert_eq!(why.to_string(), "weight 1 is NaN: weights must be finite and not negative");
    /// ```
    pub fn new(pairs: impl IntoIterator<Item = (T, f64)>) -> Result<Self, WeightsError> {
        let (values, weights): (Vec<T>, Vec<f64>) = pairs.into_iter().unzip();
        Ok(Discrete { values, weights: Weighted::new(&weights)? })
    }

    /// The values, in the order in which they were given.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

/// A piecewise linear distribution function, such as a measured one: Arena's `CONT`. Make it once,
/// in the model.
///
/// ```
/// use warpline_base::{LpId, random::{Continuous, Random}};
/// // Of 200 services, none took less than 2 minutes, 120 at most 5, 190 at most 10, and all at most 30.
/// let services = Continuous::new(&[(2.0, 0.0), (5.0, 120.0), (10.0, 190.0), (30.0, 200.0)])?;
/// let mut random = Random::new(1, LpId(0), 0);
/// let quick = (0..10_000).filter(|_| random.continuous(&services) <= 5.0).count();
/// assert!((5_800..6_200).contains(&quick));
/// # Ok::<(), warpline_base::random::PointsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Continuous {
    pieces: Vec<(f64, f64)>,
    weights: Weighted,
}

/// Why points were refused as a distribution function.
#[derive(Clone, Debug, PartialEq)]
pub enum PointsError {
    /// There are none, or more than 2³², or no share is positive.
    Empty,
    /// This value is less than the one before it, or not finite, or infinitely far from the first.
    Value {
        /// The index of its point, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// This share is less than the one before it, or negative, or not finite.
    Share {
        /// The index of its point, from 0.
        index: usize,
        /// The share.
        value: f64,
    },
}

impl fmt::Display for PointsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointsError::Empty => write!(
                f,
                "no point has a positive share: give points (value, share of all values up to this \
                 one)"
            ),
            PointsError::Value { index, value } => {
                write!(
                    f,
                    "the value of point {index} is {value}: values must be finite, and none less \
                     than the one before"
                )
            }
            PointsError::Share { index, value } => write!(
                f,
                "the share of point {index} is {value}: it counts all values up to its own, so it \
                 must be finite, not negative, and not less than the one before"
            ),
        }
    }
}

impl Error for PointsError {}

impl Continuous {
    /// Prepares the distribution through `points`: pairs of a value and the share, or the number,
    /// of all values up to this one.
    ///
    /// The last share stands for all, and need not be 1. Between two points the distribution is
    /// uniform. Two points with one value, or a first share above 0, give that value itself a
    /// probability.
    ///
    /// # Errors
    /// If values or shares fall from one point to the next, are not finite, or if no share is
    /// positive.
    ///
    /// ```
    /// use warpline_base::random::Continuous;
    /// let why = Continuous::new(&[(0.0, 0.0), (1.0, 0.7), (2.0, 0.3)]).unwrap_err();
    /// assert!(why.to_string().starts_with("the share of point 2 is 0.3: it counts all values up to its own"));
    /// ```
    pub fn new(points: &[(f64, f64)]) -> Result<Self, PointsError> {
        let mut pieces = Vec::with_capacity(points.len());
        let mut weights = Vec::with_capacity(points.len());
        let first = points.first().ok_or(PointsError::Empty)?.0;
        let mut low = first;
        let mut below = 0.0;
        for (index, &(value, share)) in points.iter().enumerate() {
            if !(value >= low && (value - first).is_finite()) {
                return Err(PointsError::Value { index, value });
            }
            if !(share >= below && share.is_finite()) {
                return Err(PointsError::Share { index, value: share });
            }
            pieces.push((low, value));
            weights.push(share - below);
            low = value;
            below = share;
        }
        // Differences of rising finite numbers are valid weights, unless all are 0.
        let weights = Weighted::new(&weights).map_err(|_| PointsError::Empty)?;
        Ok(Continuous { pieces, weights })
    }
}

impl Random {
    /// A value of a [`Discrete`] distribution, drawn with the probability of its weight.
    #[inline]
    pub fn discrete<'a, T>(&mut self, values: &'a Discrete<T>) -> &'a T {
        &values.values[self.choose(&values.weights)]
    }

    /// A number of a [`Continuous`] distribution.
    #[inline]
    pub fn continuous(&mut self, points: &Continuous) -> f64 {
        let (low, high) = points.pieces[self.choose(&points.weights)];
        (low + (high - low) * self.uniform()).min(high)
    }
}
