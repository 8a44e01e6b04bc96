//! The results with which a report leads, as tiles.

use serde_json::Value;

use super::{FIGURES, Row, Rows, Shown};
use crate::format::{self, Zeros};
use crate::summary::Tile;

impl Rows<'_> {
    /// The result with this name as a tile, or one of its figures, which is named after a dot.
    pub(crate) fn tile(&self, name: &str) -> Option<Tile<'static>> {
        let (row, figure) = match self.row_of(name) {
            Some(row) => (row, "mean"),
            None => {
                let (name, figure) = name.rsplit_once('.')?;
                (self.row_of(name)?, figure)
            }
        };
        let note = self.notes.get(&row.path);
        let unit = note.map_or("", |note| &note.unit);
        let meaning = note.map_or("", |note| &note.meaning);
        let (value, note) = match &row.shown {
            Shown::Words(_) => {
                let word = self.results.short().get(name)?.as_str()?;
                (word.to_owned(), meaning.to_owned())
            }
            Shown::Figures(figures) => {
                let value = figures.get(figure)?.as_f64()?;
                let half = figures.get("ci95").and_then(Value::as_f64);
                match half.filter(|half| figure == "mean" && half.is_finite()) {
                    Some(half) => (interval(value, half, unit), row.cautioned(meaning)),
                    None => (format::quantity(value, unit), row.of_entry(figure, meaning)),
                }
            }
        };
        Some(Tile::new(label(&row.name, figure), value, note))
    }

    fn row_of(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.path == name)
    }
}

impl Row {
    /// The meaning, and the remark on its interval if there is one.
    fn cautioned(&self, meaning: &str) -> String {
        match &self.caution {
            Some(caution) => format!("{meaning}; the interval is {caution}"),
            None => meaning.to_owned(),
        }
    }

    /// The meaning, and the entry of the list that has this figure.
    fn of_entry(&self, figure: &str, meaning: &str) -> String {
        let entry = self.extremes.as_ref().and_then(|[least, most]| match figure {
            "min" => Some(least),
            "max" => Some(most),
            _ => None,
        });
        match entry {
            Some(entry) => format!("{entry}: {meaning}"),
            None => meaning.to_owned(),
        }
    }
}

/// A mean with half the width of its confidence interval.
fn interval(mean: f64, half: f64, unit: &str) -> String {
    let mean = format::number(mean, 4, Zeros::Strip);
    let half = format::number(half, 2, Zeros::Strip);
    format!("{mean} ± {half} {unit}").trim_end().to_owned()
}

/// The label of a figure of a result.
fn label(name: &str, figure: &str) -> String {
    match FIGURES.iter().find(|(key, _)| *key == figure) {
        _ if figure == "mean" => name.to_owned(),
        Some((_, title)) => format!("{name}, {title}"),
        None => format!("{name}, {figure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary;
    use serde_json::json;
    use warpline_record::ResultNote;

    #[test]
    fn a_tile_shows_a_result_or_one_of_its_figures() {
        let note = |unit: &str, meaning: &str, label| ResultNote {
            unit: unit.into(),
            meaning: meaning.into(),
            label,
        };
        let notes = [
            ("stay".to_owned(), note("h", "time in the <system>", false)),
            ("served".to_owned(), note("people", "people who left", false)),
            ("links.load".to_owned(), note("", "share of time", false)),
            ("links.name".to_owned(), note("", "its name", true)),
        ]
        .into();
        let results = json!({
            "stay": { "mean": 2.46812, "ci95": 0.1234, "p99": 7.25, "ci95_note": "too narrow" },
            "served": 12345,
            "best": "A & B",
            "links": [{ "load": 0.5, "name": "a" }, { "load": 0.75, "name": "b" }],
        })
        .into();
        let rows = Rows::of(&results, &notes);
        let html = |name: &str| rows.tile(name).map(|tile| summary::tile(&tile));
        for (name, parts) in [
            (
                "stay",
                [
                    "<dt>stay</dt>",
                    ">2.468 ± 0.12 h<",
                    ">time in the &lt;system&gt;; the interval is too narrow<",
                ],
            ),
            ("stay.p99", ["<dt>stay, p99</dt>", ">7.25\u{a0}h<", ">time in the &lt;system&gt;<"]),
            ("served", ["<dt>served</dt>", ">12\u{202f}345\u{a0}people<", ">people who left<"]),
            ("best", ["<dt>best</dt>", ">A &amp; B<", "<small></small>"]),
            ("links.load.max", ["<dt>links › load, largest</dt>", ">0.75<", ">b: share of time<"]),
        ] {
            let html = html(name).unwrap_or_else(|| panic!("{name} has no tile"));
            parts.iter().for_each(|part| assert!(html.contains(part), "{name}: {part} in {html}"));
        }
        for name in ["gone", "stay.p50", "best.max", "links"] {
            assert!(html(name).is_none(), "{name}");
        }
    }
}
