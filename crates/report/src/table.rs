//! Tables of a report: the first rows as HTML, and every row as data for the script.

use crate::format::{self, Zeros};
use crate::html::escape;
use serde::Serialize;
use serde_json::Value;
use warpline_record::{BarsView, GridView, HistogramView, LinesView, MapView, TableView};

/// The rows that are in the page from the start; `assets/script/table.js` has the same number.
pub(crate) const FIRST_ROWS: usize = 200;
/// A chart with more values than this has no table.
const CHART_ROWS: usize = 5000;
/// The largest whole number up to which all are exact in a script.
const EXACT: u64 = 1 << 53;

/// A table as the script reads it.
#[derive(Serialize)]
pub(crate) struct Table {
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    unit: String,
    numeric: bool,
}

impl Table {
    /// A model's own table. Short rows are padded, long ones cut.
    pub(crate) fn of_table(view: &TableView) -> Self {
        let width = view.columns.len();
        let rows = view.rows.iter().map(|row| {
            (0..width).map(|column| row.get(column).cloned().unwrap_or(Value::Null)).collect()
        });
        Self::new(&view.title, view.columns.clone(), rows.collect())
    }

    /// The links of a map.
    pub(crate) fn of_map(view: &MapView) -> Option<Self> {
        let name = |index: usize| {
            Value::from(
                view.nodes.get(index).map_or(format!("node {index}"), |node| node.name.clone()),
            )
        };
        let mut facts: Vec<&String> = Vec::new();
        for (fact, _) in view.links.iter().flat_map(|link| &link.facts) {
            if facts.len() < 12 && !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        let mut columns = vec![
            ("from".into(), String::new()),
            ("to".into(), String::new()),
            (view.value_name.clone(), view.unit.clone()),
        ];
        columns.extend(facts.iter().map(|fact| ((*fact).clone(), String::new())));
        let rows = view.links.iter().map(|link| {
            let fact = |wanted: &&String| {
                link.facts.iter().find(|(known, _)| known == *wanted).map(|(_, said)| said.as_str())
            };
            let mut row = vec![name(link.source), name(link.target), Value::from(link.value)];
            row.extend(facts.iter().map(|wanted| fact(wanted).map_or(Value::Null, Value::from)));
            row
        });
        (view.links.len() <= CHART_ROWS)
            .then(|| Self::new(&format!("{}, link by link", view.title), columns, rows.collect()))
    }

    /// The cells of a grid.
    pub(crate) fn of_grid(view: &GridView) -> Option<Self> {
        let columns = ["row", "column"].map(|name| (name.to_owned(), String::new())).into_iter();
        let columns = columns.chain([(view.value_name.clone(), view.unit.clone())]).collect();
        let place = |cell: usize| {
            [cell / view.columns.max(1) as usize, cell % view.columns.max(1) as usize]
                .map(|place| Value::from(place + 1))
        };
        let rows = view.values.iter().enumerate().map(|(cell, value)| {
            let [row, column] = place(cell);
            vec![row, column, value.map_or(Value::Null, Value::from)]
        });
        (view.values.len() <= CHART_ROWS)
            .then(|| Self::new(&format!("{}, cell by cell", view.title), columns, rows.collect()))
    }

    /// The values behind bars.
    pub(crate) fn of_bars(view: &BarsView) -> Option<Self> {
        let several = view.series.len() > 1;
        let most =
            view.series.iter().flat_map(|(_, groups)| groups).map(Vec::len).max().unwrap_or(0);
        let mut columns = vec![(String::new(), String::new())];
        if several {
            columns.push((view.quantity.clone(), String::new()));
        }
        let name = |number: usize| {
            if most == 1 {
                view.quantity.clone()
            } else {
                format!("{} {}", view.quantity, number + 1)
            }
        };
        columns.extend((0..most).map(|number| {
            (if several && most == 1 { "value".into() } else { name(number) }, view.unit.clone())
        }));
        let rows = view.groups.iter().enumerate().flat_map(|(index, group)| {
            view.series.iter().map(move |(series, groups)| {
                let mut row = vec![Value::from(group.as_str())];
                row.extend(several.then(|| Value::from(series.as_str())));
                let values = groups.get(index).map_or(&[][..], Vec::as_slice);
                row.extend((0..most).map(|number| {
                    values.get(number).copied().flatten().map_or(Value::Null, Value::from)
                }));
                row
            })
        });
        Some(Self::new(&view.title, columns, rows.collect()))
    }

    /// The bars of a histogram.
    pub(crate) fn of_histogram(view: &HistogramView) -> Option<Self> {
        let ranged = |end: &str| (format!("{}, {end}", view.quantity), view.unit.clone());
        let columns = vec![ranged("from"), ranged("up to"), (view.counted.clone(), String::new())];
        let rows = view
            .bars
            .iter()
            .map(|bar| vec![Value::from(bar.low), Value::from(bar.high), Value::from(bar.count)]);
        (view.bars.len() <= CHART_ROWS)
            .then(|| Self::new(&format!("{}, bar by bar", view.title), columns, rows.collect()))
    }

    /// The points of lines.
    pub(crate) fn of_lines(view: &LinesView) -> Option<Self> {
        let points: usize = view.lines.iter().map(|(_, points)| points.len()).sum();
        let columns = vec![
            ("line".into(), String::new()),
            (view.x.clone(), String::new()),
            (view.y.clone(), String::new()),
        ];
        let row = |name: &String, (x, y): &(f64, f64)| {
            vec![Value::from(name.as_str()), Value::from(*x), Value::from(*y)]
        };
        let rows = view
            .lines
            .iter()
            .flat_map(|(name, points)| points.iter().map(move |point| row(name, point)));
        (points <= CHART_ROWS)
            .then(|| Self::new(&format!("{}, point by point", view.title), columns, rows.collect()))
    }

    fn new(title: &str, columns: Vec<(String, String)>, mut rows: Vec<Vec<Value>>) -> Self {
        let numeric = |column: usize| {
            let mut kinds =
                rows.iter().map(|row| &row[column]).filter(|cell| !cell.is_null()).peekable();
            kinds.peek().is_some() && kinds.all(Value::is_number)
        };
        let columns = columns
            .into_iter()
            .enumerate()
            .map(|(index, (name, unit))| Column { name, unit, numeric: numeric(index) })
            .collect();
        for cell in rows.iter_mut().flatten() {
            if cell.as_u64().is_some_and(|whole| whole > EXACT)
                || cell.as_i64().is_some_and(|whole| whole.unsigned_abs() > EXACT)
            {
                *cell = Value::String(cell.to_string());
            }
        }
        Self { title: title.to_owned(), columns, rows }
    }

    /// The table as HTML, with its first rows; the script finds its data under `key`.
    pub(crate) fn html(&self, key: usize) -> String {
        if self.rows.is_empty() || self.columns.is_empty() {
            return "<p class=\"empty\">There are no rows.</p>".into();
        }
        let title = escape(&self.title);
        let head: String = self.columns.iter().map(Column::html).collect();
        let body: String = self.rows.iter().take(FIRST_ROWS).map(|row| self.row(row)).collect();
        let total = format::integer(self.rows.len() as u64);
        let rest = if self.rows.len() > FIRST_ROWS {
            format!(
                "<p class=\"more\"><span class=\"muted\">The first {FIRST_ROWS} of {total} \
                 rows.</span> <button type=\"button\" class=\"quiet script\" data-all>Show all \
                 {total} rows</button></p>"
            )
        } else {
            String::new()
        };
        let plural = if self.rows.len() == 1 { "row" } else { "rows" };
        format!(
            "<div class=\"table\" data-table=\"{key}\"><p class=\"bar\"><label \
             class=\"script\">Filter <input type=\"search\" placeholder=\"any column\" \
             autocomplete=\"off\" spellcheck=\"false\"></label><output class=\"muted\">{total} \
             {plural}</output></p><div class=\"scroll tall\" tabindex=\"0\" role=\"region\" \
             aria-label=\"{title}\"><table \
             class=\"data\"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}</div>"
        )
    }

    fn row(&self, row: &[Value]) -> String {
        let cells: String =
            row.iter().zip(&self.columns).map(|(cell, column)| column.cell(cell)).collect();
        format!("<tr>{cells}</tr>")
    }
}

impl Column {
    fn class(&self) -> &'static str {
        if self.numeric { " class=\"num\"" } else { "" }
    }

