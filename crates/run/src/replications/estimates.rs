//! Estimates across runs: means of their results, and how far they differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use statrs::distribution::{ContinuousCDF, StudentsT};
use warpline_model::statistics::mean_and_deviation;
use warpline_record::{ResultField, ResultNote, ResultTree};

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
    /// Half the width of the 95 % confidence interval of the mean, by Student's t, as the runs are
    /// independent; `None` for fewer than two.
    pub ci95: Option<f64>,
    /// The standard deviation from run to run; `None` for fewer than two.
    pub deviation: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The value of each run that has one, by seed.
    pub values: Vec<f64>,
    /// How many runs there were, with and without a value.
    pub runs: usize,
}

impl Spread {
    /// The spread of these values.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(values: &[f64]) -> Self {
        let (Some(mean), deviation) = mean_and_deviation(values) else {
            panic!("a spread of nothing")
        };
        let count = values.len() as f64;
        let quantile = StudentsT::new(0.0, 1.0, count - 1.0).ok().map(|t| t.inverse_cdf(0.975));
        let half = |(deviation, t): (f64, f64)| {
            Some(deviation / count.sqrt() * t).filter(|half| half.is_finite())
        };
        let ci95 = deviation.zip(quantile).and_then(half);
        let (min, max) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| {
                (min.min(value), max.max(value))
            });
        Spread { mean, ci95, deviation, min, max, values: values.to_vec(), runs: values.len() }
    }

    /// The spread of the values of runs of which some have none; `None` if none has one.
    pub(super) fn of_known(values: &[Option<f64>]) -> Option<Self> {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| Spread { runs: values.len(), ..Spread::of(&known) })
    }

    fn to_json(&self) -> Value {
        let Spread { mean, ci95, deviation, min, max, values, runs } = self;
        json!({ "mean": mean, "ci95": ci95, "deviation": deviation, "min": min, "max": max, "count": values.len(), "runs": runs })
    }
}

/// Turns the results of several runs, at `path` in each, into estimates.
///
/// Every number becomes an object with `mean`, `ci95`, `deviation`, `min`, `max`, `count`, which is
/// how many runs have it, and `runs`, which is how many there are. An estimate within a run, an
/// object with `mean` and `ci95`, becomes the estimate of its mean, in which each run has the same
/// weight; `observations` says how many values all runs have. What is no number, or is a
/// [label](ResultNote::label), stays as it is if it is the same in all runs. A list whose length
/// differs from run to run is left out.
pub(super) fn across(
    results: &[&Value],
    path: &str,
    notes: &BTreeMap<String, ResultNote>,
) -> Value {
    // Where some runs have no value, others show its type.
    let Some(&first) = results.iter().find(|value| !value.is_null()) else { return Value::Null };
    let field = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let is_label = notes.get(path).is_some_and(|note| note.label);
    if let Some(values) = numbers(results).filter(|_| !is_label) {
        return Spread::of_known(&values).map_or(Value::Null, |spread| spread.to_json());
    }
    match first {
        Value::Object(fields) if fields.contains_key("mean") && fields.contains_key("ci95") => {
            estimate(results)
        }
        Value::Object(_) => {
            let mut keys: Vec<&String> = Vec::new();
            for key in results.iter().filter_map(|value| value.as_object()).flat_map(Map::keys) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            let merged = keys
                .into_iter()
                .map(|key| (key.clone(), across(&children(results, key), &field(key), notes)));
            Value::Object(merged.collect::<Map<_, _>>())
        }
        Value::Array(list) => {
            let lists: Option<Vec<&Vec<Value>>> = results
                .iter()
                .map(|run| run.as_array().filter(|other| other.len() == list.len()))
                .collect();
            let Some(lists) = lists else { return Value::Null };
            (0..list.len())
                .map(|item| {
                    across(&lists.iter().map(|list| &list[item]).collect::<Vec<_>>(), path, notes)
                })
                .collect()
        }
        same if results.iter().all(|other| *other == same) => same.clone(),
        _ => Value::Null,
    }
}

/// The estimate of the means of estimates.
fn estimate(results: &[&Value]) -> Value {
    let means = children(results, "mean");
    let mut all = match numbers(&means).and_then(|values| Spread::of_known(&values)) {
        Some(spread) => spread.to_json(),
        None => {
            json!({ "mean": null, "ci95": null, "deviation": null, "min": null, "max": null, "count": 0, "runs": results.len() })
        }
    };
    let counts: Option<Vec<u64>> =
        children(results, "count").into_iter().map(Value::as_u64).collect();
    if let Some(counts) = counts {
        all["observations"] =
            counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)).into();
    }
    all
}

/// The values of a number that some runs may lack; `None` if it is no number in one of them, or in
/// all.
fn numbers(results: &[&Value]) -> Option<Vec<Option<f64>>> {
    let values: Option<Vec<_>> = results
        .iter()
        .map(|value| if value.is_null() { Some(None) } else { value.as_f64().map(Some) })
        .collect();
    values.filter(|values| values.iter().any(Option::is_some))
}

fn children<'v>(results: &[&'v Value], key: &str) -> Vec<&'v Value> {
    results.iter().map(|run| &run[key]).collect()
}

/// The value of a result in one run: a number, or the mean of an estimate; `None` where there is
/// none. `path` has the names of objects and the numbers of list items, separated by dots.
pub(super) fn value_at(results: &ResultTree, path: &str) -> Option<f64> {
    let (name, below) = path.split_once('.').unwrap_or((path, ""));
    if let Some(list) = results.lists().get(name) {
        let (number, below) = below.split_once('.').unwrap_or((below, ""));
        return number_at(&list.entry(number.parse().ok()?)?, below);
    }
    number_at(results.short(), path)
}

