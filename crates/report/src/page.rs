//! The page as a whole.

use crate::html::{escape, fill, relative_link, script_json};
use crate::results::Rows;
use crate::table::Table;
use crate::{engines, format, kinds, parallel, series, story, study, summary, views};
use serde::Serialize;
use warpline_record::{ProgressSample, RunRecord, StudyRecord, View};

const TEMPLATE: &str = include_str!("../assets/report.html");
const CHARTS: &str = include_str!("../assets/echarts.min.js");
/// Coasts and borders, for pages with maps.
const WORLD: &str = include_str!("../assets/world.json");
/// The style sheets. Later ones override earlier ones.
const STYLES: [&str; 5] = [
    include_str!("../assets/style/base.css"),
    include_str!("../assets/style/boxes.css"),
    include_str!("../assets/style/content.css"),
    include_str!("../assets/style/parallel.css"),
    include_str!("../assets/style/media.css"),
];
/// The scripts. Later ones build on earlier ones.
const SCRIPTS: [&str; 11] = [
    include_str!("../assets/script/format.js"),
    include_str!("../assets/script/table.js"),
    include_str!("../assets/script/theme.js"),
    include_str!("../assets/script/plots.js"),
    include_str!("../assets/script/histogram.js"),
    include_str!("../assets/script/world.js"),
    include_str!("../assets/script/map.js"),
    include_str!("../assets/script/grid.js"),
    include_str!("../assets/script/bars.js"),
    include_str!("../assets/script/parallel.js"),
    include_str!("../assets/script/report.js"),
];

/// A file beside the report, to be linked from it.
pub(crate) struct Neighbour {
    /// Its name, without a directory.
    pub(crate) name: String,
    /// Its length in bytes.
    pub(crate) bytes: u64,
}

/// What the scripts read.
#[derive(Serialize)]
struct Data<'a> {
    progress: &'a [ProgressSample],
    /// `None` for tables, which are shown once, below.
    views: Vec<Option<&'a View>>,
    /// The table of each view, if it has one; then those of the PEs and of the engines.
    tables: &'a [Option<Table>],
    /// What the charts of a parallel run read.
    parallel: Option<&'a parallel::Data>,
}

/// The record as a page with links to `neighbours`.
pub(crate) fn page(record: &RunRecord, neighbours: &[Neighbour]) -> String {
    // What the model shows, then what follows from its statistics and LPs.
    let pictures: Vec<View> = (record.views.iter().cloned())
        .chain(story::views(record))
        .chain(series::views(record))
        .chain(kinds::view(record))
        .collect();
    let (views, mut tables) = views::views(&pictures);
    let mut parallel = parallel::section(record, tables.len());
    tables.extend(parallel.as_mut().map(|section| section.table.take()));
    let (engines, stretches) = engines::section(record, tables.len()).unzip();
    tables.extend(stretches.map(Some));
    let data = Data {
        progress: &record.progress,
        views: drawn(&pictures),
        tables: &tables,
        parallel: parallel.as_ref().map(|section| &section.data),
    };
    let rows = Rows::of(&record.results, &record.result_notes);
    let summary = [
        headlines(record, &rows),
        story::stuck(record),
        shown("What the model shows", &(story::resources(record) + &views)),
        format!(
            "<section class=\"card\"><h2>Results</h2>\n<div class=\"results\">{}</div></section>\n",
            rows.html()
        ),
        how_it_went(record),
        engines.unwrap_or_default(),
        parallel.as_ref().map_or(String::new(), |section| section.html.clone()),
    ]
    .concat();
    filled(
        "run",
        (&record.model, &record.about),
        &summary,
        &files("Files of this run", neighbours),
        &data,
    )
}

/// What the model was run for, as tiles; first of all, whether the run came to its end.
fn headlines(record: &RunRecord, rows: &Rows<'_>) -> String {
    let cut_short = summary::cut_short(record);
    let tiles: String = record
        .headlines
        .iter()
        .filter_map(|name| rows.tile(name))
        .map(|tile| summary::tile(&tile))
        .collect();
    if tiles.is_empty() {
        return cut_short;
    }
    format!("{cut_short}<dl class=\"tiles\">{tiles}</dl>\n")
}

/// How fast the run was, with which parameters and settings, and its progress.
fn how_it_went(record: &RunRecord) -> String {
    let tiles = summary::tiles(record);
    let settings = summary::settings(record);
    let progress = views::progress(record);
    format!(
        "<h2 class=\"over\">How the run went</h2>\n<dl class=\"tiles\">{tiles}</dl>\n\
         <div class=\"grid folds\">{settings}</div>\n{progress}"
    )
}

/// A study as a page with links to `neighbours`.
pub(crate) fn study(record: &StudyRecord, neighbours: &[Neighbour]) -> String {
    let (shown, tables) = views::views(&record.views);
    let data = Data { progress: &[], views: drawn(&record.views), tables: &tables, parallel: None };
    let summary = study::summary(record) + &format!("<div class=\"grid\">{shown}</div>");
    filled(
        &record.study,
        (&record.model, &record.about),
        &summary,
        &files("Files of this report", neighbours),
        &data,
    )
}

/// The views that scripts draw; `None` for tables.
fn drawn(views: &[View]) -> Vec<Option<&View>> {
    views.iter().map(|view| (!matches!(view, View::Table(_))).then_some(view)).collect()
}

/// The template with all its parts.
fn filled(
    kind: &str,
    (model, about): (&str, &str),
    summary: &str,
    files: &str,
    data: &Data<'_>,
) -> String {
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPTS.concat());
    fill(
        TEMPLATE,
        &[
            ("style", &STYLES.concat()),
            ("kind", &escape(kind)),
            ("model", &escape(model)),
            ("about", &escape(about)),
            ("summary", summary),
            ("files", files),
            ("data", &script_json(data)),
            ("world", &world(data)),
            ("echarts", CHARTS),
            ("script", &script),
        ],
    )
}

/// Coasts and borders, if there is a map to draw them on.
fn world(data: &Data<'_>) -> String {
    let is_map =
        |view: &Option<&View>| matches!(view, Some(View::Map(map)) if !map.nodes.is_empty());
    let wanted = data.views.iter().any(is_map);
    if wanted {
        format!("<script id=\"world\" type=\"application/json\">{}</script>\n", WORLD.trim_end())
    } else {
        String::new()
    }
}

/// The views under their heading.
fn shown(heading: &str, views: &str) -> String {
    if views.is_empty() {
        return String::new();
    }
    format!("<h2 class=\"over\">{heading}</h2>\n<div class=\"grid\">{views}</div>")
}

/// Links to the files beside the report.
fn files(heading: &str, neighbours: &[Neighbour]) -> String {
    if neighbours.is_empty() {
        return String::new();
    }
    let items: String = neighbours
        .iter()
        .map(|Neighbour { name, bytes }| {
            let size = format::quantity(*bytes as f64, "B");
            format!(
                "<li><a href=\"{}\">{}</a> <span class=\"muted\">{size}</span></li>",
                escape(&relative_link(name)),
                escape(name)
            )
        })
        .collect();
    format!("<section class=\"card files\"><h2>{heading}</h2><ul>{items}</ul></section>")
}
