//! Records whose text is hostile, and records with nothing to show.

use super::{assert_quiet, click_head, shown};
use crate::common::sample;
use serde_json::{Value, json};
use warpline_record::*;

/// A record with hostile text everywhere, and with numbers that are not finite.
fn hostile() -> RunRecord {
    let bad = "<img src=x onerror=alert(1)>{b} {{script}} </script><script>alert(1)</script><!-- \
               \u{2028}\" ' &amp;";
    let fact = (bad.to_owned(), bad.to_owned());
    let mut record = sample();
    record.model = bad.into();
    record.about = bad.into();
    record.digest = bad.into();
    record.parameters.insert(bad.into(), json!(bad));
    record.engine.insert(bad.into(), json!({bad: [bad]}));
    record.results =
        json!({bad: bad, "nested": {bad: {bad: bad, "mean": null}}, "list": [bad]}).into();
    record.end_time = f64::INFINITY;
    record.event_rate = f64::NAN;
    record.wall_seconds = f64::NEG_INFINITY;
    record.progress[3].wall_seconds = f64::NAN;
    record.progress[4].virtual_time = f64::INFINITY;
    let node = |name: &str, longitude, latitude| MapNode { name: name.into(), longitude, latitude };
    let link = |source, target, value| MapLink { source, target, value, facts: vec![fact.clone()] };
    let columns = vec![fact.clone(), ("n".into(), String::new())];
    record.views = vec![
        View::Map(MapView {
            title: bad.into(),
            value_name: bad.into(),
            unit: bad.into(),
            low: f64::NAN,
            high: 0.0,
            nodes: vec![
                node(bad, 179.0, -17.0),
                node("Suva", -178.0, -18.0),
                node("Nuku'alofa", -175.2, -21.1),
            ],
            links: vec![link(0, 1, f64::NAN), link(1, 1, 1.0), link(1, 99, 1.0), link(1, 2, 5.0)],
        }),
        View::Histogram(HistogramView {
            title: bad.into(),
            quantity: bad.into(),
            unit: bad.into(),
            counted: bad.into(),
            bars: [(0.0, 1.0, 5), (1.0, 10.0, 7), (10.0, 2000.0, 1), (f64::NAN, 3.0, 1)]
                .map(|(low, high, count)| Bar { low, high, count })
                .into(),
            marks: vec![(bad.into(), 30.0), ("none".into(), f64::NAN)],
        }),
        View::Lines(LinesView {
            title: bad.into(),
            x: bad.into(),
            y: bad.into(),
            lines: vec![(bad.into(), vec![(0.0, f64::NAN), (1.0, 2.0)]); 3],
        }),
        View::Table(TableView {
            title: bad.into(),
            columns,
            rows: vec![vec![json!(bad), Value::Null], vec![json!(bad), json!(2)]],
        }),
    ];
    record
}

#[test]
fn hostile_text_is_only_text() {
    let (mut browser, _dir) = shown(&hostile());
    let heading = browser.eval("document.querySelector('h1').textContent");
    assert_eq!(heading, json!(hostile().model));
    assert_eq!(browser.eval("document.querySelectorAll('img, script[src]').length"), json!(0));
    // Tooltips are made of the same text.
    let tips = "for (const place of document.querySelectorAll('[data-chart]')) {
        const chart = echarts.getInstanceByDom(place);
        for (const seriesIndex of [0, 1, 2]) chart.dispatchAction({type: 'showTip', seriesIndex, dataIndex: 0});
    }";
    browser.eval(tips);
    browser.wait_for("document.querySelectorAll('.tip').length >= 4");
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), json!(0));
    click_head(&mut browser, 0);
    assert_quiet(&browser);
}

#[test]
fn nothing_to_show_is_said_in_words() {
    let mut record = sample();
    record.results = json!({}).into();
    record.progress.truncate(1);
    record.views = vec![
        View::Map(MapView {
            title: "M".into(),
            value_name: "v".into(),
            unit: String::new(),
            low: 0.0,
            high: 1.0,
            nodes: vec![],
            links: vec![],
        }),
        View::Grid(GridView {
            title: "G".into(),
            value_name: "v".into(),
            unit: String::new(),
            columns: 2,
            values: vec![None; 3],
        }),
        View::Histogram(HistogramView {
            title: "H".into(),
            quantity: "q".into(),
            unit: String::new(),
            counted: "things".into(),
            bars: vec![],
            marks: vec![],
        }),
        View::Lines(LinesView {
            title: "L".into(),
            x: "x".into(),
            y: "y".into(),
            lines: vec![("a".into(), vec![])],
        }),
        View::Table(TableView {
            title: "T".into(),
            columns: vec![("c".into(), String::new())],
            rows: vec![],
        }),
    ];
    let (mut browser, _dir) = shown(&record);
    let sentences = browser.eval(
        "[...document.querySelectorAll('.empty')].filter((one) => \
                                  one.textContent.length > 10).length",
    );
    // Results and five views; a run without a curve of its progress shows none.
    assert_eq!(sentences, json!(1 + 5));
    assert_eq!(browser.eval("document.querySelectorAll('[data-chart]').length"), json!(0));
    assert_quiet(&browser);
}
