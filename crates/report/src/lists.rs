//! Sums up lists of results in a few figures, and says what each figure is of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use warpline_record::{ResultList, ResultNote};

/// Figures of an entry whose mean over several entries makes no sense.
const NO_MEAN: [&str; 11] = [
    "ci95",
    "deviation",
    "max",
    "min",
    "p50",
    "p90",
    "p95",
    "p99",
    "single_max",
    "single_min",
    "runs",
];

/// A list in a few figures: those of its numbers, or of the means of its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSummary {
    /// How many entries there are.
    pub entries: usize,
    /// How many of them have a number.
    pub known: usize,
    /// The least number.
    pub least: Extreme,
    /// The greatest number.
    pub most: Extreme,
    /// The mean; `None` if it would mean nothing.
    pub mean: Option<f64>,
    /// The number of values behind the entries, if these are means themselves. Each entry then
    /// counts by its share of the values.
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

/// The entries of a list.
#[derive(Clone, Copy, Debug)]
pub enum Entries<'a> {
    /// In memory.
    Kept(&'a [Value]),
    /// Made one by one, when they are needed.
    Made(&'a ResultList),
}

impl Entries<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Entries::Kept(list) => list.len(),
            Entries::Made(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry with this number, from 0.
    pub fn get(&self, number: usize) -> Option<Cow<'_, Value>> {
        match self {
            Entries::Kept(list) => list.get(number).map(Cow::Borrowed),
            Entries::Made(list) => list.entry(number).map(Cow::Owned),
        }
    }

    /// All of them, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Value>> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

/// What a report says of a list. One pass finds it, as the list may be larger than memory.
#[derive(Clone, Debug)]
pub struct ListOverview<'p> {
    path: &'p str,
    entries: Numbers,
    /// The fields of entries that are objects, by name, each with its first remark on an interval.
    fields: BTreeMap<String, (Numbers, Option<String>)>,
    /// Whether no entry is an object or a list.
    pub is_plain: bool,
    /// Whether all entries are objects.
    pub are_objects: bool,
    /// How many entries have an interval with a remark.
    pub cautions: usize,
    /// The first of these remarks.
    pub caution: Option<String>,
}

impl<'p> ListOverview<'p> {
    /// Goes through the list at `path`.
    pub fn of(list: Entries<'_>, path: &'p str) -> Self {
        let mut all = ListOverview {
            path,
            entries: Numbers::default(),
            fields: BTreeMap::new(),
            is_plain: true,
            are_objects: true,
            cautions: 0,
            caution: None,
        };
        list.iter().for_each(|entry| all.add(&entry));
        all
    }

    fn add(&mut self, entry: &Value) {
        let place = self.entries.entries;
        self.entries.add(place, entry, weight(entry));
        self.is_plain &= !entry.is_object() && !entry.is_array();
        self.are_objects &= entry.is_object();
        if let Some(caution) = remark(entry) {
            self.cautions += 1;
            self.caution.get_or_insert_with(|| caution.to_owned());
        }
        for (key, value) in entry.as_object().into_iter().flatten() {
            // Beside its mean, an entry has the number of values.
            let beside = || if key == "mean" { entry.get("count").and_then(number) } else { None };
            if !self.fields.contains_key(key) {
                self.fields.insert(key.clone(), Default::default());
            }
            let Some((numbers, caution)) = self.fields.get_mut(key) else { continue };
            numbers.add(place, value, weight(value).or_else(beside));
            if caution.is_none() {
                *caution = remark(value).map(str::to_owned);
            }
        }
    }

    /// The list in a few figures. `None` if it has no numbers, or if they may be names: whole
    /// numbers that the model does not describe, or that it calls [labels](ResultNote::label).
    pub fn summary(&self, notes: &BTreeMap<String, ResultNote>) -> Option<ListSummary> {
        self.entries.figures(self.entries.entries, true, notes.get(self.path))
    }

