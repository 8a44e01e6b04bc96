use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warpline_base::LpId;
use warpline_record::{LostDelays, ResultNote, Series, View};

use super::declarations::{Declaration, Declarations, TableDeclaration};
use super::kinds::kind::{Kind, Moment};
use super::kinds::table::*;
use super::meanings;
use super::observations::{Observation, Observations};
use super::rows::{Row, RowSink};
use super::sums::horizon::Horizon;
use super::tallies::{self, Slot, Tallies};
use crate::fault::Fault;
use crate::tables::Table;

/// All committed statistics of a run. They do not depend on the order in which observations are
/// added.
///
/// Statistics are looked up by the handles that wrote them:
/// ```
/// # use warpline_model::{prelude::*, statistics::{Observations, Row, RowSink}};
/// # struct Lp(Observations);
/// # impl Observe for Lp { fn observations(&mut self) -> &mut Observations { &mut self.0 } }
/// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
/// # let mut lp = Lp(Observations::default());
/// # let mut declare = Declarations::default();
/// const SERVED: Counter = Counter::slot(0);
/// const WAIT: Mean = Mean::slot(1);
/// const BUSY: TimeMean = TimeMean::slot(2);
/// const STAY: Histogram = Histogram::slot(3);
/// # declare.counter(SERVED, "served", "", "");
/// # declare.mean(WAIT, "wait", "", "");
/// # declare.time_mean(BUSY, "busy", "", "");
/// # declare.histogram(STAY, "stay", "", "");
/// # lp.count(SERVED, 2);
/// # [0.5, 2.5].iter().for_each(|&wait| lp.observe(WAIT, wait));
/// # lp.span(BUSY, 1.0, 6.0, 1.0);
/// # [4.0, 6.0].iter().for_each(|&stay| lp.sample(STAY, stay));
/// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Observations::default())).unwrap();
/// // In a run to time 10 two customers came:
/// assert_eq!(statistics.counter(SERVED), 2);
/// assert_eq!(statistics.mean(WAIT).mean, Some(1.5));
/// assert_eq!(statistics.time_mean(BUSY).mean, Some(0.5));
/// assert_eq!(statistics.histogram(STAY).mean(), Some(5.0));
/// assert_eq!(statistics.to_json()["stay"]["max"], 6.0);
/// ```
///
/// A look-up by a handle that does not fit its declaration panics:
/// ```should_panic
/// # use warpline_model::prelude::*;
/// # let mut declare = Declarations::default();
/// declare.mean(Mean::slot(0), "wait", "min", "time from arrival to service");
/// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
/// statistics.counter(Counter::slot(0)); // panics: Counter { slot: 0, item: 0 } is not declared as a counter
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Statistics {
    horizon: Horizon,
    declared: Declarations,
    slots: Vec<Slot>,
    /// A bit for each of the first 64 slots: whether it is too large for the nearest cache, so that
    /// prefetching its items pays.
    large: u64,
    /// Sends whose delay was lost to rounding.
    lost_delays: Option<LostDelays>,
}

impl Statistics {
    /// Empty statistics that observe the time from `warmup` to `end`. The declarations must be
    /// [`checked`](Declarations::checked).
    pub fn new(declared: Declarations, warmup: f64, end: f64) -> Self {
        let horizon = Horizon::new(warmup, end);
        let slots = declared
            .statistics
            .iter()
            .map(|declaration| Slot::new(declaration, &horizon))
            .collect();
        let bit = |(slot, declaration): (u32, &Declaration)| {
            if declaration.items > declaration.kind.few_items() {
                1u64.checked_shl(slot).unwrap_or(0)
            } else {
                0
            }
        };
        let large = (0..).zip(&declared.statistics).map(bit).sum();
        Statistics { horizon, declared, slots, large, lost_delays: None }
    }

    /// Sets the end of the run to `end`, if the run is stopped early.
    pub fn cut_short(&mut self, end: f64) {
        self.horizon.cut_short(end);
        self.slots
            .iter_mut()
            .filter_map(|slot| slot.series.as_mut())
            .for_each(|series| series.cut_short(end));
    }

    /// Adds the observations of an event of `lp` at `time`, and passes its rows and acts to `sink`.
    /// Observations before the end of the warm-up count only in series; rows always count.
    ///
    /// # Errors
    /// If a handle or row does not fit its declaration, an observation is not finite, a span ends
    /// before it begins, or there was no memory for an observation. Everything before it has been
    /// added.
    pub fn apply(
        &mut self,
        observations: &Observations,
        time: f64,
        lp: LpId,
        sink: &mut impl RowSink,
    ) -> Result<(), Fault> {
        if observations.is_plain() {
            return self.apply_plain(observations.current(), time, lp);
        }
        observations.check()?;
        let mut cells = &observations.cells[..];
        let mut acts = observations.acts.iter();
        for observation in observations.current() {
            match observation {
                Observation::Row { table, cells: count } => {
                    let (row, rest) = cells.split_at(*count as usize);
                    cells = rest;
                    if *table != Table::TOLD {
                        self.check_row(table.0, row.len())?;
                    }
                    sink.row(Row { table: table.0, time, lp, cells: row });
                }
                Observation::Act => acts.next().into_iter().for_each(|act| sink.act(act, time, lp)),
                observation => self.apply_plain(std::slice::from_ref(observation), time, lp)?,
            }
        }
        Ok(())
    }

