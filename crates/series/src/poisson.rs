//! Random arrivals whose rate depends on the time.

use std::sync::Arc;

use warpline_base::random::Random;

use crate::error::SeriesError;
use crate::series::Series;

/// How many times the least positive rate the greatest may be. Thinning draws about as many numbers
/// for an arrival where the rate is least.
const MOST_RATIO: f64 = 1e5;

/// A Poisson process whose rate is constant within each piece of time, such as an hour, and differs
/// from piece to piece.
///
/// Arrivals are drawn by thinning (Lewis and Shedler, Simulation of nonhomogeneous Poisson processes
/// by thinning, 1979): candidates come at the greatest rate, and each is kept with the probability
/// that the rate at its time has of the greatest. Pieces without arrivals are passed over, which
/// changes nothing, as a Poisson process has no memory.
///
/// It has no state: the next arrival depends on the time and the random stream alone.
///
/// ```
/// use warpline_base::{LpId, random::Random};
/// use warpline_series::{Poisson, Reader};
/// let csv = "rate [1/h]\n0\n7200\n3600\n"; // calls in each of three hours
/// let [rates] = Reader::new().read("calls.csv", csv.as_bytes(), [""])?;
/// let calls = Poisson::from_rates(&rates, 3600.0)?;
/// let mut random = Random::new(1, LpId(0), 0);
/// let first = calls.next_after(0.0, &mut random).expect("there are three hours");
/// assert!((3600.0..3620.0).contains(&first));
/// assert_eq!(calls.next_after(3.0 * 3600.0, &mut random), None);
/// # Ok::<(), warpline_series::SeriesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Poisson {
    /// When each piece ends; the first begins at 0.
    ends: Arc<[f64]>,
    rates: Arc<[f64]>,
    greatest: f64,
    is_repeated: bool,
}

impl Poisson {
    /// Rates of pieces that all have this length, in the model's unit of time: an hour, a quarter of
    /// one.
    ///
    /// # Errors
    /// For the first rate that is negative, if the unit of the series is no unit of rates, if the
    /// greatest rate is more than 100 000 times the least that is not 0, and if the length is not
    /// positive.
    pub fn from_rates(rates: &Series, length: f64) -> Result<Self, SeriesError> {
        let ends: Arc<[f64]> = (1..=rates.len()).map(|piece| piece as f64 * length).collect();
        if !(length > 0.0 && ends.iter().all(|end| end.is_finite())) {
            let problem = format!("cannot have pieces of {length}: expected a positive time");
            return Err(rates.error(None, &problem));
        }
        Poisson::new(rates, ends)
    }

    /// Rates of pieces that begin at these times, the first at 0; the last ends at `end`. All times
    /// are in the model's unit.
    ///
    /// # Errors
    /// Like [`from_rates`](Self::from_rates), and for the first time that does not come after the
    /// one before.
    pub fn from_pieces(begins: &Series, rates: &Series, end: f64) -> Result<Self, SeriesError> {
        begins.check_is_time("times at which pieces begin")?;
        if begins.len() != rates.len() {
            let (found, expected) = (begins.len(), rates.len());
            let problem = format!("has {found} times, expected {expected}: one for each rate");
            return Err(begins.error(None, &problem));
        }
        let times = begins.numbers();
        if times[0] != 0.0 {
            return Err(begins.unexpected(0, "0, when the first piece begins"));
        }
        if let Some(before) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(begins.unexpected(before + 1, "a time after that of the row before"));
        }
        let last = times.len() - 1;
        if !(end > times[last] && end.is_finite()) {
            let expected = format!("a time before {end}, when the last piece ends");
            return Err(begins.unexpected(last, &expected));
        }
        Poisson::new(rates, times[1..].iter().copied().chain([end]).collect())
    }

    fn new(rates: &Series, ends: Arc<[f64]>) -> Result<Self, SeriesError> {
        rates.check_is_rate()?;
        rates.check("a rate of at least 0", |rate| rate >= 0.0)?;
        let numbers = rates.numbers();
        let greatest = numbers.iter().copied().fold(0.0, f64::max);
        let expected = "0 or at least a 100 000th of the greatest rate";
        rates.check(expected, |rate| rate == 0.0 || rate * MOST_RATIO >= greatest)?;
        Ok(Poisson { ends, rates: rates.shared_numbers(), greatest, is_repeated: false })
    }

    /// Begins again after the last piece: a day after a day.
    pub fn repeated(self) -> Self {
        Poisson { is_repeated: true, ..self }
    }

    /// When the last piece ends, in the model's unit of time.
    pub fn period(&self) -> f64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The rate at a time, for one unit of the model's time. 0 after the end, if it is not repeated.
    pub fn rate_at(&self, time: f64) -> f64 {
        self.piece_at(time).map_or(0.0, |(piece, _)| self.rates[piece])
    }

    /// How many arrivals to expect up to the end of the last piece.
    pub fn expected(&self) -> f64 {
        let begins = [0.0].into_iter().chain(self.ends.iter().copied());
        begins
            .zip(self.ends.iter())
            .zip(self.rates.iter())
            .map(|((begin, end), rate)| (end - begin) * rate)
            .sum()
    }

    /// The first arrival after `now`, in the model's unit of time; `None` if there is none.
    pub fn next_after(&self, now: f64, random: &mut Random) -> Option<f64> {
        if self.greatest == 0.0 {
            return None;
        }
        let mut time = now;
        loop {
            time = self.skip_empty(time)?;
            time += random.exponential(1.0 / self.greatest);
            let rate = self.rates[self.piece_at(time)?.0];
            if random.uniform() * self.greatest < rate {
                return Some(time);
            }
        }
    }

    /// The first time from this one on at which the rate is not 0.
    fn skip_empty(&self, mut time: f64) -> Option<f64> {
        loop {
            let (piece, lap) = self.piece_at(time)?;
            if self.rates[piece] > 0.0 {
                return Some(time);
            }
            // Rounding must not keep it in this piece.
            time = (lap + self.ends[piece]).max(time.next_up());
        }
    }

    /// The piece of a time, and when its repetition began.
    fn piece_at(&self, time: f64) -> Option<(usize, f64)> {
        let period = self.period();
        let lap = if self.is_repeated { libm::floor(time / period) * period } else { 0.0 };
        let piece = self.ends.partition_point(|end| *end <= time - lap);
        match piece < self.ends.len() {
            true => Some((piece, lap)),
            // Rounding may put a time that begins a repetition at the end of the one before.
            false if self.is_repeated => Some((0, lap + period)),
            false => None,
        }
    }
}
