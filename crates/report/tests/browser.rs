//! Reports as a real browser shows them.

mod chromium;
mod common;
mod extremes;
mod machine;
mod maps;
mod parallel;
mod series;
mod tables;

use chromium::Chromium;
use common::{noise, sample, study};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use warpline_record::*;

/// Counts the painted pixels of a chart, and its colours.
const PAINTED: &str = "async (place) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [place.clientWidth, place.clientHeight];
    const pen = canvas.getContext('2d');
    const svg = place.querySelector('svg');
    let source = place.querySelector('canvas');
    if (svg) {
        source = new Image();
        source.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
        await source.decode();
    }
    pen.drawImage(source, 0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return [pixels.filter((pixel) => pixel !== 0).length, new Set(pixels).size];
}";

/// A browser that shows a report, 1280 pixels wide.
fn opened(page: &Path) -> Chromium {
    let mut browser = Chromium::start(1280);
    browser.prefer("light");
    browser.open(page);
    browser.wait_for("document.documentElement.dataset.ready === 'yes'");
    browser
}

/// A browser that shows the report of `record`.
fn shown(record: &RunRecord) -> (Chromium, TempDir) {
    let dir = TempDir::new().unwrap();
    let page = warpline_report::write(dir.path(), record).unwrap();
    (opened(&page), dir)
}

/// Checks that there are `count` charts in an array of elements, and that all are painted.
fn assert_painted(browser: &mut Chromium, charts: &str, count: usize) {
    let painted = browser.eval(&format!("Promise.all({charts}.map({PAINTED}))"));
    let painted: Vec<(u64, u64)> = serde_json::from_value(painted).unwrap();
    assert_eq!(painted.len(), count);
    assert!(painted.iter().all(|(pixels, colours)| *pixels > 1000 && *colours > 5), "{painted:?}");
}

/// All charts of a page.
const CHARTS: &str = "[...document.querySelectorAll('[data-chart]')]";

/// Checks that the page reports nothing, and asks for nothing but itself.
fn assert_quiet(browser: &Chromium) {
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
    let addresses = browser.addresses();
    assert!(!addresses.is_empty());
    assert!(
        addresses
            .iter()
            .all(|address| address.starts_with("file:") || address.starts_with("data:")),
        "{addresses:?}"
    );
}

/// The texts of a column of the last table of the page.
fn column(browser: &mut Chromium, column: usize) -> Vec<String> {
    let cells = browser.eval(&format!(
        "[...[...document.querySelectorAll('[data-table]')].at(-1).querySelectorAll('tbody \
         tr')].map((row) => row.cells[{column}].textContent)"
    ));
    serde_json::from_value(cells).unwrap()
}

fn click_head(browser: &mut Chromium, column: usize) -> Value {
    let table = "[...document.querySelectorAll('[data-table]')].at(-1)";
    browser.eval(&format!("{table}.querySelectorAll('thead button')[{column}].click()"));
    browser.eval(&format!("[...{table}.querySelectorAll('thead th')].map((head) => head.ariaSort)"))
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.replace('\u{202f}', "").parse().unwrap()).collect()
}

#[test]
fn everything_is_drawn_without_a_word_or_a_request() {
    let (mut browser, _dir) = shown(&sample());
    let text = browser
        .eval("document.body.innerText.replaceAll('\\u00a0', ' ').replaceAll('\\u202f', ' ')");
    let text = text.as_str().unwrap();
    for wanted in [
        "network",
        "48 213 977",
        "3.2 M",
        "events/s",
        "15.4 s",
        "413 MB",
        "20260117",
        "9f86d081884c7d65",
        "Every link",
        "run.json",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    // Three charts of progress, and five of the model.
    assert_painted(&mut browser, CHARTS, 3 + 5);
    let described = browser.eval(&format!(
        "{CHARTS}.every((chart) => chart.role === 'img' && chart.ariaLabel.length > 20)"
    ));
    assert_eq!(described, json!(true));
    assert_quiet(&browser);
}

#[test]
fn a_study_is_drawn_as_well() {
    let dir = TempDir::new().unwrap();
    let page = warpline_report::write_study(dir.path(), &study()).unwrap();
    let mut browser = opened(&page);
    assert_painted(&mut browser, CHARTS, 2);
    let words =
        "[...document.querySelectorAll('[data-chart] svg text')].map((text) => text.textContent)";
    let words: Vec<String> = serde_json::from_value(browser.eval(words)).unwrap();
    for wanted in ["sequential", "2 cores", "1000 cores", "any engine <b>"] {
        assert!(words.iter().any(|word| word.contains(wanted)), "{wanted}: {words:?}");
    }
    // One circle for each run that has a rate.
    let circles = "echarts.getInstanceByDom(document.querySelector('[data-chart=\"0\"]')).getOption().series.at(-1).data.length";
    let circles = browser.eval(circles);
    assert_eq!(circles, json!(7));
    for width in [390, 1280] {
        browser.resize(width);
        browser.wait_for(&format!("innerWidth === {width}"));
        let widths = browser.eval("[document.documentElement.scrollWidth, innerWidth]");
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "{widths}");
    }
    assert_quiet(&browser);
}

