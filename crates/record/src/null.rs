//! Reads numbers that JSON cannot represent: those that are not finite are written as `null`, and
//! read back as NaN.

use serde::{Deserialize, Deserializer};

/// Reads a number that may be `null`.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Reads marks whose values may be `null`.
pub(crate) fn marks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, f64)>, D::Error> {
    let marks = Vec::<(String, Option<f64>)>::deserialize(from)?;
    Ok(marks.into_iter().map(|(name, value)| (name, value.unwrap_or(f64::NAN))).collect())
}

/// A line: its name and its points, which may be `null` where `T` is an option.
type Line<T> = (String, Vec<(T, T)>);

/// Reads lines whose points may be `null`.
pub(crate) fn lines<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Line<f64>>, D::Error> {
    let point = |(x, y): (Option<f64>, Option<f64>)| (x.unwrap_or(f64::NAN), y.unwrap_or(f64::NAN));
    let lines = Vec::<Line<Option<f64>>>::deserialize(from)?;
    Ok(lines
        .into_iter()
        .map(|(name, points)| (name, points.into_iter().map(point).collect()))
        .collect())
}
