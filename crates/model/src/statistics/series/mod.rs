mod slices;

use serde::{Deserialize, Serialize};
use warpline_record::{Series, SeriesKind};

use self::slices::Slices;
use super::sums::exact_sum::ExactSum;
use super::sums::horizon::Horizon;
use super::sums::level_stretches::LevelStretches;
use super::sums::stretches::{Absorb, Seen, Stretches};

/// The number of slices of a series.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum SeriesSlices {
    /// As many as follow from the length of the run.
    Automatic,
    /// As many as the model declares.
    Given(u32),
}

/// A statistic over virtual time: sums for each slice of the run, over all items.
///
/// A series is made of the same observations as its statistic. It costs an addition per
/// observation, on commit. It costs nothing if it is not declared, or if it
/// [follows](super::tallies::Slot) from the sums of the statistic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SeriesTally {
    cut: Cut,
    sums: Sums,
}

/// How the run is cut into slices.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Cut {
    /// Into as many slices as the model declares.
    Given(Slices),
    /// Into stretches, which follow from how far the run came.
    Stretches(Horizon),
}

/// The sums of each slice, which can be added in any order.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Sums {
    Counts(Parts<u128, Stretches<u128>>),
    /// Sum and number of values.
    Means(Parts<(ExactSum, u64), Stretches<(ExactSum, u64)>>),
    /// Level times time.
    Levels(Parts<ExactSum, LevelStretches>),
}

/// The sums of all slices, in the form that fits the [`Cut`].
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Parts<T, S> {
    Given(Vec<T>),
    Stretches(S),
}

/// Sums in stretches that follow from how far the run came.
trait InStretches<T>: Default {
    fn merge(&mut self, other: &Self);

    fn of(&self, horizon: &Horizon) -> Seen<T>;
}

impl<T: Absorb> InStretches<T> for Stretches<T> {
    fn merge(&mut self, other: &Self) {
        Stretches::merge(self, other);
    }

    fn of(&self, horizon: &Horizon) -> Seen<T> {
        Stretches::of(self, horizon)
    }
}

impl InStretches<ExactSum> for LevelStretches {
    fn merge(&mut self, other: &Self) {
        LevelStretches::merge(self, other);
    }

    fn of(&self, horizon: &Horizon) -> Seen<ExactSum> {
        LevelStretches::of(self, horizon)
    }
}

impl<T: Absorb> Parts<T, Stretches<T>> {
    /// The sums of the slice that contains `time`.
    #[inline]
    fn at(&mut self, cut: &Cut, time: f64) -> &mut T {
        match (self, cut) {
            (Parts::Given(list), Cut::Given(slices)) => &mut list[slices.at(time)],
            (Parts::Stretches(stretches), Cut::Stretches(horizon)) => stretches.at(horizon, time),
            _ => unreachable!("{ONE_CUT}"),
        }
    }
}

impl<T: Absorb, S: InStretches<T>> Parts<T, S> {
    fn new(cut: &Cut) -> Self {
        match cut {
            Cut::Given(slices) => Parts::Given(vec![T::default(); slices.count()]),
            Cut::Stretches(_) => Parts::Stretches(S::default()),
        }
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Parts::Given(mine), Parts::Given(theirs)) => {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.absorb(theirs))
            }
            (Parts::Stretches(mine), Parts::Stretches(theirs)) => mine.merge(theirs),
            _ => unreachable!("{ONE_CUT}"),
        }
    }

    /// The edges of the slices, and their sums.
    fn slices(&self, cut: &Cut) -> (Vec<f64>, Vec<T>) {
        match (self, cut) {
            (Parts::Given(list), Cut::Given(slices)) => (slices.edges().to_vec(), list.clone()),
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

impl SeriesTally {
    /// An empty series with values of this kind, of a run to `end`.
    pub(super) fn new(slices: SeriesSlices, kind: SeriesKind, end: f64) -> Self {
        let cut = match slices {
            SeriesSlices::Automatic => Cut::Stretches(Horizon::new(0.0, end)),
            SeriesSlices::Given(count) => Cut::Given(Slices::new(count, end)),
        };
        let sums = match kind {
            SeriesKind::Count => Sums::Counts(Parts::new(&cut)),
            SeriesKind::Mean => Sums::Means(Parts::new(&cut)),
            SeriesKind::Level => Sums::Levels(Parts::new(&cut)),
        };
        SeriesTally { cut, sums }
    }

    /// The series of values that were added up in the stretches of a run without a warm-up.
    pub(super) fn of_means(means: Stretches<(ExactSum, u64)>, horizon: Horizon) -> Self {
        SeriesTally { cut: Cut::Stretches(horizon), sums: Sums::Means(Parts::Stretches(means)) }
    }

    /// The same of levels.
    pub(super) fn of_levels(areas: Stretches<ExactSum>, horizon: Horizon) -> Self {
        let areas = Parts::Stretches(areas.into());
        SeriesTally { cut: Cut::Stretches(horizon), sums: Sums::Levels(areas) }
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
        if from <= to && level != 0.0 {
            match (areas, &self.cut) {
                (Parts::Given(areas), Cut::Given(slices)) => {
                    slices.add_span(areas, from, to, level)
                }
                (Parts::Stretches(areas), Cut::Stretches(horizon)) => {
                    areas.add_span(horizon, from, to, level)
                }
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

    /// The series as recorded, for a statistic with this unit and meaning.
    pub(super) fn series(&self, unit: &str, meaning: &str) -> Series {
        let (kind, edges, values, counts) = match &self.sums {
            Sums::Counts(counts) => {
                let (edges, counts) = counts.slices(&self.cut);
                let values = counts.iter().map(|count| Some(*count as f64)).collect();
                let counts =
                    counts.iter().map(|&count| u64::try_from(count).unwrap_or(u64::MAX)).collect();
                (SeriesKind::Count, edges, values, counts)
            }
            Sums::Means(means) => {
                let (edges, means) = means.slices(&self.cut);
                let mean = |(sum, count): &(ExactSum, u64)| (*count > 0).then(|| sum.over(*count));
                (
                    SeriesKind::Mean,
                    edges,
                    means.iter().map(mean).collect(),
                    means.iter().map(|(_, count)| *count).collect(),
                )
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
            unit: unit.to_owned(),
            meaning: meaning.to_owned(),
            edges,
            values: values
                .into_iter()
                .enumerate()
                .map(|(slice, value)| value.filter(|_| was_reached(slice)))
                .collect(),
            counts,
            ci95: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl Cut {
    /// How far the run came, in model time.
    fn reached(&self) -> f64 {
        match self {
            Cut::Given(slices) => slices.reached(),
            Cut::Stretches(horizon) => horizon.reached,
        }
    }

    /// The last slice that the run reached; `None` if there are no slices beyond it.
    fn last(&self) -> Option<usize> {
        match self {
            Cut::Given(slices) => Some(slices.last()),
            Cut::Stretches(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
