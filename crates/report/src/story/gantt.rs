//! A Gantt chart of resources, drawn without scripts: a row for each unit that is held, with who
//! held it.

use std::collections::HashMap;
use std::fmt::Write;

use super::uses::{Use, Uses};
use crate::format::{self, Zeros};
use crate::html::escape;

/// The width of a row in its own units.
const WIDE: f64 = 1000.0;
/// What is narrower than this would not be seen.
const NARROWEST: f64 = 1.5;
/// The most rows of one resource.
const ROWS_MOST: usize = 12;
/// The most rows of the chart.
const ALL_ROWS_MOST: usize = 64;
/// The most marks of the axis, without the first.
const MARKS_MOST: u8 = 8;
/// The colours of processes, as the style sheet numbers them.
const COLOURS: [u8; 7] = [0, 1, 2, 3, 5, 6, 7];

/// The times that the chart covers.
#[derive(Clone, Copy)]
pub(super) struct Times<'u> {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) unit: &'u str,
}

impl Times<'_> {
    fn at(&self, time: f64) -> f64 {
        WIDE * ((time - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn text(&self, time: f64) -> String {
        let text = format::number(time, 6, Zeros::Strip);
        if self.unit.is_empty() { text } else { format!("{text}\u{a0}{}", self.unit) }
    }
}

/// The turns of one resource that are held at the same time, in rows.
fn rows<'u, 't>(uses: &'u Uses<'t>) -> Vec<Vec<&'u Use<'t>>> {
    let mut held: Vec<(f64, &Use<'_>)> =
        uses.all.iter().filter_map(|turn| Some((turn.taken?, turn))).collect();
    held.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mut rows: Vec<Vec<&Use<'_>>> = Vec::new();
    for (taken, turn) in held {
        let is_free = |row: &Vec<&Use<'_>>| {
            row.last().is_some_and(|last| last.over.is_some_and(|over| over <= taken))
        };
        match rows.iter().position(is_free) {
            Some(row) => rows[row].push(turn),
            None => rows.push(vec![turn]),
        }
    }
    rows
}

/// Resources whose names differ by a number at the end, in the order of these numbers.
fn in_order<'u, 't>(all: &'u [Uses<'t>]) -> Vec<&'u Uses<'t>> {
    let stem =
        |uses: &Uses<'t>| (uses.lp, uses.resource.trim_end_matches(|c: char| c.is_ascii_digit()));
    let mut firsts = HashMap::new();
    for (place, uses) in all.iter().enumerate() {
        firsts.entry(stem(uses)).or_insert(place);
    }
    let mut all: Vec<&Uses<'t>> = all.iter().collect();
    all.sort_by_key(|uses| {
        let stem = stem(uses);
        (firsts[&stem], uses.resource[stem.1.len()..].parse::<u64>().ok())
    });
    all
}

/// The colour of each process, the same in all rows.
fn colours<'t>(all: &[&Uses<'t>]) -> HashMap<(u32, &'t str), u8> {
    let mut colours = HashMap::new();
    for uses in all {
        for turn in &uses.all {
            let next = COLOURS[colours.len() % COLOURS.len()];
            colours.entry((uses.lp, turn.who)).or_insert(next);
        }
    }
    colours
}

