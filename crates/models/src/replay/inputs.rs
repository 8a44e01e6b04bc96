//! What the files say: when customers come, and how long their services take.

use warpline::Random;
use warpline_series::{Distribution, Empirical, Fit, Poisson, Reader, Series, SeriesError, Trace};

use super::parameters::{ArrivalsAs, ReplayParameters, ServicesAs};

/// A day of calls, for those who have no file yet.
const DAY: &str = include_str!("day.csv");

/// When customers come.
#[derive(Debug)]
pub(super) enum Arrivals {
    /// When those of the file came.
    Measured(Trace),
    /// At random, at the rates of the file.
    Random(Poisson),
}

impl Arrivals {
    pub(super) fn read(parameters: &ReplayParameters) -> Result<Self, SeriesError> {
        let column = arrivals(parameters)?;
        let repeat = |trace: Trace| if parameters.repeat { trace.repeated() } else { Ok(trace) };
        Ok(match parameters.arrivals_as {
            ArrivalsAs::Times => Arrivals::Measured(repeat(Trace::from_times(&column)?)?),
            ArrivalsAs::Gaps => Arrivals::Measured(repeat(Trace::from_gaps(&column)?)?),
            ArrivalsAs::Rates => {
                let process = Poisson::from_rates(&column, parameters.rate_length)?;
                Arrivals::Random(if parameters.repeat { process.repeated() } else { process })
            }
        })
    }

    /// When the customer with this number comes, if another one does. The one before came `now`.
    pub(super) fn time(&self, number: u64, now: f64, random: &mut Random) -> Option<f64> {
        match self {
            Arrivals::Measured(trace) => Some(trace.arrival(number)?.time),
            Arrivals::Random(process) => process.next_after(now, random),
        }
    }
}

/// The column of arrivals.
pub(super) fn arrivals(parameters: &ReplayParameters) -> Result<Series, SeriesError> {
    let ReplayParameters { arrivals: file, arrival_column: column, .. } = parameters;
    let [column] = match file.as_str() {
        "" => Reader::new().read("day.csv", DAY.as_bytes(), ["calls"])?,
        file => Reader::new().read_file(file, [column])?,
    };
    Ok(column)
}

/// How long services take.
#[derive(Debug)]
pub(super) enum Services {
    /// Those of the file, in order.
    InOrder(Series),
    /// Drawn from those of the file.
    Drawn(Empirical),
    /// Drawn from what fits the file, or from what the parameters say.
    Theoretical(Distribution),
}

impl Services {
    pub(super) fn read(parameters: &ReplayParameters) -> Result<Self, SeriesError> {
        let Some(column) = services(parameters)? else {
            return Ok(Services::Theoretical(Distribution::Exponential {
                mean: parameters.service,
            }));
        };
        Ok(match parameters.services_as {
            ServicesAs::InOrder => Services::InOrder(column),
            ServicesAs::Discrete => Services::Drawn(Empirical::discrete(&column)),
            ServicesAs::Interpolated => Services::Drawn(Empirical::interpolated(&column)),
            ServicesAs::Fitted => Services::Theoretical(Fit::best(&column)?.distribution()),
        })
    }

    /// How long the service of the customer with this number takes.
    pub(super) fn time(&self, number: u64, random: &mut Random) -> f64 {
        match self {
            Services::InOrder(column) => column.numbers()[(number % column.len() as u64) as usize],
            Services::Drawn(distribution) => distribution.draw(random),
            Services::Theoretical(distribution) => distribution.draw(random),
        }
    }
}

/// The column of services, if there is a file.
pub(super) fn services(parameters: &ReplayParameters) -> Result<Option<Series>, SeriesError> {
    let ReplayParameters { services: file, service_column: column, .. } = parameters;
    if file.is_empty() {
        return Ok(None);
    }
    let [column] = Reader::new().read_file(file, [column])?;
    column.as_durations()?;
    Ok(Some(column))
}