    fn html(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"unit\">{}</span>", escape(&self.unit))
        };
        format!(
            "<th scope=\"col\" aria-sort=\"none\"{}><button type=\"button\">{}{unit}</button></th>",
            self.class(),
            escape(&self.name)
        )
    }

    fn cell(&self, cell: &Value) -> String {
        let exact: Option<Value> = match cell {
            // A large whole number as text; see `Table::new`.
            Value::String(text) if self.numeric => serde_json::from_str(text).ok(),
            _ => None,
        };
        let (short, full) = format::scalar(exact.as_ref().unwrap_or(cell), Zeros::Keep);
        let title = full.map(|full| format!(" title=\"{}\"", escape(&full))).unwrap_or_default();
        format!("<td{}{title}>{}</td>", self.class(), escape(&short))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(rows: Vec<Vec<Value>>) -> TableView {
        TableView {
            title: "T".into(),
            columns: vec![("a".into(), String::new()), ("b".into(), "ms".into())],
            rows,
        }
    }

    #[test]
    fn rows_are_padded_or_cut_to_the_columns() {
        let table = Table::of_table(&table(vec![
            vec![json!("x")],
            vec![json!("y"), json!(0.123456), json!("too much")],
        ]));
        let html = table.html(0);
        assert!(html.contains("<tr><td>x</td><td class=\"num\">–</td></tr>"), "{html}");
        assert!(html.contains("<td class=\"num\" title=\"0.123456\">0.1235</td></tr>"));
        assert!(html.contains("b <span class=\"unit\">ms</span>"));
        assert!(!html.contains("too much"));
    }

    #[test]
    fn large_whole_numbers_stay_exact() {
        let table = Table::of_table(&table(vec![vec![json!(u64::MAX), json!(i64::MIN)]]));
        assert_eq!(
            serde_json::to_value(&table).unwrap()["rows"][0],
            json!(["18446744073709551615", "-9223372036854775808"])
        );
        assert!(table.html(0).contains("title=\"18446744073709551615\""));
    }

    #[test]
    fn only_the_first_rows_are_html() {
        let table = Table::of_table(&table(
            (0..20_000).map(|index| vec![json!(index), json!(1)]).collect(),
        ));
        let html = table.html(0);
        assert_eq!(html.matches("<tr>").count(), 1 + FIRST_ROWS);
        assert!(html.contains("Show all 20\u{202f}000 rows"));
    }

    #[test]
    fn an_empty_table_is_a_sentence() {
        assert_eq!(
            Table::of_table(&table(Vec::new())).html(0),
            "<p class=\"empty\">There are no rows.</p>"
        );
    }
}
