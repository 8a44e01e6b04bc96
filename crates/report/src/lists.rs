//! Lists of results in a few figures, each of which says what it is over.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use warpline_base::record::ResultNote;

/// Figures of single values that make no sense as a mean over several entries.
const NO_MEAN: [&str; 11] = ["ci95", "deviation", "max", "min", "p50", "p90", "p95", "p99", "single_max", "single_min", "runs"];

/// The numbers of a list, or the means of what has one, in a few figures.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSummary {
    /// How many entries there are, and how many of them have a number.
    pub entries: usize,
    /// See [`entries`](Self::entries).
    pub known: usize,
    /// The least number.
    pub least: Extreme,
    /// The greatest number.
    pub most: Extreme,
    /// The mean; `None` if it would say nothing.
    pub mean: Option<f64>,
    /// What the mean is over if not over the entries: so many values that the means of entries are of. Each entry has its share of them.
    pub values: Option<u64>,
}

/// An entry with the least or the greatest number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extreme {
    /// The number.
    pub value: f64,
    /// Half the width of its 95 % interval, if it has one.
    pub ci95: Option<f64>,
    /// Its place in the list, from 0.
    pub entry: usize,
}

/// The list at `path` in a few figures; `None` if there are no numbers in it, or if they may be names: whole numbers of which the model has
/// not said what they are, or has said that they are [labels](ResultNote::label).
pub fn summed_up(list: &[Value], path: &str, notes: &BTreeMap<String, ResultNote>) -> Option<ListSummary> {
    let values: Vec<(&Value, Option<f64>)> = list.iter().map(|value| (value, weight(value))).collect();
    if may_be_names(&values, notes.get(path)) { None } else { figures(&values, true) }
}

/// The fields of a list of objects at `path`, each in a few figures.
pub fn fields<'l>(list: &'l [Value], path: &str, notes: &BTreeMap<String, ResultNote>) -> Vec<(&'l str, ListSummary)> {
    let keys: BTreeSet<&String> = list.iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    let summary = |key: &'l String| {
        let of_entry = |entry: &'l Value| {
            let value = entry.get(key)?;
            // The mean of an entry is of so many values as it says beside it.
            let beside = || if key == "mean" { entry.get("count").and_then(number) } else { None };
            Some((value, weight(value).or_else(beside)))
        };
        let values: Vec<(&Value, Option<f64>)> = list.iter().map(|entry| of_entry(entry).unwrap_or((&Value::Null, None))).collect();
        let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let values = if may_be_names(&values, notes.get(&name)) { return None } else { values };
        Some((key.as_str(), figures(&values, !NO_MEAN.contains(&key.as_str()))?))
    };
    keys.into_iter().filter_map(summary).collect()
}

/// What people call an entry of the list at `path`: by its labels, or else by its place.
pub fn name_of(list: &[Value], path: &str, notes: &BTreeMap<String, ResultNote>, entry: usize) -> String {
    let labels = notes.iter().filter(|(_, note)| note.label);
    let keys: Vec<&str> = labels.filter_map(|(name, _)| name.strip_prefix(path)?.strip_prefix('.')).collect();
    let named: Vec<&str> = keys.iter().copied().filter(|key| key.ends_with("name")).collect();
    let keys = if named.is_empty() { keys } else { named };
    let words: Vec<String> = keys.into_iter().filter_map(|key| list.get(entry)?.get(key)).map(word).collect();
    if words.is_empty() { format!("item {entry}") } else { words.join(" – ") }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A number, or the mean of what has one.
pub fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.get("mean")?.as_f64()).filter(|number| number.is_finite())
}

/// How many values an estimate is the mean of; `None` if it is of none, such as one over time, or of runs.
fn weight(value: &Value) -> Option<f64> {
    let fields = value.as_object()?;
    let count = if fields.contains_key("runs") { fields.get("observations") } else { fields.get("count") };
    count?.as_f64()
}

fn may_be_names(values: &[(&Value, Option<f64>)], note: Option<&ResultNote>) -> bool {
    // Of several runs, a number that is the same in all.
    let same = |value: &Value| {
        let least = value.get("min").filter(|least| value.get("runs").is_some() && Some(*least) == value.get("max"));
        least.and_then(Value::as_f64).is_some_and(|least| least.fract() == 0.0)
    };
    let whole = |value: &Value| value.is_i64() || value.is_u64() || value.is_null() || value.is_string() || same(value);
    note.map_or_else(|| values.iter().all(|(value, _)| whole(value)), |note| note.label)
}

