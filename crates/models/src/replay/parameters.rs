//! What files there are, and what is in them.

use warpline::prelude::*;

/// The parameters of `replay`.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct ReplayParameters {
    /// CSV file of arrivals, perhaps compressed with gzip; if empty, calls at a help desk, by the
    /// hour of a day.
    pub arrivals: String,
    /// Column of the arrivals, by its name or number; if empty, the only one.
    pub arrival_column: String,
    /// What that column has.
    #[parameter(default = ArrivalsAs::Rates)]
    pub arrivals_as: ArrivalsAs,
    /// For how long each rate holds.
    #[parameter(unit = "s", default = 3600.0, range = 1e-6..=1e9)]
    pub rate_length: f64,
    /// Whether arrivals begin again after the last one, or the last rate.
    #[parameter(default = false)]
    pub repeat: bool,
    /// CSV file of service times; if empty, they are exponential.
    pub services: String,
    /// Column of the service times, by its name or number; if empty, the only one.
    pub service_column: String,
    /// How service times are drawn from their file.
    #[parameter(default = ServicesAs::Discrete)]
    pub services_as: ServicesAs,
    /// Mean service time, if there is no file of them.
    #[parameter(unit = "s", default = 240.0, range = 0.0..=1e9)]
    pub service: f64,
    /// Number of servers.
    #[parameter(default = 6, range = 1..=1_000_000)]
    pub servers: u32,
}

/// What a column of arrivals has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum ArrivalsAs {
    /// When each customer came, from the beginning of the run.
    Times,
    /// How long after the one before.
    Gaps,
    /// How many come on average in a unit of time, piece by piece: a Poisson process.
    Rates,
}

/// How service times are drawn from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum ServicesAs {
    /// Not at all: each customer has the time in the next row.
    InOrder,
    /// Each time in the file is as likely as the others.
    Discrete,
    /// The same, with all times between them.
    Interpolated,
    /// From the exponential, lognormal, gamma or Weibull distribution that fits best.
    Fitted,
}
