//! Reports as files.

mod common;

use common::parallel::parallel_sample;
use common::{sample, study};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use warpline_record::{Partial, Replications, RunRecord, Series, StudyRecord, View};
use warpline_report::{
    RECORD_FILE, REPORT_FILE, ReportError, render, rerender, write, write_study,
};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_page_stands_alone() {
    let page = render(&sample());
    assert!(page.starts_with("<!doctype html>"));
    assert!(!page.contains("run.json</a>"), "a page without a directory links to nothing");
    for outside in ["src=", "<link rel=\"stylesheet\"", "@import", "url(http"] {
        let head = page.split("<script id=\"data\"").next().unwrap();
        assert!(!head.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("</script>").count(), 5, "no script ends early");
    // The world is there for a map, and only then.
    let mut without = sample();
    without.views.retain(|view| !matches!(view, View::Map(_)));
    let without = render(&without);
    let world = "<script id=\"world\"";
    assert!(page.contains(world) && !without.contains(world));
    assert!(
        (20_000..110_000).contains(&(page.len() - without.len())),
        "{} bytes for a map",
        page.len() - without.len()
    );
}

#[test]
fn names_from_outside_are_escaped() {
    let mut record = sample();
    record.model = "<script>alert(1)</script>".into();
    let page = render(&record);
    assert!(!page.contains("<script>alert(1)"));
    assert!(page.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>"));
    assert!(page.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt; · Warpline run</title>"));
}

#[test]
fn a_record_comes_back_as_it_was() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("new/deep");
    let page = write(&dir, &sample()).unwrap();
    assert_eq!(page, dir.join(REPORT_FILE));
    assert_eq!(names(&dir), [REPORT_FILE, RECORD_FILE], "no drafts are left");
    let kept: RunRecord = serde_json::from_str(&text(&dir.join(RECORD_FILE))).unwrap();
    assert_eq!(kept, sample());

    let first = text(&page);
    fs::remove_file(&page).unwrap();
    assert_eq!(rerender(&dir).unwrap(), page);
    assert_eq!(text(&page), first);
}

#[test]
fn parallel_runs_come_back_as_they_were() {
    let dir = TempDir::new().unwrap();
    let page = write(dir.path(), &parallel_sample(3)).unwrap();
    let kept: RunRecord = serde_json::from_str(&text(&dir.path().join(RECORD_FILE))).unwrap();
    assert_eq!(kept, parallel_sample(3));
    let first = text(&page);
    assert!(first.contains("<h2 class=\"over\">Parallel execution</h2>"));
    assert_eq!(text(&rerender(dir.path()).unwrap()), first);
}

#[test]
fn a_record_without_a_word_on_parallel_runs_has_no_section_on_them() {
    let dir = TempDir::new().unwrap();
    let page = write(dir.path(), &sample()).unwrap();
    let path = dir.path().join(RECORD_FILE);
    let mut old: Value = serde_json::from_str(&text(&path)).unwrap();
    for name in ["processed_events", "efficiency", "rollbacks", "phase_seconds", "pes"] {
        assert_eq!(old.get(name), None, "a sequential run has no {name}");
    }
    assert!(
        old["progress"]
            .as_array()
            .unwrap()
            .iter()
            .all(|sample| sample.get("speculation").is_none())
    );
    // A record with only some of it has no section either.
    for half in [false, true] {
        if half {
            old["gvt_epochs"] = 5.into();
        }
        fs::write(&path, old.to_string()).unwrap();
        rerender(dir.path()).unwrap();
        assert!(!text(&page).contains("Parallel execution</h2>"));
    }
}

#[test]
fn tables_beside_the_report_are_linked() {
    let dir = TempDir::new().unwrap();
    for name in ["b c.csv", "of an earlier run.csv", "<x>\".csv"] {
        fs::write(dir.path().join(name), "x\n1\n").unwrap();
    }
    fs::create_dir(dir.path().join("folder.csv")).unwrap();
    let tables = ["b c.csv", "<x>\".csv", "folder.csv", "gone.csv"].map(str::to_owned).to_vec();
    let page = text(&write(dir.path(), &RunRecord { tables, ..sample() }).unwrap());
    let links: Vec<&str> = page
        .split("<li><a href=\"")
        .skip(1)
        .map(|rest| rest.split("</a>").next().unwrap())
        .collect();
    assert_eq!(
        links,
        [
            "./run.json\">run.json",
            "./b%20c.csv\">b c.csv",
            "./%3Cx%3E%22.csv\">&lt;x&gt;&quot;.csv"
        ]
    );
}

#[test]
fn numbers_that_are_not_finite_survive() {
    let dir = TempDir::new().unwrap();
    let mut record = sample();
    record.event_rate = f64::NAN;
    record.end_time = f64::INFINITY;
    record.progress[0].virtual_time = f64::NAN;
    for view in &mut record.views {
        match view {
            View::Map(map) => map.links[0].value = f64::NAN,
            View::Grid(grid) => grid.values[0] = Some(f64::NAN),
            View::Histogram(histogram) => {
                histogram.marks[0].1 = f64::NAN;
                histogram.bars[0].low = f64::NEG_INFINITY;
            }
            View::Lines(lines) => lines.lines[0].1[0] = (f64::NAN, f64::INFINITY),
            View::Bars(_) | View::Table(_) => {}
        }
    }
    let odd = Series {
        edges: vec![0.0, f64::NAN, 2.0],
        values: vec![Some(f64::NAN), None],
        ..Series::default()
    };
    record.series = [("odd".to_owned(), odd)].into();
    let first = text(&write(dir.path(), &record).unwrap());
    assert_eq!(text(&rerender(dir.path()).unwrap()), first);
}

#[test]
fn a_run_that_was_stopped_says_so_first() {
    let words = "Stopped early, at 60 of 100 s: all figures are of what was done until then.";
    assert!(!render(&sample()).contains("Stopped early"));
    let stopped = Some(Partial { wanted_end: 100.0, wanted_runs: 1 });
    let page = render(&RunRecord { partial: stopped, ..sample() });
    let place = page.find(words).expect("it says so");
    assert!(place < page.find("<dl class=\"tiles\">").expect("there are tiles"));
    let stopped = Some(Partial { wanted_end: 60.0, wanted_runs: 5 });
    let replications = Some(Replications::default());
    let page = render(&RunRecord { partial: stopped, replications, ..sample() });
    assert!(page.contains("Stopped early, after 0 of 5 runs"));
}

#[test]
fn progress_without_a_curve_is_left_out() {
    let heading = "<h3>Virtual time</h3>";
    let sample = sample();
    for (samples, shown) in [(0, false), (1, false), (2, true)] {
        let progress = sample.progress[..samples].to_vec();
        let page = render(&RunRecord { progress, ..sample.clone() });
        assert_eq!(page.contains(heading), shown, "{samples} samples");
    }
}

#[test]
fn studies_come_back_as_they_were() {
    let dir = TempDir::new().unwrap();
    let page = write_study(dir.path(), &study()).unwrap();
    let kept: StudyRecord = serde_json::from_str(&text(&dir.path().join(RECORD_FILE))).unwrap();
    assert_eq!(kept, study());
    let first = text(&page);
    assert_eq!(first, text(&rerender(dir.path()).unwrap()));
    assert!(
        first.contains("<title>clock &lt;b&gt; · Warpline comparison</title>")
            && first.contains("role=\"alert\"")
    );
    // Whatever is in it stays text.
    assert!(
        !first.contains("<b>") && first.contains("eng&lt;b&gt;ine"),
        "markup of the record in the page"
    );
    // The record of a run takes its place, and the page follows.
    write(dir.path(), &sample()).unwrap();
    assert!(text(&rerender(dir.path()).unwrap()).contains("Warpline run</p>"));
    let broken = text(&dir.path().join(RECORD_FILE)).replacen('{', "{\"study\": 1,", 1);
    fs::write(dir.path().join(RECORD_FILE), broken).unwrap();
    assert!(rerender(dir.path()).unwrap_err().to_string().contains("line 1 column"));
}

#[test]
fn a_missing_record_is_named() {
    let dir = TempDir::new().unwrap();
    let error = rerender(dir.path()).unwrap_err();
    assert!(
        matches!(&error, ReportError::NoRecord { path } if *path == dir.path().join(RECORD_FILE))
    );
    let message = error.to_string();
    assert!(
        message.contains(RECORD_FILE)
            && message.contains("name a directory in which a run has left its report"),
        "{message}"
    );
}

#[test]
fn a_broken_record_is_shown_where_it_breaks() {
    let dir = TempDir::new().unwrap();
    let page = write(dir.path(), &sample()).unwrap();
    let first = text(&page);
    let path = dir.path().join(RECORD_FILE);
    let broken = text(&path).replacen("\"seed\": 20260117", "\"seed\": -1", 1);
    let line = broken.lines().position(|line| line.contains("\"seed\"")).unwrap() + 1;
    fs::write(&path, broken).unwrap();
    let message = rerender(dir.path()).unwrap_err().to_string();
    assert!(
        message.contains(&format!("at line {line} column ")) && message.contains(RECORD_FILE),
        "{message}"
    );
    fs::write(&path, "{\"model\": \"network\",\n  oops").unwrap();
    let message = rerender(dir.path()).unwrap_err().to_string();
    assert!(
        message.contains("line 2 column 3") && message.contains("is not a run record"),
        "{message}"
    );
    assert_eq!(text(&page), first, "the earlier report is untouched");
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let error = write(&file.join("below"), &sample()).unwrap_err();
    assert!(matches!(error, ReportError::Directory { .. }));
    assert!(error.to_string().contains("as the directory of a report"), "{error}");

    // A directory in the place of a file can be neither read nor replaced, not even by an
    // administrator.
    let dir = place.path().join("dir");
    fs::create_dir_all(dir.join(RECORD_FILE).join("x")).unwrap();
    let error = rerender(&dir).unwrap_err();
    assert!(matches!(error, ReportError::Read { .. }));
    assert!(error.to_string().starts_with("cannot read"), "{error}");
    let error = write(&dir, &sample()).unwrap_err();
    assert!(matches!(error, ReportError::Write { .. }));
    assert!(error.to_string().contains(RECORD_FILE), "{error}");
    assert_eq!(names(&dir), [RECORD_FILE], "no drafts are left");
}
