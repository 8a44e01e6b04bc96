//! The page as a whole.

use crate::html::{escape, fill, relative_link, script_json};
use crate::table::Table;
use crate::{format, parallel, results, series, summary, views};
use serde::Serialize;
use warpline_base::record::{ProgressSample, RunRecord, View};

const TEMPLATE: &str = include_str!("../assets/report.html");
const CHARTS: &str = include_str!("../assets/echarts.min.js");
/// The style sheets: later ones override earlier ones.
const STYLES: [&str; 5] = [
    include_str!("../assets/style/base.css"),
    include_str!("../assets/style/boxes.css"),
    include_str!("../assets/style/content.css"),
    include_str!("../assets/style/parallel.css"),
    include_str!("../assets/style/media.css"),
];
/// The scripts, in the order in which they build on each other.
const SCRIPTS: [&str; 8] = [
    include_str!("../assets/script/format.js"),
    include_str!("../assets/script/table.js"),
    include_str!("../assets/script/theme.js"),
    include_str!("../assets/script/plots.js"),
    include_str!("../assets/script/histogram.js"),
    include_str!("../assets/script/map.js"),
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
    /// The table of each view, if it has one, and that of the PEs.
    tables: &'a [Option<Table>],
    /// What the charts of a parallel run read.
    parallel: Option<&'a parallel::Data>,
}

/// The record as a page with links to `neighbours`.
pub(crate) fn page(record: &RunRecord, neighbours: &[Neighbour]) -> String {
    let pictures: Vec<View> = series::views(record).chain(record.views.iter().cloned()).collect();
    let (views, mut tables) = views::views(&pictures);
    let mut parallel = parallel::section(record, tables.len());
    tables.extend(parallel.as_mut().map(|section| section.table.take()));
    let data = Data {
        progress: &record.progress,
        views: pictures.iter().map(|view| (!matches!(view, View::Table(_))).then_some(view)).collect(),
        tables: &tables,
        parallel: parallel.as_ref().map(|section| &section.data),
    };
    let script = format!("(() => {{\n'use strict';\n{}}})();\n", SCRIPTS.concat());
    fill(
        TEMPLATE,
        &[
            ("style", &STYLES.concat()),
            ("model", &escape(&record.model)),
            ("about", &escape(&record.about)),
            ("tiles", &summary::tiles(record)),
            ("settings", &summary::settings(record)),
            ("results", &results::results(&record.results, &record.result_notes)),
            ("progress", &views::progress(record)),
            ("parallel", parallel.as_ref().map_or("", |section| &section.html)),
            ("views", &shown(&views)),
            ("files", &files(neighbours)),
            ("data", &script_json(&data)),
            ("echarts", CHARTS),
            ("script", &script),
        ],
    )
}

/// The model's views under their heading.
fn shown(views: &str) -> String {
    if views.is_empty() {
        return String::new();
    }
    format!("<h2 class=\"over\">What the model shows</h2>\n<div class=\"grid\">{views}</div>")
}

/// Links to the files beside the report.
fn files(neighbours: &[Neighbour]) -> String {
    if neighbours.is_empty() {
        return String::new();
    }
    let items: String = neighbours
        .iter()
        .map(|Neighbour { name, bytes }| {
            let size = format::quantity(*bytes as f64, "B");
            format!("<li><a href=\"{}\">{}</a> <span class=\"muted\">{size}</span></li>", escape(&relative_link(name)), escape(name))
        })
        .collect();
    format!("<section class=\"card files\"><h2>Files of this run</h2><ul>{items}</ul></section>")
}
