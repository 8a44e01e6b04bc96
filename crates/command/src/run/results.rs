//! The results of a run for people: a line each, with unit and meaning.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use warpline_record::{ResultField, ResultNote, ResultTree};
use warpline_report::lists::{self, Entries, Extreme, ListOverview, ListSummary};

use crate::output::format;

/// The longest list that is shown in full.
const LIST_MOST: usize = 8;
/// Where to find the whole list.
const ELSEWHERE: &str = "see --json or --report";

/// The notes on results, by name.
type ResultNotes = BTreeMap<String, ResultNote>;

/// The results: each name with its value, unit and meaning.
pub(crate) fn lines(results: &ResultTree, notes: &ResultNotes) -> Vec<[String; 2]> {
    let field = |(name, field): (&str, ResultField<'_>)| match field {
        ResultField::Value(Value::Array(list)) => listed(name, Entries::Kept(list), notes),
        ResultField::Value(value) => {
            vec![[name.to_owned(), explained(text(name, value, notes), notes.get(name))]]
        }
        ResultField::List(list) => listed(name, Entries::Made(list), notes),
    };
    match results.short() {
        Value::Object(_) | Value::Null => results.fields().flat_map(field).collect(),
        other => vec![["result".to_owned(), text("", other, notes)]],
    }
}

