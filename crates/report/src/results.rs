//! The model's outputs: a tree of names whose leaves become rows of one table.

use crate::format::{self, Zeros};
use crate::html::escape;
use crate::lists::{self, Entries, Extreme, ListOverview, ListSummary};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use warpline_record::{ResultField, ResultNote, ResultTree};

mod headlines;

/// Lists of at most this many scalars are shown.
const LIST_ENTRIES: usize = 8;
/// A statistic of at most this many items has a row for each.
const ITEMS: usize = 32;
/// Rows beyond this number are left to `run.json`.
const ROWS: usize = 200;
/// The figures of a row, and the heads of their columns. A single number is shown in the column of
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
const INTERVALS: &str = "± is half the width of the 95 % confidence interval: in about 95 of 100 \
                         runs, the true mean is at most this far from the mean.";

/// The rows that the tree becomes.
pub(crate) struct Rows<'a> {
    results: &'a ResultTree,
    notes: &'a BTreeMap<String, ResultNote>,
    rows: Vec<Row>,
    left_out: usize,
}

struct Row {
    /// The name for people.
    name: String,
    /// The name in notes.
    path: String,
    shown: Shown,
    /// A remark on its interval.
    caution: Option<String>,
    /// What its figures are of.
    over: String,
    /// The entries of a list with the least and the greatest number.
    extremes: Option<[String; 2]>,
}

/// What stands in a row.
enum Shown {
    /// Figures by their names.
    Figures(BTreeMap<String, Value>),
    /// Words, as HTML.
    Words(String),
}

impl<'a> Rows<'a> {
    /// The rows of all results.
    pub(crate) fn of(results: &'a ResultTree, notes: &'a BTreeMap<String, ResultNote>) -> Self {
        let mut all = Rows { results, notes, rows: Vec::new(), left_out: 0 };
        if results.lists().is_empty() {
            all.collect("", "", results.short());
        } else {
            for (name, field) in results.fields() {
                match field {
                    ResultField::Value(value) => all.collect(&words(name), name, value),
                    ResultField::List(list) => all.list(&words(name), name, Entries::Made(list)),
                }
            }
        }
        all
    }

    /// The results as a table, or a sentence if there are none.
    pub(crate) fn html(&self) -> String {
        if self.rows.is_empty() {
            return "<p class=\"empty\">The model reports no results of its own.</p>".into();
        }
        let mut out = self.table();
        if self.has("ci95") {
            out += &format!("<p class=\"muted\">{INTERVALS}</p>");
        }
        let cautions: BTreeSet<&str> =
            self.rows.iter().filter_map(|row| row.caution.as_deref()).collect();
        for caution in cautions {
            out += &format!(
                "<p class=\"muted\"><span class=\"caution\">!</span> The interval is {}.</p>",
                escape(caution)
            );
        }
        if self.left_out > 0 {
            out += &format!(
                "<p class=\"muted\">{} more in run.json.</p>",
                format::integer(self.left_out as u64)
            );
        }
        out
    }

    /// Adds `value`, which is shown as `name` and has its notes under `path`.
    fn collect(&mut self, name: &str, path: &str, value: &Value) {
        match value {
            Value::Object(fields) if has_figures(fields) => {
                let figures = fields.iter().filter(|(key, _)| *key != CI95_NOTE);
                let caution = fields.get(CI95_NOTE).and_then(Value::as_str);
                let shown = Shown::Figures(
                    figures.map(|(key, value)| (key.clone(), value.clone())).collect(),
                );
                self.add(name, path, shown, caution, missing(fields));
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
                None,
                String::new(),
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
            for (key, summary, caution_of_key) in overview.fields(self.notes) {
                let over = over(&summary, |entry| lists::name_of(list, path, self.notes, entry));
                let caution = if key == "ci95" { caution } else { caution_of_key };
                self.add(
                    &below(name, " › ", &words(key)),
                    &below(path, ".", key),
                    Shown::Figures(figures(&summary)),
                    caution,
                    over,
                );
                self.name_extremes(list, path, &summary);
            }
            return;
        };
        let over = over(&summary, |entry| lists::name_of(list, path, self.notes, entry));
        self.add(name, path, Shown::Figures(figures(&summary)), caution, over);
        self.name_extremes(list, path, &summary);
        if list.len() <= ITEMS && overview.are_objects {
            for (entry, item) in list.iter().enumerate() {
                // The row that sums up all items has unit and meaning.
                let called = lists::name_of(list, path, self.notes, entry);
                self.collect(&below(name, " › ", &called), "", &item);
            }
        }
    }

    /// Names the entries behind the extremes of the last row.
    fn name_extremes(&mut self, list: Entries<'_>, path: &str, summary: &ListSummary) {
        let called = |extreme: &Extreme| lists::name_of(list, path, self.notes, extreme.entry);
        let extremes = [&summary.least, &summary.most].map(called);
        if let Some(row) = self.rows.last_mut().filter(|_| self.left_out == 0) {
            row.extremes = Some(extremes);
        }
    }

    fn words(&mut self, name: &str, path: &str, words: String) {
        self.add(name, path, Shown::Words(words), None, String::new());
    }

    fn add(&mut self, name: &str, path: &str, shown: Shown, caution: Option<&str>, over: String) {
        if self.rows.len() == ROWS {
            self.left_out += 1;
            return;
        }
        let name = if name.is_empty() { "result" } else { name };
        let caution = caution.map(str::to_owned);
        self.rows.push(Row {
            name: name.to_owned(),
            path: path.to_owned(),
            shown,
            caution,
            over,
            extremes: None,
        });
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
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Results\"><table \
             class=\"sheet\"><thead><tr><td></td>{unit}{head}</tr></thead><tbody>{body}</tbody></table></div>"
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
        // The remark is on the interval; in a list of intervals, on the mean or the largest.
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

/// Whether these are the figures of one result, for one row.
fn has_figures(fields: &Map<String, Value>) -> bool {
    let known = |(key, value): (&String, &Value)| {
        key == CI95_NOTE
            || FIGURES.iter().any(|(figure, _)| figure == key)
                && (value.is_number() || value.is_null())
    };
    !fields.is_empty() && fields.iter().all(known)
}

/// How many runs have no value, if any have none.
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

/// What the figures of a list are of.
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

/// A scalar, with its full value as the title if that says more.
fn span(value: &Value) -> String {
    let (short, full) = format::scalar(value, Zeros::Strip);
    match full {
        Some(full) => format!("<span title=\"{}\">{}</span>", escape(&full), escape(&short)),
        None => escape(&short),
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
