//! The slices of a run, if the model declares their number.

use serde::{Deserialize, Serialize};

use crate::statistics::sums::exact_sum::ExactSum;

/// Slices of equal length, from 0 to the requested end of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slices {
    /// The edges of the slices, from 0 to the end.
    edges: Vec<f64>,
    /// Slices per unit of time.
    per_time: f64,
    /// How far the run came: to the end, unless it was stopped early.
    reached: f64,
    /// The last slice that it reached.
    last: usize,
}

impl Slices {
    pub(super) fn new(count: u32, end: f64) -> Self {
        // The end is multiplied by at most 1, so it cannot overflow.
        let edge = |slice: u32| end * (f64::from(slice) / f64::from(count));
        let edges = (0..=count).map(edge).collect();
        let last = count as usize - 1;
        Slices { edges, per_time: f64::from(count) / end, reached: end, last }
    }

    pub(super) fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// From 0 to the end.
    pub(super) fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// How far the run came, in model time.
    pub(super) fn reached(&self) -> f64 {
        self.reached
    }

    /// The last slice that the run reached.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// The slice of a time, which must not be negative. The end itself belongs to the last slice.
    #[inline]
    pub(super) fn at(&self, time: f64) -> usize {
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

    /// Ends the run at `end`. The slices stay as they are.
    pub(super) fn cut_short(&mut self, end: f64) {
        self.reached = end;
        self.last =
            self.edges.partition_point(|edge| *edge < end).saturating_sub(1).min(self.count() - 1);
    }

    /// Adds a span of a level, which lies within the run.
    #[inline]
    pub(super) fn add_span(&self, areas: &mut [ExactSum], from: f64, to: f64, level: f64) {
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
        for (area, edges) in
            areas.iter_mut().zip(self.edges.windows(2)).skip(*touched.start()).take(touched.count())
        {
            let (begin, end) = (from.max(edges[0]), to.min(edges[1]));
            area.add_distance(begin, end, level);
        }
    }
}
