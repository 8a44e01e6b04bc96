use serde::{Deserialize, Serialize};
use warpline_memory::MakeRoom;

use super::estimate::QUARTERS;
use super::exact_sum::ExactSum;
use super::horizon::Horizon;
use crate::statistics::STATISTICS;

/// The shortest stretch is of length 2^`SHORTEST`.
const SHORTEST: i32 = -1000;

/// What is added up in a stretch of time.
pub(in crate::statistics) trait Absorb: Clone + Default {
    fn absorb(&mut self, other: &Self);
}

impl Absorb for u128 {
    fn absorb(&mut self, other: &Self) {
        *self += other;
    }
}

impl Absorb for ExactSum {
    fn absorb(&mut self, other: &Self) {
        self.merge(other);
    }
}

impl Absorb for (ExactSum, u64) {
    fn absorb(&mut self, other: &Self) {
        self.0.merge(&other.0);
        self.1 += other.1;
    }
}

/// Sums over stretches of time of equal length: quarters of batches, from the end of the warm-up
/// on, and slices of series.
///
/// The length is a power of 2, and doubles when the stretches no longer reach far enough, so it
/// follows from how far they reach. What is added up is exact, so that it does not matter when it
/// doubled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct Stretches<T> {
    /// At most [`QUARTERS`] of them, as many as were needed.
    list: Vec<T>,
    /// Their length is 2^`exponent`.
    exponent: i32,
    /// Stretches per unit of time.
    per_time: f64,
}

impl<T> Default for Stretches<T> {
    fn default() -> Self {
        Stretches { list: Vec::new(), exponent: SHORTEST, per_time: power_of_two(-SHORTEST) }
    }
}

/// The stretches of a run.
pub(in crate::statistics) struct Seen<T> {
    /// Those that the run reached.
    pub(in crate::statistics) list: Vec<T>,
    /// Their length is 2^`exponent`.
    pub(in crate::statistics) exponent: i32,
}

impl<T> Seen<T> {
    /// The length of a stretch; the run may have ended within the last.
    pub(in crate::statistics) fn length(&self) -> f64 {
        power_of_two(self.exponent)
    }

    /// How much of a stretch was observed, as a share of its length.
    pub(in crate::statistics) fn covered(&self, horizon: &Horizon, stretch: usize) -> f64 {
        (horizon.length() * power_of_two(-self.exponent) - stretch as f64).clamp(0.0, 1.0)
    }
}

impl<T: Absorb> Stretches<T> {
    /// The stretch of a time. What is observed as the run ends belongs to the last.
    #[inline]
    pub(in crate::statistics) fn at(&mut self, horizon: &Horizon, time: f64) -> &mut T {
        let index = whole((time - horizon.start) * self.per_time);
        let index = if index < self.list.len() && time < horizon.reached {
            index
        } else {
            self.cover(horizon, time)
        };
        &mut self.list[index]
    }

    /// Makes the stretches reach beyond a time, and returns its place.
    #[cold]
    #[inline(never)]
    fn cover(&mut self, horizon: &Horizon, time: f64) -> usize {
        let since = time.min(horizon.reached) - horizon.start;
        let is_last = time >= horizon.reached;
        self.widen(if is_last { reaching(since) } else { reaching(since.next_up()) });
        let index =
            if is_last { self.count(horizon) - 1 } else { (since * self.per_time) as usize };
        self.lengthen(index);
        index
    }

    /// Makes the stretch at this place, and those before it.
    fn lengthen(&mut self, index: usize) {
        if let Some(more) = (index + 1).checked_sub(self.list.len()) {
            self.list.make_room(more, STATISTICS);
            self.list.resize(index + 1, T::default());
        }
    }

    /// How many stretches the run reaches.
    fn count(&self, horizon: &Horizon) -> usize {
        ((horizon.length() * self.per_time).ceil() as usize).clamp(1, QUARTERS)
    }

    /// Makes stretches at least so long.
    fn widen(&mut self, exponent: i32) {
        let doublings = exponent - self.exponent;
        if doublings > 0 {
            for index in 1..self.list.len() {
                let part = std::mem::take(&mut self.list[index]);
                self.list[index.checked_shr(doublings as u32).unwrap_or(0)].absorb(&part);
            }
            let last = self.list.len().saturating_sub(1);
            self.list.truncate(last.checked_shr(doublings as u32).unwrap_or(0) + 1);
            (self.exponent, self.per_time) = (exponent, power_of_two(-exponent));
        }
    }

    /// Adds the sums of another part of the run.
    pub(in crate::statistics) fn merge(&mut self, other: &Stretches<T>) {
        self.widen(other.exponent);
        let doublings = (self.exponent - other.exponent) as u32;
        let place = |index: usize| index.checked_shr(doublings).unwrap_or(0);
        if let Some(last) = other.list.len().checked_sub(1) {
            self.lengthen(place(last));
        }
        for (index, part) in other.list.iter().enumerate() {
            self.list[place(index)].absorb(part);
        }
    }

    /// The stretches of the run so far.
    pub(in crate::statistics) fn of(&self, horizon: &Horizon) -> Seen<T> {
        let mut all = self.clone();
        all.widen(reaching(horizon.length()));
        let count = all.count(horizon);
        // Rounding may lead just beyond the last.
        while all.list.len() > count
            && let Some(part) = all.list.pop()
        {
            all.list[count - 1].absorb(&part);
        }
        all.list.resize(count, T::default());
        Seen { list: all.list, exponent: all.exponent }
    }
}