#[test]
fn tables_sort_and_filter() {
    let (mut browser, _dir) = shown(&sample());
    let from_rust = column(&mut browser, 1);
    assert_eq!(from_rust.len(), 30);

    let sorted = click_head(&mut browser, 1);
    assert_eq!(sorted, json!(["none", "ascending", "none", "none", "none", "none"]));
    let rising = column(&mut browser, 1);
    assert!(numbers(&rising).is_sorted(), "{rising:?}");
    let [before, after] = [&from_rust, &rising].map(|cells| {
        let mut cells = cells.clone();
        cells.sort();
        cells
    });
    assert_eq!(before, after, "the script writes numbers as the page had them");

    let sorted = click_head(&mut browser, 1);
    assert_eq!(sorted[1], "descending");
    let falling = column(&mut browser, 1);
    assert!(numbers(&falling).iter().rev().is_sorted(), "{falling:?}");

    // Keys work as well as the mouse.
    browser.eval(
        "[...document.querySelectorAll('[data-table]')].at(-1).querySelector('thead \
                  button').focus()",
    );
    browser.press("Enter", 13, "\r");
    let names = column(&mut browser, 0);
    assert!(names.is_sorted(), "{names:?}");

    let filter = "const box = [...document.querySelectorAll('[data-table]')].at(-1); \
                  box.querySelector('input')";
    browser.eval(&format!("{{{filter}.focus()}}"));
    browser.call("Input.insertText", json!({"text": "PARIS amst"}));
    assert_eq!(column(&mut browser, 0), Vec::<String>::new());
    browser.eval(&format!("{{{filter}.select()}}"));
    browser.call("Input.insertText", json!({"text": "paris"}));
    let found = column(&mut browser, 0);
    assert!(!found.is_empty() && found.iter().all(|name| name.contains("Paris")), "{found:?}");
    let status =
        browser.eval("[...document.querySelectorAll('[data-table] output')].at(-1).textContent");
    assert_eq!(status, json!(format!("{} of 30 rows", found.len())));
    assert_quiet(&browser);
}

#[test]
fn large_tables_show_their_rows_when_asked() {
    let mut record = sample();
    let rows = (0..20_000).map(|index| {
        vec![
            json!(index),
            json!(format!("item-{index}")),
            json!(noise(index)),
            json!(u64::MAX - index as u64),
        ]
    });
    let columns =
        ["index", "name", "value", "large"].map(|name| (name.to_owned(), String::new())).to_vec();
    record.views =
        vec![View::Table(TableView { title: "Large".into(), columns, rows: rows.collect() })];
    let (mut browser, _dir) = shown(&record);
    assert_eq!(column(&mut browser, 0).len(), 200);

    let took = browser.eval(
        "(() => { const from = performance.now(); \
                             document.querySelectorAll('.data thead button')[2].click(); return \
                             performance.now() - from; })()",
    );
    assert!(took.as_f64().unwrap() < 5000.0, "sorting 20 000 rows took {took} ms");
    assert_eq!(column(&mut browser, 0).len(), 200);
    click_head(&mut browser, 3);
    let least = browser.eval("document.querySelector('.data tbody td:last-child').title");
    // Neighbours beyond 2⁵³ compare equal, but are shown exactly.
    assert!(least.as_str().unwrap().starts_with("18446744073709"), "{least}");

    browser.eval("document.querySelector('[data-all]').click()");
    browser.wait_for("document.querySelectorAll('.data tbody tr').length === 20000");
    browser.eval("document.querySelector('input').focus()");
    browser.call("Input.insertText", json!({"text": "item-1999"}));
    assert_eq!(column(&mut browser, 0).len(), 11, "1999 and 19990 to 19999");
    assert_quiet(&browser);
}

