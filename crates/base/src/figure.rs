use std::fmt;

/// Prints a number exactly and briefly: with an exponent where zeros would fill the line.
///
/// ```
/// use warpline_base::Figure;
/// let shown = [0.0, 2.5, -1e15, 1e160, 3e-170, f64::INFINITY].map(|number| Figure(number).to_string());
/// assert_eq!(shown, ["0", "2.5", "-1000000000000000", "1e160", "3e-170", "inf"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure(pub f64);

impl From<&f64> for Figure {
    fn from(number: &f64) -> Self {
        Figure(*number)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = self.0 == 0.0 || !self.0.is_finite() || (1e-7..1e16).contains(&self.0.abs());
        if short { fmt::Display::fmt(&self.0, f) } else { fmt::LowerExp::fmt(&self.0, f) }
    }
}

/// A number with at most this many significant digits; digits before the point are never cut.
///
/// ```
/// use warpline_base::significant;
/// assert_eq!([0.1 + 0.2, 641.452137949, 12_000.6].map(|time| significant(time, 6)), ["0.3", "641.452", "12000.6"]);
/// assert_eq!(significant(1e-7, 3), "1.00e-7");
/// ```
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{value:.*e}", digits as usize - 1);
    }
    let decimals = (digits - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
