//! Traces and tables: reads columns of numbers from CSV files, and makes of them what simulations
//! need.
//!
//! - A [`Series`] is a column, in the model's unit of time. A [`Reader`] reads it.
//! - A [`Trace`] makes events of arrivals, or of the gaps between them: once, or again and again.
//! - An [`Empirical`] distribution draws what was measured, a [`Fit`] from the exponential,
//!   lognormal, gamma or Weibull distribution that is likeliest for it.
//! - A [`Poisson`] process draws arrivals whose rate depends on the hour.
//!
//! Nothing of these changes while a model runs. Their draws come from the LP's own random stream, and
//! where an LP is in a trace is a number in its state: so any engine can run and undo it.
//!
//! ```
//! use warpline_base::{LpId, random::Random};
//! use warpline_series::{Empirical, Fit, Reader, Trace};
//!
//! let csv = "gap (s);service time [ms]\n0,8;250\n1,5;400\n0,2;310\n";
//! let [gaps, services] = Reader::new().read("till.csv", csv.as_bytes(), ["gap", "service time"])?;
//! assert_eq!(services.numbers(), [0.25, 0.4, 0.31]); // s
//! let arrivals = Trace::from_gaps(&gaps)?.repeated()?;
//! assert_eq!(arrivals.arrival(4).map(|arrival| arrival.time), Some(4.8)); // 2.5 + 2.3
//! let mut random = Random::new(7, LpId(0), 0); // in a model: `lp.random()`
//! let service = Empirical::discrete(&services).draw(&mut random);
//! assert!(services.numbers().contains(&service));
//! println!("{}", Fit::best(&services)?);
//!
//! let wrong = Reader::new().read("till.csv", "gap (s)\n0.8\n-1\n".as_bytes(), ["gap"])?;
//! let why = Trace::from_gaps(&wrong[0]).unwrap_err();
//! assert_eq!(why.to_string(), "`till.csv`, line 3, column `gap (s)`: found -1, expected a time of at least 0");
//! # Ok::<(), warpline_series::SeriesError>(())
//! ```
//!
//! # What is read
//! By looking at the file: whether there is a header (a first line without any number), whether
//! columns are separated by commas, semicolons or tabs, whether numbers have decimal commas (where
//! commas do not separate columns), and whether it is compressed with gzip. Lines that are empty or
//! begin with `#` do not count. Units are part of the header (`service time [ms]`, `gap (s)`,
//! `rate [1/h]`, `service_ms`).
//!
//! Every row has a finite number in each column that is read. Anything else is refused, with file,
//! line, column, what was found, and what was expected. Files are not trusted: reading takes memory
//! for the numbers and for a line, of which the length is limited.

mod cells;
mod empirical;
mod error;
mod fit;
mod gamma;
mod lines;
mod poisson;
mod reader;
mod series;
mod trace;
mod units;

pub use empirical::Empirical;
pub use error::SeriesError;
pub use fit::{Distribution, Fit};
pub use poisson::Poisson;
pub use reader::Reader;
pub use series::Series;
pub use trace::{Arrival, Trace};
