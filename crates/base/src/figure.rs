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