#[test]
fn charts_follow_the_colours_of_the_system() {
    let (mut browser, _dir) = shown(&sample());
    let look = "[getComputedStyle(document.documentElement).backgroundColor, \
                document.querySelector('.map svg').outerHTML]";
    let light = browser.eval(look);
    browser.prefer("dark");
    browser.wait_for(&format!("{look}[1] !== {}", light[1]));
    let dark = browser.eval(look);
    assert_ne!(light[0], dark[0]);
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(
        browser.eval("getComputedStyle(document.documentElement).backgroundColor"),
        light[0],
        "paper is light"
    );
    browser.eval("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.eval("getComputedStyle(document.documentElement).backgroundColor"), dark[0]);
    assert_quiet(&browser);
}

#[test]
fn a_phone_shows_it_all_without_scrolling_sideways() {
    let (mut browser, _dir) = shown(&sample());
    browser.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
    for width in [360, 390, 768, 1280] {
        browser.resize(width);
        browser.wait_for(&format!("innerWidth === {width}"));
        browser.wait_for(
            "[...document.querySelectorAll('[data-chart] svg')].every((svg) => svg.clientWidth <= \
             svg.closest('[data-chart]').clientWidth)",
        );
        let widths = browser.eval("[document.documentElement.scrollWidth, innerWidth]");
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "{widths}");
    }
    assert_quiet(&browser);
}

#[test]
fn settings_say_what_they_do_and_when_they_hurt() {
    let mut record = sample();
    record.engine.insert("window".into(), json!("adaptive"));
    record.settings.push(SettingNote {
        name: "window".into(),
        unit: "model time".into(),
        ..Default::default()
    });
    record.settings.push(SettingNote {
        name: "kps".into(),
        meaning: "Not in this run".into(),
        ..Default::default()
    });
    let (mut browser, _dir) = shown(&record);
    browser.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
    let rows = "[...document.querySelectorAll('[aria-label=Settings] tr')].map((row) => \
                [...row.cells].map((cell) => cell.innerText).join(' | '))";
    let rows: Vec<String> = serde_json::from_value(browser.eval(rows)).unwrap();
    let expected = [
        "end | 60.0 s\nModel time at which the run ends.\nWhen it hurts: a short run tells little.",
        "seed | 20260117\nSeed of all random numbers.\nWhen it hurts: one seed is one sample.",
        "batch | 128 events\nEvents between two looks at messages.\nWhen it hurts: too <small>, \
         and looking costs more than events do.",
        "undo | copy\nHow events are undone.\nWhen it hurts: copies cost most where states are \
         large.",
        "window | adaptive (s)",
        // The record has no notes on these.
        "gvt | asynchronous",
        "pool | sender",
        "sync | optimistic",
        "workers | 8",
    ];
    assert_eq!(rows, expected);
    assert_quiet(&browser);
}

#[test]
fn the_summary_needs_no_scripts() {
    let dir = TempDir::new().unwrap();
    let page = warpline_report::write(dir.path(), &sample()).unwrap();
    let mut browser = Chromium::start(1280);
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page);
    let text = browser.eval("document.body.innerText");
    let text = text.as_str().unwrap();
    for wanted in [
        "Scripts are off",
        "network",
        "9f86d081884c7d65",
        "packets delivered",
        "Frankfurt → Geneva",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    assert!(!text.contains("Filter"), "what needs a script is not offered");
}

#[test]
fn the_browser_tells_on_a_bad_page() {
    let dir = TempDir::new().unwrap();
    let page = dir.path().join("bad.html");
    std::fs::write(
        &page,
        "<script>console.error('loud')</script><script>missing()</script><img \
                           src='http://127.0.0.1:9/x.png'>",
    )
    .unwrap();
    let mut browser = Chromium::start(1280);
    browser.open(&page);
    assert!(browser.complaints().len() >= 2, "{:#?}", browser.complaints());
    assert!(browser.addresses().contains(&"http://127.0.0.1:9/x.png"), "{:?}", browser.addresses());
}
