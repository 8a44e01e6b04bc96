use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use warpline_memory::prefetch;
use warpline_record::SeriesKind;

use super::items::zeros;
use super::kind::{Kind, Moment, handle};
use crate::statistics::series::SeriesTally;
use crate::statistics::sums::horizon::Horizon;

handle! {
    /// Counts things: [`Observe::count`](crate::Observe::count), which has an example.
    Counter
}

impl Kind for Counter {
    const NAME: &'static str = "counter";
    const SERIES: SeriesKind = SeriesKind::Count;
    // An item is one word.
    const FEW_ITEMS: u32 = 1 << 13;

    type Observed = u64;
    type Tallies = CounterTallies;
    type Outcome<'a> = u64;

    fn tallies(items: u32) -> CounterTallies {
        CounterTallies::new(items as usize)
    }

    #[inline(always)]
    fn add(
        counters: &mut CounterTallies,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        by: u64,
    ) -> Option<()> {
        counters.add(item, if event.is_observed() { by } else { 0 })?;
        if let Some(series) = series {
            series.count(event.time, by);
        }
        Some(())
    }

    fn merge(mine: &mut CounterTallies, theirs: &CounterTallies) {
        mine.merge(theirs);
    }

    fn outcome(counters: &CounterTallies, _: &Horizon, item: u32) -> u64 {
        counters.total(item as usize)
    }

    fn json(counters: &CounterTallies, _: &Horizon, item: u32) -> Value {
        json!(counters.total(item as usize))
    }

    fn values(_: u64, _: f64) -> impl Iterator<Item = f64> {
        std::iter::empty()
    }

    #[inline(always)]
    fn fetch(counters: &CounterTallies, item: u32, _: u64) {
        counters.fetch(item);
    }

    fn overflows(counters: &CounterTallies) -> bool {
        counters.overflows()
    }
}

/// The totals of the items of one counter. They are wider than 64 bits, so adding never overflows.
/// A total within 64 bits takes eight bytes.
///
/// Overflow is checked once, after the last event: which event exceeds 64 bits depends on the order
/// of adding, and no part of the run may exceed them alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct CounterTallies {
    low: Vec<u64>,
    /// The number of carries out of an item's word.
    high: BTreeMap<u32, u64>,
}

impl CounterTallies {
    fn new(items: usize) -> Self {
        CounterTallies { low: zeros(items), high: BTreeMap::new() }
    }

    /// Adds to an item; `None` if there is no such item.
    #[inline]
    fn add(&mut self, item: u32, by: u64) -> Option<()> {
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
    fn fetch(&self, item: u32) {
        self.low.get(item as usize).into_iter().for_each(prefetch);
    }

    fn merge(&mut self, other: &Self) {
        // Items without counts are left untouched, so that they take no memory.
        for (item, &by) in (0..).zip(&other.low).filter(|(_, by)| **by != 0) {
            self.add(item, by);
        }
        other.high.iter().for_each(|(&item, &by)| self.carry(item, by));
    }

    /// The total of an item, at most `u64::MAX`.
    ///
    /// # Panics
    /// If there is no such item.
    fn total(&self, item: usize) -> u64 {
        let low = self.low[item];
        if u32::try_from(item).is_ok_and(|item| self.high.contains_key(&item)) {
            u64::MAX
        } else {
            low
        }
    }

    /// Whether the total of an item exceeds `u64::MAX`.
    fn overflows(&self) -> bool {
        !self.high.is_empty()
    }
}
