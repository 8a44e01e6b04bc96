//! Estimates across runs: what their results have in common, and how far they differ.

use serde_json::{Map, Value, json};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A quantity over several runs.
///
/// ```
/// let spread = warpline::Spread::of(&[2.0, 4.0, 6.0]);
/// assert_eq!((spread.mean, spread.deviation, spread.min, spread.max), (4.0, Some(2.0), 2.0, 6.0));
/// // Student's t with two degrees of freedom is 4.30 at 97.5 %.
/// assert!((spread.ci95.unwrap() - 4.303 * 2.0 / 3f64.sqrt()).abs() < 1e-3);
/// assert_eq!(warpline::Spread::of(&[2.0]).ci95, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The mean over the runs.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t, as the runs are independent; `None` for fewer than two.
    pub ci95: Option<f64>,
    /// The standard deviation from run to run; `None` for fewer than two.
    pub deviation: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The value of each run, by seed.
    pub values: Vec<f64>,
}

impl Spread {
    /// The spread of these values.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(values: &[f64]) -> Self {
        assert!(!values.is_empty(), "a spread of nothing");
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        let quantile = StudentsT::new(0.0, 1.0, count - 1.0).ok().map(|t| t.inverse_cdf(0.975));
        let ci95 = deviation.zip(quantile).map(|(deviation, t)| t * deviation / count.sqrt());
        let (min, max) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| (min.min(value), max.max(value)));
        Spread { mean, ci95, deviation, min, max, values: values.to_vec() }
    }

    fn to_json(&self) -> Value {
        let Spread { mean, ci95, deviation, min, max, values } = self;
        json!({ "mean": mean, "ci95": ci95, "deviation": deviation, "min": min, "max": max, "count": values.len() })
    }
}

/// Turns the results of several runs into estimates: every number becomes an object with `mean`, `ci95`, `deviation`, `min`, `max` and
/// `count` over the runs. The place of an estimate within a run, an object with `mean` and `ci95`, is taken by that of its mean. What is no
/// number stays as it is, if it is the same in all runs; a list whose length differs from run to run is left out.
pub(super) fn across(results: &[&Value]) -> Value {
    let Some((&first, rest)) = results.split_first() else { return Value::Null };
    if let Some(values) = numbers(results) {
        // `None` in some runs: an estimate across the others.
        let values: Vec<f64> = values.into_iter().flatten().collect();
        return if values.is_empty() { Value::Null } else { Spread::of(&values).to_json() };
    }
    match first {
        Value::Object(fields) if fields.contains_key("mean") && fields.contains_key("ci95") => across(&children(results, "mean")),
        Value::Object(fields) => {
            let merged = fields.keys().map(|key| (key.clone(), across(&children(results, key))));
            Value::Object(merged.collect::<Map<_, _>>())
        }
        Value::Array(list) => {
            let lists: Option<Vec<&Vec<Value>>> =
                results.iter().map(|run| run.as_array().filter(|other| other.len() == list.len())).collect();
            let Some(lists) = lists else { return Value::Null };
            (0..list.len()).map(|item| across(&lists.iter().map(|list| &list[item]).collect::<Vec<_>>())).collect()
        }
        same if rest.iter().all(|other| *other == same) => same.clone(),
        _ => Value::Null,
    }
}

/// The values of a number that some runs may lack; `None` if it is no number in one of them, or in all.
fn numbers(results: &[&Value]) -> Option<Vec<Option<f64>>> {
    let values: Option<Vec<_>> = results.iter().map(|value| if value.is_null() { Some(None) } else { value.as_f64().map(Some) }).collect();
    values.filter(|values| values.iter().any(Option::is_some))
}

fn children<'v>(results: &[&'v Value], key: &str) -> Vec<&'v Value> {
    results.iter().map(|run| &run[key]).collect()
}

/// The value of a result in one run: a number, or the mean of an estimate; `None` where there is none. `path` has the names of objects and
/// the numbers of list items, separated by dots.
pub(super) fn value_at(results: &Value, path: &str) -> Option<f64> {
    let found = path.split('.').try_fold(results, |value, key| match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    })?;
    found.as_f64().or_else(|| found.get("mean")?.as_f64())
}

/// The paths of all estimates in what [`across`] made.
pub(super) fn paths(estimates: &Value) -> Vec<String> {
    fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            Value::Object(fields) if fields.contains_key("ci95") && fields.contains_key("deviation") => found.push(path.to_owned()),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(value, &below(key), found)),
            Value::Array(list) => list.iter().enumerate().for_each(|(item, value)| collect(value, &below(&item.to_string()), found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(estimates, "", &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_becomes_an_estimate() {
        let run = |wait: f64, served: u64, longest: Value| {
            json!({
                "served": served, "wait": { "mean": wait, "ci95": 0.5, "count": 9 }, "unit": "s", "of_run": wait.to_string(),
                "sizes": { "p50": wait, "max": longest }, "lists": [served, 2], "ragged": vec![1; served as usize], "nothing": null,
            })
        };
        let runs = [run(2.0, 1, json!(4)), run(4.0, 2, Value::Null), run(6.0, 3, json!(8))];
        let estimates = across(&runs.iter().collect::<Vec<_>>());
        let mean = |name: &str| estimates.pointer(name).and_then(|value| value["mean"].as_f64());
        let expected = [("/served", 2.0), ("/wait", 4.0), ("/sizes/p50", 4.0), ("/sizes/max", 6.0), ("/lists/0", 2.0), ("/lists/1", 2.0)];
        assert!(expected.iter().all(|(name, value)| mean(name) == Some(*value)), "{estimates}");
        assert_eq!((&estimates["wait"]["count"], &estimates["sizes"]["max"]["count"]), (&json!(3), &json!(2)), "one run has no longest");
        assert_eq!((&estimates["unit"], &estimates["of_run"]), (&json!("s"), &Value::Null));
        assert_eq!((&estimates["ragged"], &estimates["nothing"]), (&Value::Null, &Value::Null));
        assert_eq!(paths(&estimates), ["lists.0", "lists.1", "served", "sizes.max", "sizes.p50", "wait"]);
        assert_eq!(
            ["wait", "served", "lists.1", "sizes.p50", "unit", "lists.9"].map(|path| value_at(&runs[1], path)),
            [Some(4.0), Some(2.0), Some(2.0), Some(4.0), None, None]
        );
    }

    #[test]
    fn one_run_has_no_interval() {
        let alone = across(&[&json!({ "served": 7 })]);
        assert_eq!(alone, json!({ "served": { "mean": 7.0, "ci95": null, "deviation": null, "min": 7.0, "max": 7.0, "count": 1 } }));
        assert_eq!(across(&[]), Value::Null);
    }

    /// Of many intervals for a known mean, 95 % must contain it.
    #[test]
    fn intervals_cover_the_mean() {
        use warpline_base::LpId;
        use warpline_base::random::Stream;
        let (samples, each) = (4_000u64, 5);
        let covered = (0..samples).filter(|&sample| {
            let mut stream = Stream::new(7, 0);
            stream.point(LpId(sample as u32), 1);
            let values: Vec<f64> = (0..each).map(|_| stream.random().normal(3.0, 2.0)).collect();
            let spread = Spread::of(&values);
            spread.ci95.is_some_and(|half| (spread.mean - 3.0).abs() < half)
        });
        // The standard deviation of the count is 13.8.
        let covered = covered.count();
        assert!((3_735..=3_865).contains(&covered), "{covered} of {samples}");
    }
}
