use super::*;
use crate::prelude::*;
use crate::statistics::declarations::MOST_SLICES;
use crate::statistics::{Held, Observation, Observations, Row, RowSink};
use proptest::prelude::*;

const MADE: Counter = Counter::slot(0);
const SEEN: Mean = Mean::slot(1);
const LEVEL: TimeMean = TimeMean::slot(2);
const SPREAD: Histogram = Histogram::slot(3);

struct NoRows;

impl RowSink for NoRows {
    fn row(&mut self, _: Row<'_>) {}
}

fn declarations(slices: u32) -> Declarations {
    let mut declare = Declarations::default();
    declare.counter(MADE, "made", "parts", "parts made").items(2).slices(slices);
    declare.mean(SEEN, "seen", "s", "time seen").slices(slices);
    declare.time_mean(LEVEL, "level", "", "parts in store").items(2).slices(slices);
    declare.histogram(SPREAD, "spread", "s", "times spread").slices(slices);
    declare.checked().unwrap()
}

fn statistics(slices: u32, warmup: f64, end: f64) -> Statistics {
    Statistics::new(declarations(slices), warmup, end)
}

fn apply(statistics: &mut Statistics, time: f64, list: &[Observation]) {
    statistics
        .apply(
            &Observations { list: list.to_vec(), ..Observations::default() },
            time,
            LpId(0),
            &mut NoRows,
        )
        .unwrap();
}

fn made(by: u64) -> Observation {
    Observation::Counter(MADE, by)
}

fn values(statistics: &Statistics, name: &str) -> Vec<Option<f64>> {
    statistics.series()[name].values.clone()
}

#[test]
fn a_small_series_by_hand() {
    let mut statistics = statistics(4, 0.0, 10.0);
    apply(&mut statistics, 0.0, &[made(1), Observation::Mean(SEEN, 3.0)]);
    apply(
        &mut statistics,
        2.4,
        &[Observation::Counter(MADE.at(1), 2), Observation::Mean(SEEN, 4.0)],
    );
    apply(&mut statistics, 2.5, &[made(4), Observation::Histogram(SPREAD, 0.5)]);
    apply(
        &mut statistics,
        8.0,
        &[Observation::TimeMean(LEVEL, Held::Span { from: 2.0, to: 8.0, level: 3.0 })],
    );
    apply(
        &mut statistics,
        9.0,
        &[
            Observation::TimeMean(LEVEL.at(1), Held::Span { from: 0.0, to: 5.0, level: 2.0 }),
            made(8),
        ],
    );
    apply(&mut statistics, 10.0, &[made(16), Observation::Histogram(SPREAD, 7.0)]);
    let series = statistics.series();
    assert_eq!(series["made"].edges, [0.0, 2.5, 5.0, 7.5, 10.0]);
    assert_eq!(series["made"].values, [3.0, 4.0, 0.0, 24.0].map(Some));
    assert_eq!(series["made"].counts, [3, 4, 0, 24]);
    assert_eq!(
        (series["seen"].values[0], &series["seen"].counts[..]),
        (Some(3.5), &[2, 0, 0, 0][..])
    );
    assert_eq!(series["seen"].values[1..], [None; 3]);
    // Of 3, half a unit of time in the first slice and in the last; of 2, the first two slices.
    assert_eq!(series["level"].values, [2.0 + 0.6, 2.0 + 3.0, 3.0, 0.6].map(Some));
    assert_eq!(series["spread"].values, [None, Some(0.5), None, Some(7.0)]);
    assert_eq!(
        (series["made"].unit.as_str(), series["level"].meaning.as_str()),
        ("parts", "parts in store")
    );
    let kinds = ["made", "seen", "level", "spread"].map(|name| series[name].kind);
    assert_eq!(kinds, [SeriesKind::Count, SeriesKind::Mean, SeriesKind::Level, SeriesKind::Mean]);
}

/// A series shows the warm-up, so it begins at 0. Everything else leaves the warm-up out.
#[test]
fn the_warmup_is_part_of_the_series() {
    let mut statistics = statistics(2, 5.0, 10.0);
    apply(&mut statistics, 1.0, &[made(3), Observation::Mean(SEEN, 1.0)]);
    apply(
        &mut statistics,
        5.0,
        &[made(1), Observation::TimeMean(LEVEL, Held::Span { from: 0.0, to: 5.0, level: 4.0 })],
    );
    assert_eq!(
        (values(&statistics, "made"), statistics.counter(MADE)),
        (vec![Some(3.0), Some(1.0)], 1)
    );
    assert_eq!(
        (values(&statistics, "seen"), statistics.mean(SEEN).mean),
        (vec![Some(1.0), None], None)
    );
    assert_eq!(
        (values(&statistics, "level"), statistics.time_mean(LEVEL).mean),
        (vec![Some(4.0), Some(0.0)], Some(0.0))
    );
}

/// Slices that the run did not reach are unknown, not 0. What was observed at the end belongs to
/// the last slice that it reached.
#[test]
fn a_run_cut_short_leaves_the_rest_empty() {
    for (end, reached, held) in [(6.0, 2, 4.0), (5.0, 1, 4.0), (7.5, 2, 4.0), (1.0, 0, 4.0)] {
        let mut statistics = statistics(4, 0.0, 10.0);
        apply(&mut statistics, 0.5, &[made(7), Observation::Histogram(SPREAD, 1.0)]);
        statistics.cut_short(end);
        apply(
            &mut statistics,
            end,
            &[
                made(2),
                Observation::TimeMean(LEVEL, Held::Span { from: 0.0, to: end, level: held }),
            ],
        );
        let made = values(&statistics, "made");
        assert_eq!(
            made.iter().filter(|value| value.is_some()).count(),
            reached + 1,
            "to {end}: {made:?}"
        );
        assert_eq!(made.iter().flatten().sum::<f64>(), 9.0, "to {end}: {made:?}");
        assert!(
            made[reached] >= Some(2.0) && made[reached + 1..].iter().all(Option::is_none),
            "to {end}: {made:?}"
        );
        let level = values(&statistics, "level");
        assert!(level[..=reached].iter().all(|value| *value == Some(held)), "to {end}: {level:?}");
        assert!(level[reached + 1..].iter().all(Option::is_none), "to {end}: {level:?}");
        assert_eq!(statistics.series()["level"].edges, [0.0, 2.5, 5.0, 7.5, 10.0]);
    }
}

#[test]
fn spans_count_within_the_run_only() {
    let mut statistics = statistics(2, 0.0, 10.0);
    assert_eq!(
        values(&statistics, "level"),
        [Some(0.0), Some(0.0)],
        "a level that nobody sets is 0"
    );
    apply(
        &mut statistics,
        1.0,
        &[Observation::TimeMean(LEVEL, Held::Span { from: 12.0, to: 13.0, level: 5.0 })],
    );
    assert_eq!(values(&statistics, "level"), [Some(0.0), Some(0.0)]);
    apply(
        &mut statistics,
        8.0,
        &[Observation::TimeMean(LEVEL, Held::Span { from: 8.0, to: 1e9, level: 5.0 })],
    );
    apply(
        &mut statistics,
        8.0,
        &[Observation::TimeMean(LEVEL, Held::Span { from: -7.0, to: -6.0, level: 5.0 })],
    );
    apply(
        &mut statistics,
        8.0,
        &[Observation::TimeMean(LEVEL, Held::Span { from: -7.0, to: 1.0, level: 5.0 })],
    );
    assert_eq!(values(&statistics, "level"), [Some(1.0), Some(2.0)]);
}

#[test]
fn the_number_of_slices_has_limits() {
    let checked = |slices: u32| {
        let mut declare = Declarations::default();
        declare.mean(Mean::slot(0), "wait", "s", "").slices(slices);
        declare.checked().map(|_| ())
    };
    assert_eq!((checked(1), checked(MOST_SLICES)), (Ok(()), Ok(())));
    for slices in [0, MOST_SLICES + 1, u32::MAX] {
        let expected =
            format!("the series of `wait` cannot have {slices} slices; choose 1 to 10000");
        assert_eq!(checked(slices), Err(expected));
    }
}

fn automatic(end: f64) -> Statistics {
    let mut declare = Declarations::default();
    declare.counter(MADE, "made", "parts", "parts made").items(2).series();
    declare.mean(SEEN, "seen", "s", "time seen").series();
    declare.time_mean(LEVEL, "level", "", "parts in store").items(2).series();
    declare.histogram(SPREAD, "spread", "s", "times spread").series();
    Statistics::new(declare.checked().unwrap(), 0.0, end)
}

#[test]
fn slices_have_a_power_of_2_as_their_length_unless_the_model_says_how_many() {
    for (end, count, length) in [
        (1.0, 128, 1.0 / 128.0),
        (100.0, 100, 1.0),
        (1000.0, 125, 8.0),
        (100.5, 101, 1.0),
        (129.0, 65, 2.0),
    ] {
        let series = &automatic(end).series()["level"];
        assert_eq!(
            (series.values.len(), series.edges.len(), series.edges[1], series.width()),
            (count, count + 1, length, length)
        );
        assert_eq!(
            (series.edges[count - 1], series.edges[count]),
            ((count - 1) as f64 * length, end)
        );
    }
}

#[test]
fn an_automatic_series_by_hand() {
    let mut statistics = automatic(66.0);
    apply(&mut statistics, 0.5, &[made(1), Observation::Mean(SEEN, 3.0)]);
    apply(&mut statistics, 65.0, &[made(2), Observation::Histogram(SPREAD, 0.5)]);
    apply(
        &mut statistics,
        66.0,
        &[made(4), Observation::TimeMean(LEVEL, Held::Span { from: 64.5, to: 66.0, level: 3.0 })],
    );
    let series = statistics.series();
    assert_eq!(
        (series["made"].values[0], &series["made"].values[63..]),
        (Some(1.0), &[Some(0.0), Some(0.0), Some(6.0)][..])
    );
    assert_eq!(
        (series["seen"].values[0], series["seen"].values[1], series["spread"].values[65]),
        (Some(3.0), None, Some(0.5))
    );
    assert_eq!(series["level"].values[63..], [0.0, 1.5, 3.0].map(Some));
}

#[test]
fn only_what_was_declared_has_a_series() {
    let mut declare = Declarations::default();
    declare.counter(MADE, "made", "", "");
    declare.mean(SEEN, "seen", "", "").slices(3);
    let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
    assert_eq!(statistics.series().keys().collect::<Vec<_>>(), ["seen"]);
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let mut statistics = statistics(2, 0.0, 1.0);
    let refused = [
        Observation::Mean(SEEN, f64::NAN),
        Observation::Histogram(SPREAD, f64::INFINITY),
        Observation::TimeMean(LEVEL, Held::Span { from: 0.5, to: 0.25, level: 1.0 }),
        Observation::Counter(MADE.at(2), 1),
        Observation::Counter(Counter::slot(1), 1),
    ];
    for observation in refused {
        statistics
            .apply(
                &Observations { list: vec![observation], ..Observations::default() },
                0.5,
                LpId(0),
                &mut NoRows,
            )
            .unwrap_err();
    }
    assert_eq!(statistics.series(), self::statistics(2, 0.0, 1.0).series());
}

/// Counts are merged without loss beyond what a counter may hold.
#[test]
fn counts_saturate_only_where_they_are_shown() {
    let mut parts = [statistics(1, 0.0, 1.0), statistics(1, 0.0, 1.0)];
    parts.iter_mut().for_each(|part| apply(part, 0.5, &[made(u64::MAX)]));
    let [mut whole, other] = parts;
    whole.merge(&other);
    assert_eq!(
        (values(&whole, "made")[0], whole.series()["made"].counts[0]),
        (Some(2f64.powi(65)), u64::MAX)
    );
}

fn ends() -> impl Strategy<Value = f64> {
    prop_oneof![
        1e-3f64..1e6,
        Just(f64::MAX),
        Just(5e-324),
        Just(1e-310),
        Just(f64::MIN_POSITIVE),
        Just(1.0),
        Just(0.3)
    ]
}

proptest! {
    /// A run that was stopped early has the series of a run to that end, whatever the requested
    /// end.
    #[test]
    fn slices_follow_from_how_far_a_run_came(
        events in prop::collection::vec((0.0f64..=1.0, 0u32..2, -1e3f64..1e3, 0.0f64..0.3), 1..80),
        end in prop_oneof![1e-3f64..1e6, Just(1e300), Just(1e-300), Just(64.0)], further in 1.0f64..1e5,
    ) {
        let mut early = automatic(end * further);
        let mut whole = automatic(end);
        for statistics in [&mut early, &mut whole] {
            for &(share, item, value, length) in &events {
                let time = share * end;
                let span = Observation::TimeMean(LEVEL.at(item), Held::Span { from: time * (1.0 - length), to: time, level: value });
                let observations = [made(3), Observation::Mean(SEEN, value), span, Observation::Histogram(SPREAD, value * value)];
                apply(statistics, time, &observations);
            }
            statistics.cut_short(end);
        }
        prop_assert_eq!(early.series(), whole.series());
        prop_assert_eq!(whole.series()["made"].counts.iter().sum::<u64>(), 3 * events.len() as u64);
    }

    /// Every time lies between the edges of its slice, the edges themselves included, however short
    /// or long the run.
    #[test]
    fn every_time_is_within_its_slice(end in ends(), count in 1u32..300, share in 0.0f64..1.0, edge in 0u32..300) {
        let slices = Slices::new(count, end);
        prop_assert_eq!((slices.edges()[0], slices.edges()[count as usize]), (0.0, end));
        let edge = slices.edges()[edge.min(count) as usize];
        for time in [share * end, edge, edge.next_down().max(0.0), edge.next_up(), end.next_down(), 0.0] {
            let slice = slices.at(time);
            let within = slices.edges()[slice] <= time && (time < slices.edges()[slice + 1] || time >= end && slice == count as usize - 1);
            prop_assert!(within, "{} in slice {}: {:?}", time, slice, &slices.edges()[slice..=slice + 1]);
        }
    }

    /// The series are the same to the last bit, however events are divided among PEs and in
    /// whatever order PEs are merged. The slices add up to the totals.
    #[test]
    fn merging_in_any_order_gives_the_same(
        events in prop::collection::vec((0.0f64..=1.0, 0u32..2, 0u64..9, -1e9f64..1e9, 0.0f64..0.3, 0usize..4), 1..120),
        end in prop_oneof![1e-3f64..1e6, Just(1e300), Just(1e-300)], slices in prop::option::of(1u32..40), order in Just([0usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let empty = slices.map_or_else(|| automatic(end), |slices| statistics(slices, 0.0, end));
        let mut whole = empty.clone();
        let mut parts = vec![empty; 4];
        for &(share, item, by, value, length, part) in &events {
            let time = share * end;
            let observations = [
                Observation::Counter(MADE.at(item), by),
                Observation::Mean(SEEN, value),
                Observation::TimeMean(LEVEL.at(item), Held::Span { from: time, to: (time + length * end).min(end), level: value * 1e-9 }),
                Observation::Histogram(SPREAD, value * value),
            ];
            apply(&mut whole, time, &observations);
            apply(&mut parts[part], time, &observations);
        }
        let mut merged = parts[order[0]].clone();
        order[1..].iter().for_each(|part| merged.merge(&parts[*part]));
        let bits = |statistics: &Statistics| {
            let values = statistics.series().into_values().flat_map(|series| series.values);
            values.map(|value| value.map(f64::to_bits)).collect::<Vec<_>>()
        };
        prop_assert_eq!(bits(&merged), bits(&whole));
        prop_assert_eq!(merged.series(), whole.series());

        let series = whole.series();
        prop_assert_eq!(series["made"].counts.iter().sum::<u64>(), whole.counter(MADE) + whole.counter(MADE.at(1)));
        let spread = whole.histogram(SPREAD);
        prop_assert_eq!(series["spread"].counts.iter().sum::<u64>(), spread.count());
        let sum: f64 = series["seen"].values.iter().zip(&series["seen"].counts).filter_map(|(mean, count)| Some((*mean)? * *count as f64)).sum();
        let expected = whole.mean(SEEN).mean.unwrap() * events.len() as f64;
        prop_assert!((sum - expected).abs() <= 1e-3, "{} and {}", sum, expected);
        let levels = series["level"].slices().filter_map(|(begin, stop, level)| Some(level? * (stop / end - begin / end)));
        let level: f64 = levels.sum();
        let expected: f64 = [0, 1].iter().filter_map(|&item| whole.time_mean(LEVEL.at(item)).mean).sum();
        prop_assert!((level - expected).abs() <= 1e-9 * events.len() as f64, "{} and {}", level, expected);
    }
}
