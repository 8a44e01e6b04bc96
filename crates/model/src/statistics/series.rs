use serde::{Deserialize, Serialize};
use warpline_record::{Series, SeriesKind};

use super::ExactSum;
use super::declarations::{Declaration, SeriesSlices, StatisticKind};
use super::horizon::Horizon;
use super::stretches::{Absorb, Stretches};

/// A statistic over virtual time: sums for each slice of the run, over all items.
///
/// A series is made of the same observations as its statistic. It costs an addition where the
/// statistic is added up, on commit, and nothing where it is not declared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SeriesTally {
    cut: Cut,
    sums: Sums,
}

/// How the run is cut into slices.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Cut {
    /// Into as many slices as the model wants.
    Given(Slices),
    /// Into stretches, which follow from how far the run came.
    Stretches(Horizon),
}

/// What a slice keeps. All of it can be added up in any order.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Sums {
    Counts(Parts<u128>),
    /// Sum and number of values.
    Means(Parts<(ExactSum, u64)>),
    /// Level times time.
    Levels(Parts<ExactSum>),
}

/// The sums of all slices, as they are cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Parts<T> {
    Given(Vec<T>),
    Stretches(Stretches<T>),
}

impl<T: Absorb> Parts<T> {
    fn new(cut: &Cut) -> Self {
        match cut {
            Cut::Given(slices) => Parts::Given(vec![T::default(); slices.count()]),
            Cut::Stretches(_) => Parts::Stretches(Stretches::default()),
        }
    }

    /// The sums of the slice of a time.
    #[inline]
    fn at(&mut self, cut: &Cut, time: f64) -> &mut T {
        match (self, cut) {
            (Parts::Given(list), Cut::Given(slices)) => &mut list[slices.at(time)],
            (Parts::Stretches(stretches), Cut::Stretches(horizon)) => stretches.at(horizon, time),
            _ => unreachable!("{ONE_CUT}"),
        }
    }

    fn merge(&mut self, other: &Parts<T>) {
        match (self, other) {
            (Parts::Given(mine), Parts::Given(theirs)) => mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.absorb(theirs)),
            (Parts::Stretches(mine), Parts::Stretches(theirs)) => mine.merge(theirs),
            _ => unreachable!("{ONE_CUT}"),
        }
    }

    /// Where slices begin and end, and what each has.
    fn slices(&self, cut: &Cut) -> (Vec<f64>, Vec<T>) {
        match (self, cut) {
            (Parts::Given(list), Cut::Given(slices)) => (slices.edges.clone(), list.clone()),
            (Parts::Stretches(stretches), Cut::Stretches(horizon)) => {
                let seen = stretches.of(horizon);
                let edge = |slice: usize| (slice as f64 * seen.length()).min(horizon.reached);
                ((0..seen.list.len()).map(edge).chain([horizon.reached]).collect(), seen.list)
            }
            _ => unreachable!("{ONE_CUT}"),
        }
    }
}

const ONE_CUT: &str = "the sums of a series are cut as the run is";

/// Slices of equal length, of the run that was wanted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Slices {
    /// From 0 to the end.
    edges: Vec<f64>,
    /// Slices per unit of time.
    per_time: f64,
    /// How far the run came: to the end, unless it was cut short.
    reached: f64,
    /// The last slice that it reached.
    last: usize,
}

impl Slices {
    fn new(count: u32, end: f64) -> Self {
        // The end is multiplied by no more than 1, so that it cannot overflow.
        let edge = |slice: u32| end * (f64::from(slice) / f64::from(count));
        let (edges, last) = ((0..=count).map(edge).collect(), count as usize - 1);
        Slices { edges, per_time: f64::from(count) / end, reached: end, last }
    }

    fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// The slice of a time, which must not be negative. What is observed at the end belongs to the last slice.
    #[inline]
    fn at(&self, time: f64) -> usize {
        if time >= self.reached {
            return self.last;
        }
        let mut slice = ((time * self.per_time) as usize).min(self.count() - 1);
        // The quotient is rounded, and may lead to a neighbour of the right slice.
        while time < self.edges[slice] {
            slice -= 1;
        }
        while time >= self.edges[slice + 1] {
            slice += 1;
        }
        slice
    }

    /// The run ends here. The slices stay as they are.
    fn cut_short(&mut self, end: f64) {
        self.reached = end;
        self.last = self.edges.partition_point(|edge| *edge < end).saturating_sub(1).min(self.count() - 1);
    }

