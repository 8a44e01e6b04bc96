//! The model's outputs: a tree of names whose leaves become rows of one table.

use crate::format::{self, Zeros};
use crate::html::escape;
use crate::lists::{self, Entries, Extreme, ListOverview, ListSummary};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use warpline_record::{ResultField, ResultNote, ResultTree};

/// Lists of at most this many scalars are shown.
const LIST_ENTRIES: usize = 8;
/// A statistic of at most this many items has a row for each.
const ITEMS: usize = 32;
/// Rows beyond this number are left to `run.json`.
const ROWS: usize = 200;
/// The figures of a row, and the heads of their columns. A single number stands in the column of
/// means.
const FIGURES: [(&str, &str); 16] = [
    ("mean", "value or mean"),
    ("ci95", "± (95 %)"),
    ("min", "smallest"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("max", "largest"),
    ("count", "count"),
    ("deviation", "deviation"),
    ("observations", "observations"),
    ("runs", "runs"),
    ("spans", "spans"),
    ("levels", "levels added up"),
    ("single_min", "smallest single level"),
    ("single_max", "largest single level"),
];
/// The field that holds a remark on an interval.
const CI95_NOTE: &str = "ci95_note";
const INTERVALS: &str = "± is half the width of the 95 % confidence interval: in about 95 of 100 runs, the true mean is at most this far from \
                         the mean.";

/// The rows that the tree becomes.
struct Rows<'a> {
    notes: &'a BTreeMap<String, ResultNote>,
    rows: Vec<Row>,
    left_out: usize,
}

struct Row {
    /// The name for people, and the path by which notes find it.
    name: String,
    path: String,
    shown: Shown,
    /// A remark on its interval.
    caution: Option<String>,
    /// What its figures are over.
    over: String,
}

/// What stands in a row.
enum Shown {
    /// Figures by their names.
    Figures(BTreeMap<String, Value>),
    /// Words, as HTML.
    Words(String),
}

/// The results as a table, or a sentence if there are none.
pub(crate) fn results(results: &ResultTree, notes: &BTreeMap<String, ResultNote>) -> String {
    let mut all = Rows { notes, rows: Vec::new(), left_out: 0 };
    if results.lists().is_empty() {
        all.collect("", "", results.short());
    }
    for (name, field) in results.fields().filter(|_| !results.lists().is_empty()) {
        match field {
            ResultField::Value(value) => all.collect(&words(name), name, value),
            ResultField::List(list) => all.list(&words(name), name, Entries::Made(list)),
        }
    }
    if all.rows.is_empty() {
        return "<p class=\"empty\">The model reports no results of its own.</p>".into();
    }
    let mut out = all.table();
    let mut cautions: BTreeSet<&str> =
        all.rows.iter().filter_map(|row| row.caution.as_deref()).collect();
    if all.has("ci95") {
        out += &format!("<p class=\"muted\">{INTERVALS}</p>");
    }
    while let Some(caution) = cautions.pop_first() {
        out += &format!(
            "<p class=\"muted\"><span class=\"caution\">!</span> The interval is {}.</p>",
            escape(caution)
        );
    }
    if all.left_out > 0 {
        out += &format!(
            "<p class=\"muted\">{} more in run.json.</p>",
            format::integer(all.left_out as u64)
        );
    }
    out
}

