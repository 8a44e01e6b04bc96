//! HTML reports of Warpline runs.
//!
//! A report is one file: the style, the program, the chart library and the data are all inside it,
//! so that it opens from a disk or a mail without any network, today and in ten years. Its only
//! input is a [`RunRecord`], or a [`StudyRecord`]: a comparison, an explanation, or an experiment.
//!
//! - [`render`] turns a record into a page.
//! - [`write()`] writes `run.json` (the whole record) and `report.html` to a directory;
//!   [`render_study`] and [`write_study`] do the same for a study.
//! - [`rerender`] makes `report.html` again from the `run.json` beside it.
//! - [`limits()`] says what limits a parallel run, and what to try.
//! - [`losses()`] says where the time of a modelled machine goes, and [`explanation()`] what limits
//!   runs on more and more of its PEs.
//!
//! What needs no script (the summary, the settings, the results, the first rows of every table) is
//! plain HTML, made here. The scripts below `assets` draw charts, and sort and filter tables. Text
//! of the record is escaped wherever it goes, and numbers that are not finite are shown as a dash.
//!
//! ```
//! # let record: warpline_record::RunRecord = serde_json::from_str(r#"{"model": "hops", "about": "Hops at random.",
//! #   "parameters": {"lps": 1000}, "seed": 7, "end_time": 100.0, "engine": {}, "committed_events": 100812, "digest": "00c0ffee00c0ffee",
//! #   "wall_seconds": 0.2, "loop_seconds": 0.1, "event_rate": 1008120.0, "peak_rss_bytes": null, "results": {}, "progress": [],
//! #   "views": []}"#).unwrap();
//! let page = warpline_report::render(&record);
//! assert!(page.starts_with("<!doctype html>"));
//! assert!(page.contains("00c0ffee00c0ffee"));
//! ```

mod engines;
mod error;
mod files;
mod format;
mod html;
mod kinds;
pub mod lists;
mod page;
mod parallel;
mod results;
mod series;
mod story;
mod study;
mod summary;
mod table;
mod views;

pub use error::ReportError;
pub use files::{RECORD_FILE, REPORT_FILE, rerender, write, write_study};
pub use parallel::{
    LOSSES, Limit, Loss, SAMPLES_LEAST, Step, estimated_speedup, explanation, is_sampled, limits,
    losses, taken_by_others,
};
use warpline_record::{RunRecord, StudyRecord};

/// The record as one self-contained HTML page.
///
/// The page names no other file; a report made by [`write()`] or [`rerender`] also links to
/// `run.json` and to the CSV tables beside it.
pub fn render(record: &RunRecord) -> String {
    page::page(record, &[])
}

/// The record of a study as one self-contained HTML page.
pub fn render_study(record: &StudyRecord) -> String {
    page::study(record, &[])
}
