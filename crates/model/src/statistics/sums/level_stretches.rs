use serde::{Deserialize, Serialize};
use warpline_memory::MakeRoom;

use super::exact_sum::ExactSum;
use super::horizon::Horizon;
use super::stretches::{Seen, Stretches};
use crate::statistics::STATISTICS;

/// A span over more stretches than this is added as two steps of the level.
const FEW: usize = 4;

/// Level times time in stretches of a run, where many levels share the sums.
///
/// A span costs no more the longer it is: between the stretches in which it begins and ends, only a
/// rise and a fall of the level are kept, and what they come to is added up later. That is exact
/// only if the edges of stretches are, so what is observed must begin at time 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::statistics) struct LevelStretches {
    areas: Stretches<ExactSum>,
    /// By how much the area of each stretch is more than that of the one before it, because of
    /// long spans.
    rises: Vec<ExactSum>,
}

impl From<Stretches<ExactSum>> for LevelStretches {
    fn from(areas: Stretches<ExactSum>) -> Self {
        LevelStretches { areas, rises: Vec::new() }
    }
}

impl LevelStretches {
    /// Adds a span of a level that lies within what is observed.
    #[inline]
    pub(in crate::statistics) fn add_span(
        &mut self,
        horizon: &Horizon,
        from: f64,
        to: f64,
        level: f64,
    ) {
        debug_assert_eq!(horizon.start, 0.0);
        if !self.areas.reaches(horizon, to) {
            self.settle();
            self.areas.reach(horizon, to);
        }
        let (first, last) = self.areas.places(horizon, from, to);
        if last - first < FEW {
            self.areas.add_between(horizon, (first, last), (from, to), level);
        } else {
            self.add_steps(horizon, (first, last), (from, to), level);
        }
    }

    /// Adds a span that has whole stretches within it.
    fn add_steps(
        &mut self,
        horizon: &Horizon,
        (first, last): (usize, usize),
        (from, to): (f64, f64),
        level: f64,
    ) {
        let rise = self.areas.edge(horizon, first + 1);
        let fall = self.areas.edge(horizon, last);
        let length = self.areas.length();
        let areas = self.areas.list_mut();
        areas[first].add_distance(from, rise, level);
        areas[last].add_distance(fall, to, level);
        if let Some(more @ 1..) = areas.len().checked_sub(self.rises.len()) {
            self.rises.make_room(more, STATISTICS);
            self.rises.resize(areas.len(), ExactSum::default());
        }
        self.rises[first + 1].add_product(level, length);
        self.rises[last].add_product(-level, length);
    }

    /// Adds what long spans come to.
    fn settle(&mut self) {
        let mut level = ExactSum::default();
        for (area, rise) in self.areas.list_mut().iter_mut().zip(self.rises.drain(..)) {
            level.merge(&rise);
            area.merge(&level);
        }
    }

    fn settled(&self) -> Self {
        let mut settled = self.clone();
        settled.settle();
        settled
    }

    /// Adds the sums of another part of the run.
    pub(in crate::statistics) fn merge(&mut self, other: &LevelStretches) {
        self.settle();
        self.areas.merge(&other.settled().areas);
    }

    /// The stretches of the run so far.
    pub(in crate::statistics) fn of(&self, horizon: &Horizon) -> Seen<ExactSum> {
        self.settled().areas.of(horizon)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn long_spans_come_to_the_same_as_their_parts(
            mut spans in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0, -1e3f64..1e3), 1..60),
            length in 1e-3f64..1e6,
            split in 0usize..60,
        ) {
            let mut horizon = Horizon::new(0.0, 1e9);
            let mut parts = Stretches::default();
            let mut one = LevelStretches::default();
            let mut other = LevelStretches::default();
            spans.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (index, &(from, to, level)) in spans.iter().enumerate() {
                let (from, to) = (from * length, (from + to).min(1.0) * length);
                parts.add_span(&horizon, from, to, level);
                let long = if index < split { &mut one } else { &mut other };
                long.add_span(&horizon, from, to, level);
            }
            one.merge(&other);
            horizon.cut_short(length);
            let values = |seen: Seen<ExactSum>| -> Vec<u64> {
                seen.list.iter().map(|area| area.value().to_bits()).collect()
            };
            prop_assert_eq!(values(one.of(&horizon)), values(parts.of(&horizon)));
        }
    }
}
