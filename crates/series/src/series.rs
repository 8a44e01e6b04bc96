//! A column of numbers, which knows where it comes from.

use std::fmt;
use std::sync::Arc;

use warpline_base::{Figure, significant};

use crate::error::SeriesError;
use crate::units::{Quantity, SECOND, TimeUnit};

/// A column of finite numbers: times in the model's unit of time, rates for each such unit, or
/// anything else as it was written.
///
/// It knows its file and lines, so that whoever finds fault with a number can say where it is.
/// Clones share the numbers.
#[derive(Clone)]
pub struct Series {
    numbers: Arc<[f64]>,
    source: Arc<Source>,
}

/// Where a series comes from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) column: String,
    pub(crate) quantity: Quantity,
    /// In which the series has times, and for which it has rates.
    pub(crate) model: TimeUnit,
    pub(crate) lines: LinesOfRows,
}

/// The line of each row.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinesOfRows {
    /// (row, line) where a row does not lie just below the one before.
    jumps: Vec<(usize, u64)>,
    rows: usize,
    last: u64,
}

impl LinesOfRows {
    pub(crate) fn push(&mut self, line: u64) {
        if self.rows == 0 || line != self.last + 1 {
            self.jumps.push((self.rows, line));
        }
        self.rows += 1;
        self.last = line;
    }

    fn of(&self, row: usize) -> Option<u64> {
        let at = self.jumps.partition_point(|(first, _)| *first <= row);
        let (first, line) = *self.jumps[..at].last()?;
        (row < self.rows).then(|| line + (row - first) as u64)
    }
}

impl Series {
    /// A series of numbers that are in no file. `name` stands for them in messages.
    ///
    /// # Errors
    /// If there are none, or one is not finite.
    ///
    /// ```
    /// use warpline_series::Series;
    /// let why = Series::new("gaps", vec![1.5, f64::NAN]).unwrap_err();
    /// assert_eq!(why.to_string(), "`gaps`, line 2: found NaN, expected a finite number");
    /// ```
    pub fn new(name: &str, numbers: Vec<f64>) -> Result<Self, SeriesError> {
        let mut lines = LinesOfRows::default();
        (1..).zip(&numbers).for_each(|(line, _)| lines.push(line));
        let (file, column) = (name.to_owned(), String::new());
        let series = Series::read(
            numbers,
            Source { file, column, quantity: Quantity::Unknown, model: SECOND, lines },
        );
        series.check("a finite number", f64::is_finite)?;
        if series.is_empty() {
            return Err(series.error(None, "has no number; expected at least one"));
        }
        Ok(series)
    }

    pub(crate) fn read(numbers: Vec<f64>, source: Source) -> Self {
        Series { numbers: numbers.into(), source: Arc::new(source) }
    }

    /// The numbers, in the order of the file.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    pub(crate) fn shared_numbers(&self) -> Arc<[f64]> {
        Arc::clone(&self.numbers)
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none, which is never so: such files are refused.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// The name of the column, as in its header, or `column 2` if there is none.
    pub fn column(&self) -> &str {
        &self.source.column
    }

    /// The line of the number with this index, both from where files begin: lines from 1, indices
    /// from 0.
    pub fn line_of(&self, index: usize) -> Option<u64> {
        self.source.lines.of(index)
    }

    /// The same series, if all its numbers are times that may pass: a unit of time or none, and
    /// none negative.
    ///
    /// # Errors
    /// For the first number that is negative, and if the unit is no unit of time.
    pub fn as_durations(&self) -> Result<&Self, SeriesError> {
        self.check_is_time("times")?;
        self.check("a time of at least 0", |number| number >= 0.0)
    }

    /// The same series, if its numbers have a unit of time or none.
    pub(crate) fn check_is_time(&self, what: &str) -> Result<&Self, SeriesError> {
        match &self.source.quantity {
            Quantity::Time(_) | Quantity::Unknown => Ok(self),
            Quantity::Rate(_) => Err(self.error(
                None,
                &format!("has rates; expected {what} in ns, us, ms, s, min, h or days"),
            )),
            Quantity::Other(unit) => {
                Err(self.wrong_unit(unit, what, "ns, us, ms, s, min, h or days"))
            }
        }
    }

    /// The same series, if its numbers have a unit of rates or none.
    pub(crate) fn check_is_rate(&self) -> Result<&Self, SeriesError> {
        let expected = "1/s, 1/min, 1/h or 1/day";
        match &self.source.quantity {
            Quantity::Rate(_) | Quantity::Unknown => Ok(self),
            Quantity::Time(_) => {
                Err(self.error(None, &format!("has times; expected rates in {expected}")))
            }
            Quantity::Other(unit) => Err(self.wrong_unit(unit, "rates", expected)),
        }
    }

    fn wrong_unit(&self, unit: &str, what: &str, expected: &str) -> SeriesError {
        self.error(None, &format!("has the unit `{unit}`; expected {what} in {expected}"))
    }

    /// The same series, if all numbers pass.
    pub(crate) fn check(
        &self,
        expected: &str,
        passes: impl Fn(f64) -> bool,
    ) -> Result<&Self, SeriesError> {
        match self.numbers.iter().position(|&number| !passes(number)) {
            Some(index) => Err(self.unexpected(index, expected)),
            None => Ok(self),
        }
    }

    /// That the number with this index is not what was expected.
    pub(crate) fn unexpected(&self, index: usize, expected: &str) -> SeriesError {
        let Source { quantity, model, .. } = &*self.source;
        let found = as_written(quantity.restore(self.numbers[index], *model));
        self.error(Some(index), &format!("found {found}, expected {expected}"))
    }

    pub(crate) fn error(&self, index: Option<usize>, problem: &str) -> SeriesError {
        let error = SeriesError::of_file(self.file(), problem);
        let error = match index.and_then(|index| self.line_of(index)) {
            Some(line) => error.at_line(line),
            None => error,
        };
        if self.column().is_empty() { error } else { error.at_column(self.column()) }
    }
}

/// In one line: where it is from, how many numbers, and what they are.
impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = self.numbers.iter().sum::<f64>() / self.len() as f64;
        let [least, most] = [least, most].map(as_written);
        let count = self.len();
        if count == 1 {
            return write!(f, "1 number, {least}");
        }
        write!(f, "{count} numbers from {least} to {most}, mean {}", significant(mean, 5))
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Series(`{}`, `{}`: {self})", self.file(), self.column())
    }
}

/// A converted number without the last digits, which rounding may have changed.
fn as_written(number: f64) -> Figure {
    Figure(format!("{number:.14e}").parse().unwrap_or(number))
}
