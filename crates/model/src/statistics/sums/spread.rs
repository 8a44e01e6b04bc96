use super::exact_sum::ExactSum;
use super::magnitude::power;

/// The mean and standard deviation of values, which must be finite. The mean is `None` without
/// values, the deviation with fewer than two.
///
/// The mean is rounded once, so it lies between the least and the greatest value. Neither result
/// depends on the order of the values, and no magnitude overflows.
///
/// ```
/// use warpline_model::statistics::mean_and_deviation;
/// assert_eq!(mean_and_deviation(&[2.0, 4.0, 6.0]), (Some(4.0), Some(2.0)));
/// assert_eq!(mean_and_deviation(&[1e308; 3]), (Some(1e308), Some(0.0)));
/// assert_eq!(mean_and_deviation(&[7.5]), (Some(7.5), None));
/// ```
pub fn mean_and_deviation(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let mut total = ExactSum::default();
    let mut squares = ExactSum::default();
    let count = values.len() as u64;
    for &value in values {
        total.add(value);
        squares.add_square(value);
    }
    ((count > 0).then(|| total.over(count)), deviation(&total, &squares, count))
}

/// The standard deviation of `count` values with this sum and sum of squares; `None` for fewer than
/// two. No magnitude overflows on the way. If the result itself exceeds the range of numbers, it is
/// `f64::MAX`.
pub(in crate::statistics) fn deviation(
    total: &ExactSum,
    squares: &ExactSum,
    count: u64,
) -> Option<f64> {
    let others = count.checked_sub(1).filter(|others| *others > 0)?;
    // To take the root of a power of 2, its exponent must be even.
    let (distances, exponent) = total.squared_distances(squares, count).scaled();
    let (distances, exponent) =
        if exponent % 2 == 0 { (distances, exponent) } else { (2.0 * distances, exponent - 1) };
    let variance = distances / (count as f64 * others as f64);
    Some(power(variance.sqrt(), exponent / 2).min(f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the definition, scaled by hand.
    #[test]
    fn no_magnitude_is_too_large_or_too_small() {
        for unit in [1.0, 1e160, 1e-170, 1e-300, 1e300, f64::MIN_POSITIVE, 3e-308] {
            let (mean, deviation) = mean_and_deviation(&[unit, 2.0 * unit]);
            assert_eq!(mean, Some(1.5 * unit));
            let expected = 0.5f64.sqrt() * unit;
            assert!(
                (deviation.unwrap() / unit - 0.5f64.sqrt()).abs() < 1e-15,
                "{deviation:?} for {expected}"
            );
        }
        let (_, deviation) = mean_and_deviation(&[1.0, 1e170]);
        assert!((deviation.unwrap() / 1e170 - 0.5f64.sqrt()).abs() < 1e-15, "{deviation:?}");
        assert_eq!(
            mean_and_deviation(&[f64::MAX, f64::MIN]),
            (Some(0.0), Some(f64::MAX)),
            "as close as there is a number"
        );
        assert_eq!(mean_and_deviation(&[5e-324, 0.0]), (Some(0.0), Some(5e-324)));
        assert_eq!(mean_and_deviation(&[]), (None, None));
    }

    /// A mean much larger than the deviation does not make the deviation less precise.
    #[test]
    fn a_large_mean_costs_no_digits() {
        let (mean, deviation) = mean_and_deviation(&[1e15, 1e15 + 1.0, 1e15 + 2.0, 1e300, -1e300]);
        assert_eq!(mean, Some(3e15 / 5.0 + 0.6));
        assert!((deviation.unwrap() / 1e300 - 0.5f64.sqrt()).abs() < 1e-15);
        assert_eq!(
            mean_and_deviation(&[1e15, 1e15 + 1.0, 1e15 + 2.0]),
            (Some(1e15 + 1.0), Some(1.0))
        );
    }
}
