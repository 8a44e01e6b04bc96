//! Events at the times of a file.

use std::sync::Arc;

use crate::error::SeriesError;
use crate::series::Series;

/// What happened when: arrivals, calls, packets, flows, each perhaps with a value.
///
/// A trace never changes. Where an LP is in it is a number, the index of its next arrival, which
/// the LP keeps in its state: a `u64` that any engine can copy and undo. Clones share the numbers.
///
/// ```
/// use warpline_series::{Reader, Trace};
/// let csv = "arrival [ms],size\n250,7\n1000,9\n";
/// let [times, sizes] = Reader::new().read("calls.csv", csv.as_bytes(), ["arrival", "size"])?;
/// let calls = Trace::from_times(&times)?.with_values(&sizes)?.repeated_every(2.0)?;
/// let third = calls.arrival(2).expect("it is repeated");
/// assert_eq!((third.time, third.value), (2.25, Some(7.0)));
/// # Ok::<(), warpline_series::SeriesError>(())
/// ```
///
/// An LP that replays it:
/// ```
/// # use warpline_series::Trace;
/// # struct Lp { now: f64 }
/// # impl Lp { fn now(&self) -> f64 { self.now } fn send_at(&mut self, _: u32, _: f64, _: ()) {} }
/// # fn send_next(calls: &Trace, next: &mut u64, lp: &mut Lp) {
/// if let Some(call) = calls.arrival(*next) {
///     lp.send_at(1, call.time, ());
///     *next += 1;
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    times: Arc<[f64]>,
    values: Option<Arc<[f64]>>,
    series: Series,
    /// After which time it begins again.
    period: Option<f64>,
}

/// An arrival of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When, in the model's unit of time, from the beginning of the run.
    pub time: f64,
    /// Its value, if the trace has values.
    pub value: Option<f64>,
    /// The index of its row, from 0.
    pub row: usize,
}

impl Arrival {
    /// How long after `now` it happens: the sleep of a process. Never negative, although a process
    /// may wake up just after the arrival before, because of rounding.
    pub fn delay_from(&self, now: f64) -> f64 {
        (self.time - now).max(0.0)
    }
}

impl Trace {
    /// Arrivals at these times, which count from the beginning of the run.
    ///
    /// # Errors
    /// For the first time that is negative or earlier than the one before, and if the unit of the
    /// series is no unit of time.
    pub fn from_times(times: &Series) -> Result<Self, SeriesError> {
        check_order(times)?;
        times.as_durations()?;
        Ok(Trace::new(times, times.shared_numbers()))
    }

    /// Arrivals at these times, of which the first is at time 0: for clocks that do not begin with
    /// the run, such as seconds since 1970.
    ///
    /// # Errors
    /// For the first time that is earlier than the one before, and if the unit of the series is no
    /// unit of time.
    pub fn from_clock(times: &Series) -> Result<Self, SeriesError> {
        times.check_is_time("times")?;
        check_order(times)?;
        let first = times.numbers()[0];
        Ok(Trace::new(times, times.numbers().iter().map(|time| time - first).collect()))
    }

    /// Arrivals with these times between them; the first is one gap after the beginning of the run.
    ///
    /// # Errors
    /// For the first gap that is negative, and if the unit of the series is no unit of time.
    pub fn from_gaps(gaps: &Series) -> Result<Self, SeriesError> {
        gaps.as_durations()?;
        let add = |time: &mut f64, gap: &f64| {
            *time += gap;
            Some(*time)
        };
        let times: Arc<[f64]> = gaps.numbers().iter().scan(0.0, add).collect();
        if let Some(index) = times.iter().position(|time| !time.is_finite()) {
            return Err(gaps.unexpected(index, "gaps whose sum is a finite time"));
        }
        Ok(Trace::new(gaps, times))
    }

    fn new(series: &Series, times: Arc<[f64]>) -> Self {
        Trace { times, values: None, series: series.clone(), period: None }
    }

    /// Gives each arrival the value in the same row.
    ///
    /// # Errors
    /// If there are not as many values as arrivals.
    pub fn with_values(self, values: &Series) -> Result<Self, SeriesError> {
        if values.len() != self.times.len() {
            let (found, expected) = (values.len(), self.times.len());
            let problem = format!("has {found} values, expected {expected}: one for each arrival");
            return Err(values.error(None, &problem));
        }
        Ok(Trace { values: Some(values.shared_numbers()), ..self })
    }

    /// Begins again whenever this time has passed, in the model's unit of time.
    ///
    /// # Errors
    /// If the period is not positive and finite, or an arrival is later than the first period.
    pub fn repeated_every(self, period: f64) -> Result<Self, SeriesError> {
        if !(period > 0.0 && period.is_finite()) {
            let problem = format!("cannot be repeated every {period}: expected a positive time");
            return Err(self.series.error(None, &problem));
        }
        if let Some(late) = self.times.iter().position(|time| *time > period) {
            let time = self.times[late];
            let problem =
                format!("arrives at {time}, after the period of {period} that is repeated");
            return Err(self.series.error(Some(late), &problem));
        }
        Ok(Trace { period: Some(period), ..self })
    }

    /// Begins again with its last arrival: gaps then follow each other without end.
    ///
    /// # Errors
    /// If all arrivals are at time 0.
    pub fn repeated(self) -> Result<Self, SeriesError> {
        let last = self.last_time();
        self.repeated_every(last)
    }

    /// The arrival with this number, from 0; `None` after the last one of a trace that is not
    /// repeated. None comes before the one with the number before.
    pub fn arrival(&self, number: u64) -> Option<Arrival> {
        let rows = self.times.len() as u64;
        let row = (number % rows) as usize;
        let time = match self.period {
            Some(period) => {
                let lap = number / rows;
                let [begin, end] = [lap, lap + 1].map(|lap| lap as f64 * period);
                // Rounding must not put it behind the first one of the next repetition.
                (begin + self.times[row]).min(end)
            }
            None if number < rows => self.times[row],
            None => return None,
        };
        let value = self.values.as_ref().map(|values| values[row]);
        Some(Arrival { time, value, row })
    }

    /// How many arrivals the file has.
    pub fn rows(&self) -> usize {
        self.times.len()
    }

    /// When the last arrival of the file is, in the model's unit of time.
    pub fn last_time(&self) -> f64 {
        self.times.last().copied().unwrap_or_default()
    }
}

/// Times never go back.
fn check_order(times: &Series) -> Result<(), SeriesError> {
    match times.numbers().windows(2).position(|pair| pair[1] < pair[0]) {
        Some(before) => {
            let expected = match times.line_of(before) {
                Some(line) => {
                    format!("a time not before that of line {line}; sort the file by time")
                }
                None => "a time not before the last one".to_owned(),
            };
            Err(times.unexpected(before + 1, &expected))
        }
        None => Ok(()),
    }
}
