//! The places of charts: headings, descriptions for readers who cannot see them, and the tables
//! behind them.

use crate::format::{self, Zeros};
use crate::html::escape;
use crate::table::Table;
use warpline_record::{BarsView, GridView, HistogramView, LinesView, MapView, RunRecord, View};

/// How the progress of the run is drawn: key, heading and remark.
const PROGRESS: [(&str, &str, &str); 3] = [
    (
        "rate",
        "Event rate",
        "Committed events per second of wall time, between one sample and the next.",
    ),
    ("time", "Virtual time", "How far the run had got in model time, over wall time."),
    ("memory", "Memory", "Resident memory of the process, over wall time."),
];

/// The charts of the run's progress; empty if it kept too few samples for a curve, as short runs and
/// replications do.
pub(crate) fn progress(record: &RunRecord) -> String {
    let samples = record.progress.iter().filter(|sample| sample.wall_seconds.is_finite()).count();
    if samples < 2 {
        return String::new();
    }
    let known = record.progress.iter().any(|sample| sample.rss_bytes.is_some());
    let figure = |(key, heading, remark): (&str, &str, &str)| {
        let body = if key == "memory" && !known {
            empty("The system does not report how much memory the process holds.")
        } else {
            chart(key, "", &format!("{heading} over wall time, {samples} samples. {remark}"))
        };
        format!(
            "<section class=\"card third\"><h3>{heading}</h3><p \
             class=\"muted\">{remark}</p>{body}</section>"
        )
    };
    let charts: String = PROGRESS.into_iter().map(figure).collect();
    format!("<div class=\"grid\">{charts}</div>\n")
}

/// The views as HTML, in their order, and the table of each for the script.
pub(crate) fn views(views: &[View]) -> (String, Vec<Option<Table>>) {
    let tables: Vec<Option<Table>> = views
        .iter()
        .map(|view| match view {
            View::Map(map) => Table::of_map(map),
            View::Grid(grid) => Table::of_grid(grid),
            View::Histogram(histogram) => Table::of_histogram(histogram),
            View::Lines(lines) => Table::of_lines(lines),
            View::Bars(bars) => Table::of_bars(bars),
            View::Table(table) => Some(Table::of_table(table)),
        })
        .collect();
    let bodies: Vec<String> =
        views.iter().enumerate().map(|(index, view)| body(index, view)).collect();
    let halves = halves(views, &bodies);
    let section = |index: usize| {
        let width = if halves[index] { "half" } else { "whole" };
        let body = &bodies[index];
        let table = match (&views[index], &tables[index]) {
            (View::Table(_), Some(table)) => table.html(index),
            (_, Some(table)) if !body.starts_with(EMPTY) => behind(table, index),
            _ => String::new(),
        };
        let (title, remark) = heading(&views[index]);
        let remark = if remark.is_empty() {
            remark
        } else {
            format!("<p class=\"muted\">{}</p>", escape(&remark))
        };
        format!(
            "<section class=\"card {width}\"><h3>{}</h3>{remark}{body}{table}</section>",
            escape(title)
        )
    };
    let html = (0..views.len()).map(section).collect();
    (html, tables)
}

/// The title of a view and what is said below it.
fn heading(view: &View) -> (&str, String) {
    match view {
        View::Map(map) => (&map.title, map_remark(map)),
        View::Grid(grid) => (&grid.title, grid_remark(grid)),
        View::Histogram(histogram) => (&histogram.title, histogram_remark(histogram)),
        View::Lines(lines) => (&lines.title, format!("{} over {}.", lines.y, lines.x)),
        View::Bars(bars) => (&bars.title, bars.remark.clone()),
        View::Table(table) => (&table.title, String::new()),
    }
}

/// The place of a view's chart, or a sentence if there is nothing to draw.
fn body(index: usize, view: &View) -> String {
    match view {
        View::Map(map) => map_body(index, map),
        View::Grid(grid) => grid_body(index, grid),
        View::Histogram(histogram) => histogram_body(index, histogram),
        View::Lines(lines) => lines_body(index, lines),
        View::Bars(bars) => bars_body(index, bars),
        View::Table(_) => String::new(),
    }
}

/// Which views share a row with a neighbour: pairs of small charts.
fn halves(views: &[View], bodies: &[String]) -> Vec<bool> {
    let mut halves = vec![false; views.len()];
    let small = |index: usize| {
        matches!(views[index], View::Histogram(_) | View::Lines(_) | View::Bars(_))
            && !bodies[index].starts_with(EMPTY)
    };
    for index in 1..views.len() {
        if small(index - 1) && small(index) && !halves[index - 1] {
            halves[index - 1] = true;
            halves[index] = true;
        }
    }
    halves
}

const EMPTY: &str = "<p class=\"empty\">";

/// A sentence in place of a chart that has nothing to draw.
pub(crate) fn empty(sentence: &str) -> String {
    format!("{EMPTY}{sentence}</p>")
}

/// An empty element for the script to draw in, with a description.
pub(crate) fn chart(key: &str, class: &str, description: &str) -> String {
    format!(
        "<div class=\"chart {class}\" data-chart=\"{key}\" role=\"img\" aria-label=\"{}\"></div>",
        escape(description)
    )
}

/// The numbers behind a chart, which unfold on demand.
pub(crate) fn behind(table: &Table, index: usize) -> String {
    format!(
        "<details class=\"behind\"><summary>The numbers</summary>{}</details>",
        table.html(index)
    )
}

