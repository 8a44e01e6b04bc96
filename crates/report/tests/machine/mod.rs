//! The pictures of a modelled machine as a browser shows them.

use crate::common::noise;
use crate::common::parallel::parallel_sample;
use crate::{assert_quiet, shown};
use serde_json::{Value, json};
use warpline_record::*;

const LANES: &str = "[...document.querySelectorAll('.timelines .lane svg')]";

/// A PE that computes and waits by turns.
fn line(pe: u64) -> TimeLine {
    let computing: Vec<u16> = (0..300).map(|bin| (500.0 * noise(bin)) as u16).collect();
    TimeLine {
        pe,
        why: if pe == 0 { "first, <b>".to_owned() } else { String::new() },
        waiting: computing.iter().map(|share| 800 - share).collect(),
        gvt: vec![200; 300],
        computing,
        ..TimeLine::default()
    }
}

fn machine_sample() -> RunRecord {
    let mut record = parallel_sample(8);
    let all = |least: f64| quantiles((0..8).map(|pe| least + 0.01 * f64::from(pe)).collect());
    record.parallel.as_mut().unwrap().machine = Some(MachineRecord {
        name: "toy".to_owned(),
        pes: 8,
        nodes: 2,
        seconds: 0.0299,
        efficiency: 0.2,
        event_rate: 1e6,
        shares: MachineShares { computing: 0.25, gvt: 0.2, waiting: 0.55, ..Default::default() },
        gvt_latency: Some(0.5),
        distribution: Distribution {
            computing: all(0.2),
            waiting: all(0.5),
            committed_events: all(100.0),
            ..Distribution::default()
        },
        time_lines: Some(TimeLines {
            bin_seconds: 1e-4,
            recorded: 8,
            pes: (0..8).map(line).collect(),
        }),
        ..MachineRecord::default()
    });
    record
}

#[test]
fn time_lines_and_distribution_are_drawn_in_both_colour_schemes() {
    let (mut browser, _dir) = shown(&machine_sample());
    assert_eq!(browser.eval(&format!("{LANES}.length")), json!(8));
    // Each has waiting, computing and GVT, and covers its row to the last pixel.
    let areas = format!(
        "{LANES}.every((lane) => lane.querySelectorAll('path, rect').length === 3 && \
         lane.clientWidth > 500 && \
         Math.abs(lane.querySelector('rect').getBoundingClientRect().width - lane.clientWidth) < \
         2)"
    );
    assert_eq!(browser.eval(&areas), json!(true));
    let text = browser.eval("document.querySelector('main').innerText.replaceAll('\\u00a0', ' ')");
    let text = text.as_str().unwrap();
    for wanted in [
        "What PEs do when",
        "machine time",
        "PE 0 first, <b>",
        "20 ms",
        "All PEs",
        "median 24 %",
        "GVT's latency. It takes 50 %",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    let described = "[...document.querySelectorAll('.lanes')].map((lanes) => [lanes.role, \
                     lanes.ariaLabel.length > 100])";
    assert_eq!(browser.eval(described), json!([["img", true], ["img", true]]));

    let colours = "['.lane .act0', '.lane .act2', '.lane .act4', '.range .box', '.range .median']\
                   .map((one) => getComputedStyle(document.querySelector(one)).fill)";
    let of = |value: Value| serde_json::from_value::<Vec<String>>(value).unwrap();
    let light = of(browser.eval(colours));
    browser.prefer("dark");
    let dark = of(browser.eval(colours));
    assert!(light.iter().zip(&dark).all(|(light, dark)| light != dark), "{light:?} {dark:?}");
    for colours in [light, dark] {
        let mut different = colours[..3].to_vec();
        different.dedup();
        assert_eq!(different.len(), 3, "{colours:?}");
    }
    browser.resize(390);
    let fits = "document.documentElement.scrollWidth <= 390";
    browser.wait_for(fits);
    assert_quiet(&browser);
}

#[test]
fn curves_over_places_that_grow_by_factors_have_logarithmic_axes() {
    let view = |places: &[f64]| {
        let points = |times: f64| places.iter().map(|place| (*place, times * place)).collect();
        View::Lines(LinesView {
            title: "Speed-up".to_owned(),
            x: "PEs".to_owned(),
            y: "speed-up".to_owned(),
            lines: vec![("one".to_owned(), points(1.0)), ("two".to_owned(), points(0.5))],
        })
    };
    let mut record = parallel_sample(2);
    record.views = vec![view(&[64.0, 256.0, 1024.0, 4096.0]), view(&[1.0, 2.0, 3.0, 4.0, 9.0])];
    let (mut browser, _dir) = shown(&record);
    let axes = "[...document.querySelectorAll('[data-chart]')].map((place) => \
                echarts.getInstanceByDom(place).getOption()).filter((option) => \
                option.xAxis[0].name === 'PEs').map((option) => [option.xAxis[0].type, \
                option.yAxis[0].type])";
    assert_eq!(browser.eval(axes), json!([["log", "log"], ["value", "value"]]));
    assert_quiet(&browser);
}
