use serde_json::json;

use super::*;
use crate::statistics::Held;

struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: Row<'_>) {}
}

const MADE: Counter = Counter::slot(0);

/// Statistics with these counts of `late` and of the second item of `made`.
fn totals(late: &[u64], made: &[u64]) -> Statistics {
    const LATE: Counter = Counter::slot(1);
    let mut declare = Declarations::default();
    declare.counter(MADE, "made", "", "").items(2);
    declare.counter(LATE, "late", "", "");
    let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
    let count = |counter| move |&by: &u64| Observation::Counter(counter, by);
    let list = late.iter().map(count(LATE)).chain(made.iter().map(count(MADE.at(1)))).collect();
    statistics
        .apply(&Observations { list, ..Observations::default() }, 0.5, LpId(0), &mut NoRows)
        .unwrap();
    statistics
}

const SEEN: Mean = Mean::slot(0);
const LEVEL: TimeMean = TimeMean::slot(1);
const SPREAD: Histogram = Histogram::slot(2);

/// Empty statistics of values and levels, in a run to time 1.
fn observing() -> Statistics {
    let mut declare = Declarations::default();
    declare.mean(SEEN, "seen", "", "");
    declare.time_mean(LEVEL, "level", "", "");
    declare.histogram(SPREAD, "spread", "", "");
    Statistics::new(declare.checked().unwrap(), 0.0, 1.0)
}

/// The merged statistics are the same to the last bit, however the events of a run are divided.
#[test]
fn parts_of_a_run_merge_to_the_whole() {
    use warpline_base::random::Random;
    const SEEN: Mean = Mean::slot(1);
    const LEVEL: TimeMean = TimeMean::slot(2);
    const SPREAD: Histogram = Histogram::slot(3);
    let mut declare = Declarations::default();
    declare.counter(MADE, "made", "", "").items(3);
    declare.mean(SEEN, "seen", "", "").items(2);
    declare.time_mean(LEVEL, "level", "", "");
    declare.histogram(SPREAD, "spread", "", "");
    let empty = Statistics::new(declare.checked().unwrap(), 10.0, 100.0);
    let mut whole = empty.clone();
    let mut parts = vec![empty; 4];
    let mut random = Random::new(5, LpId(0), 0);
    for _ in 0..2_000 {
        let time = 100.0 * random.uniform();
        let value = random.normal(0.0, 1.0) * 1e3f64.powi(random.below(9) as i32 - 4);
        let list = vec![
            Observation::Counter(MADE.at(random.below(3)), u64::from(random.below(5))),
            Observation::Mean(SEEN.at(random.below(2)), value),
            Observation::TimeMean(
                LEVEL,
                Held::Span { from: time, to: time + random.exponential(20.0), level: value },
            ),
            Observation::Histogram(SPREAD, value),
        ];
        let observations = Observations { list, ..Observations::default() };
        whole.apply(&observations, time, LpId(0), &mut NoRows).unwrap();
        parts[random.below(4) as usize].apply(&observations, time, LpId(0), &mut NoRows).unwrap();
    }
    let mut merged = parts.pop().unwrap();
    parts.iter().for_each(|part| merged.merge(part));
    assert_eq!(merged.to_json().to_string(), whole.to_json().to_string());
}

/// With two zeros, the order of adding would decide which is the least.
#[test]
fn the_sign_of_a_zero_does_not_show() {
    let empty = observing();
    let json = |zeros: &[f64]| {
        let parts = zeros.iter().map(|&zero| {
            let list = vec![
                Observation::Mean(SEEN, zero),
                Observation::TimeMean(LEVEL, Held::Span { from: 0.25, to: 0.75, level: zero }),
                Observation::Histogram(SPREAD, zero),
            ];
            let observations = Observations { list, ..Observations::default() };
            let mut part = empty.clone();
            part.apply(&observations, 0.5, LpId(0), &mut NoRows).unwrap();
            part
        });
        let mut merged = empty.clone();
        parts.for_each(|part| merged.merge(&part));
        merged.to_json().to_string()
    };
    for (one, other) in
        [(&[-0.0, 0.0][..], &[0.0, -0.0][..]), (&[-0.0, -0.0], &[0.0, 0.0]), (&[-0.0], &[0.0])]
    {
        assert_eq!(json(one), json(other));
        assert!(!json(one).contains("-0"), "{}", json(one));
    }
}

