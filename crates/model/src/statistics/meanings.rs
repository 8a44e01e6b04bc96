//! The notes on results: their units and meanings.
//!
//! Results stay as the model makes them. The notes are a separate part of the record, by name, so
//! programs that read results can ignore them.

use std::collections::BTreeMap;

use serde_json::Value;
use warpline_record::ResultNote;

/// The figures beside a mean, and their meanings.
const FIGURES: [(&str, &str); 4] = [
    (
        "ci95",
        "half the width of the 95 % confidence interval: in about 95 of 100 runs, the true mean is \
         at most this far from the mean",
    ),
    ("levels", "how many levels add up in the mean"),
    (
        "single_min",
        "the least value of any single level or span among those that add up in the mean",
    ),
    (
        "single_max",
        "the greatest value of any single level or span among those that add up in the mean",
    ),
];

/// The declared notes that belong to a result, and notes on the figures beside means.
pub(super) fn of(
    results: &Value,
    declared: BTreeMap<String, ResultNote>,
) -> BTreeMap<String, ResultNote> {
    let mut notes = declared;
    notes.retain(|path, _| exists(results, path));
    explain_intervals(results, "", &mut notes);
    notes
}

/// Whether there is a result at this path. Names may contain dots.
fn exists(results: &Value, path: &str) -> bool {
    match results {
        Value::Array(list) => list.iter().any(|entry| exists(entry, path)),
        Value::Object(fields) => {
            let dots = path.match_indices('.').map(|(at, _)| at);
            let below = |at: usize| {
                fields.get(&path[..at]).is_some_and(|field| exists(field, &path[at + 1..]))
            };
            fields.contains_key(path) || dots.into_iter().any(below)
        }
        _ => false,
    }
}

/// Adds notes for the figures beside means, unless they have one.
fn explain_intervals(results: &Value, path: &str, notes: &mut BTreeMap<String, ResultNote>) {
    match results {
        // Entries of a list are alike.
        Value::Array(list) => {
            list.first().into_iter().for_each(|entry| explain_intervals(entry, path, notes))
        }
        Value::Object(fields) => {
            let below = |name: &str| {
                if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
            };
            if fields.contains_key("mean") {
                let unit = notes.get(path).map(|note| note.unit.clone()).unwrap_or_default();
                for (figure, meaning) in FIGURES {
                    if fields.contains_key(figure) {
                        notes
                            .entry(below(figure))
                            .or_insert_with(|| figure_note(figure, meaning, &unit));
                    }
                }
            }
            fields.iter().for_each(|(name, field)| explain_intervals(field, &below(name), notes));
        }
        _ => {}
    }
}

/// The note on a figure beside a mean in this unit. Levels are counted, so they have no unit.
fn figure_note(figure: &str, meaning: &str, unit: &str) -> ResultNote {
    let unit = if figure == "levels" { "" } else { unit };
    ResultNote { unit: unit.to_owned(), meaning: meaning.to_owned(), label: false }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(unit: &str, meaning: &str) -> ResultNote {
        ResultNote { unit: unit.into(), meaning: meaning.into(), label: false }
    }

    fn notes(results: &Value, declared: &[&str]) -> Vec<(String, String)> {
        let declared = declared.iter().map(|name| ((*name).to_owned(), note("s", name))).collect();
        of(results, declared).into_iter().map(|(name, note)| (name, note.unit)).collect()
    }

    #[test]
    fn what_is_no_result_has_no_note() {
        let results = json!({ "load": 1, "links": [{}, { "length": 2, "a.b": { "c": 3 } }], "delay": { "max": 1 } });
        let declared = [
            "load",
            "links",
            "links.length",
            "links.a.b.c",
            "delay.max",
            "delay.min",
            "gone",
            "load.more",
            "links.",
        ];
        let found: Vec<String> =
            notes(&results, &declared).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, ["delay.max", "links", "links.a.b.c", "links.length", "load"]);
        assert_eq!(notes(&json!(4), &["load"]), []);
    }

    #[test]
    fn intervals_are_explained_where_they_stand() {
        let estimate = json!({ "mean": 1.0, "ci95": 0.1 });
        let results = json!({ "stay": estimate, "links": [{ "load": estimate }], "odd": { "ci95": 1 }, "own": estimate });
        let found = of(
            &results,
            [("stay".to_owned(), note("h", "")), ("own.ci95".to_owned(), note("", "mine"))].into(),
        );
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            ["links.load.ci95", "own.ci95", "stay", "stay.ci95"]
        );
        assert_eq!(
            (found["stay.ci95"].unit.as_str(), found["own.ci95"].meaning.as_str()),
            ("h", "mine")
        );
        assert!(found["stay.ci95"].meaning.contains("95 % confidence interval"));
        assert_eq!(of(&estimate, BTreeMap::new()).keys().collect::<Vec<_>>(), ["ci95"]);
    }
}