fn counted(count: usize, singular: &str) -> String {
    format!("{} {singular}{}", format::integer(count as u64), if count == 1 { "" } else { "s" })
}

fn map_remark(map: &MapView) -> String {
    format!(
        "{} and {}, coloured by {}.",
        counted(map.nodes.len(), "node"),
        counted(map.links.len(), "link"),
        map.value_name
    )
}

fn map_body(index: usize, map: &MapView) -> String {
    if map.nodes.is_empty() {
        return empty("There are no nodes to draw.");
    }
    let hottest = map
        .links
        .iter()
        .filter(|link| link.value.is_finite())
        .max_by(|one, other| one.value.total_cmp(&other.value));
    let name = |index: usize| map.nodes.get(index).map_or("?", |node| &node.name);
    let hottest = hottest.map_or(String::new(), |link| {
        format!(
            " The highest is {}, from {} to {}.",
            format::quantity(link.value, &map.unit),
            name(link.source),
            name(link.target)
        )
    });
    let none = if map.links.is_empty() {
        empty("There are no links to draw.").replace("empty", "muted")
    } else {
        String::new()
    };
    let legend = "<p class=\"mapbar script\"><span class=\"muted hint\">Drag to move, Ctrl and \
                  wheel to zoom.</span><button type=\"button\" class=\"quiet\" data-zoom=\"in\" \
                  aria-label=\"Zoom in\">+</button><button type=\"button\" class=\"quiet\" \
                  data-zoom=\"out\" aria-label=\"Zoom out\">−</button><button type=\"button\" \
                  class=\"quiet\" data-zoom=\"all\">Whole map</button><label>Names <select \
                  data-names><option value=\"fit\">where there is room</option><option \
                  value=\"all\">all</option><option value=\"none\">none</option></select></label> \
                  <output class=\"muted\" data-named></output></p>";
    format!(
        "{none}{legend}{}",
        chart(&index.to_string(), "map", &format!("Map: {}.{hottest}", map.title))
    )
}

fn grid_remark(grid: &GridView) -> String {
    format!("{}, coloured by {}.", counted(grid.values.len(), "cell"), grid.value_name)
}

fn grid_body(index: usize, grid: &GridView) -> String {
    let known = || grid.values.iter().flatten().copied().filter(|value| value.is_finite());
    if known().next().is_none() || grid.columns == 0 {
        return empty("No cell has a value to draw.");
    }
    let least = format::quantity(known().fold(f64::INFINITY, f64::min), &grid.unit);
    let most = format::quantity(known().fold(f64::NEG_INFINITY, f64::max), &grid.unit);
    chart(
        &index.to_string(),
        "grid",
        &format!("Grid: {}, from {least} to {most}.", grid.value_name),
    )
}

fn histogram_remark(histogram: &HistogramView) -> String {
    let total: u64 = histogram.bars.iter().fold(0, |sum, bar| sum.saturating_add(bar.count));
    if total == 0 {
        return String::new();
    }
    let marks = match marks(histogram) {
        marks if marks.is_empty() => marks,
        marks => format!(" Marked: {marks}."),
    };
    format!("{} {} by {}.{marks}", format::integer(total), histogram.counted, histogram.quantity)
}

fn marks(histogram: &HistogramView) -> String {
    let marks = histogram
        .marks
        .iter()
        .map(|(name, value)| format!("{name} {}", format::quantity(*value, &histogram.unit)));
    marks.collect::<Vec<_>>().join(", ")
}

fn histogram_body(index: usize, histogram: &HistogramView) -> String {
    if histogram.bars.iter().all(|bar| bar.count == 0) {
        return empty(&format!("There were no {} to count.", escape(&histogram.counted)));
    }
    let description = format!(
        "Histogram: {} over {}, {}. {}",
        histogram.counted,
        histogram.quantity,
        counted(histogram.bars.len(), "bar"),
        histogram_remark(histogram)
    );
    chart(&index.to_string(), "", &description)
}

fn lines_body(index: usize, lines: &LinesView) -> String {
    let drawable =
        |points: &[(f64, f64)]| points.iter().any(|(x, y)| x.is_finite() && y.is_finite());
    if !lines.lines.iter().any(|(_, points)| drawable(points)) {
        return empty("There are no points to draw.");
    }
    let names: Vec<&str> = lines.lines.iter().map(|(name, _)| name.as_str()).take(12).collect();
    let points = || lines.lines.iter().flat_map(|(_, points)| points);
    let places = || points().map(|(x, _)| *x).filter(|x| x.is_finite());
    let low = places().fold(f64::INFINITY, f64::min);
    let high = places().fold(f64::NEG_INFINITY, f64::max);
    let show = |value| format::number(value, 4, Zeros::Strip);
    let description = format!(
        "{}: {} over {} from {} to {}: {}.",
        counted(lines.lines.len(), "line"),
        lines.y,
        lines.x,
        show(low),
        show(high),
        names.join(", ")
    );
    chart(&index.to_string(), "", &description)
}

fn bars_body(index: usize, bars: &BarsView) -> String {
    let values = || bars.series.iter().flat_map(|(_, groups)| groups).flatten().flatten();
    if !values().any(|value| value.is_finite()) {
        return empty("There is nothing to draw.");
    }
    let most =
        values().copied().filter(|value| value.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let description = format!(
        "Bars: {} of {}, up to {}.",
        bars.quantity,
        bars.groups.join(", "),
        format::quantity(most, &bars.unit)
    );
    chart(&index.to_string(), "bars", &description)
}