    /// Adds a span of a level, which lies within the run.
    #[inline]
    fn add_span(&self, areas: &mut [ExactSum], from: f64, to: f64, level: f64) {
        let slice = self.at(from);
        if to <= self.edges[slice + 1] {
            areas[slice].add_distance(from, to, level);
        } else {
            self.add_long_span(areas, from, to, level);
        }
    }

    /// Adds the area of a span to every slice that it touches.
    fn add_long_span(&self, areas: &mut [ExactSum], from: f64, to: f64, level: f64) {
        let touched = self.at(from)..=self.at(to);
        for (area, edges) in areas.iter_mut().zip(self.edges.windows(2)).skip(*touched.start()).take(touched.count()) {
            let (begin, end) = (from.max(edges[0]), to.min(edges[1]));
            area.add_distance(begin, end, level);
        }
    }
}

impl SeriesTally {
    /// An empty series, if one was declared, of a run to `end`.
    pub(super) fn new(declaration: &Declaration, end: f64) -> Option<Self> {
        let cut = match declaration.series? {
            SeriesSlices::Automatic => Cut::Stretches(Horizon::new(0.0, end)),
            SeriesSlices::Given(count) => Cut::Given(Slices::new(count, end)),
        };
        let sums = match declaration.kind {
            StatisticKind::Counter => Sums::Counts(Parts::new(&cut)),
            StatisticKind::Mean | StatisticKind::Histogram => Sums::Means(Parts::new(&cut)),
            StatisticKind::TimeMean => Sums::Levels(Parts::new(&cut)),
        };
        Some(SeriesTally { cut, sums })
    }

    /// Adds to a counter's series.
    #[inline]
    pub(super) fn count(&mut self, time: f64, by: u64) {
        if let Sums::Counts(counts) = &mut self.sums {
            *counts.at(&self.cut, time) += u128::from(by);
        }
    }

    /// Adds to the series of a mean or a histogram.
    #[inline]
    pub(super) fn observe(&mut self, time: f64, value: f64) {
        if let Sums::Means(means) = &mut self.sums {
            let (sum, count) = means.at(&self.cut, time);
            sum.add(value);
            *count += 1;
        }
    }

    /// Adds to the series of a mean over time.
    #[inline]
    pub(super) fn span(&mut self, from: f64, to: f64, level: f64) {
        let Sums::Levels(areas) = &mut self.sums else { return };
        let (from, to) = (from.max(0.0), to.min(self.cut.reached()));
        if from <= to {
            match (areas, &self.cut) {
                (Parts::Given(areas), Cut::Given(slices)) => slices.add_span(areas, from, to, level),
                (Parts::Stretches(areas), Cut::Stretches(horizon)) => areas.add_span(horizon, from, to, level),
                _ => unreachable!("{ONE_CUT}"),
            }
        }
    }

    pub(super) fn merge(&mut self, other: &SeriesTally) {
        match (&mut self.sums, &other.sums) {
            (Sums::Counts(mine), Sums::Counts(theirs)) => mine.merge(theirs),
            (Sums::Means(mine), Sums::Means(theirs)) => mine.merge(theirs),
            (Sums::Levels(mine), Sums::Levels(theirs)) => mine.merge(theirs),
            _ => unreachable!("parts of one run have one declaration"),
        }
    }

    pub(super) fn cut_short(&mut self, end: f64) {
        match &mut self.cut {
            Cut::Given(slices) => slices.cut_short(end),
            Cut::Stretches(horizon) => horizon.cut_short(end),
        }
    }