/// Each value of an observation must be finite; the area of a span may exceed the range of numbers.
#[test]
fn what_is_not_finite_is_refused() {
    let mut statistics = observing();
    let span = |from, to, level| Observation::TimeMean(LEVEL, Held::Span { from, to, level });
    let infinite = f64::INFINITY;
    for (observation, name) in [
        (Observation::Mean(SEEN, infinite), "seen"),
        (Observation::Histogram(SPREAD, infinite), "spread"),
        (span(infinite, infinite, 1.0), "level"),
        (span(0.0, infinite, 0.0), "level"),
        (span(0.0, 1.0, infinite), "level"),
    ] {
        let observations = Observations { list: vec![observation], ..Observations::default() };
        let refused = statistics.apply(&observations, 0.5, LpId(0), &mut NoRows).unwrap_err();
        assert_eq!(
            refused,
            Fault::Observation { name: name.into(), value: infinite },
            "{observation:?}"
        );
    }
    let list = vec![
        span(0.0, 1e200, 1e100),
        span(1e200, 1e200, 1e200),
        span(0.0, 1e-200, 1e300),
        span(-1e200, 1e200, 1e200),
    ];
    statistics
        .apply(&Observations { list, ..Observations::default() }, 0.5, LpId(0), &mut NoRows)
        .unwrap();
}

#[test]
fn spans_run_forward() {
    let mut statistics = observing();
    let list = vec![Observation::TimeMean(LEVEL, Held::Span { from: 0.5, to: 0.25, level: 1.0 })];
    let fault = statistics
        .apply(&Observations { list, ..Observations::default() }, 0.5, LpId(0), &mut NoRows)
        .unwrap_err();
    assert_eq!(fault, Fault::Span { name: "level".into(), from: 0.5, to: 0.25 });
}

/// Whether counts overflow does not depend on where and in which order they are added.
#[test]
fn counters_overflow_as_a_whole() {
    let overflow = |name: &str| Some(Fault::CounterOverflow { name: name.into() });
    let full = totals(&[], &[u64::MAX]);
    assert_eq!((full.counter(MADE.at(1)), full.overflow()), (u64::MAX, None));
    let over = totals(&[1, u64::MAX], &[]);
    assert_eq!(over.overflow(), overflow("late"));
    let merged = |parts: [&Statistics; 2]| {
        let mut merged = parts[0].clone();
        merged.merge(parts[1]);
        merged
    };
    let one = totals(&[], &[1]);
    for parts in [[&full, &one], [&one, &full]] {
        assert_eq!(merged(parts).overflow(), overflow("made"));
        assert_eq!(merged(parts).counter(MADE.at(1)), u64::MAX);
        assert_eq!(merged(parts).to_json()["made"], json!([0, u64::MAX]));
    }
    // The first by slot, whichever overflowed first.
    assert_eq!(merged([&over, &totals(&[], &[1, u64::MAX])]).overflow(), overflow("made"));
}

/// Without a warm-up, a series of means needs no sums of its own.
#[test]
fn a_series_that_follows_from_a_statistic_is_what_sums_of_its_own_give() {
    use warpline_base::random::Random;

    use crate::statistics::series::{SeriesSlices, SeriesTally};
    for (warmup, follows) in [(0.0, true), (1.5, false)] {
        let mut declare = Declarations::default();
        declare.mean(SEEN, "seen", "", "").items(3).series();
        declare.time_mean(LEVEL, "level", "", "").items(2).series();
        let mut lean = Statistics::new(declare.checked().unwrap(), warmup, 50.0);
        assert!(lean.slots.iter().all(|slot| slot.series.is_none() == follows));
        let mut own = lean.clone();
        for (slot, declared) in own.slots.iter_mut().zip(&own.declared.statistics) {
            let tally = SeriesTally::new(SeriesSlices::Automatic, declared.kind.series(), 50.0);
            slot.series = Some(Box::new(tally));
        }
        let mut random = Random::new(11, LpId(0), 0);
        let mut time = 0.0;
        while time < 40.0 {
            let from = time - random.exponential(3.0);
            let level = random.normal(0.0, 1.0);
            let to = time + random.exponential(1.0) - 1.0;
            let list = vec![
                Observation::Mean(SEEN.at(random.below(3)), level),
                Observation::TimeMean(LEVEL.at(1), Held::Span { from: from.min(to), to, level }),
            ];
            let change =
                Observation::TimeMean(LEVEL, Held::Change { from: 0.0, level: 0.0, next: 2.0 });
            let list = if time == 0.0 { vec![change] } else { list };
            let observations = Observations { list, ..Observations::default() };
            for statistics in [&mut lean, &mut own] {
                statistics.apply(&observations, time, LpId(0), &mut NoRows).unwrap();
            }
            time += random.exponential(0.2);
        }
        for statistics in [&mut lean, &mut own] {
            statistics.cut_short(40.5);
            statistics.close_levels(40.5);
        }
        assert_eq!(lean.series(), own.series());
        assert_eq!(lean.series()["level"].values.len(), 81);
    }
}
