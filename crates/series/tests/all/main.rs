//! Tests of the crate, in one program, which builds faster than several.

mod fits;
mod odd;
mod sources;
mod wrong;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_series::{Reader, Series, SeriesError};

/// A stream of random numbers.
fn random(seed: u64) -> Random {
    Random::new(seed, LpId(0), 0)
}

/// A column of a text.
fn column(text: &str, name: &str) -> Result<Series, SeriesError> {
    let [series] = Reader::new().read("a.csv", text.as_bytes(), [name])?;
    Ok(series)
}