    /// The fields of a list of objects, each with its name, a few figures, and the first remark on
    /// an interval.
    pub fn fields(
        &self,
        notes: &BTreeMap<String, ResultNote>,
    ) -> Vec<(&str, ListSummary, Option<&str>)> {
        let figures = |key: &str, numbers: &Numbers| {
            let name =
                if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
            numbers.figures(self.entries.entries, !NO_MEAN.contains(&key), notes.get(&name))
        };
        let fields = self.fields.iter();
        fields
            .filter_map(|(key, (numbers, caution))| {
                Some((key.as_str(), figures(key, numbers)?, caution.as_deref()))
            })
            .collect()
    }
}

/// The remark on an interval.
fn remark(value: &Value) -> Option<&str> {
    value.get("ci95_note")?.as_str()
}

/// The name of an entry of the list at `path`, for people: its labels, or else its place.
pub fn name_of(
    list: Entries<'_>,
    path: &str,
    notes: &BTreeMap<String, ResultNote>,
    entry: usize,
) -> String {
    let labels = notes.iter().filter(|(_, note)| note.label);
    let keys: Vec<&str> =
        labels.filter_map(|(name, _)| name.strip_prefix(path)?.strip_prefix('.')).collect();
    let named: Vec<&str> = keys.iter().copied().filter(|key| key.ends_with("name")).collect();
    let keys = if named.is_empty() { keys } else { named };
    let called = if keys.is_empty() { None } else { list.get(entry) };
    let words: Vec<String> =
        keys.into_iter().filter_map(|key| called.as_ref()?.get(key)).map(word).collect();
    if words.is_empty() { format!("item {entry}") } else { words.join(" – ") }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A number, or the mean of an estimate.
pub fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.get("mean")?.as_f64()).filter(|number| number.is_finite())
}

/// How many values an estimate is the mean of; `None` if it does not say, such as a mean over time.
fn weight(value: &Value) -> Option<f64> {
    let fields = value.as_object()?;
    let count =
        if fields.contains_key("runs") { fields.get("observations") } else { fields.get("count") };
    count?.as_f64()
}

/// Whether a value may be a name: a word or a whole number. Over several runs, it has to be the same
/// in all of them.
fn may_be_name(value: &Value) -> bool {
    let same = |value: &Value| {
        let least = value
            .get("min")
            .filter(|least| value.get("runs").is_some() && Some(*least) == value.get("max"));
        least.and_then(Value::as_f64).is_some_and(|least| least.fract() == 0.0)
    };
    value.is_i64() || value.is_u64() || value.is_null() || value.is_string() || same(value)
}

/// Figures of the numbers and means among the values so far.
#[derive(Clone, Debug)]
struct Numbers {
    /// How many values there were.
    entries: usize,
    known: usize,
    extremes: Option<(Extreme, Extreme)>,
    /// The mean if all numbers count alike.
    mean: f64,
    /// The mean if each number counts by its weight.
    weighted_mean: f64,
    /// The sum of all weights; `None` if a number has none.
    total: Option<f64>,
    /// Whether all may be names: whole numbers or words.
    are_whole: bool,
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers {
            entries: 0,
            known: 0,
            extremes: None,
            mean: 0.0,
            weighted_mean: 0.0,
            total: Some(0.0),
            are_whole: true,
        }
    }
}

impl Numbers {
    fn add(&mut self, entry: usize, value: &Value, weight: Option<f64>) {
        self.entries += 1;
        self.are_whole &= may_be_name(value);
        let Some(number) = number(value) else { return };
        self.known += 1;
        // A step from one mean to the next: a sum of finite numbers might be infinite.
        let joined = |mean: f64, share: f64| mean * (1.0 - share) + number * share;
        self.mean = joined(self.mean, 1.0 / self.known as f64);
        self.total = self.total.zip(weight).map(|(total, weight)| total + weight);
        if let (Some(total), Some(weight)) = (self.total, weight)
            && total > 0.0
        {
            self.weighted_mean = joined(self.weighted_mean, weight / total);
        }
        let this =
            Extreme { value: number, ci95: value.get("ci95").and_then(Value::as_f64), entry };
        let (least, most) = self.extremes.unwrap_or((this, this));
        self.extremes = Some((
            if number < least.value { this } else { least },
            if number > most.value { this } else { most },
        ));
    }