impl Rows<'_> {
    /// Adds `value`, which is shown as `name` and has its notes under `path`.
    fn collect(&mut self, name: &str, path: &str, value: &Value) {
        match value {
            Value::Object(fields) if has_figures(fields) => {
                let figures = fields.iter().filter(|(key, _)| *key != CI95_NOTE);
                let caution = fields.get(CI95_NOTE).and_then(Value::as_str);
                let shown = Shown::Figures(
                    figures.map(|(key, value)| (key.clone(), value.clone())).collect(),
                );
                self.add(name, path, shown, (caution, missing(fields)));
            }
            Value::Object(fields) => {
                if fields.is_empty() && !path.is_empty() {
                    self.words(name, path, "<span class=\"muted\">empty</span>".into());
                }
                fields.iter().for_each(|(key, field)| {
                    self.collect(&below(name, " › ", &words(key)), &below(path, ".", key), field)
                });
            }
            Value::Array(list) => self.list(name, path, Entries::Kept(list)),
            Value::Null if path.is_empty() => {}
            Value::String(_) | Value::Bool(_) => self.words(name, path, span(value)),
            scalar => self.add(
                name,
                path,
                Shown::Figures([("mean".to_owned(), scalar.clone())].into()),
                (None, String::new()),
            ),
        }
    }

    /// Sums up a list: its numbers, or each field of its entries.
    fn list(&mut self, name: &str, path: &str, list: Entries<'_>) {
        if list.is_empty() {
            return self.words(name, path, "<span class=\"muted\">empty</span>".into());
        }
        let overview = ListOverview::of(list, path);
        if list.len() <= LIST_ENTRIES && overview.is_plain {
            return self.words(
                name,
                path,
                list.iter().map(|value| span(&value)).collect::<Vec<_>>().join(", "),
            );
        }
        let count = format::integer(list.len() as u64);
        let caution = overview.caution.as_deref();
        let Some(summary) = overview.summary(self.notes) else {
            self.words(
                name,
                path,
                format!("<span class=\"muted\">{count} entries, in run.json</span>"),
            );
            for (key, summary, of_key) in overview.fields(self.notes) {
                let over = over(&summary, |entry| lists::name_of(list, path, self.notes, entry));
                let caution = if key == "ci95" { caution } else { of_key };
                self.add(
                    &below(name, " › ", &words(key)),
                    &below(path, ".", key),
                    Shown::Figures(figures(&summary)),
                    (caution, over),
                );
            }
            return;
        };
        let over = over(&summary, |entry| lists::name_of(list, path, self.notes, entry));
        self.add(name, path, Shown::Figures(figures(&summary)), (caution, over));
        if list.len() <= ITEMS && overview.are_objects {
            for (entry, item) in list.iter().enumerate() {
                // Unit and meaning stand in the row that sums up all items.
                let called = lists::name_of(list, path, self.notes, entry);
                self.collect(&below(name, " › ", &called), "", &item);
            }
        }
    }

    fn words(&mut self, name: &str, path: &str, words: String) {
        self.add(name, path, Shown::Words(words), (None, String::new()));
    }

    fn add(
        &mut self,
        name: &str,
        path: &str,
        shown: Shown,
        (caution, over): (Option<&str>, String),
    ) {
        if self.rows.len() == ROWS {
            self.left_out += 1;
            return;
        }
        let name = if name.is_empty() { "result" } else { name };
        let caution = caution.map(str::to_owned);
        self.rows.push(Row { name: name.to_owned(), path: path.to_owned(), shown, caution, over });
    }

    fn has(&self, figure: &str) -> bool {
        self.rows.iter().any(
            |row| matches!(&row.shown, Shown::Figures(figures) if figures.contains_key(figure)),
        )
    }

    fn table(&self) -> String {
        let columns: Vec<&(&str, &str)> =
            FIGURES.iter().filter(|(key, _)| *key == "mean" || self.has(key)).collect();
        let units = self
            .rows
            .iter()
            .any(|row| self.notes.get(&row.path).is_some_and(|note| !note.unit.is_empty()));
        let title = |(key, title): &(&str, &'static str)| {
            if *key == "mean" && columns.len() == 1 { "value" } else { *title }
        };
        let unit = if units { "<th scope=\"col\">unit</th>" } else { "" };
        let head: String = columns
            .iter()
            .map(|column| format!("<th scope=\"col\" class=\"num\">{}</th>", title(column)))
            .collect();
        let body: String = self.rows.iter().map(|row| self.row(row, &columns, units)).collect();
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Results\"><table class=\"sheet\"><thead><tr><td></td>{unit}\
             {head}</tr></thead><tbody>{body}</tbody></table></div>"
        )
    }

    fn row(&self, row: &Row, columns: &[&(&str, &str)], units: bool) -> String {
        let note = self.notes.get(&row.path);
        let meaning = note
            .filter(|note| !note.meaning.is_empty())
            .map(|note| format!("<small>{}</small>", escape(&note.meaning)));
        let over = if row.over.is_empty() {
            String::new()
        } else {
            format!("<small>{}</small>", escape(&row.over))
        };
        let unit = note.map_or("", |note| &note.unit);
        let unit =
            if units { format!("<td class=\"unit\">{}</td>", escape(unit)) } else { String::new() };
        let cells = match &row.shown {
            Shown::Words(words) => format!("<td colspan=\"{}\">{words}</td>", columns.len()),
            Shown::Figures(figures) => {
                columns.iter().map(|(key, _)| row.cell(key, figures)).collect()
            }
        };
        format!(
            "<tr><th scope=\"row\">{}{}{over}</th>{unit}{cells}</tr>",
            escape(&row.name),
            meaning.unwrap_or_default()
        )
    }
}

