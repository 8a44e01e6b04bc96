//! Tables as a browser shows them: results, and wide tables on small screens.

use crate::common::parallel::parallel_sample;
use crate::common::sample;
use crate::{assert_quiet, shown};
use serde_json::{Value, json};
use warpline_record::*;

const TEXT: &str = "document.querySelector('main').innerText.replaceAll('\\u00a0', ' \
                    ').replaceAll('\\u202f', ' ')";

#[test]
fn results_are_one_aligned_table() {
    let mut record = sample();
    let narrow = json!({"mean": 2.5, "ci95": 0.125, "ci95_note": "probably too narrow: the run is \
        short", "count": 7});
    record.results.as_object_mut().unwrap().insert("stay".into(), narrow);
    let (mut browser, _dir) = shown(&record);
    assert_eq!(browser.eval("document.querySelectorAll('.results table').length"), json!(1));
    let rows = "[...document.querySelectorAll('.results tbody tr')].map((row) => \
                [...row.cells].map((cell) => cell.innerText).join(' | '))";
    let rows: Vec<String> = serde_json::from_value(browser.eval(rows)).unwrap();
    let row = |name: &str| {
        rows.iter().find(|row| row.starts_with(name)).unwrap().replace(['\u{a0}', '\u{202f}'], " ")
    };
    assert_eq!(
        row("delay seconds"),
        "delay seconds\ntime from source to destination, with queues on the way and the time that \
         light takes | s | 0.01342 | 0.0000221 |  | 0.09431 | 7 481 003"
            .replace("0.0000221", "2.21×10⁻⁵")
    );
    assert_eq!(row("loss"), "loss\nshare of packets that were dropped |  | 0.002508 |  |  |  | ");
    let over = "of 100 entries: smallest item 0, largest item 99, mean over the entries";
    assert_eq!(
        row("delay percentiles"),
        format!("delay percentiles\n{over} |  | 0.0495 |  | 0 | 0.099 | 100")
    );
    assert_eq!(row("stay"), "stay |  | 2.5 | 0.125 ! |  |  | 7");
    let text = browser.eval(TEXT);
    for wanted in [
        "in about 95 of 100 runs, the true mean",
        "! The interval is probably too narrow: the run is short.",
    ] {
        assert!(text.as_str().unwrap().contains(wanted), "{wanted} is missing in:\n{text}");
    }
    // Numbers of a column are aligned at the right.
    let ends = "[2, 3, 5, 6].map((column) => new Set([...document.querySelectorAll('.results tbody tr')]
        .filter((row) => row.cells.length === 7).map((row) => row.cells[column].getBoundingClientRect().right)).size)";
    assert_eq!(browser.eval(ends), json!([1, 1, 1, 1]));
    assert_quiet(&browser);
}

/// How far a box has been scrolled, where the first cells of its first and last rows are, and whether
/// the latter is narrow and opaque.
const FIRST_CELL: &str = "(box) => {
    box.scrollLeft = 150;
    const place = (cell) => Math.round(cell.getBoundingClientRect().left - box.getBoundingClientRect().left);
    const rows = [...box.querySelectorAll('tr')];
    const cell = rows.at(-1).cells[0];
    const [red, green, blue, seen = 1] = getComputedStyle(cell).backgroundColor.match(/[\\d.]+/g).map(Number);
    return [box.scrollLeft, place(rows[0].cells[0]), place(cell), cell.offsetWidth <= box.clientWidth / 2, seen];
}";

#[test]
fn wide_tables_scroll_and_keep_their_first_column() {
    let mut record = parallel_sample(4);
    let columns: Vec<_> =
        (0..12).map(|index| (format!("a long name {index}"), "km".to_owned())).collect();
    let name = json!("the name of a place that is quite long, and then some more");
    let row: Vec<Value> = std::iter::once(name).chain((1..12).map(Value::from)).collect();
    record.views =
        vec![View::Table(TableView { title: "Wide".into(), columns, rows: vec![row; 3] })];
    let (mut browser, _dir) = shown(&record);
    browser.resize(390);
    browser.wait_for("innerWidth === 390");
    let boxes = browser.eval(&format!(
        "[...document.querySelectorAll('.scroll:has(.data, .sheet)')].map({FIRST_CELL})"
    ));
    assert_eq!(
        boxes,
        json!([[150, 0, 0, true, 1], [150, 0, 0, true, 1], [150, 0, 0, true, 1]]),
        "results, PEs, and the model's own"
    );
    let widths = browser.eval("[document.documentElement.scrollWidth, innerWidth]");
    assert_eq!(widths[0], widths[1]);
    assert_quiet(&browser);
}

#[test]
fn the_report_says_where_the_run_comes_from() {
    let (mut browser, _dir) = shown(&sample());
    browser.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
    let rows = "[...document.querySelectorAll('[aria-label=Provenance] tr')].map((row) => \
                [...row.cells].map((cell) => cell.innerText).join(': '))";
    let rows: Vec<String> = serde_json::from_value(browser.eval(rows)).unwrap();
    let expected = [
        "command line: warpline run network --end 60",
        "begun: 2026-01-17T09:30:00Z",
        "Warpline: 0.1.0 (commit 0123456789ab)",
        "processor: Example 9000 16-Core Processor",
        "cores: 16 that the process may use",
        "memory: 68.7\u{a0}GB in the machine",
        "PEs: 8",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_report_says_what_limits_a_run_and_what_to_try() {
    let mut record = parallel_sample(2);
    record.loop_seconds = 1e4;
    let (mut browser, _dir) = shown(&record);
    let items = "[...document.querySelectorAll('.limits li')].map((item) => item.innerText)";
    let items: Vec<String> = serde_json::from_value(browser.eval(items)).unwrap();
    assert!(
        items[0]
            .starts_with("Probably slower than on one core. One core would probably have taken"),
        "{items:?}"
    );
    assert_eq!(
        browser.eval("document.querySelector('.limits li code').textContent"),
        json!("sync")
    );
    assert_quiet(&browser);
    drop(browser);

    let (mut browser, _dir) = shown(&RunRecord { parallel: None, ..sample() });
    assert_eq!(browser.eval("document.querySelector('.limits')"), Value::Null);
}