/// The chart; empty if no resource was ever held.
pub(super) fn chart(all: &[Uses<'_>], times: Times<'_>, several: bool) -> String {
    let mut lanes = String::new();
    let mut left = ALL_ROWS_MOST;
    let mut hidden = 0;
    let all = in_order(all);
    let colours = colours(&all);
    for uses in all {
        let rows = rows(uses);
        let shown = rows.len().min(ROWS_MOST).min(left);
        left -= shown;
        hidden += rows.len() - shown;
        for (number, row) in rows.iter().take(shown).enumerate() {
            let name = match (number, several) {
                (0, true) => format!("{} <small>LP {}</small>", escape(uses.resource), uses.lp),
                (0, false) => escape(uses.resource),
                _ => String::new(),
            };
            lanes += &lane(&name, row, times, |who| colours[&(uses.lp, who)]);
        }
    }
    if lanes.is_empty() {
        return lanes;
    }
    let more = match hidden {
        0 => String::new(),
        more => format!("<p class=\"muted\">{more} more rows are not shown.</p>"),
    };
    format!("<div class=\"lanes gantt\">{lanes}{}</div>{more}", axis(times))
}

fn lane<'t>(
    name: &str,
    row: &[&Use<'t>],
    times: Times<'_>,
    colour: impl Fn(&'t str) -> u8,
) -> String {
    let mut bars = String::new();
    for turn in row {
        let Some(taken) = turn.taken else { continue };
        let x = times.at(taken);
        let width = (times.at(turn.over.unwrap_or(times.to)) - x).max(NARROWEST);
        let x = x.min(WIDE - width);
        let _ = write!(
            bars,
            "<rect class=\"act{}\" x=\"{x:.1}\" y=\"10\" width=\"{width:.1}\" \
             height=\"80\"><title>{}</title></rect>",
            colour(turn.who),
            escape(&said(turn, taken, times))
        );
    }
    format!(
        "<div class=\"lane\"><span>{name}</span><svg viewBox=\"0 0 {WIDE} 100\" \
         preserveAspectRatio=\"none\">{bars}</svg></div>"
    )
}

/// A turn in words.
fn said(turn: &Use<'_>, taken: f64, times: Times<'_>) -> String {
    let until = match turn.over {
        Some(over) => format!("to {}", times.text(over)),
        None => "on".to_owned(),
    };
    let waited = taken - turn.queued;
    let wait = if waited > 0.0 {
        format!(", after a wait of {}", times.text(waited))
    } else {
        String::new()
    };
    format!("{} from {} {until}{wait}", turn.who, times.text(taken))
}

/// Marks at round times.
fn axis(times: Times<'_>) -> String {
    let marks: String = round_times(times.from, times.to)
        .map(|time| {
            let share = times.at(time) / WIDE;
            // The text of the last mark would reach beyond the chart.
            let side = if share > 0.9 { " class=\"end\"" } else { "" };
            format!(
                "<b{side} style=\"left:{:.2}%\">{}</b>",
                100.0 * share,
                escape(&times.text(time))
            )
        })
        .collect();
    format!("<div class=\"lane axis\"><span></span><div>{marks}</div></div>")
}

/// Three to six round times of a span: multiples of 1, 2 or 5 times a power of ten.
fn round_times(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let rough = (to - from) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        power * [1.0, 2.0, 5.0].into_iter().find(|&step| step * power >= rough).unwrap_or(10.0);
    let first = (from / step).ceil();
    (0..=MARKS_MOST)
        .map(move |mark| (first + f64::from(mark)) * step)
        .take_while(move |&time| time <= to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(who: &str, queued: f64, taken: f64, over: Option<f64>) -> Use<'_> {
        Use { who, queued, taken: Some(taken), over }
    }

    #[test]
    fn turns_at_the_same_time_have_rows_of_their_own() {
        let uses = Uses {
            lp: 0,
            resource: "tug",
            all: vec![
                turn("A", 0.0, 0.0, Some(4.0)),
                turn("B", 1.0, 1.0, Some(2.0)),
                turn("C", 1.5, 2.0, Some(9.0)),
                turn("D", 3.0, 4.0, None),
                Use { who: "E", queued: 3.0, taken: None, over: None },
            ],
        };
        let names: Vec<Vec<&str>> =
            rows(&uses).iter().map(|row| row.iter().map(|turn| turn.who).collect()).collect();
        assert_eq!(names, [vec!["A", "D"], vec!["B", "C"]]);
        let html = chart(&[uses], Times { from: 0.0, to: 10.0, unit: "h" }, false);
        assert_eq!(html.matches("<svg").count(), 2);
        let html = html.replace('\u{a0}', " ");
        assert!(html.contains("C from 2 h to 9 h, after a wait of 0.5 h"), "{html}");
        assert!(html.contains("D from 4 h on, after a wait of 1 h"), "{html}");
        assert!(html.contains("x=\"200.0\" y=\"10\" width=\"700.0\""), "{html}");
        assert!(html.contains("<b class=\"end\" style=\"left:100.00%\">10 h</b>"), "{html}");
    }

    #[test]
    fn a_process_has_one_colour_and_numbered_resources_their_order() {
        let uses = |resource, all| Uses { lp: 0, resource, all };
        let all = [
            uses("saw 10", vec![turn("A", 0.0, 0.0, Some(1.0)), turn("B", 1.0, 1.0, Some(2.0))]),
            uses("clerk", vec![turn("B", 2.0, 2.0, Some(3.0))]),
            uses("saw 9", vec![turn("B", 3.0, 3.0, Some(4.0)), turn("C", 4.0, 4.0, Some(5.0))]),
        ];
        let names: Vec<&str> = in_order(&all).iter().map(|uses| uses.resource).collect();
        assert_eq!(names, ["saw 9", "saw 10", "clerk"]);
        let html = chart(&all, Times { from: 0.0, to: 5.0, unit: "" }, false);
        let colours: Vec<&str> = html.split("class=\"act").skip(1).map(|bar| &bar[..1]).collect();
        assert_eq!(colours, ["0", "1", "2", "0", "0"]);
    }

    #[test]
    fn the_axis_has_round_times() {
        let marks = |from, to| round_times(from, to).collect::<Vec<_>>();
        assert_eq!(marks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(marks(0.0, 1716.86), [0.0, 500.0, 1000.0, 1500.0]);
        assert_eq!(marks(151.3, 160.0), [152.0, 154.0, 156.0, 158.0, 160.0]);
        assert!(marks(0.0, 3e-7).len() >= 3);
    }

    #[test]
    fn what_nobody_held_has_no_chart() {
        let waits = Use { who: "E", queued: 3.0, taken: None, over: None };
        let uses = Uses { lp: 0, resource: "tug", all: vec![waits] };
        assert_eq!(chart(&[uses], Times { from: 0.0, to: 10.0, unit: "" }, false), "");
    }

    #[test]
    fn many_rows_are_counted_and_not_shown() {
        let all = (0..20).map(|_| turn("A", 0.0, 0.0, None)).collect();
        let html = chart(
            &[Uses { lp: 0, resource: "<x>", all }],
            Times { from: 0.0, to: 1.0, unit: "" },
            true,
        );
        assert_eq!(html.matches("<svg").count(), ROWS_MOST);
        assert!(html.contains("8 more rows are not shown"), "{html}");
        assert!(html.contains("&lt;x&gt; <small>LP 0</small>"), "{html}");
    }
}