/// A list with its note. A few items follow with their intervals, and the fields of a list of
/// objects.
fn listed(name: &str, list: Entries<'_>, notes: &ResultNotes) -> Vec<[String; 2]> {
    let unit = notes.get(name).map_or("", |note| &note.unit);
    let overview = ListOverview::of(list, name);
    let mut lines = vec![[
        name.to_owned(),
        explained(list_text(name, list, &overview, unit, notes), notes.get(name)),
    ]];
    if overview.summary(notes).is_some() {
        if list.len() <= LIST_MOST {
            let items = list.iter().enumerate().filter(|(_, item)| item.is_object());
            lines.extend(items.map(|(entry, item)| {
                let item = item.as_object().map(|item| object(item, unit)).unwrap_or_default();
                [format!("  {}", lists::name_of(list, name, notes, entry)), item]
            }));
        }
        return lines;
    }
    for (key, summary, _) in overview.fields(notes) {
        let note = notes.get(&format!("{name}.{key}"));
        let mut text = summed_up(&summary, note.map_or("", |note| &note.unit), |entry| {
            lists::name_of(list, name, notes, entry)
        });
        if key == "ci95" {
            text += &narrow(overview.cautions);
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

fn text(name: &str, value: &Value, notes: &ResultNotes) -> String {
    let unit = notes.get(name).map_or("", |note| &note.unit);
    match value {
        Value::Array(list) => {
            let list = Entries::Kept(list);
            list_text(name, list, &ListOverview::of(list, name), unit, notes)
        }
        Value::Object(fields) => object(fields, unit),
        value => with_unit(scalar(value), unit),
    }
}

fn list_text(
    name: &str,
    list: Entries<'_>,
    overview: &ListOverview<'_>,
    unit: &str,
    notes: &ResultNotes,
) -> String {
    if list.len() <= LIST_MOST && overview.is_plain {
        return with_unit(
            list.iter().map(|value| scalar(&value)).collect::<Vec<_>>().join(", "),
            unit,
        );
    }
    let count = format::counted(list.len(), "entry", "entries");
    match overview.summary(notes) {
        Some(summary) => {
            let sum = summed_up(&summary, unit, |entry| lists::name_of(list, name, notes, entry));
            format!("{count}: {sum}{} ({ELSEWHERE})", narrow(overview.cautions))
        }
        None => format!("{count} ({ELSEWHERE})"),
    }
}

fn with_unit(text: String, unit: &str) -> String {
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// Extremes and mean of a list of numbers or means, and what the mean is of.
fn summed_up(summary: &ListSummary, unit: &str, called: impl Fn(usize) -> String) -> String {
    let ListSummary { entries, known, least, most, mean, values } = summary;
    let extreme = |Extreme { value, ci95, entry }: &Extreme| {
        let half = ci95.map(|half| format!(" ± {}", format::number(half))).unwrap_or_default();
        format!("{}{half} ({})", format::number(*value), called(*entry))
    };
    let mean = mean.map(|mean| match values {
        Some(values) => {
            format!(", mean {} of all {values} values", with_unit(format::number(mean), unit))
        }
        None => format!(", mean {} of the entries", with_unit(format::number(mean), unit)),
    });
    let others =
        if known < entries { format!(", {} none", entries - known) } else { String::new() };
    let least_and_most = format!("smallest {}, largest {}", extreme(least), extreme(most));
    let least_and_most =
        if mean.is_none() { with_unit(least_and_most, unit) } else { least_and_most };
    format!("{least_and_most}{}{others}", mean.unwrap_or_default())
}

/// How many intervals of a list are probably too narrow.
fn narrow(intervals: usize) -> String {
    match intervals {
        0 => String::new(),
        1 => ", 1 interval probably too narrow".to_owned(),
        narrow => format!(", {narrow} intervals probably too narrow"),
    }
}

/// An estimate as `mean ± half-width`; any other object field by field.
fn object(fields: &Map<String, Value>, unit: &str) -> String {
    const ORDER: [&str; 9] =
        ["count", "mean", "min", "p50", "p90", "p95", "p99", "max", "deviation"];
    if fields.contains_key("ci95") {
        let mean = fields.get("mean").map_or_else(|| "none".into(), scalar);
        let half = fields.get("ci95").filter(|half| half.is_number());
        let note = fields
            .get("ci95_note")
            .and_then(Value::as_str)
            .map(|note| format!(", {note}"))
            .unwrap_or_default();
        let confidence = half.map(|_| format!("95 % confidence{note}"));
        let remarks: Vec<String> =
            [confidence, sum(fields), missing(fields)].into_iter().flatten().collect();
        let mean = match half {
            Some(half) => with_unit(format!("{mean} ± {}", scalar(half)), unit),
            None => with_unit(mean, unit),
        };
        return if remarks.is_empty() { mean } else { format!("{mean} ({})", remarks.join("; ")) };
    }
    if !fields.values().all(is_scalar) {
        return format!("{} fields ({ELSEWHERE})", fields.len());
    }
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| {
        ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len())
    });
    // The unit is not that of the count.
    let counted = fields
        .first()
        .filter(|(name, _)| *name == "count" && !unit.is_empty())
        .map(|(_, count)| scalar(count));
    let fields = fields.into_iter().skip(usize::from(counted.is_some()));
    let figures = fields
        .map(|(name, value)| format!("{name} {}", scalar(value)))
        .collect::<Vec<_>>()
        .join(", ");
    match counted {
        Some(count) => format!("{count} values in {unit}: {figures}"),
        None if unit.is_empty() => figures,
        None => format!("in {unit}: {figures}"),
    }
}

/// Of what a mean over time is the sum, if it is one.
fn sum(fields: &Map<String, Value>) -> Option<String> {
    let least = fields.get("single_min")?;
    let most = fields.get("single_max")?;
    let of = fields
        .get("levels")
        .map_or_else(|| "spans".to_owned(), |levels| format!("{levels} levels"));
    let each = if least == most {
        scalar(least)
    } else {
        format!("{} to {}", scalar(least), scalar(most))
    };
    Some(format!("sum of {of}, each {each}"))
}

/// How many runs had no observation, if any had none.
fn missing(fields: &Map<String, Value>) -> Option<String> {
    let runs = fields.get("runs")?.as_u64()?;
    let known = fields.get("count")?.as_u64()?;
    (known < runs).then(|| format!("no observation in {} of {runs} runs", runs - known))
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
            (
                (*name).to_owned(),
                ResultNote { unit: (*unit).into(), meaning: (*meaning).into(), label: false },
            )
        };
        lines(&values.clone().into(), &notes.iter().map(note).collect())
            .into_iter()
            .map(|line| line.join(": "))
            .collect()
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
        assert_eq!(
            shown(&json!({ "names": vec!["a"; 312] }), &[]),
            ["names: 312 entries (see --json or --report)"]
        );
    }

    #[test]
    fn unit_and_meaning_stand_beside_the_value() {
        let values = json!({
            "inside": { "mean": 4.0, "ci95": 0.5 }, "lost": 3, "pair": [1, 2], "stay": { "count": 7, "mean": 2.5, "max": 9 },
            "times": { "mean": 1 },
        });
        let notes = [
            ("inside", "people", "people inside"),
            ("lost", "", "calls lost"),
            ("pair", "km", ""),
            ("stay", "h", ""),
            ("times", "s", ""),
        ];
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
        let estimate = |mean: f64, count: u64| {
            json!({ "mean": mean, "ci95": 0.5, "ci95_note": "too \
            narrow", "count": count })
        };
        let values = json!({
            "links": [{ "load": 0.5, "name": "a", "id": 7, "ci95": 0.1 }, { "load": 0.25, "name": "b", "id": 8, "ci95": null, "ci95_note": "…" }],
            "long": (0..9).collect::<Vec<_>>(), "loads": [estimate(1.0, 1), estimate(4.0, 3)], "odd": [1.5, "x", null, 4, 5, 6, 7, 8, 9],
            "order": [3, 1, 2, 4, 5, 6, 7, 8, 9],
        });
        let expected = [
            "links: 2 entries (see --json or --report)",
            "  ci95: smallest 0.1 (item 0), largest 0.1 (item 0), 1 none, 1 interval probably too \
             narrow",
            "  load: smallest 0.25 (item 1), largest 0.5 (item 0), mean 0.375 km of the entries – \
             how full",
            "loads: 2 entries: smallest 1 ± 0.5 (item 0), largest 4 ± 0.5 (item 1), mean 3.25 of \
             all 4 values, 2 intervals probably too narrow (see --json or --report)",
            "  item 0: 1 ± 0.5 (95 % confidence, too narrow)",
            "  item 1: 4 ± 0.5 (95 % confidence, too narrow)",
            "long: 9 entries: smallest 0 (item 0), largest 8 (item 8), mean 4 s of the entries \
             (see --json or --report)",
            "odd: 9 entries: smallest 1.5 (item 0), largest 9 (item 8), mean 5.78571 of the \
             entries, 2 none (see --json or --report)",
            "order: 9 entries (see --json or --report)",
        ];
        assert_eq!(
            shown(&values, &[("links.load", "km", "how full"), ("long", "s", "")]),
            expected
        );
    }

    /// A sum of levels shows the extremes of single levels. Several runs show how many have no
    /// value.
    #[test]
    fn a_result_says_what_it_is_over() {
        let values = json!({
            "busy": { "mean": 116.5, "ci95": 2, "levels": 16, "single_min": 0, "single_max": 10, "spans": 900 },
            "held": { "mean": 0.5, "ci95": null, "single_min": 1, "single_max": 1, "spans": 900 },
            "none": { "mean": null, "ci95": null, "count": 0, "runs": 7 },
            "wait": { "mean": 2, "ci95": 0.5, "count": 3, "runs": 4, "observations": 8 },
        });
        let expected = [
            "busy: 116.5 ± 2 channels (95 % confidence; sum of 16 levels, each 0 to 10)",
            "held: 0.5 (sum of spans, each 1)",
            "none: none (no observation in 7 of 7 runs)",
            "wait: 2 ± 0.5 (95 % confidence; no observation in 1 of 4 runs)",
        ];
        assert_eq!(shown(&values, &[("busy", "channels", "")]), expected);
    }

    #[test]
    fn an_interval_that_is_too_narrow_says_so() {
        let values = json!({ "stay": { "mean": 2, "ci95": 0.1, "ci95_note": "probably too narrow: \
            simulate longer" } });
        assert_eq!(
            shown(&values, &[]),
            ["stay: 2 ± 0.1 (95 % confidence, probably too narrow: simulate longer)"]
        );
    }
}