    /// Sums up a list with this many entries.
    fn figures(
        &self,
        entries: usize,
        with_mean: bool,
        note: Option<&ResultNote>,
    ) -> Option<ListSummary> {
        if note.map_or(self.are_whole, |note| note.label) {
            return None;
        }
        let (least, most) = self.extremes?;
        let values = self.total.filter(|total| *total > 0.0);
        let mean = if values.is_some() { self.weighted_mean } else { self.mean };
        Some(ListSummary {
            entries,
            known: self.known,
            least,
            most,
            mean: with_mean.then(|| mean.clamp(least.value, most.value)),
            values: values.map(|total| total as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(label: bool) -> ResultNote {
        ResultNote { label, ..ResultNote::default() }
    }

    fn list(value: &Value) -> Entries<'_> {
        Entries::Kept(value.as_array().map_or(&[], Vec::as_slice))
    }

    fn summed_up(
        list: Entries<'_>,
        path: &str,
        notes: &BTreeMap<String, ResultNote>,
    ) -> Option<ListSummary> {
        ListOverview::of(list, path).summary(notes)
    }

    /// 100 patients wait for 0.1 h, and 300 for 0.5 h.
    #[test]
    fn a_mean_of_means_is_weighted() {
        let wards = json!([{ "mean": 0.1, "ci95": 0.01, "count": 100 }, { "mean": 0.5, "ci95": 0.02, "count": 300 }, { "mean": null, "count": 0 }]);
        let all = summed_up(list(&wards), "wait", &BTreeMap::new()).unwrap();
        assert_eq!((all.entries, all.known, all.values), (3, 2, Some(400)));
        assert!((all.mean.unwrap() - 0.4).abs() < 1e-15);
        assert_eq!(all.most, Extreme { value: 0.5, ci95: Some(0.02), entry: 1 });
        // Means over time cover equally long spans, and count alike.
        let levels = json!([{ "mean": 1.0, "ci95": 0.1, "spans": 7 }, { "mean": 3.0, "ci95": 0.1, "spans": 1 }]);
        let over_time = summed_up(list(&levels), "busy", &BTreeMap::new()).unwrap();
        assert_eq!((over_time.mean, over_time.values), (Some(2.0), None));
        // Means over runs count by their observations.
        let runs = json!([{ "mean": 1.0, "count": 3, "runs": 3, "observations": 30 }, { "mean": 4.0, "count": 3, "runs": 3, "observations": 10 }]);
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
        let notes: BTreeMap<String, ResultNote> = [
            ("links.source", true),
            ("links.lines", false),
            ("links.from_name", true),
            ("links.to_name", true),
            ("other.x", true),
        ]
        .map(|(name, label)| (name.to_owned(), note(label)))
        .into();
        let all = ListOverview::of(list(&links), "links");
        let all = all.fields(&notes);
        let means: Vec<(&str, Option<f64>)> =
            all.iter().map(|(name, figures, _)| (*name, figures.mean)).collect();
        assert_eq!(means, [("ci95", None), ("lines", Some(1.5)), ("load", Some(0.375))]);
        assert_eq!(name_of(list(&links), "links", &notes, all[2].1.most.entry), "Aachen – Bonn");
        assert_eq!(name_of(list(&links), "links", &BTreeMap::new(), 1), "item 1");
        assert_eq!(summed_up(list(&json!([3, 1, 2])), "order", &BTreeMap::new()), None);
        let of_runs = |least: f64, most: f64| json!({ "mean": (least + most) / 2.0, "ci95": 0.0, "min": least, "max": most, "count": 2, "runs": 2 });
        let of_runs = json!([{ "id": of_runs(3.0, 3.0), "load": of_runs(3.0, 5.0) }, { "id": of_runs(1.0, 1.0), "load": of_runs(2.0, 2.0) }]);
        let overview = ListOverview::of(list(&of_runs), "links");
        assert_eq!(
            overview.fields(&BTreeMap::new()).iter().map(|(name, ..)| *name).collect::<Vec<_>>(),
            ["load"]
        );
        assert_eq!(
            summed_up(list(&json!([3, 1, 2])), "lost", &[("lost".to_owned(), note(false))].into())
                .unwrap()
                .mean,
            Some(2.0)
        );
    }
}