fn number_at(value: &Value, path: &str) -> Option<f64> {
    let found =
        path.split('.').filter(|key| !key.is_empty()).try_fold(
            value,
            |value, key| match value {
                Value::Array(list) => list.get(key.parse::<usize>().ok()?),
                value => value.get(key),
            },
        )?;
    found.as_f64().or_else(|| found.get("mean")?.as_f64())
}

/// The paths of the first estimates, at most so many, in what [`across`] made.
pub(super) fn paths(estimates: &ResultTree, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    if estimates.lists().is_empty() {
        collect_paths(estimates.short(), "", most, &mut found);
        return found;
    }
    for (name, field) in estimates.fields() {
        match field {
            ResultField::Value(value) => collect_paths(value, name, most, &mut found),
            ResultField::List(list) => {
                // If one entry lacks something, all of them may: further ones are not searched.
                let entries = list.entries().take(most).enumerate();
                entries.for_each(|(number, entry)| {
                    collect_paths(&entry, &format!("{name}.{number}"), most, &mut found)
                });
            }
        }
    }
    found
}

fn collect_paths(value: &Value, path: &str, most: usize, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        _ if found.len() >= most => {}
        Value::Object(fields)
            if fields.contains_key("ci95") && fields.contains_key("deviation") =>
        {
            // Without a value there is nothing to show.
            found.extend(
                fields.get("mean").filter(|mean| mean.is_number()).map(|_| path.to_owned()),
            );
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| collect_paths(value, &below(key), most, found))
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(item, value)| collect_paths(value, &below(&item.to_string()), most, found)),
        _ => {}
    }
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
        let estimates = across(&runs.iter().collect::<Vec<_>>(), "", &BTreeMap::new());
        let mean = |name: &str| estimates.pointer(name).and_then(|value| value["mean"].as_f64());
        let expected = [
            ("/served", 2.0),
            ("/wait", 4.0),
            ("/sizes/p50", 4.0),
            ("/sizes/max", 6.0),
            ("/lists/0", 2.0),
            ("/lists/1", 2.0),
        ];
        assert!(expected.iter().all(|(name, value)| mean(name) == Some(*value)), "{estimates}");
        assert_eq!(
            (&estimates["wait"]["count"], &estimates["sizes"]["max"]["count"]),
            (&json!(3), &json!(2)),
            "one run has no longest"
        );
        assert_eq!((&estimates["unit"], &estimates["of_run"]), (&json!("s"), &Value::Null));
        assert_eq!((&estimates["ragged"], &estimates["nothing"]), (&Value::Null, &Value::Null));
        assert_eq!(
            paths(&estimates.clone().into(), 9),
            ["lists.0", "lists.1", "served", "sizes.max", "sizes.p50", "wait"]
        );
        assert_eq!(
            ["wait", "served", "lists.1", "sizes.p50", "unit", "lists.9"]
                .map(|path| value_at(&runs[1].clone().into(), path)),
            [Some(4.0), Some(2.0), Some(2.0), Some(4.0), None, None]
        );
    }

    #[test]
    fn one_run_has_no_interval() {
        let alone = across(&[&json!({ "served": 7 })], "", &BTreeMap::new());
        assert_eq!(
            alone,
            json!({ "served": { "mean": 7.0, "ci95": null, "deviation": null, "min": 7.0, "max": 7.0, "count": 1, "runs": 1 } })
        );
        assert_eq!(across(&[], "", &BTreeMap::new()), Value::Null);
    }

    /// Nothing is left out without a word, whichever run comes first.
    #[test]
    fn runs_without_a_value_are_counted() {
        let with = |mean: f64| json!({ "wait": { "mean": mean, "ci95": 1, "count": 2 }, "ratio": 0.5, "node": 7, "more": 1 });
        let without = json!({ "wait": { "mean": null, "ci95": null, "count": 0 }, "ratio": null, "node": 7, "all": { "x": 1 } });
        let label =
            [("node".to_owned(), ResultNote { label: true, ..ResultNote::default() })].into();
        for runs in [[&without, &with(1.0), &with(3.0)], [&with(1.0), &with(3.0), &without]] {
            let estimates = across(&runs, "", &label);
            let figures = ["mean", "count", "runs", "observations"]
                .map(|figure| estimates["wait"][figure].as_f64());
            assert_eq!(figures, [Some(2.0), Some(2.0), Some(3.0), Some(4.0)], "{estimates}");
            assert_eq!(
                (&estimates["ratio"]["count"], &estimates["ratio"]["runs"]),
                (&json!(2), &json!(3))
            );
            assert_eq!(
                (&estimates["more"]["count"], &estimates["all"]["x"]["count"], &estimates["node"]),
                (&json!(2), &json!(1), &json!(7))
            );
        }
        let none = across(&[&without, &without], "", &label);
        assert_eq!(
            (&none["wait"]["mean"], &none["wait"]["runs"], &none["wait"]["count"]),
            (&Value::Null, &json!(2), &json!(0))
        );
        assert_eq!(paths(&none.into(), 9), ["all.x"]);
    }

    #[test]
    fn no_magnitude_is_too_large_or_too_small() {
        let spread = Spread::of(&[1e160, 2e160]);
        assert!(
            (spread.deviation.unwrap() / 1e160 - 0.5f64.sqrt()).abs() < 1e-15
                && spread.ci95.is_some_and(|half| half > 1e160)
        );
        assert_eq!(Spread::of(&[1e308; 3]).mean, 1e308);
    }

    /// Of many intervals for a known mean, 95 % must contain it.
    #[test]
    fn intervals_cover_the_mean() {
        use warpline_base::LpId;
        use warpline_base::random::Stream;
        let samples = 4_000u64;
        let each = 5;
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
