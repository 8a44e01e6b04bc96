//! A figure that was measured several times.

/// Its values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sample(Vec<f64>);

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(all: I) -> Self {
        let mut values: Vec<f64> = all.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        Sample(values)
    }
}

impl Sample {
    /// Measures a figure so many times.
    pub(super) fn of(times: usize, measure: impl FnMut() -> f64) -> Self {
        std::iter::repeat_with(measure).take(times).collect()
    }

    /// The value below which this share of them lies; 0 if there are none.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// How wide the middle half of them is, as a share of the median; 0 if that is not positive.
    pub(super) fn spread(&self) -> f64 {
        let wide = self.quantile(0.75) - self.quantile(0.25);
        if self.median() > 0.0 { wide / self.median() } else { 0.0 }
    }

    /// How it was measured, as an origin.
    pub(super) fn origin(&self, how: &str) -> String {
        let times = self.0.len();
        let spread = 100.0 * self.spread();
        format!("measured: {how}; median of {times}, spread {spread:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_of_a_sample_is_its_spread() {
        let sample: Sample = [5.0, 1.0, f64::NAN, 3.0, 2.0, 4.0].into_iter().collect();
        assert_eq!((sample.median(), sample.spread()), (3.0, 2.0 / 3.0));
        assert_eq!(sample.origin("a die"), "measured: a die; median of 5, spread 67 %");
        let mut next = 0.0;
        let counted = Sample::of(3, || {
            next += 1.0;
            next
        });
        assert_eq!(counted.median(), 2.0);
        let none = Sample::default();
        assert_eq!((none.median(), none.spread()), (0.0, 0.0));
    }
}
