//! The model's outputs: a tree of names whose leaves become rows.

use crate::format::{self, Zeros};
use crate::html::escape;
use serde_json::{Map, Value};

/// An object with at most this many entries, all of them scalars, is one row.
const ROW_ENTRIES: usize = 8;
/// Lists of at most this many scalars are shown.
const LIST_ENTRIES: usize = 8;
/// Rows beyond this number are left to `run.json`.
const ROWS: usize = 200;

/// A name with several figures.
type Row<'a> = (String, &'a Map<String, Value>);

/// The groups that the tree is sorted into.
#[derive(Default)]
struct Sheets<'a> {
    /// Names with one value.
    scalars: Vec<(String, Cell<'a>)>,
    /// Objects with the same keys, side by side, in the order of their first appearance.
    alike: Vec<(Vec<&'a str>, Vec<Row<'a>>)>,
    rows: usize,
    left_out: usize,
}

/// The value of one row.
enum Cell<'a> {
    One(&'a Value),
    Few(&'a [Value]),
    /// A list too long to be shown here.
    Long(usize),
    /// An object or list without entries.
    Empty,
}

/// The results as tables, or a sentence if there are none.
pub(crate) fn results(results: &Value) -> String {
    let mut sheets = Sheets::default();
    sheets.sort("", results);
    let mut out = String::new();
    if !sheets.scalars.is_empty() {
        let rows: String = sheets.scalars.iter().map(|(name, cell)| row(name, cell)).collect();
        out += &boxed("Results", &format!("<table class=\"pairs results\"><tbody>{rows}</tbody></table>"));
    }
    for (keys, rows) in &sheets.alike {
        out += &boxed("Results with several figures", &sheet(keys, rows));
    }
    if out.is_empty() {
        return "<p class=\"empty\">The model reports no results of its own.</p>".into();
    }
    if sheets.left_out > 0 {
        out += &format!("<p class=\"muted\">{} more in run.json.</p>", format::integer(sheets.left_out as u64));
    }
    out
}

impl<'a> Sheets<'a> {
    /// Adds `value`, found at `path`, to its group.
    fn sort(&mut self, path: &str, value: &'a Value) {
        match value {
            Value::Object(entries) if path.is_empty() || !is_row(entries) => {
                if entries.is_empty() && !path.is_empty() {
                    self.scalar(path, Cell::Empty);
                }
                for (key, child) in entries {
                    let name = key.replace('_', " ");
                    self.sort(&if path.is_empty() { name } else { format!("{path} › {name}") }, child);
                }
            }
            Value::Object(entries) => self.object(path, entries),
            Value::Array(list) if list.is_empty() => self.scalar(path, Cell::Empty),
            Value::Array(list) if list.len() <= LIST_ENTRIES && list.iter().all(is_scalar) => self.scalar(path, Cell::Few(list)),
            Value::Array(list) => self.scalar(path, Cell::Long(list.len())),
            Value::Null if path.is_empty() => {}
            scalar => self.scalar(path, Cell::One(scalar)),
        }
    }

    fn room(&mut self) -> bool {
        self.rows += 1;
        let room = self.rows <= ROWS;
        self.left_out += usize::from(!room);
        room
    }

    fn scalar(&mut self, path: &str, cell: Cell<'a>) {
        if self.room() {
            let name = if path.is_empty() { "result" } else { path };
            self.scalars.push((name.to_owned(), cell));
        }
    }

    fn object(&mut self, path: &str, entries: &'a Map<String, Value>) {
        if !self.room() {
            return;
        }
        let keys: Vec<&str> = entries.keys().map(String::as_str).collect();
        let row = (path.to_owned(), entries);
        match self.alike.iter_mut().find(|(known, _)| *known == keys) {
            Some((_, rows)) => rows.push(row),
            None => self.alike.push((keys, vec![row])),
        }
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn is_row(entries: &Map<String, Value>) -> bool {
    (1..=ROW_ENTRIES).contains(&entries.len()) && entries.values().all(is_scalar)
}

fn boxed(label: &str, table: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{table}</div>")
}

fn row(name: &str, cell: &Cell) -> String {
    let value = match cell {
        Cell::One(value) => span(value),
        Cell::Few(list) => list.iter().map(span).collect::<Vec<_>>().join(", "),
        Cell::Long(count) => format!("<span class=\"muted\">list of {}, in run.json</span>", format::integer(*count as u64)),
        Cell::Empty => "<span class=\"muted\">empty</span>".into(),
    };
    format!("<tr><th scope=\"row\">{}</th><td>{value}</td></tr>", escape(name))
}

/// The column of a figure: the mean and its error first, counts last.
fn rank(key: &str) -> u8 {
    match key {
        "mean" => 0,
        "ci95" => 1,
        "min" => 2,
        "max" => 4,
        "count" => 5,
        _ => 3,
    }
}

fn sheet(keys: &[&str], rows: &[Row]) -> String {
    let mut keys = keys.to_vec();
    keys.sort_by_key(|key| rank(key));
    let numeric = |key: &str| rows.iter().all(|(_, entries)| entries.get(key).is_none_or(|value| value.is_number() || value.is_null()));
    let classes: Vec<&str> = keys.iter().map(|key| if numeric(key) { " class=\"num\"" } else { "" }).collect();
    let head: String =
        keys.iter().zip(&classes).map(|(key, class)| format!("<th scope=\"col\"{class}>{}</th>", escape(&key.replace('_', " ")))).collect();
    let body: String = rows
        .iter()
        .map(|(name, entries)| {
            let cells: String = keys.iter().zip(&classes).map(|(key, class)| format!("<td{class}>{}</td>", span(&entries[*key]))).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>", escape(name))
        })
        .collect();
    format!("<table class=\"sheet\"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>")
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

    #[test]
    fn leaves_become_rows() {
        let page = results(&json!({
            "packets_sent": 1234567, "loss": 0.0123456, "note": "<b>", "few": [1, 2.5], "long": (0..9).collect::<Vec<_>>(), "none": {},
            "delay": {"mean": 0.5, "ci95": 0.01, "count": 10}, "queue": {"mean": 2, "ci95": null, "count": 3},
            "by_class": {"gold": {"mean": 1, "ci95": 0, "count": 1}, "total": 3}
        }));
        assert!(page.contains("<th scope=\"row\">packets sent</th><td><span title=\"1234567\">1\u{202f}234\u{202f}567</span>"));
        assert!(page.contains("<span title=\"0.0123456\">0.01235</span>"));
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
        assert!(page.contains("1, 2.5"));
        assert!(page.contains("list of 9, in run.json"));
        assert!(page.contains("empty"));
        assert!(page.contains("<th scope=\"row\">by class › total</th><td>3</td>"));
        assert_eq!(page.matches("class=\"sheet\"").count(), 1, "equal keys share a table");
        assert!(page.contains("<th scope=\"row\">by class › gold</th>"));
    }

    #[test]
    fn nothing_is_said_in_a_sentence() {
        for nothing in [json!(null), json!({})] {
            assert_eq!(results(&nothing), "<p class=\"empty\">The model reports no results of its own.</p>");
        }
        assert!(results(&json!(42)).contains("<td>42</td>"));
    }

    #[test]
    fn a_flood_is_cut() {
        let flood: Map<String, Value> = (0..300).map(|index| (format!("k{index}"), json!(index))).collect();
        assert!(results(&Value::Object(flood)).contains("100 more in run.json"));
    }
}
