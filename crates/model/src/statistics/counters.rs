use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpline_memory::prefetch;

use super::items::zeros;

/// The totals of the items of one counter. They are wider than its range, so that no order of adding overflows; a total that never passes
/// the range takes eight bytes.
///
/// Overflow is checked once, after the last event: which event takes the total past 2⁶⁴ depends on
/// the order of adding, and the parts of a run need not overflow at all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CounterTallies {
    low: Vec<u64>,
    /// How often the total of an item has passed the range of its word.
    high: BTreeMap<u32, u64>,
}

impl CounterTallies {
    pub(super) fn new(items: usize) -> Self {
        CounterTallies { low: zeros(items), high: BTreeMap::new() }
    }

    /// Adds to an item; `None` if there is no such item.
    #[inline]
    pub(super) fn add(&mut self, item: u32, by: u64) -> Option<()> {
        let low = self.low.get_mut(item as usize)?;
        let (sum, carry) = low.overflowing_add(by);
        *low = sum;
        if carry {
            self.carry(item, 1);
        }
        Some(())
    }

    #[cold]
    fn carry(&mut self, item: u32, by: u64) {
        *self.high.entry(item).or_default() += by;
    }

    #[inline]
    pub(super) fn fetch(&self, item: u32) {
        self.low.get(item as usize).into_iter().for_each(prefetch);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // What holds nothing but zeros, and nobody has touched, stays so.
        for (item, &by) in (0..).zip(&other.low).filter(|(_, by)| **by != 0) {
            self.add(item, by);
        }
        other.high.iter().for_each(|(&item, &by)| self.carry(item, by));
    }

    /// The total of an item; the largest number if it is more.
    ///
    /// # Panics
    /// If there is no such item.
    pub(super) fn total(&self, item: usize) -> u64 {
        let low = self.low[item];
        if u32::try_from(item).is_ok_and(|item| self.high.contains_key(&item)) { u64::MAX } else { low }
    }

    /// Whether the total of an item is more than the largest number.
    pub(super) fn overflows(&self) -> bool {
        !self.high.is_empty()
    }
}
