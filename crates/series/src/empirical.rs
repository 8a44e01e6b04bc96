//! The distribution of what was measured.

use std::sync::Arc;

use warpline_base::random::Random;

use crate::series::Series;

/// An empirical distribution, from which numbers are drawn by inverting its distribution function:
/// one uniform number each.
///
/// [`discrete`](Self::discrete) draws only numbers that were measured. With
/// [`interpolated`](Self::interpolated), numbers between them occur as well. Neither draws a number
/// below the least or above the greatest that was measured: if the tail matters, look at a
/// [fit](crate::Fit).
///
/// ```
/// use warpline_base::{LpId, random::Random};
/// use warpline_series::{Empirical, Series};
/// let series = Series::new("services", vec![3.0, 1.0, 2.0, 2.0])?;
/// let services = Empirical::discrete(&series);
/// assert_eq!(services.quantile(0.6), 2.0);
/// let drawn = services.draw(&mut Random::new(1, LpId(0), 0));
/// assert!([1.0, 2.0, 3.0].contains(&drawn));
/// # Ok::<(), warpline_series::SeriesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Empirical {
    sorted: Arc<[f64]>,
    is_interpolated: bool,
}

impl Empirical {
    /// Draws each of the `n` measured numbers with probability `1 / n`.
    pub fn discrete(series: &Series) -> Self {
        Empirical { sorted: sorted(series), is_interpolated: false }
    }

    /// Draws numbers whose distribution function rises in a straight line, by `1 / (n - 1)`, from
    /// each of the `n` measured numbers to the next (Law, Simulation Modeling and Analysis, section
    /// 6.2.4).
    ///
    /// Its mean is not exactly that of the numbers: least and greatest weigh half as much as the
    /// others.
    pub fn interpolated(series: &Series) -> Self {
        Empirical { sorted: sorted(series), is_interpolated: true }
    }

    /// The number up to which a share `u` of all lies; `u` is from 0 to 1.
    pub fn quantile(&self, u: f64) -> f64 {
        let sorted = &self.sorted;
        let last = sorted.len() - 1;
        if !self.is_interpolated {
            return sorted[((u * sorted.len() as f64) as usize).min(last)];
        }
        let place = u * last as f64;
        let below = (place as usize).min(last);
        let above = (below + 1).min(last);
        let (low, high) = (sorted[below], sorted[above]);
        (low + (high - low) * (place - below as f64)).clamp(low, high)
    }

    /// Draws a number.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.quantile(random.uniform())
    }

    /// The numbers, from the least to the greatest.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }
}

fn sorted(series: &Series) -> Arc<[f64]> {
    let mut numbers = series.numbers().to_vec();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.into()
}
