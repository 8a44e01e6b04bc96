//! The results of a run for people: a line each, with unit and meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::ResultNote;
use serde_json::{Map, Value};

use super::format;

/// The longest list that is shown in full.
const LIST_MOST: usize = 8;
/// Where all of a list is.
const ELSEWHERE: &str = "see --json or --report";

/// The results, as names and what there is to say of them.
pub(crate) fn lines(results: &Value, notes: &BTreeMap<String, ResultNote>) -> Vec<[String; 2]> {
    match results {
        Value::Null => Vec::new(),
        Value::Object(all) => all.iter().flat_map(|(name, value)| result(name, value, notes)).collect(),
        other => vec![["result".to_owned(), text(other, "")]],
    }
}

/// A result with its note; of a list of objects, their fields, too.
fn result(name: &str, value: &Value, notes: &BTreeMap<String, ResultNote>) -> Vec<[String; 2]> {
    let unit = notes.get(name).map_or("", |note| &note.unit);
    let mut lines = vec![[name.to_owned(), explained(text(value, unit), notes.get(name))]];
    let Value::Array(list) = value else { return lines };
    if list.iter().any(|entry| number(entry).is_some()) {
        return lines;
    }
    let keys: BTreeSet<&String> = list.iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    for key in keys {
        let note = notes.get(&format!("{name}.{key}"));
        let fields: Vec<&Value> = list.iter().filter_map(|entry| entry.get(key)).collect();
        let Some(mut text) = summed_up(&fields, note.map_or("", |note| &note.unit)) else { continue };
        if key == "ci95" {
            text += &narrow(list);
        }
        lines.push([format!("  {key}"), explained(text, note)]);
    }
    lines
}

fn explained(text: String, note: Option<&ResultNote>) -> String {
    match note.map_or("", |note| &note.meaning) {
        "" => text,
        meaning => format!("{text} – {meaning}"),
    }
}

fn text(value: &Value, unit: &str) -> String {
    match value {
        Value::Array(list) if list.len() > LIST_MOST || !list.iter().all(is_scalar) => {
            let count = format!("{} {}", list.len(), if list.len() == 1 { "entry" } else { "entries" });
            match summed_up(&list.iter().collect::<Vec<_>>(), unit) {
                Some(sum) => format!("{count}: {sum}{} ({ELSEWHERE})", narrow(list)),
                None => format!("{count} ({ELSEWHERE})"),
            }
        }
        Value::Array(list) => with_unit(list.iter().map(scalar).collect::<Vec<_>>().join(", "), unit),
        Value::Object(fields) => object(fields, unit),
        value => with_unit(scalar(value), unit),
    }
}

fn with_unit(text: String, unit: &str) -> String {
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// A number, or the mean of what has one.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.get("mean")?.as_f64()).filter(|number| number.is_finite())
}

/// Extremes and mean of the numbers, or of the means, in a list; `None` if there are none.
fn summed_up(list: &[&Value], unit: &str) -> Option<String> {
    let numbers: Vec<f64> = list.iter().filter_map(|value| number(value)).collect();
    let (least, most) = (numbers.iter().copied().reduce(f64::min)?, numbers.iter().copied().reduce(f64::max)?);
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let by = if list.iter().all(|value| is_scalar(value)) { "" } else { "by mean, " };
    let [least, most, mean] = [least, most, mean].map(format::number);
    let others = list.len() - numbers.len();
    let others = if others > 0 { format!(", {others} none") } else { String::new() };
    Some(with_unit(format!("{by}smallest {least}, largest {most}, mean {mean}"), unit) + &others)
}

/// How many intervals of a list are probably too narrow.
fn narrow(list: &[Value]) -> String {
    match list.iter().filter(|entry| entry.get("ci95_note").is_some()).count() {
        0 => String::new(),
        1 => ", 1 interval probably too narrow".to_owned(),
        narrow => format!(", {narrow} intervals probably too narrow"),
    }
}