impl Row {
    fn cell(&self, key: &str, figures: &BTreeMap<String, Value>) -> String {
        // In a list of intervals, the remark is about those that are summed up here.
        let about =
            ["ci95", "mean", "max"].into_iter().find(|figure| figures.contains_key(*figure));
        let doubtful = self.caution.is_some() && about == Some(key);
        let mark = if doubtful { " <span class=\"caution\">!</span>" } else { "" };
        format!("<td class=\"num\">{}{mark}</td>", figures.get(key).map(span).unwrap_or_default())
    }
}

fn words(key: &str) -> String {
    key.replace('_', " ")
}

fn below(path: &str, between: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}{between}{key}") }
}

/// Whether these are figures of one result, to stand side by side.
fn has_figures(fields: &Map<String, Value>) -> bool {
    let known = |(key, value): (&String, &Value)| {
        key == CI95_NOTE
            || FIGURES.iter().any(|(figure, _)| figure == key)
                && (value.is_number() || value.is_null())
    };
    !fields.is_empty() && fields.iter().all(known)
}

/// How many runs have no value, if there are any.
fn missing(fields: &Map<String, Value>) -> String {
    let figure = |name: &str| fields.get(name).and_then(Value::as_u64);
    match figure("runs").zip(figure("count")) {
        Some((runs, known)) if known < runs => {
            format!("no observation in {} of {} runs", runs - known, runs)
        }
        _ => String::new(),
    }
}

