//! Estimates of a run against theory.

use warpline::serde_json::Value;

/// A result with its 95 % half-width.
pub(crate) fn estimate(results: &Value, name: &str) -> (f64, f64) {
    let number = |field: &str| {
        results[name][field].as_f64().unwrap_or_else(|| panic!("{name}.{field} in {results}"))
    };
    (number("mean"), number("ci95"))
}

/// Theory must lie within twice the 95 % interval, which must be narrow.
pub(crate) fn near(results: &Value, name: &str, truth: f64) {
    near_within(results, name, truth, 0.05);
}

/// The same with an interval of at most this share of the truth. By chance, theory lies outside
/// about once in ten thousand checks.
pub(crate) fn near_within(results: &Value, name: &str, truth: f64, widest: f64) {
    let (mean, half_width) = estimate(results, name);
    assert!(
        (mean - truth).abs() < 2.0 * half_width,
        "{name}: {mean} ± {half_width}, in theory {truth}"
    );
    assert!(half_width < widest * truth, "{name}: ± {half_width} is too wide to tell anything");
}
