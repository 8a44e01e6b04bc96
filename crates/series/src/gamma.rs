//! Derivatives of the logarithm of the gamma function. By `libm`, so that fitted parameters, and with
//! them answers, are the same on every platform.

/// From here on the asymptotic series below are exact to the last digits.
const LARGE: f64 = 12.0;

/// The first derivative, for `x > 0`: Abramowitz and Stegun, 6.3.5 and 6.3.18.
pub(crate) fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < LARGE {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0
            - square
                * (1.0 / 120.0
                    - square
                        * (1.0 / 252.0
                            - square
                                * (1.0 / 240.0
                                    - square * (1.0 / 132.0 - square * 691.0 / 32760.0)))));
    sum + libm::log(x) - 0.5 / x - series
}

/// The second derivative, for `x > 0`: Abramowitz and Stegun, 6.4.6 and 6.4.12.
pub(crate) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < LARGE {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 6.0
        - square
            * (1.0 / 30.0
                - square
                    * (1.0 / 42.0
                        - square * (1.0 / 30.0 - square * (5.0 / 66.0 - square * 691.0 / 2730.0))));
    sum + 1.0 / x + 0.5 * square + series * square / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_is_that_of_statrs() {
        for x in [1e-3, 0.1, 0.5, 1.0, 1.4616321449683623, 3.7, 11.999, 12.0, 80.0, 1e6] {
            let (found, expected) = (digamma(x), statrs::function::gamma::digamma(x));
            assert!(
                (found - expected).abs() < 1e-12 * expected.abs().max(1.0),
                "{x}: {found}, not {expected}"
            );
        }
    }

    /// It is the slope of the other, and π²/6 at 1.
    #[test]
    fn trigamma_is_the_slope_of_digamma() {
        let basel = std::f64::consts::PI * std::f64::consts::PI / 6.0;
        assert!((trigamma(1.0) - basel).abs() < 1e-14);
        for x in [0.1, 0.5, 2.0, 11.0, 12.5, 100.0] {
            let step = 1e-4 * x;
            let slope = (digamma(x + step) - digamma(x - step)) / (2.0 * step);
            assert!((trigamma(x) / slope - 1.0).abs() < 1e-6, "{x}: {} {slope}", trigamma(x));
        }
    }
}