/// An estimate as `mean ± half-width`; any other object field by field.
fn object(fields: &Map<String, Value>, unit: &str) -> String {
    const ORDER: [&str; 9] = ["count", "mean", "min", "p50", "p90", "p95", "p99", "max", "deviation"];
    if fields.contains_key("ci95") {
        let mean = fields.get("mean").map_or_else(|| "none".into(), scalar);
        let Some(half) = fields.get("ci95").filter(|half| half.is_number()) else { return with_unit(mean, unit) };
        let note = fields.get("ci95_note").and_then(Value::as_str).map(|note| format!(", {note}")).unwrap_or_default();
        return format!("{} (95 % confidence{note})", with_unit(format!("{mean} ± {}", scalar(half)), unit));
    }
    if !fields.values().all(is_scalar) {
        return format!("{} fields ({ELSEWHERE})", fields.len());
    }
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()));
    // A count has no part in the unit.
    let counted = fields.first().filter(|(name, _)| *name == "count" && !unit.is_empty()).map(|(_, count)| scalar(count));
    let fields = fields.into_iter().skip(usize::from(counted.is_some()));
    let figures = fields.map(|(name, value)| format!("{name} {}", scalar(value))).collect::<Vec<_>>().join(", ");
    match counted {
        Some(count) => format!("{count} values in {unit}: {figures}"),
        None if unit.is_empty() => figures,
        None => format!("in {unit}: {figures}"),
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(whole) if !whole.is_f64() => whole.to_string(),
        value => value.as_f64().map_or_else(|| value.to_string(), format::number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(values: &Value, notes: &[(&str, &str, &str)]) -> Vec<String> {
        let note = |(name, unit, meaning): &(&str, &str, &str)| {
            ((*name).to_owned(), ResultNote { unit: (*unit).into(), meaning: (*meaning).into() })
        };
        lines(values, &notes.iter().map(note).collect()).into_iter().map(|line| line.join(": ")).collect()
    }

    #[test]
    fn results_are_lines_and_long_lists_are_counted() {
        let values = json!({
            "count": 12_345_678_901u64, "delay": { "max": 2.5, "count": 3, "mean": 0.1234567, "p50": null },
            "links": [{ "a": "x" }], "list": [1, 2.5], "load": { "mean": 0.5, "ci95": 0.01, "count": 3, "min": 0, "max": 1 },
            "unsure": { "mean": 2.0, "ci95": null }, "word": "yes", "deep": { "a": [1], "b": 2 },
        });
        let expected = [
            "count: 12345678901",
            "deep: 2 fields (see --json or --report)",
            "delay: count 3, mean 0.123457, p50 none, max 2.5",
            "links: 1 entry (see --json or --report)",
            "list: 1, 2.5",
            "load: 0.5 ± 0.01 (95 % confidence)",
            "unsure: 2",
            "word: yes",
        ];
        assert_eq!(shown(&values, &[]), expected);
        assert_eq!(shown(&json!(4), &[]), ["result: 4"]);
        assert_eq!(shown(&Value::Null, &[]), [""; 0]);
        assert_eq!(shown(&json!({ "names": vec!["a"; 312] }), &[]), ["names: 312 entries (see --json or --report)"]);
    }

    #[test]
    fn unit_and_meaning_stand_beside_the_value() {
        let values = json!({
            "inside": { "mean": 4.0, "ci95": 0.5 }, "lost": 3, "pair": [1, 2], "stay": { "count": 7, "mean": 2.5, "max": 9 },
            "times": { "mean": 1 },
        });
        let notes =
            [("inside", "people", "people inside"), ("lost", "", "calls lost"), ("pair", "km", ""), ("stay", "h", ""), ("times", "s", "")];
        let expected = [
            "inside: 4 ± 0.5 people (95 % confidence) – people inside",
            "lost: 3 – calls lost",
            "pair: 1, 2 km",
            "stay: 7 values in h: mean 2.5, max 9",
            "times: in s: mean 1",
        ];
        assert_eq!(shown(&values, &notes), expected);
    }

    #[test]
    fn lists_are_summed_up() {
        let estimates: Vec<Value> = [1.0, 4.0].iter().map(|mean| json!({ "mean": mean, "ci95": 0.5, "ci95_note": "too narrow" })).collect();
        let values = json!({
            "links": [{ "load": 0.5, "name": "a", "ci95": 0.1 }, { "load": 0.25, "name": "b", "ci95": null, "ci95_note": "…" }],
            "long": (0..9).collect::<Vec<_>>(), "loads": estimates, "odd": [1, "x", null, 4, 5, 6, 7, 8, 9],
        });
        let expected = [
            "links: 2 entries (see --json or --report)",
            "  ci95: smallest 0.1, largest 0.1, mean 0.1, 1 none, 1 interval probably too narrow",
            "  load: smallest 0.25, largest 0.5, mean 0.375 km – how full",
            "loads: 2 entries: by mean, smallest 1, largest 4, mean 2.5, 2 intervals probably too narrow (see --json or --report)",
            "long: 9 entries: smallest 0, largest 8, mean 4 s (see --json or --report)",
            "odd: 9 entries: smallest 1, largest 9, mean 5.71429, 2 none (see --json or --report)",
        ];
        assert_eq!(shown(&values, &[("links.load", "km", "how full"), ("long", "s", "")]), expected);
    }

    #[test]
    fn an_interval_that_is_too_narrow_says_so() {
        let values = json!({ "stay": { "mean": 2, "ci95": 0.1, "ci95_note": "probably too narrow: simulate longer" } });
        assert_eq!(shown(&values, &[]), ["stay: 2 ± 0.1 (95 % confidence, probably too narrow: simulate longer)"]);
    }
}