/// The figures of a list.
fn figures(summary: &ListSummary) -> BTreeMap<String, Value> {
    let ListSummary { known, least, most, mean, values, .. } = summary;
    let count = values.unwrap_or(*known as u64);
    let all = [
        ("mean", mean.map(Value::from)),
        ("min", Some(least.value.into())),
        ("max", Some(most.value.into())),
        ("count", Some(count.into())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What the figures of a list are over.
fn over(summary: &ListSummary, called: impl Fn(usize) -> String) -> String {
    let extreme = |Extreme { ci95, entry, .. }: &Extreme| {
        let half = ci95
            .map(|half| format!(" (± {})", format::number(half, 4, Zeros::Strip)))
            .unwrap_or_default();
        format!("{}{half}", called(*entry))
    };
    let ListSummary { entries, known, least, most, mean, values } = summary;
    let mean = match (mean, values) {
        (None, _) => String::new(),
        (_, Some(_)) => ", mean over all their values".to_owned(),
        _ => ", mean over the entries".to_owned(),
    };
    let none = if known < entries {
        format!(", {} without a value", entries - known)
    } else {
        String::new()
    };
    format!(
        "of {entries} entries: smallest {}, largest {}{mean}{none}",
        extreme(least),
        extreme(most)
    )
}

/// A scalar with its full value as the title, where that says more.
fn span(value: &Value) -> String {
    let (short, full) = format::scalar(value, Zeros::Strip);
    match full {
        Some(full) => format!("<span title=\"{}\">{}</span>", escape(&full), escape(&short)),
        None => escape(&short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(all: &Value) -> String {
        results(&all.clone().into(), &BTreeMap::new())
    }

    #[test]
    fn leaves_become_rows() {
        let page = page(&json!({
            "packets_sent": 1234567, "loss": 0.0123456, "note": "<b>", "few": [1, 2.5], "none": {},
            "delay": {"mean": 0.5, "ci95": 0.01, "count": 10}, "queue": {"mean": 2, "ci95": null, "count": 3},
            "by_class": {"gold": {"mean": 1, "ci95": 0, "count": 1}, "total": 3}
        }));
        assert!(
            page.contains("<th scope=\"row\">packets sent</th><td class=\"num\"><span title=\"1234567\">1\u{202f}234\u{202f}567</span>")
        );
        assert!(page.contains("<span title=\"0.0123456\">0.01235</span>"));
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
        assert!(page.contains("1, 2.5"));
        assert!(page.contains("empty"));
        assert!(page.contains("<th scope=\"row\">by class › total</th><td class=\"num\">3</td>"));
        assert_eq!(page.matches("<table").count(), 1, "all in one table");
        assert!(page.contains("<th scope=\"row\">by class › gold</th>"));
        let head = "<td></td><th scope=\"col\" class=\"num\">value or mean</th><th scope=\"col\" class=\"num\">± (95 %)</th>\
                    <th scope=\"col\" class=\"num\">count</th></tr>";
        assert!(page.contains(head), "{page}");
        assert_eq!(page.matches("half the width of the 95 % confidence interval").count(), 1);
    }

    #[test]
    fn a_model_without_results_gets_a_sentence() {
        for nothing in [json!(null), json!({})] {
            assert_eq!(
                page(&nothing),
                "<p class=\"empty\">The model reports no results of its own.</p>"
            );
        }
        assert!(page(&json!(42)).contains(">value</th></tr></thead><tbody><tr><th scope=\"row\">result</th><td class=\"num\">42</td>"));
    }

    #[test]
    fn rows_beyond_the_limit_are_left_to_the_record() {
        let flood: Map<String, Value> =
            (0..300).map(|index| (format!("k{index}"), json!(index))).collect();
        assert!(page(&Value::Object(flood)).contains("100 more in run.json"));
    }

    #[test]
    fn unit_and_meaning_stand_beside_the_value() {
        let note = |unit: &str, meaning: &str| ResultNote {
            unit: unit.into(),
            meaning: meaning.into(),
            label: false,
        };
        let notes = [
            ("stay".to_owned(), note("h", "time in the <system>")),
            ("links.load".to_owned(), note("", "share")),
        ]
        .into();
        let all = json!({ "stay": { "mean": 2.5, "count": 3 }, "links": [{ "load": 0.5, "name": "a" }, { "load": 0.75, "name": "b" }] });
        let page = results(&all.into(), &notes);
        let stay = "<th scope=\"row\">stay<small>time in the &lt;system&gt;</small></th><td class=\"unit\">h</td><td class=\"num\">2.5</td>";
        assert!(page.contains(stay), "{page}");
        assert!(
            page.contains("<th scope=\"row\">links › load<small>share</small><small>of 2 entries: smallest item 0, largest item 1"),
            "{page}"
        );
        assert!(
            !results(&json!({ "stay": 1 }).into(), &BTreeMap::new()).contains("unit"),
            "no unit, no column"
        );
    }

    #[test]
    fn lists_are_summed_up() {
        let cells = |all: Value, row: usize| -> Vec<String> {
            let page = page(&all);
            let row = page
                .split("<tr>")
                .nth(2 + row)
                .unwrap_or_default()
                .replace("</span>", "")
                .replace("</small>", "|");
            let row = row.replace("</th>", "|").replace("</td>", "|");
            row.split('|')
                .map(|cell| cell.rsplit('>').next().unwrap_or_default().to_owned())
                .filter(|cell| !cell.is_empty())
                .collect()
        };
        let over = "of 9 entries: smallest item 0, largest item 8, mean over the entries";
        assert_eq!(
            cells(json!({ "load": (0..9).map(f64::from).collect::<Vec<_>>() }), 0),
            [over, "4", "0", "8", "9"]
        );
        let items = json!({ "load": [{ "mean": 1, "ci95": 9, "count": 1 }, { "mean": 4, "ci95": 9, "count": 3 }, { "mean": null, "count": 0 }] });
        let over = "of 3 entries: smallest item 0 (± 9), largest item 1 (± 9), mean over all their values, 1 without a value";
        assert_eq!(
            cells(items.clone(), 0),
            [over, "3.25", "1", "4", "4"],
            "mean, smallest, largest, count"
        );
        assert_eq!(
            cells(items, 2),
            ["load › item 1", "4", "9", "3"],
            "each item with its interval"
        );
        let runs = json!({ "load": { "mean": 1, "ci95": 9, "count": 1, "runs": 4 } });
        assert_eq!(cells(runs, 0), ["no observation in 3 of 4 runs", "1", "9", "1", "4"]);
        let fields = page(
            &json!({ "links": [{ "load": 1.0, "id": 7, "name": "x" }, { "load": 3.0, "id": 8, "name": "y" }] }),
        );
        assert!(
            fields.contains("2 entries, in run.json") && fields.contains("links › load<small>"),
            "{fields}"
        );
        assert!(!fields.contains("links › name") && !fields.contains("links › id"), "{fields}");
        assert!(page(&json!({ "names": vec!["a"; 9] })).contains("9 entries, in run.json"));
    }

    #[test]
    fn an_interval_that_is_too_narrow_says_so() {
        let narrow = json!({ "mean": 2, "ci95": 0.1, "ci95_note": "too <narrow>" });
        for (all, rows) in [
            (json!({ "stay": narrow }), 1),
            (json!([narrow, narrow]), 3),
            (json!({ "links": [{ "stay": narrow }] }), 1),
        ] {
            let page = page(&all);
            assert_eq!(page.matches("class=\"caution\">!</span></td>").count(), rows, "{page}");
            assert_eq!(page.matches("The interval is too &lt;narrow&gt;.").count(), 1, "{page}");
        }
        let by_hand =
            page(&json!({ "links": [{ "load": 0.5, "ci95": 0.1, "ci95_note": "too narrow" }] }));
        assert!(
            by_hand.contains("links › ci95") && by_hand.matches("caution").count() == 2,
            "{by_hand}"
        );
        assert!(!page(&json!({ "stay": { "mean": 2, "ci95": 0.1 } })).contains("caution"));
    }
}