    /// Like [`apply`](Self::apply), for observations without rows and acts.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    #[inline]
    pub fn apply_plain(
        &mut self,
        observations: &[Observation],
        time: f64,
        lp: LpId,
    ) -> Result<(), Fault> {
        match self.add_all(observations, time, lp) {
            None => Ok(()),
            Some(refused) => Err(self.refusal(refused, time)),
        }
    }

    /// Adds observations up to the first that does not fit a declared statistic, or whose value is
    /// invalid, and returns that one.
    #[inline(never)]
    fn add_all<'o>(
        &mut self,
        observations: &'o [Observation],
        time: f64,
        lp: LpId,
    ) -> Option<&'o Observation> {
        let Statistics { horizon, slots, lost_delays, .. } = self;
        let event = Moment { horizon, time, lp };
        observations.iter().find(|observation| {
            let lose = |lost: &LostDelays| add_lost_delays(lost_delays, lost);
            tallies::add(slots, observation, &event, lose).is_none()
        })
    }

    /// The sends whose delay was lost to rounding, if there were any.
    pub fn lost_delays(&self) -> Option<LostDelays> {
        self.lost_delays
    }

    /// These statistics with all spans added up, as if the run ended now.
    pub(crate) fn settled(&self) -> Cow<'_, Statistics> {
        if !self.slots.iter().any(|slot| slot.tallies.waits()) {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        all.slots.iter_mut().for_each(|slot| slot.settle(&self.horizon));
        Cow::Owned(all)
    }

    /// The fault of an observation that could not be added.
    #[cold]
    #[inline(never)]
    fn refusal(&self, observation: &Observation, time: f64) -> Fault {
        let (slot, item, kind) = observation.place();
        let name =
            self.declared.statistics.get(usize::from(slot)).map(|declared| declared.name.clone());
        match (name, observation.not_finite(time), observation.span(time)) {
            (Some(name), Some(value), _) => Fault::Observation { name, value },
            (Some(name), None, Some((from, to))) if from > to => Fault::Span { name, from, to },
            _ => self.misuse(slot, item, kind),
        }
    }

    /// Prefetches the memory that [`apply`](Self::apply) will need for these observations, for large
    /// statistics. Means over time are not prefetched: they are few, because each is the level of
    /// something, and stay in the cache.
    #[inline]
    pub fn fetch(&self, observations: &Observations) {
        if self.large != 0 {
            let is_large =
                |slot: u16| self.large.checked_shr(slot.into()).is_some_and(|bits| bits & 1 == 1);
            observations
                .current()
                .iter()
                .for_each(|observation| tallies::fetch(&self.slots, observation, is_large));
        }
    }

    fn check_row(&self, slot: u16, cells: usize) -> Result<(), Fault> {
        let declared = match self.declared.tables.get(usize::from(slot)) {
            None => "no table is declared there".to_owned(),
            Some(table) if table.columns.len() != cells => {
                format!("table `{}` has {} columns", table.name, table.columns.len())
            }
            Some(_) => return Ok(()),
        };
        Err(Fault::Row { slot, cells, declared })
    }

    #[cold]
    fn misuse(&self, slot: u16, item: u32, used: StatisticKind) -> Fault {
        let declared = match self.declared.statistics.get(usize::from(slot)) {
            None => "no statistic is declared there".to_owned(),
            Some(d) => format!(
                "`{}` is declared there as a {} with {} item(s)",
                d.name,
                d.kind.name(),
                d.items
            ),
        };
        Fault::Statistic { slot, item, used: used.name().into(), declared }
    }

    /// Adds the statistics of another part of the same run.
    pub fn merge(&mut self, other: &Statistics) {
        for (mine, theirs) in self.slots.iter_mut().zip(&other.slots) {
            mine.tallies.merge(&theirs.tallies);
            mine.series
                .iter_mut()
                .zip(&theirs.series)
                .for_each(|(mine, theirs)| mine.merge(theirs));
        }
        other.lost_delays.iter().for_each(|more| add_lost_delays(&mut self.lost_delays, more));
    }

    /// Moves open levels to the parts that will see them change: `part_of(lp)` is the part of LP
    /// `lp`.
    pub fn share_open_levels(&mut self, parts: &mut [Statistics], part_of: impl Fn(LpId) -> usize) {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            for (item, level) in slot.tallies.take_levels() {
                parts[part_of(level.lp)].slots[number].tallies.put_level(item, level);
            }
        }
    }

    /// Closes all levels and spans at the end of the run. Engines call this once, after the last LP
    /// has finished.
    pub fn close_levels(&mut self, end: f64) {
        self.slots.iter_mut().for_each(|slot| slot.close(&self.horizon, end));
    }

    /// The fault of the first counter, by slot, whose total exceeds `u64::MAX`, if any. Engines
    /// call this once, after the last event: which event exceeds the limit depends on the order of
    /// adding, but the total does not.
    pub fn overflow(&self) -> Option<Fault> {
        let slot = self.slots.iter().position(|slot| slot.tallies.overflows())?;
        Some(Fault::CounterOverflow { name: self.declared.statistics[slot].name.clone() })
    }

    /// The declared tables, by slot.
    pub fn tables(&self) -> &[TableDeclaration] {
        &self.declared.tables
    }

    /// Every statistic under its name, as in the [example](Self); those with several items as
    /// lists. Without observations, means, extremes and percentiles are `null`.
    pub fn to_json(&self) -> Value {
        let settled = self.settled();
        let value = |(slot, name, items): (usize, &str, usize)| {
            let value = if items == 1 {
                settled.item_json(slot, 0)
            } else {
                (0..items).map(|item| settled.item_json(slot, item)).collect()
            };
            (name.to_owned(), value)
        };
        Value::Object(self.names().map(value).collect::<Map<_, _>>())
    }

    /// The slot, name and number of items of every statistic.
    pub(crate) fn names(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        self.declared
            .statistics
            .iter()
            .enumerate()
            .map(|(slot, declared)| (slot, declared.name.as_str(), declared.items as usize))
    }

    /// One item of the statistic in a slot. Spans that end in the future do not count; after the
    /// run there are none.
    pub(crate) fn item_json(&self, slot: usize, item: usize) -> Value {
        self.slots[slot].tallies.json(&self.horizon, item as u32)
    }

    /// The notes on these results: unit and meaning of those that have the name of a statistic or
    /// are [declared](Declarations::result), and of the figures beside every mean, such as `ci95`.
    pub fn result_notes(&self, results: &Value) -> BTreeMap<String, ResultNote> {
        let observation = |d: &Declaration| {
            (
                d.name.clone(),
                ResultNote { unit: d.unit.clone(), meaning: d.meaning.clone(), label: false },
            )
        };
        let declared = self
            .declared
            .statistics
            .iter()
            .map(observation)
            .chain(self.declared.results.iter().cloned());
        meanings::of(results, declared.collect())
    }

    /// The results with which a report leads; see [`Declarations::headlines`].
    pub fn headlines(&self) -> Vec<String> {
        self.declared.leading()
    }

    /// The series of all statistics [declared](Declaration::series) with one, by name.
    pub fn series(&self) -> BTreeMap<String, Series> {
        let settled = self.settled();
        let slots = self.declared.statistics.iter().zip(&settled.slots);
        slots
            .filter_map(|(declaration, slot)| {
                Some((declaration.name.clone(), slot.series(declaration, &self.horizon)?))
            })
            .collect()
    }

    /// A picture of every histogram with a single item, for [`Model::views`](crate::Model::views).
    pub fn histogram_views(&self) -> Vec<View> {
        let slots = self.declared.statistics.iter().zip(&self.slots);
        slots
            .filter_map(|(declared, slot)| {
                slot.tallies.view(&declared.name, &declared.meaning, &declared.unit)
            })
            .collect()
    }
}

#[cold]
fn add_lost_delays(all: &mut Option<LostDelays>, more: &LostDelays) {
    match all {
        None => *all = Some(*more),
        Some(lost) => lost.add(more),
    }
}

macro_rules! look_ups {
    ($($kind:ident($said:ty) $method:ident -> $outcome:ty, $about:literal;)*) => {
        /// The outcome of each kind of statistic, as in the [example](Statistics).
        impl Statistics {
            $(
                #[doc = concat!("What comes out for a [`", stringify!($kind), "`], as in the \
                    [example](Self).")]
                ///
                /// # Panics
                /// If the handle [does not fit its declaration](Self).
                pub fn $method(&self, handle: $kind) -> $outcome {
                    let Tallies::$kind(tallies) = &self.slots[usize::from(handle.slot)].tallies else {
                        panic!("{handle:?} is not declared as a {}", $kind::NAME)
                    };
                    $kind::outcome(tallies, &self.horizon, handle.item)
                }
            )*
        }
    };
}

for_each_kind!(look_ups);

#[cfg(test)]
mod tests;
