//! The section on parallel execution as a browser shows it.

use crate::common::parallel::parallel_sample;
use crate::{assert_painted, assert_quiet, shown};
use serde_json::{Value, json};
use warpline_record::*;

const CHARTS: &str = "[...document.querySelectorAll('[data-chart^=parallel]')]";
const TEXT: &str = "document.querySelector('main').innerText.replaceAll('\\u00a0', ' \
                    ').replaceAll('\\u202f', ' ')";

/// The texts of a column of the table of PEs.
fn column(browser: &mut crate::Chromium, column: usize) -> Vec<String> {
    let cells = format!(
        "[...document.querySelectorAll('.pes tbody tr')].map((row) => \
         row.cells[{column}].textContent)"
    );
    serde_json::from_value(browser.eval(&cells)).unwrap()
}

#[test]
fn a_parallel_run_shows_where_its_time_went() {
    let (mut browser, _dir) = shown(&parallel_sample(8));
    let text = browser.eval(TEXT);
    let text = text.as_str().unwrap();
    for wanted in [
        "Parallel execution",
        "480 866",
        "80 % were certain when they were executed",
        "were executed ahead",
        "12 604",
        "8 PEs committed 2.59 M events/s",
        "Where the time went",
        "uncommitted, most",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    assert_painted(&mut browser, CHARTS, 5);
    let described = browser.eval(&format!(
        "{CHARTS}.every((chart) => chart.role === 'img' && chart.ariaLabel.length > 60)"
    ));
    assert_eq!(described, json!(true));

    assert_eq!(column(&mut browser, 0), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    let [executed, certain, ahead] = [3, 4, 5].map(|index| column(&mut browser, index));
    let number =
        |cell: &String| cell.replace(['\u{a0}', '\u{202f}', ' '], "").parse::<u64>().unwrap();
    for (executed, (certain, ahead)) in executed.iter().zip(certain.iter().zip(&ahead)) {
        assert!(
            number(certain) > 0 && number(certain) + number(ahead) == number(executed),
            "{certain} + {ahead} of {executed}"
        );
    }
    browser.eval("[...document.querySelectorAll('.pes thead button')].at(-1).click()");
    let last =
        browser.eval("document.querySelectorAll('.pes thead button').length - 1").as_u64().unwrap();
    let idle: Vec<f64> =
        column(&mut browser, last as usize).iter().map(|cell| cell.parse().unwrap()).collect();
    assert!(idle.len() == 8 && idle.is_sorted(), "{idle:?}");

    let drawn = format!("{CHARTS}[0].querySelector('svg').outerHTML");
    let light = browser.eval(&drawn);
    browser.prefer("dark");
    browser.wait_for(&format!("{drawn} !== {light}"));
    assert_quiet(&browser);
}

#[test]
fn any_number_of_pes_fits_on_a_phone() {
    for pes in [1, 64, 200] {
        let (mut browser, dir) = shown(&parallel_sample(pes));
        let bars = browser.eval(&format!(
            "echarts.getInstanceByDom({CHARTS}[0]).getOption().yAxis[0].data.length"
        ));
        assert_eq!(bars, json!(if pes == 200 { 50 } else { pes }));
        for width in [390, 768] {
            browser.resize(width);
            browser.open(&dir.path().join(warpline_report::REPORT_FILE));
            browser.wait_for("document.documentElement.dataset.ready === 'yes'");
            browser.wait_for(&format!(
                "{CHARTS}.every((place) => \
                                       place.querySelector('svg').clientWidth <= \
                                       place.clientWidth)"
            ));
            // Tooltips do not widen the page.
            browser.eval(&format!(
                "{CHARTS}.forEach((place) => \
                 echarts.getInstanceByDom(place).dispatchAction({{type: 'showTip', seriesIndex: 0, \
                 dataIndex: Math.min(3, {pes} - 1)}}))"
            ));
            browser.wait_for("document.querySelectorAll('.tip').length >= 5");
            browser.eval("new Promise((done) => setTimeout(done, 300))");
            let widths = browser.eval("[document.documentElement.scrollWidth, innerWidth]");
            assert!(
                widths[0].as_u64() <= widths[1].as_u64() && widths[1] == json!(width),
                "{pes} PEs: {widths}"
            );
        }
        assert_quiet(&browser);
    }
}

/// A run in which nothing happened, with NaN and infinity wherever they can be.
fn void() -> RunRecord {
    let mut record = parallel_sample(2);
    record.committed_events = 0;
    record.event_rate = f64::NAN;
    for (index, sample) in record.progress.iter_mut().enumerate() {
        let window = if index % 2 == 0 { f64::INFINITY } else { f64::NAN };
        sample.speculation =
            Some(SpeculationSample { window, mailbox_depth: f64::NAN, ..Default::default() });
    }
    let idle = Phases { idle: 1.0, send: f64::NAN, ..Default::default() };
    let pe = PeRecord { phase_seconds: idle, mailbox_depth_mean: f64::NAN, ..Default::default() };
    let parallel = ParallelRecord {
        efficiency: f64::NAN,
        phase_seconds: idle,
        pes: vec![pe; 2],
        ..Default::default()
    };
    record.parallel = Some(parallel);
    record
}

#[test]
fn a_run_in_which_nothing_happened_is_told_in_words() {
    let (mut browser, _dir) = shown(&void());
    let text = browser.eval(TEXT);
    let text = text.as_str().unwrap();
    for wanted in [
        "No event was executed.",
        "100 % waiting",
        "No PE executed an event.",
        "There were no rollbacks.",
        "hold too little",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    for bad in ["NaN", "Infinity", "undefined", "null", "inf"] {
        assert!(
            !text
                .split_whitespace()
                .any(|word| word.trim_matches(|end: char| !end.is_alphabetic()) == bad),
            "{bad} in:\n{text}"
        );
    }
    assert_quiet(&browser);
}

#[test]
fn parts_of_a_parallel_record_are_shown_as_far_as_they_go() {
    // Samples alone.
    let (mut browser, _dir) = shown(&RunRecord { parallel: None, ..parallel_sample(2) });
    assert_eq!(
        browser.eval(&format!("{CHARTS}.map((place) => place.dataset.chart)")),
        json!(["parallel-window", "parallel-gvt"])
    );
    assert_quiet(&browser);
    drop(browser);

    // Sums alone.
    let mut record = parallel_sample(2);
    record.parallel.as_mut().unwrap().pes.clear();
    record.progress.iter_mut().for_each(|sample| sample.speculation = None);
    let (mut browser, _dir) = shown(&record);
    let charts = browser.eval(&format!("{CHARTS}.map((place) => place.dataset.chart)"));
    assert_eq!(charts, json!(["parallel-phases", "parallel-pes", "parallel-lengths"]));
    assert_eq!(browser.eval("document.querySelector('.pes')"), Value::Null);
    assert_quiet(&browser);
}