    /// The series of this statistic.
    pub(super) fn series(&self, declaration: &Declaration) -> Series {
        let (kind, edges, values, counts) = match &self.sums {
            Sums::Counts(counts) => {
                let (edges, counts) = counts.slices(&self.cut);
                let values = counts.iter().map(|count| Some(*count as f64)).collect();
                let counts = counts.iter().map(|&count| u64::try_from(count).unwrap_or(u64::MAX)).collect();
                (SeriesKind::Count, edges, values, counts)
            }
            Sums::Means(means) => {
                let (edges, means) = means.slices(&self.cut);
                let mean = |(sum, count): &(ExactSum, u64)| (*count > 0).then(|| sum.over(*count));
                (SeriesKind::Mean, edges, means.iter().map(mean).collect(), means.iter().map(|(_, count)| *count).collect())
            }
            Sums::Levels(areas) => {
                let (edges, areas) = areas.slices(&self.cut);
                let level = |(edges, area): (&[f64], &ExactSum)| {
                    let (begin, end) = (edges[0], edges[1].min(self.cut.reached()));
                    (begin < end).then(|| area.over_distance(begin, end))
                };
                let levels: Vec<Option<f64>> = edges.windows(2).zip(&areas).map(level).collect();
                (SeriesKind::Level, edges, levels, Vec::new())
            }
        };
        let was_reached = |slice: usize| self.cut.last().is_none_or(|last| slice <= last);
        Series {
            kind,
            unit: declaration.unit.clone(),
            meaning: declaration.meaning.clone(),
            edges,
            values: values.into_iter().enumerate().map(|(slice, value)| value.filter(|_| was_reached(slice))).collect(),
            counts,
            ci95: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl Cut {
    /// How far the run came.
    fn reached(&self) -> f64 {
        match self {
            Cut::Given(slices) => slices.reached,
            Cut::Stretches(horizon) => horizon.reached,
        }
    }

    /// The last slice that the run reached, if there are slices beyond it.
    fn last(&self) -> Option<usize> {
        match self {
            Cut::Given(slices) => Some(slices.last),
            Cut::Stretches(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::statistics::declarations::MOST_SLICES;
    use crate::statistics::{Note, Notes, Row, RowSink};
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

    fn apply(statistics: &mut Statistics, time: f64, list: &[Note]) {
        statistics.apply(&Notes { list: list.to_vec(), ..Notes::default() }, time, LpId(0), &mut NoRows).unwrap();
    }

    fn made(by: u64) -> Note {
        Note::Count { counter: MADE, by }
    }

    fn values(statistics: &Statistics, name: &str) -> Vec<Option<f64>> {
        statistics.series()[name].values.clone()
    }

    #[test]
    fn a_small_series_by_hand() {
        let mut statistics = statistics(4, 0.0, 10.0);
        apply(&mut statistics, 0.0, &[made(1), Note::Observe { mean: SEEN, value: 3.0 }]);
        apply(&mut statistics, 2.4, &[Note::Count { counter: MADE.at(1), by: 2 }, Note::Observe { mean: SEEN, value: 4.0 }]);
        apply(&mut statistics, 2.5, &[made(4), Note::Sample { histogram: SPREAD, value: 0.5 }]);
        apply(&mut statistics, 8.0, &[Note::Span { mean: LEVEL, from: 2.0, to: 8.0, level: 3.0 }]);
        apply(&mut statistics, 9.0, &[Note::Span { mean: LEVEL.at(1), from: 0.0, to: 5.0, level: 2.0 }, made(8)]);
        apply(&mut statistics, 10.0, &[made(16), Note::Sample { histogram: SPREAD, value: 7.0 }]);
        let series = statistics.series();
        assert_eq!(series["made"].edges, [0.0, 2.5, 5.0, 7.5, 10.0]);
        assert_eq!(series["made"].values, [3.0, 4.0, 0.0, 24.0].map(Some));
        assert_eq!(series["made"].counts, [3, 4, 0, 24]);
        assert_eq!((series["seen"].values[0], &series["seen"].counts[..]), (Some(3.5), &[2, 0, 0, 0][..]));
        assert_eq!(series["seen"].values[1..], [None; 3]);
        // Of 3, half a unit of time in the first slice and in the last; of 2, the first two slices.
        assert_eq!(series["level"].values, [2.0 + 0.6, 2.0 + 3.0, 3.0, 0.6].map(Some));
        assert_eq!(series["spread"].values, [None, Some(0.5), None, Some(7.0)]);
        assert_eq!((series["made"].unit.as_str(), series["level"].meaning.as_str()), ("parts", "parts in store"));
        let kinds = ["made", "seen", "level", "spread"].map(|name| series[name].kind);
        assert_eq!(kinds, [SeriesKind::Count, SeriesKind::Mean, SeriesKind::Level, SeriesKind::Mean]);
    }

    /// A series is there to see the warm-up, so it begins at 0; all else leaves the warm-up out.
    #[test]
    fn the_warmup_is_part_of_the_series() {
        let mut statistics = statistics(2, 5.0, 10.0);
        apply(&mut statistics, 1.0, &[made(3), Note::Observe { mean: SEEN, value: 1.0 }]);
        apply(&mut statistics, 5.0, &[made(1), Note::Span { mean: LEVEL, from: 0.0, to: 5.0, level: 4.0 }]);
        assert_eq!((values(&statistics, "made"), statistics.counter(MADE)), (vec![Some(3.0), Some(1.0)], 1));
        assert_eq!((values(&statistics, "seen"), statistics.mean(SEEN).mean), (vec![Some(1.0), None], None));
        assert_eq!((values(&statistics, "level"), statistics.time_mean(LEVEL).mean), (vec![Some(4.0), Some(0.0)], Some(0.0)));
    }

    /// What the run did not reach is unknown, not 0, and what was observed as it ended belongs to the last slice that it reached.
    #[test]
    fn a_run_cut_short_leaves_the_rest_empty() {
        for (end, reached, held) in [(6.0, 2, 4.0), (5.0, 1, 4.0), (7.5, 2, 4.0), (1.0, 0, 4.0)] {
            let mut statistics = statistics(4, 0.0, 10.0);
            apply(&mut statistics, 0.5, &[made(7), Note::Sample { histogram: SPREAD, value: 1.0 }]);
            statistics.cut_short(end);
            apply(&mut statistics, end, &[made(2), Note::Span { mean: LEVEL, from: 0.0, to: end, level: held }]);
            let made = values(&statistics, "made");
            assert_eq!(made.iter().filter(|value| value.is_some()).count(), reached + 1, "to {end}: {made:?}");
            assert_eq!(made.iter().flatten().sum::<f64>(), 9.0, "to {end}: {made:?}");
            assert!(made[reached] >= Some(2.0) && made[reached + 1..].iter().all(Option::is_none), "to {end}: {made:?}");
            let level = values(&statistics, "level");
            assert!(level[..=reached].iter().all(|value| *value == Some(held)), "to {end}: {level:?}");
            assert!(level[reached + 1..].iter().all(Option::is_none), "to {end}: {level:?}");
            assert_eq!(statistics.series()["level"].edges, [0.0, 2.5, 5.0, 7.5, 10.0]);
        }
    }

    #[test]
    fn spans_count_within_the_run_only() {
        let mut statistics = statistics(2, 0.0, 10.0);
        assert_eq!(values(&statistics, "level"), [Some(0.0), Some(0.0)], "a level that nobody sets is 0");
        apply(&mut statistics, 1.0, &[Note::Span { mean: LEVEL, from: 12.0, to: 13.0, level: 5.0 }]);
        assert_eq!(values(&statistics, "level"), [Some(0.0), Some(0.0)]);
        apply(&mut statistics, 8.0, &[Note::Span { mean: LEVEL, from: 8.0, to: 1e9, level: 5.0 }]);
        apply(&mut statistics, 8.0, &[Note::Span { mean: LEVEL, from: -7.0, to: -6.0, level: 5.0 }]);
        apply(&mut statistics, 8.0, &[Note::Span { mean: LEVEL, from: -7.0, to: 1.0, level: 5.0 }]);
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
            let expected = format!("the series of `wait` cannot have {slices} slices; choose 1 to 10000");
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
        for (end, count, length) in [(1.0, 128, 1.0 / 128.0), (100.0, 100, 1.0), (1000.0, 125, 8.0), (100.5, 101, 1.0), (129.0, 65, 2.0)] {
            let series = &automatic(end).series()["level"];
            assert_eq!((series.values.len(), series.edges.len(), series.edges[1], series.width()), (count, count + 1, length, length));
            assert_eq!((series.edges[count - 1], series.edges[count]), ((count - 1) as f64 * length, end));
        }
    }

    #[test]
    fn an_automatic_series_by_hand() {
        let mut statistics = automatic(66.0);
        apply(&mut statistics, 0.5, &[made(1), Note::Observe { mean: SEEN, value: 3.0 }]);
        apply(&mut statistics, 65.0, &[made(2), Note::Sample { histogram: SPREAD, value: 0.5 }]);
        apply(&mut statistics, 66.0, &[made(4), Note::Span { mean: LEVEL, from: 64.5, to: 66.0, level: 3.0 }]);
        let series = statistics.series();
        assert_eq!((series["made"].values[0], &series["made"].values[63..]), (Some(1.0), &[Some(0.0), Some(0.0), Some(6.0)][..]));
        assert_eq!((series["seen"].values[0], series["seen"].values[1], series["spread"].values[65]), (Some(3.0), None, Some(0.5)));
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
            Note::Observe { mean: SEEN, value: f64::NAN },
            Note::Sample { histogram: SPREAD, value: f64::INFINITY },
            Note::Span { mean: LEVEL, from: 0.5, to: 0.25, level: 1.0 },
            Note::Count { counter: MADE.at(2), by: 1 },
            Note::Count { counter: Counter::slot(1), by: 1 },
        ];
        for note in refused {
            statistics.apply(&Notes { list: vec![note], ..Notes::default() }, 0.5, LpId(0), &mut NoRows).unwrap_err();
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
        assert_eq!((values(&whole, "made")[0], whole.series()["made"].counts[0]), (Some(2f64.powi(65)), u64::MAX));
    }

    fn ends() -> impl Strategy<Value = f64> {
        prop_oneof![1e-3f64..1e6, Just(f64::MAX), Just(5e-324), Just(1e-310), Just(f64::MIN_POSITIVE), Just(1.0), Just(0.3)]
    }

    proptest! {
        /// A run that was ended early has the series of a run to that end, whatever was wanted.
        #[test]
        fn slices_follow_from_how_far_a_run_came(
            events in prop::collection::vec((0.0f64..=1.0, 0u32..2, -1e3f64..1e3, 0.0f64..0.3), 1..80),
            end in prop_oneof![1e-3f64..1e6, Just(1e300), Just(1e-300), Just(64.0)], further in 1.0f64..1e5,
        ) {
            let (mut early, mut whole) = (automatic(end * further), automatic(end));
            for statistics in [&mut early, &mut whole] {
                for &(share, item, value, length) in &events {
                    let time = share * end;
                    let span = Note::Span { mean: LEVEL.at(item), from: time * (1.0 - length), to: time, level: value };
                    let notes = [made(3), Note::Observe { mean: SEEN, value }, span, Note::Sample { histogram: SPREAD, value: value * value }];
                    apply(statistics, time, &notes);
                }
                statistics.cut_short(end);
            }
            prop_assert_eq!(early.series(), whole.series());
            prop_assert_eq!(whole.series()["made"].counts.iter().sum::<u64>(), 3 * events.len() as u64);
        }

        /// Every time lies between the edges of its slice, the edges themselves included, however short or long the run.
        #[test]
        fn every_time_is_within_its_slice(end in ends(), count in 1u32..300, share in 0.0f64..1.0, edge in 0u32..300) {
            let slices = Slices::new(count, end);
            prop_assert_eq!((slices.edges[0], slices.edges[count as usize]), (0.0, end));
            let edge = slices.edges[edge.min(count) as usize];
            for time in [share * end, edge, edge.next_down().max(0.0), edge.next_up(), end.next_down(), 0.0] {
                let slice = slices.at(time);
                let within = slices.edges[slice] <= time && (time < slices.edges[slice + 1] || time >= end && slice == count as usize - 1);
                prop_assert!(within, "{} in slice {}: {:?}", time, slice, &slices.edges[slice..=slice + 1]);
            }
        }

        /// However the events of a run are divided among PEs, and in whatever order those are merged, the series are the same to the last
        /// bit, and their slices add up to the totals.
        #[test]
        fn merging_in_any_order_gives_the_same(
            events in prop::collection::vec((0.0f64..=1.0, 0u32..2, 0u64..9, -1e9f64..1e9, 0.0f64..0.3, 0usize..4), 1..120),
            end in prop_oneof![1e-3f64..1e6, Just(1e300), Just(1e-300)], slices in prop::option::of(1u32..40), order in Just([0usize, 1, 2, 3]).prop_shuffle(),
        ) {
            let empty = slices.map_or_else(|| automatic(end), |slices| statistics(slices, 0.0, end));
            let (mut whole, mut parts) = (empty.clone(), vec![empty; 4]);
            for &(share, item, by, value, length, part) in &events {
                let time = share * end;
                let notes = [
                    Note::Count { counter: MADE.at(item), by },
                    Note::Observe { mean: SEEN, value },
                    Note::Span { mean: LEVEL.at(item), from: time, to: (time + length * end).min(end), level: value * 1e-9 },
                    Note::Sample { histogram: SPREAD, value: value * value },
                ];
                apply(&mut whole, time, &notes);
                apply(&mut parts[part], time, &notes);
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
}
