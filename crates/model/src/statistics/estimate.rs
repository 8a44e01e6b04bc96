use serde_json::{Value, json};

/// Into how many equal spans of time a run is cut for confidence intervals.
pub const BATCHES: usize = 32;

/// The 97.5 % point of Student's t with `BATCHES - 1` degrees of freedom.
const STUDENT_T: f64 = 2.039_513_446_396_408;

/// An estimated mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean; `None` if nothing was observed.
    pub mean: Option<f64>,
    /// Half the width of the 95 % confidence interval by batch means, which allows for correlation between
    /// successive values; `None` with too few observations to tell.
    pub ci95: Option<f64>,
    /// The number of values; for means over time, of spans.
    pub count: u64,
    /// The standard deviation of single values; `None` for means over time.
    pub deviation: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
}

impl Estimate {
    /// The estimate as a JSON object.
    pub fn to_json(&self) -> Value {
        let mut all = json!({ "mean": self.mean, "ci95": self.ci95, "count": self.count, "min": self.min, "max": self.max });
        if let (Some(deviation), Value::Object(fields)) = (self.deviation, &mut all) {
            fields.insert("deviation".into(), json!(deviation));
        }
        all
    }
}

/// The half-width of the 95 % interval of a ratio of sums over batches, `(numerator, denominator)` each: the classical ratio
/// estimator (Law, "Simulation Modeling and Analysis", section 9.5).
pub(super) fn half_width(batches: &[(f64, f64); BATCHES]) -> Option<f64> {
    let (top, bottom) = batches.iter().fold((0.0, 0.0), |(n, d), b| (n + b.0, d + b.1));
    if bottom <= 0.0 || batches.iter().filter(|b| b.1 > 0.0).count() < BATCHES / 2 {
        return None;
    }
    let ratio = top / bottom;
    let squares: f64 = batches.iter().map(|(n, d)| (n - ratio * d).powi(2)).sum();
    let variance = squares / (BATCHES - 1) as f64;
    Some(STUDENT_T * (variance / BATCHES as f64).sqrt() / (bottom / BATCHES as f64))
}
