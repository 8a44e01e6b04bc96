//! Statistics over virtual time as a browser shows them.

use crate::common::{noise, sample};
use crate::{assert_painted, assert_quiet, shown};
use serde_json::json;
use warpline_record::*;

/// A series of 40 slices. Ten have no value, except for one of them, which has no neighbours.
fn series(kind: SeriesKind, unit: &str, meaning: &str, several: bool) -> Series {
    let values: Vec<Option<f64>> = (0..40)
        .map(|slice| (!(20..30).contains(&slice) || slice == 25).then(|| 5.0 + noise(slice)))
        .collect();
    let ci95 = if several { vec![Some(0.5); 40] } else { Vec::new() };
    let edges = (0..=40).map(|edge| f64::from(edge) * 1.5).collect();
    Series {
        kind,
        unit: unit.into(),
        meaning: meaning.into(),
        edges,
        values,
        counts: Vec::new(),
        ci95,
        runs: Vec::new(),
    }
}

#[test]
fn series_are_drawn_over_model_time_with_their_units() {
    let all = [
        ("lost", series(SeriesKind::Count, "packets", "packets <dropped>", false)),
        ("queue_length", series(SeriesKind::Level, "packets", "packets that wait", true)),
    ];
    let series = all.map(|(name, series)| (name.to_owned(), series)).into();
    let (mut browser, _dir) = shown(&RunRecord { series, views: Vec::new(), ..sample() });
    let text = browser.eval("document.body.innerText.replaceAll('\\u00a0', ' ')");
    let text = text.as_str().unwrap();
    for wanted in ["Lost over time: packets <dropped>", "Queue length over time: packets that wait"]
    {
        assert!(text.contains(wanted), "{wanted} is missing in:\n{text}");
    }
    let charts = "['0', '1'].map((key) => document.querySelector(`[data-chart=\"${key}\"]`))";
    assert_painted(&mut browser, charts, 2);
    let drawn = browser.eval(&format!(
        "{charts}.map((place) => place.textContent.replaceAll('\\u00a0', ' ')).join('\\n')"
    ));
    for wanted in [
        "model time (s)",
        "lost (packets) in each 1.5 s",
        "queue length (packets), mean over each 1.5 s",
        "mean of the runs",
    ] {
        assert!(drawn.as_str().unwrap().contains(wanted), "{wanted} is missing in {drawn}");
    }

    // The tooltip of the first slice, and of one without a value.
    let tip = "(share) => {
        const place = document.querySelector('[data-chart=\"0\"]');
        const chart = echarts.getInstanceByDom(place);
        const [x] = chart.convertToPixel({ gridIndex: 0 }, [60 * share, 5]);
        chart.dispatchAction({ type: 'showTip', x, y: place.clientHeight / 2 });
    }";
    for (share, wanted) in [(0.0125, "model time (s) 0.75"), (0.55, "–")] {
        browser.eval(&format!("({tip})({share})"));
        browser.wait_for(&format!(
            "[...document.querySelectorAll('.tip')].some((tip) => \
                                   tip.textContent.includes('{wanted}'))"
        ));
    }
    assert_eq!(browser.eval("document.querySelectorAll('dropped').length"), json!(0));
    assert_quiet(&browser);
}