impl Stretches<ExactSum> {
    /// Adds a span of a level that lies within what is observed.
    #[inline]
    pub(in crate::statistics) fn add_span(
        &mut self,
        horizon: &Horizon,
        from: f64,
        to: f64,
        level: f64,
    ) {
        if !self.reaches(horizon, to) {
            self.reach(horizon, to);
        }
        let places = self.places(horizon, from, to);
        self.add_between(horizon, places, (from, to), level);
    }

    /// Adds a span whose first and last stretch are known.
    #[inline]
    pub(super) fn add_between(
        &mut self,
        horizon: &Horizon,
        (first, last): (usize, usize),
        (from, to): (f64, f64),
        level: f64,
    ) {
        if first == last {
            self.list[first].add_distance(from, to, level);
        } else {
            self.add_long_span(horizon, (first, last), (from, to), level);
        }
    }

    /// Whether a span that ends at this time finds all its stretches.
    #[inline]
    pub(super) fn reaches(&self, horizon: &Horizon, to: f64) -> bool {
        // A span of no length at the start of the run is the first of any.
        !self.list.is_empty() && (to - horizon.start) * self.per_time <= self.list.len() as f64
    }

    /// Makes the stretches of a span that ends at this time.
    pub(super) fn reach(&mut self, horizon: &Horizon, to: f64) {
        self.widen(reaching(to - horizon.start));
        self.lengthen(self.place(horizon, to));
    }

    /// The first and the last stretch of a span that they reach.
    #[inline]
    pub(super) fn places(&self, horizon: &Horizon, from: f64, to: f64) -> (usize, usize) {
        // An end on an edge belongs to the stretch before it where that is the last.
        let last = self.place(horizon, to).min(self.list.len() - 1);
        (self.place(horizon, from).min(last), last)
    }

    #[inline]
    fn place(&self, horizon: &Horizon, time: f64) -> usize {
        whole((time - horizon.start) * self.per_time).min(QUARTERS - 1)
    }

    /// Adds a span that does not lie within a stretch.
    fn add_long_span(
        &mut self,
        horizon: &Horizon,
        (first, last): (usize, usize),
        (from, to): (f64, f64),
        level: f64,
    ) {
        for index in first..=last {
            let begin = if index == first { from } else { self.edge(horizon, index) };
            let end = if index == last { to } else { self.edge(horizon, index + 1) };
            self.list[index].add_distance(begin, end, level);
        }
    }

    /// Where a stretch begins.
    pub(super) fn edge(&self, horizon: &Horizon, index: usize) -> f64 {
        horizon.start + index as f64 * self.length()
    }

    /// The length of a stretch.
    pub(super) fn length(&self) -> f64 {
        power_of_two(self.exponent)
    }

    pub(super) fn list_mut(&mut self) -> &mut [ExactSum] {
        &mut self.list
    }
}

/// The whole part of a number of stretches. What 32 bits cannot hold is beyond all stretches, and
/// a conversion to 64 bits takes three times as many instructions.
#[inline(always)]
fn whole(stretches: f64) -> usize {
    stretches as u32 as usize
}

/// The exponent of the shortest stretches that reach so far.
fn reaching(length: f64) -> i32 {
    // A power of 2 is reached by stretches of a 128th of it; what is not quite the next, by
    // stretches of a 64th of it.
    const ALL: i32 = QUARTERS.ilog2() as i32;
    let bits = length.to_bits();
    let (exponent, is_power) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1) == 0);
    if length > 0.0 { (exponent + i32::from(!is_power) - ALL).max(SHORTEST) } else { SHORTEST }
}

/// 2^exponent, for the length of stretches.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// These sums over the power of 2 that makes the largest of them a number between 1 and 2.
pub(in crate::statistics) fn scaled<'s>(
    sums: impl Iterator<Item = &'s ExactSum> + Clone,
) -> (Vec<f64>, i32) {
    let exponent = sums.clone().map(|sum| sum.scaled().1).max().unwrap_or(0);
    (sums.map(|sum| sum.scaled_by(exponent)).collect(), exponent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stretches_are_as_short_as_possible() {
        for (length, exponent) in [
            (128.0, 0),
            (128.5, 1),
            (256.0, 1),
            (64.5, 0),
            (1.0, -7),
            (0.0, SHORTEST),
            (5e-324, SHORTEST),
            (f64::MAX, 1017),
        ] {
            assert_eq!(reaching(length), exponent, "{length}");
        }
    }

    /// What is in each stretch of a run that ends here and was to go on.
    fn areas(spans: &[(f64, f64, f64)], end: f64) -> Vec<u64> {
        let (mut horizon, mut stretches) = (Horizon::new(0.25, 1e9), Stretches::default());
        spans.iter().for_each(|&(from, to, level)| stretches.add_span(&horizon, from, to, level));
        horizon.cut_short(end);
        stretches.of(&horizon).list.iter().map(|area| area.value().to_bits()).collect()
    }

    #[test]
    fn a_level_may_change_at_the_very_start() {
        assert_eq!(areas(&[(0.25, 0.25, 3.0)], 1.25), [0; QUARTERS]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_when_stretches_doubled(
            mut spans in prop::collection::vec((0.0f64..1.0, 0.0f64..0.2, -1e3f64..1e3), 1..50), length in prop_oneof![1e-3f64..1e6, Just(64.0)],
        ) {
            for (from, to, _) in &mut spans {
                *from = 0.25 + *from * length;
                *to = (*from + *to * length).min(0.25 + length);
            }
            let end = 0.25 + length;
            let forward = areas(&spans, end);
            spans.reverse();
            prop_assert_eq!(&areas(&spans, end), &forward);
            // All in stretches of the final length.
            spans.insert(0, (end, end, 1.0));
            prop_assert_eq!(&areas(&spans, end), &forward);
            prop_assert!(forward.len() <= QUARTERS && forward.len() > QUARTERS / 2);
        }
    }
}
