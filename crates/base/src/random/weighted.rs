use std::fmt;

/// A weighted choice among `0..n` in constant time, by Walker's alias method. Weights need not sum
/// to 1.
///
/// ```
/// use warpline_base::{LpId, random::{Random, Weighted}};
/// let faces = Weighted::new(&[1.0, 1.0, 1.0, 1.0, 1.0, 5.0])?;
/// let face = Random::new(1, LpId(0), 0).choose(&faces);
/// assert!(face < 6);
/// # Ok::<(), warpline_base::random::WeightsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weighted {
    columns: Vec<Column>,
}

/// Gives the column itself with probability `keep` (in units of 2⁻⁶⁴), otherwise its alias.
#[derive(Clone, Copy, Debug)]
struct Column {
    keep: u64,
    alias: u32,
}

/// Why weights were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum WeightsError {
    /// There are none, or more than 2³², or their sum is zero or not finite.
    Sum(f64),
    /// This one is negative, infinite or NaN.
    Weight {
        /// Its index, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightsError::Sum(sum) => write!(
                f,
                "the weights sum to {sum}: at least one must be positive, and their sum finite"
            ),
            WeightsError::Weight { index, value } => {
                write!(f, "weight {index} is {value}: weights must be finite and not negative")
            }
        }
    }
}

impl std::error::Error for WeightsError {}

impl Weighted {
    /// Prepares a choice with probabilities proportional to `weights`.
    ///
    /// # Errors
    /// If there is no weight, if one is negative or not finite, or if they do not sum to a positive
    /// finite number.
    ///
    /// ```
    /// use warpline_base::random::Weighted;
    /// let why = Weighted::new(&[1.0, -2.0]).unwrap_err();
    /// assert_eq!(why.to_string(), "weight 1 is -2: weights must be finite and not negative");
    /// ```
    pub fn new(weights: &[f64]) -> Result<Self, WeightsError> {
        if let Some((index, &value)) =
            weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0))
        {
            return Err(WeightsError::Weight { index, value });
        }
        let sum: f64 = weights.iter().sum();
        let count = u32::try_from(weights.len()).map_err(|_| WeightsError::Sum(sum))?;
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(WeightsError::Sum(sum));
        }
        const ONE: f64 = (1u128 << 64) as f64;
        let mut share: Vec<f64> = weights.iter().map(|w| w / sum * f64::from(count)).collect();
        let mut columns: Vec<Column> =
            (0..count).map(|alias| Column { keep: u64::MAX, alias }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..share.len()).partition(|&i| share[i] < 1.0);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            columns[poor] = Column { keep: (share[poor] * ONE) as u64, alias: rich as u32 };
            share[rich] -= 1.0 - share[poor];
            if share[rich] < 1.0 {
                small.extend(large.pop());
            }
        }
        // Rounding may leave columns in `small`. Their share is 1 up to an error of about 2^-50,
        // unless their weight was 0.
        for left in small.into_iter().filter(|&i| weights[i] == 0.0) {
            let heaviest =
                (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
            columns[left] = Column { keep: 0, alias: heaviest as u32 };
        }
        Ok(Weighted { columns })
    }

    /// The number of weights.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    pub(super) fn pick(&self, word: u64) -> usize {
        let scaled = u128::from(word) * self.columns.len() as u128;
        let index = (scaled >> 64) as usize;
        let fraction = scaled as u64;
        let column = self.columns[index];
        if fraction < column.keep { index } else { column.alias as usize }
    }
}