fn figures(values: &[(&Value, Option<f64>)], with_mean: bool) -> Option<ListSummary> {
    let known: Vec<(Extreme, Option<f64>)> = values
        .iter()
        .enumerate()
        .filter_map(|(entry, (value, weight))| {
            let ci95 = value.get("ci95").and_then(Value::as_f64);
            Some((Extreme { value: number(value)?, ci95, entry }, *weight))
        })
        .collect();
    let entries = known.iter().map(|(entry, _)| *entry);
    let least = entries.clone().reduce(|least, other| if other.value < least.value { other } else { least })?;
    let most = entries.reduce(|most, other| if other.value > most.value { other } else { most })?;
    let weights: Option<Vec<f64>> = known.iter().map(|(_, weight)| *weight).collect();
    let total: f64 = weights.iter().flatten().sum();
    let values_known = weights.filter(|_| total > 0.0);
    let share = |place: usize| values_known.as_ref().map_or(1.0 / known.len() as f64, |weights| weights[place] / total);
    // Shares of finite numbers add up to something between them.
    let mean: f64 = known.iter().enumerate().map(|(place, (entry, _))| entry.value * share(place)).sum();
    Some(ListSummary {
        entries: values.len(),
        known: known.len(),
        least,
        most,
        mean: with_mean.then(|| mean.clamp(least.value, most.value)),
        values: values_known.map(|_| total as u64),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(label: bool) -> ResultNote {
        ResultNote { label, ..ResultNote::default() }
    }

    fn list(value: &Value) -> &[Value] {
        value.as_array().map_or(&[], Vec::as_slice)
    }

    /// Of 100 patients who wait for 0.1 h and 300 who wait for 0.5 h.
    #[test]
    fn a_mean_of_means_is_weighted() {
        let wards =
            json!([{ "mean": 0.1, "ci95": 0.01, "count": 100 }, { "mean": 0.5, "ci95": 0.02, "count": 300 }, { "mean": null, "count": 0 }]);
        let all = summed_up(list(&wards), "wait", &BTreeMap::new()).unwrap();
        assert_eq!((all.entries, all.known, all.values), (3, 2, Some(400)));
        assert!((all.mean.unwrap() - 0.4).abs() < 1e-15);
        assert_eq!(all.most, Extreme { value: 0.5, ci95: Some(0.02), entry: 1 });
        // Means over time last equally long, and so do means over runs count alike.
        let levels = json!([{ "mean": 1.0, "ci95": 0.1, "spans": 7 }, { "mean": 3.0, "ci95": 0.1, "spans": 1 }]);
        let over_time = summed_up(list(&levels), "busy", &BTreeMap::new()).unwrap();
        assert_eq!((over_time.mean, over_time.values), (Some(2.0), None));
        let runs =
            json!([{ "mean": 1.0, "count": 3, "runs": 3, "observations": 30 }, { "mean": 4.0, "count": 3, "runs": 3, "observations": 10 }]);
        assert_eq!(summed_up(list(&runs), "wait", &BTreeMap::new()).unwrap().mean, Some(1.75));
        let histograms = json!([{ "count": 1, "mean": 1.0, "p99": 7.5 }, { "count": 3, "mean": 3.0, "p99": 8.0 }]);
        assert_eq!(summed_up(list(&histograms), "stay", &BTreeMap::new()).unwrap().mean, Some(2.5));
    }

    #[test]
    fn a_mean_of_finite_numbers_is_finite() {
        let huge = json!([1e308, 1e308, 1e308]);
        assert_eq!(summed_up(list(&huge), "", &BTreeMap::new()).unwrap().mean, Some(1e308));
    }

    #[test]
    fn names_are_never_averaged() {
        let links = json!([
            { "source": 5, "target": "b", "load": 0.5, "lines": 2, "id": 3, "ci95": 0.1, "from_name": "Aachen", "to_name": "Bonn" },
            { "source": 6, "target": "a", "load": 0.25, "lines": 1, "id": 4, "ci95": null, "from_name": "Bonn", "to_name": "Celle" },
        ]);
        let notes: BTreeMap<String, ResultNote> =
            [("links.source", true), ("links.lines", false), ("links.from_name", true), ("links.to_name", true), ("other.x", true)]
                .map(|(name, label)| (name.to_owned(), note(label)))
                .into();
        let all = fields(list(&links), "links", &notes);
        let means: Vec<(&str, Option<f64>)> = all.iter().map(|(name, figures)| (*name, figures.mean)).collect();
        assert_eq!(means, [("ci95", None), ("lines", Some(1.5)), ("load", Some(0.375))]);
        assert_eq!(name_of(list(&links), "links", &notes, all[2].1.most.entry), "Aachen – Bonn");
        assert_eq!(name_of(list(&links), "links", &BTreeMap::new(), 1), "item 1");
        assert_eq!(summed_up(list(&json!([3, 1, 2])), "order", &BTreeMap::new()), None);
        let of_runs =
            |least: f64, most: f64| json!({ "mean": (least + most) / 2.0, "ci95": 0.0, "min": least, "max": most, "count": 2, "runs": 2 });
        let of_runs =
            json!([{ "id": of_runs(3.0, 3.0), "load": of_runs(3.0, 5.0) }, { "id": of_runs(1.0, 1.0), "load": of_runs(2.0, 2.0) }]);
        assert_eq!(fields(list(&of_runs), "links", &BTreeMap::new()).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["load"]);
        assert_eq!(summed_up(list(&json!([3, 1, 2])), "lost", &[("lost".to_owned(), note(false))].into()).unwrap().mean, Some(2.0));
    }
}
