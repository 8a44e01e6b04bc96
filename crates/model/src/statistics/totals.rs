use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use warpline_base::LpId;
use warpline_record::{HistogramView, LostDelays, ResultNote, Series, View};

use super::counters::CounterTallies;
use super::declarations::{Declaration, Declarations, StatisticKind, TableDeclaration};
use super::future::{FutureSpan, FutureSpans};
use super::horizon::Horizon;
use super::items::Items;
use super::meanings;
use super::means::{MeanTally, TimeMeanTally};
use super::open_levels::{OpenLevel, OpenLevels};
use super::series::SeriesTally;
use super::{Estimate, HistogramTally, Note, Notes};
use crate::{Act, Cell, Counter, Fault, Histogram, Mean, TimeMean};

/// A statistic that takes more bytes than this finds no place in the nearest cache.
const LARGE: u32 = 1 << 16;

static NO_VALUES: HistogramTally = HistogramTally::EMPTY;

/// A committed row, on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The slot of its table.
    pub table: u16,
    /// The time of the event that wrote it.
    pub time: f64,
    /// The LP that wrote it.
    pub lp: LpId,
    /// Its cells, as many as the table has columns.
    pub cells: &'a [Cell],
}

/// A sink for committed rows.
pub trait RowSink {
    /// Takes one row.
    fn row(&mut self, row: Row<'_>);

    /// Takes an act of an event of `lp` at `time`. Nothing is done by default.
    fn act(&mut self, act: &Act, time: f64, lp: LpId) {
        let _ = (act, time, lp);
    }
}

/// All committed statistics of a run. They do not depend on the order of adding.
///
/// Statistics are looked up by the handles that wrote them:
/// ```
/// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
/// # struct Lp(Notes);
/// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
/// # impl RowSink for Lp { fn row(&mut self, _: Row<'_>) {} }
/// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
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
/// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
/// // In a run to time 10 two customers came:
/// assert_eq!(statistics.counter(SERVED), 2);
/// assert_eq!(statistics.mean(WAIT).mean, Some(1.5));
/// assert_eq!(statistics.time_mean(BUSY).mean, Some(0.5));
/// assert_eq!(statistics.histogram(STAY).mean(), Some(5.0));
/// assert_eq!(statistics.to_json()["stay"]["max"], 6.0);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Statistics {
    horizon: Horizon,
    declared: Declarations,
    slots: Vec<Slot>,
    /// Which of the first 64 slots are too large for the nearest cache, so that it pays to fetch their items: a bit for each.
    large: u64,
    /// Spans that have yet to be added up.
    future: FutureSpans,
    /// Sends whose delay was lost to rounding.
    lost_delays: Option<LostDelays>,
}

/// One statistic.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Slot {
    tallies: Tallies,
    series: Option<Box<SeriesTally>>,
}

/// The items of one slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Tallies {
    Counters(CounterTallies),
    Means(Items<MeanTally>),
    TimeMeans(Items<TimeMeanTally>, OpenLevels),
    Histograms(Items<HistogramTally>),
}

impl Statistics {
    /// Empty statistics for the span of time from `warmup` to `end`. The declarations must be
    /// [`checked`](Declarations::checked).
    pub fn new(declared: Declarations, warmup: f64, end: f64) -> Self {
        let slot = |declaration: &Declaration| {
            let items = declaration.items as usize;
            let tallies = match declaration.kind {
                StatisticKind::Counter => Tallies::Counters(CounterTallies::new(items)),
                StatisticKind::Mean => Tallies::Means(Items::new(items)),
                StatisticKind::TimeMean => Tallies::TimeMeans(Items::new(items), OpenLevels::new(declaration.items)),
                StatisticKind::Histogram => Tallies::Histograms(Items::new(items)),
            };
            Slot { tallies, series: SeriesTally::new(declaration, end).map(Box::new) }
        };
        let slots = declared.statistics.iter().map(slot).collect();
        let bit = |(slot, declaration): (u32, &Declaration)| {
            // A counter is one word; anything else has sums for many stretches of time or ranges of values.
            let large = if declaration.kind == StatisticKind::Counter { LARGE / 8 } else { LARGE / 4096 };
            if declaration.items > large { 1u64.checked_shl(slot).unwrap_or(0) } else { 0 }
        };
        let large = (0..).zip(&declared.statistics).map(bit).sum();
        Statistics { horizon: Horizon::new(warmup, end), declared, slots, large, future: FutureSpans::default(), lost_delays: None }
    }

    /// The run was cut short, and ends here.
    pub fn cut_short(&mut self, end: f64) {
        self.horizon.cut_short(end);
        self.slots.iter_mut().filter_map(|slot| slot.series.as_mut()).for_each(|series| series.cut_short(end));
    }

    /// Adds what an event of `lp` at `time` observed, and passes its rows to `sink`. Observations before the warm-up ends do not count,
    /// except for rows and in series.
    ///
    /// # Errors
    /// If a handle does not fit its declaration, an observation is not finite, or there was no memory for one. Everything before it has been
    /// added.
    pub fn apply(&mut self, notes: &Notes, time: f64, lp: LpId, sink: &mut impl RowSink) -> Result<(), Fault> {
        notes.check()?;
        let (mut cells, mut acts) = (&notes.cells[..], notes.acts.iter());
        for note in notes.current() {
            match note {
                Note::Row { table, cells: count } => {
                    let (row, rest) = cells.split_at(*count as usize);
                    cells = rest;
                    self.check_row(table.0, row.len())?;
                    sink.row(Row { table: table.0, time, lp, cells: row });
                }
                Note::Act => acts.next().into_iter().for_each(|act| sink.act(act, time, lp)),
                note => self.add(note, time, lp)?,
            }
        }
        Ok(())
    }

    /// As [`apply`](Self::apply), for observations among which are neither rows nor acts.
    ///
    /// # Errors
    /// Likewise.
    #[inline]
    pub fn apply_plain(&mut self, notes: &[Note], time: f64, lp: LpId) -> Result<(), Fault> {
        notes.iter().try_for_each(|note| self.add(note, time, lp))
    }

    #[inline(always)]
    fn add(&mut self, note: &Note, time: f64, lp: LpId) -> Result<(), Fault> {
        if self.try_add(note, time, lp).is_some() { Ok(()) } else { Err(self.refusal(note, time)) }
    }

    /// Adds an observation; `None` if it is none of a statistic that is declared.
    #[inline(never)]
    fn try_add(&mut self, note: &Note, time: f64, lp: LpId) -> Option<()> {
        let Statistics { horizon, slots, .. } = self;
        let observed = time >= horizon.start;
        match *note {
            Note::Count { counter: Counter { slot, item }, by } => {
                let Slot { tallies: Tallies::Counters(items), series } = slots.get_mut(usize::from(slot))? else { return None };
                items.add(item, if observed { by } else { 0 })?;
                if let Some(series) = series {
                    series.count(time, by);
                }
            }
            Note::Observe { mean: Mean { slot, item }, value } => {
                let Slot { tallies: Tallies::Means(items), series } = slots.get_mut(usize::from(slot))? else { return None };
                if !value.is_finite() {
                    return None;
                }
                if observed {
                    items.get_mut(item)?.add(horizon, time, value)
                } else {
                    items.check(item)?
                }
                if let Some(series) = series {
                    series.observe(time, value);
                }
            }
            Note::Sample { histogram: Histogram { slot, item }, value } => {
                let Slot { tallies: Tallies::Histograms(items), series } = slots.get_mut(usize::from(slot))? else { return None };
                if !value.is_finite() {
                    return None;
                }
                if observed {
                    items.get_mut(item)?.add(value)
                } else {
                    items.check(item)?
                }
                if let Some(series) = series {
                    series.observe(time, value);
                }
            }
            Note::Span { mean, from, to, level } => self.try_span(time, mean, (from, to, level))?,
            Note::Open { mean, level } => {
                let Slot { tallies: Tallies::TimeMeans(items, open), .. } = slots.get_mut(usize::from(mean.slot))? else { return None };
                items.get_mut(mean.item).filter(|_| level.is_finite())?.add_level();
                open.open(mean.item, OpenLevel { lp, since: time, value: level });
            }
            Note::Change { mean, from, level, next } => {
                let Slot { tallies: Tallies::TimeMeans(items, open), series } = slots.get_mut(usize::from(mean.slot))? else { return None };
                let valid = from <= time && from.is_finite() && level.is_finite() && next.is_finite();
                let tally = items.get_mut(mean.item).filter(|_| valid)?;
                tally.add(horizon, from, time, level);
                if let Some(series) = series {
                    series.span(from, time, level);
                }
                let before = OpenLevel { lp, since: from, value: level };
                if open.change(mean.item, before, OpenLevel { lp, since: time, value: next }) {
                    tally.add_level();
                }
            }
            Note::LostDelay { to, event, delay } => self.add_lost_delays(&LostDelays::one(lp, event, time, to, delay)),
            Note::Row { .. } | Note::Act => return None,
        }
        Some(())
    }

    #[cold]
    fn add_lost_delays(&mut self, more: &LostDelays) {
        match &mut self.lost_delays {
            None => self.lost_delays = Some(*more),
            Some(lost) => lost.add(more),
        }
    }

    /// Sends whose delay was lost to rounding, if there were any.
    pub fn lost_delays(&self) -> Option<LostDelays> {
        self.lost_delays
    }

    /// Adds a span, or keeps it as long as it is not over.
    #[inline]
    fn try_span(&mut self, time: f64, mean: TimeMean, (from, to, level): (f64, f64, f64)) -> Option<()> {
        let Slot { tallies: Tallies::TimeMeans(items, _), series } = self.slots.get_mut(usize::from(mean.slot))? else { return None };
        let valid = from <= to && from.is_finite() && to.is_finite() && level.is_finite();
        let tally = items.get_mut(mean.item).filter(|_| valid)?;
        if to <= time {
            tally.add_single(&self.horizon, from, to, level);
            if let Some(series) = series {
                series.span(from, to, level);
            }
        } else if self.future.keep(time, mean, (from, to, level)) {
            self.add_past();
        }
        Some(())
    }

    /// Adds the spans that are over by now.
    #[cold]
    #[inline(never)]
    fn add_past(&mut self) {
        let mut spans = self.future.take();
        spans.retain(|span| {
            let is_past = self.future.is_past(span);
            if is_past {
                self.add_kept(span);
            }
            !is_past
        });
        self.future.put_back(spans);
    }

    /// Adds a span that was kept.
    fn add_kept(&mut self, &FutureSpan { slot, item, from, to, level }: &FutureSpan) {
        let Slot { tallies: Tallies::TimeMeans(items, _), series } = &mut self.slots[usize::from(slot)] else {
            unreachable!("it was looked at when it was written")
        };
        items.get_mut(item).into_iter().for_each(|tally| tally.add_single(&self.horizon, from, to, level));
        if let Some(series) = series {
            series.span(from, to, level);
        }
    }

    /// Adds all spans that were kept.
    fn add_all_kept(&mut self) {
        let spans = self.future.take();
        spans.iter().for_each(|span| self.add_kept(span));
    }

    /// These statistics with all spans added up, as if the run ended now.
    pub(crate) fn settled(&self) -> Cow<'_, Statistics> {
        if self.future.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        all.add_all_kept();
        Cow::Owned(all)
    }

    /// What is wrong with an observation.
    #[cold]
    #[inline(never)]
    fn refusal(&self, note: &Note, time: f64) -> Fault {
        let (slot, item, kind) = note.place();
        let name = self.declared.statistics.get(usize::from(slot)).map(|declared| declared.name.clone());
        match (name, note.not_finite(time), note.span(time)) {
            (Some(name), Some(value), _) => Fault::Observation { name, value },
            (Some(name), None, Some((from, to, _))) if from > to => Fault::Span { name, from, to },
            _ => self.misuse(slot, item, kind),
        }
    }

    /// Fetches the memory that [`apply`](Self::apply) will need for these notes later, where statistics are large. Means over time are few, as
    /// each is the level of something, and stay in the cache.
    #[inline]
    pub fn fetch(&self, notes: &Notes) {
        if self.large != 0 {
            notes.current().iter().for_each(|note| self.fetch_for(note));
        }
    }

    #[inline]
    fn fetch_for(&self, note: &Note) {
        let is_large = |slot: u16| self.large.checked_shr(slot.into()).is_some_and(|bits| bits & 1 == 1);
        match *note {
            Note::Count { counter: Counter { slot, item }, .. } if is_large(slot) => {
                if let Some(Tallies::Counters(items)) = self.tallies(slot) {
                    items.fetch(item);
                }
            }
            Note::Sample { histogram: Histogram { slot, item }, value } if is_large(slot) => {
                if let Some(Tallies::Histograms(items)) = self.tallies(slot) {
                    items.get(item).into_iter().for_each(|tally| tally.fetch(value));
                }
            }
            Note::Observe { mean: Mean { slot, item }, .. } if is_large(slot) => {
                if let Some(Tallies::Means(items)) = self.tallies(slot) {
                    items.get(item).into_iter().for_each(MeanTally::fetch);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn tallies(&self, slot: u16) -> Option<&Tallies> {
        self.slots.get(usize::from(slot)).map(|slot| &slot.tallies)
    }

    fn check_row(&self, slot: u16, cells: usize) -> Result<(), Fault> {
        let declared = match self.declared.tables.get(usize::from(slot)) {
            None => "no table is declared there".to_owned(),
            Some(table) if table.columns.len() != cells => format!("table `{}` has {} columns", table.name, table.columns.len()),
            Some(_) => return Ok(()),
        };
        Err(Fault::Row { slot, cells, declared })
    }

    #[cold]
    fn misuse(&self, slot: u16, item: u32, used: StatisticKind) -> Fault {
        let declared = match self.declared.statistics.get(usize::from(slot)) {
            None => "no statistic is declared there".to_owned(),
            Some(d) => format!("`{}` is declared there as a {} with {} item(s)", d.name, d.kind.name(), d.items),
        };
        Fault::Statistic { slot, item, used: used.name().into(), declared }
    }

    /// Adds the statistics of another part of the same run.
    pub fn merge(&mut self, other: &Statistics) {
        for (mine, theirs) in self.slots.iter_mut().zip(&other.slots) {
            match (&mut mine.tallies, &theirs.tallies) {
                (Tallies::Counters(a), Tallies::Counters(b)) => a.merge(b),
                (Tallies::Means(a), Tallies::Means(b)) => a.merge(b, MeanTally::merge),
                (Tallies::TimeMeans(a, open), Tallies::TimeMeans(b, more)) => {
                    a.merge(b, TimeMeanTally::merge);
                    more.iter().for_each(|(item, level)| open.open(item, level));
                }
                (Tallies::Histograms(a), Tallies::Histograms(b)) => a.merge(b, HistogramTally::merge),
                _ => unreachable!("parts of one run have one declaration"),
            }
            mine.series.iter_mut().zip(&theirs.series).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        self.future.merge(&other.future);
        other.lost_delays.iter().for_each(|more| self.add_lost_delays(more));
    }

    /// Hands the levels that are open over to those who will see them change: LP `lp` belongs to part `part_of(lp)`.
    pub fn share_open_levels(&mut self, parts: &mut [Statistics], part_of: impl Fn(LpId) -> usize) {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            let Tallies::TimeMeans(_, open) = &mut slot.tallies else { continue };
            for (item, level) in open.take() {
                let Tallies::TimeMeans(_, open) = &mut parts[part_of(level.lp)].slots[number].tallies else {
                    unreachable!("parts of one run have one declaration")
                };
                open.open(item, level);
            }
        }
    }

    /// Closes all levels, and ends all spans, at the end of the run. Engines do so once, after the last LP has finished.
    pub fn close_levels(&mut self, end: f64) {
        self.add_all_kept();
        for Slot { tallies, series } in &mut self.slots {
            let Tallies::TimeMeans(items, open) = tallies else { continue };
            for (item, OpenLevel { since, value, .. }) in open.iter() {
                items.get_mut(item).into_iter().for_each(|tally| tally.add(&self.horizon, since, end, value));
                if let Some(series) = series {
                    series.span(since, end, value);
                }
            }
            open.clear();
        }
    }

    /// The fault of the first counter, by slot, with a total beyond `u64::MAX`, if there is one. Engines ask once, after the last event:
    /// the event that passed the limit would depend on the order of adding, but the total of the run does not.
    pub fn overflow(&self) -> Option<Fault> {
        let over = |slot: &Slot| matches!(&slot.tallies, Tallies::Counters(items) if items.overflows());
        let slot = self.slots.iter().position(over)?;
        Some(Fault::CounterOverflow { name: self.declared.statistics[slot].name.clone() })
    }

    /// The value of a counter, as in the [example](Self); `u64::MAX` if it is [more](Self::overflow), which ends a run before
    /// [`Model::results`](crate::Model::results) can see it.
    ///
    /// # Panics
    /// Like all look-ups here, if the handle does not fit its declaration:
    /// ```should_panic
    /// # use warpline_model::prelude::*;
    /// # let mut declare = Declarations::default();
    /// declare.mean(Mean::slot(0), "wait", "min", "time from arrival to service");
    /// # let statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// statistics.counter(Counter::slot(0)); // panics: Counter { slot: 0, item: 0 } is not declared as a counter
    /// ```
    pub fn counter(&self, handle: Counter) -> u64 {
        let Tallies::Counters(items) = &self.slots[usize::from(handle.slot)].tallies else {
            panic!("{handle:?} is not declared as a counter")
        };
        items.total(handle.item as usize)
    }

    /// The estimate of a mean, as in the [example](Self).
    ///
    /// # Panics
    /// If the handle does not fit its declaration.
    pub fn mean(&self, handle: Mean) -> Estimate {
        let Tallies::Means(items) = &self.slots[usize::from(handle.slot)].tallies else { panic!("{handle:?} is not declared as a mean") };
        items.read(handle.item, |tally| tally.estimate(&self.horizon))
    }

    /// The estimate of a mean over time, from the warm-up to the end, as in the [example](Self). Time for which no span was written
    /// counts as at level 0.
    ///
    /// # Panics
    /// If the handle does not fit its declaration.
    pub fn time_mean(&self, handle: TimeMean) -> Estimate {
        let settled = self.settled();
        let Tallies::TimeMeans(items, _) = &settled.slots[usize::from(handle.slot)].tallies else {
            panic!("{handle:?} is not declared as a mean over time")
        };
        items.read(handle.item, |tally| tally.estimate(&self.horizon))
    }

    /// A histogram, as in the [example](Self).
    ///
    /// # Panics
    /// If the handle does not fit its declaration.
    pub fn histogram(&self, handle: Histogram) -> &HistogramTally {
        let Tallies::Histograms(items) = &self.slots[usize::from(handle.slot)].tallies else {
            panic!("{handle:?} is not declared as a histogram")
        };
        items.get(handle.item).unwrap_or(&NO_VALUES)
    }

    /// The declared tables, by slot.
    pub fn tables(&self) -> &[TableDeclaration] {
        &self.declared.tables
    }

    /// Every statistic under its name, as in the [example](Self); those with several items as lists. Statistics without observations are
    /// `null`.
    pub fn to_json(&self) -> Value {
        let settled = self.settled();
        let value = |(slot, name, items): (usize, &str, usize)| {
            let value =
                if items == 1 { settled.item_json(slot, 0) } else { (0..items).map(|item| settled.item_json(slot, item)).collect() };
            (name.to_owned(), value)
        };
        Value::Object(self.names().map(value).collect::<Map<_, _>>())
    }

    /// The slot, the name and the number of items of every statistic.
    pub(crate) fn names(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        self.declared.statistics.iter().enumerate().map(|(slot, declared)| (slot, declared.name.as_str(), declared.items as usize))
    }

    /// One item of the statistic in a slot. Spans that the run has not come to the end of do not count; when it has ended, there are none.
    pub(crate) fn item_json(&self, slot: usize, item: usize) -> Value {
        match &self.slots[slot].tallies {
            Tallies::Counters(items) => json!(items.total(item)),
            Tallies::Means(items) => items.read(item as u32, |tally| tally.estimate(&self.horizon)).to_json(),
            Tallies::TimeMeans(items, _) => items.read(item as u32, |tally| tally.estimate(&self.horizon)).to_json(),
            Tallies::Histograms(items) => items.read(item as u32, HistogramTally::to_json),
        }
    }

    /// What these results are: unit and meaning of all that are called like a statistic or [declared](Declarations::result), and what
    /// `ci95` is wherever it stands beside a mean.
    pub fn result_notes(&self, results: &Value) -> BTreeMap<String, ResultNote> {
        let note = |d: &Declaration| (d.name.clone(), ResultNote { unit: d.unit.clone(), meaning: d.meaning.clone(), label: false });
        let declared = self.declared.statistics.iter().map(note).chain(self.declared.results.iter().cloned());
        meanings::of(results, declared.collect())
    }

    /// Every statistic over virtual time that was [declared](Declaration::series) so, under its name.
    pub fn series(&self) -> BTreeMap<String, Series> {
        let settled = self.settled();
        let slots = self.declared.statistics.iter().zip(&settled.slots);
        slots.filter_map(|(declaration, slot)| Some((declaration.name.clone(), slot.series.as_ref()?.series(declaration)))).collect()
    }

    /// A picture of each histogram that has one item, for [`Model::views`](crate::Model::views).
    pub fn histogram_views(&self) -> Vec<View> {
        let slots = self.declared.statistics.iter().zip(&self.slots);
        let single = slots.filter_map(|(declaration, slot)| match &slot.tallies {
            Tallies::Histograms(items) if items.count() == 1 => Some((declaration, items.get(0).unwrap_or(&NO_VALUES))),
            _ => None,
        });
        single.map(|(declaration, tally)| View::Histogram(tally.view(&declaration.name, &declaration.meaning, &declaration.unit))).collect()
    }
}

impl HistogramTally {
    /// Count, mean, extremes and percentiles as a JSON object.
    pub fn to_json(&self) -> Value {
        let [p50, p90, p95, p99] = self.quantiles([0.5, 0.9, 0.95, 0.99]);
        json!({ "count": self.count(), "mean": self.mean(), "min": self.min(), "p50": p50, "p90": p90, "p95": p95, "p99": p99, "max": self.max() })
    }

    /// A picture of the distribution with its median and 99th percentile marked: for histograms with several items, which
    /// [`Statistics::histogram_views`] leaves out.
    pub fn view(&self, title: &str, quantity: &str, unit: &str) -> HistogramView {
        let marks = [("median", 0.5), ("p99", 0.99)].into_iter().filter_map(|(name, q)| Some((name.to_owned(), self.quantile(q)?)));
        let [title, quantity, unit, counted] = [title, quantity, unit, "observations"].map(str::to_owned);
        HistogramView { title, quantity, unit, counted, bars: self.bars(60), marks: marks.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoRows;

    impl RowSink for NoRows {
        fn row(&mut self, _: Row<'_>) {}
    }

    const MADE: Counter = Counter::slot(0);

    /// Counters `made`, whose second item gets these counts, and `late`.
    fn totals(late: &[u64], made: &[u64]) -> Statistics {
        const LATE: Counter = Counter::slot(1);
        let mut declare = Declarations::default();
        declare.counter(MADE, "made", "", "").items(2);
        declare.counter(LATE, "late", "", "");
        let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
        let count = |counter| move |&by: &u64| Note::Count { counter, by };
        let list = late.iter().map(count(LATE)).chain(made.iter().map(count(MADE.at(1)))).collect();
        statistics.apply(&Notes { list, ..Notes::default() }, 0.5, LpId(0), &mut NoRows).unwrap();
        statistics
    }

    /// However the events of a run are divided, the merged statistics are the same to the last bit.
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
        let (mut whole, mut parts) = (empty.clone(), vec![empty; 4]);
        let mut random = Random::new(5, LpId(0), 0);
        for _ in 0..2_000 {
            let (time, value) = (100.0 * random.uniform(), random.normal(0.0, 1.0) * 1e3f64.powi(random.below(9) as i32 - 4));
            let list = vec![
                Note::Count { counter: MADE.at(random.below(3)), by: u64::from(random.below(5)) },
                Note::Observe { mean: SEEN.at(random.below(2)), value },
                Note::Span { mean: LEVEL, from: time, to: time + random.exponential(20.0), level: value },
                Note::Sample { histogram: SPREAD, value },
            ];
            let notes = Notes { list, ..Notes::default() };
            whole.apply(&notes, time, LpId(0), &mut NoRows).unwrap();
            parts[random.below(4) as usize].apply(&notes, time, LpId(0), &mut NoRows).unwrap();
        }
        let mut merged = parts.pop().unwrap();
        parts.iter().for_each(|part| merged.merge(part));
        assert_eq!(merged.to_json().to_string(), whole.to_json().to_string());
    }

    /// If there were two zeros, the order of adding would decide which is the least.
    #[test]
    fn the_sign_of_a_zero_does_not_show() {
        const SEEN: Mean = Mean::slot(0);
        const LEVEL: TimeMean = TimeMean::slot(1);
        const SPREAD: Histogram = Histogram::slot(2);
        let mut declare = Declarations::default();
        declare.mean(SEEN, "seen", "", "");
        declare.time_mean(LEVEL, "level", "", "");
        declare.histogram(SPREAD, "spread", "", "");
        let empty = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
        let json = |zeros: &[f64]| {
            let parts = zeros.iter().map(|&zero| {
                let list = vec![
                    Note::Observe { mean: SEEN, value: zero },
                    Note::Span { mean: LEVEL, from: 0.25, to: 0.75, level: zero },
                    Note::Sample { histogram: SPREAD, value: zero },
                ];
                let (notes, mut part) = (Notes { list, ..Notes::default() }, empty.clone());
                part.apply(&notes, 0.5, LpId(0), &mut NoRows).unwrap();
                part
            });
            let mut merged = empty.clone();
            parts.for_each(|part| merged.merge(&part));
            merged.to_json().to_string()
        };
        for (one, other) in [(&[-0.0, 0.0][..], &[0.0, -0.0][..]), (&[-0.0, -0.0], &[0.0, 0.0]), (&[-0.0], &[0.0])] {
            assert_eq!(json(one), json(other));
            assert!(!json(one).contains("-0"), "{}", json(one));
        }
    }

    /// Each value of an observation on its own; the area of a span may be too large for a number.
    #[test]
    fn what_is_not_finite_is_refused() {
        const SEEN: Mean = Mean::slot(0);
        const LEVEL: TimeMean = TimeMean::slot(1);
        const SPREAD: Histogram = Histogram::slot(2);
        let mut declare = Declarations::default();
        declare.mean(SEEN, "seen", "", "");
        declare.time_mean(LEVEL, "level", "", "");
        declare.histogram(SPREAD, "spread", "", "");
        let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
        let span = |from, to, level| Note::Span { mean: LEVEL, from, to, level };
        let infinite = f64::INFINITY;
        for (note, name) in [
            (Note::Observe { mean: SEEN, value: infinite }, "seen"),
            (Note::Sample { histogram: SPREAD, value: infinite }, "spread"),
            (span(infinite, infinite, 1.0), "level"),
            (span(0.0, infinite, 0.0), "level"),
            (span(0.0, 1.0, infinite), "level"),
        ] {
            let notes = Notes { list: vec![note], ..Notes::default() };
            let refused = statistics.apply(&notes, 0.5, LpId(0), &mut NoRows).unwrap_err();
            assert_eq!(refused, Fault::Observation { name: name.into(), value: infinite }, "{note:?}");
        }
        let list = vec![span(0.0, 1e200, 1e100), span(1e200, 1e200, 1e200), span(0.0, 1e-200, 1e300), span(-1e200, 1e200, 1e200)];
        statistics.apply(&Notes { list, ..Notes::default() }, 0.5, LpId(0), &mut NoRows).unwrap();
    }

    #[test]
    fn spans_run_forward() {
        const LEVEL: TimeMean = TimeMean::slot(0);
        let mut declare = Declarations::default();
        declare.time_mean(LEVEL, "level", "", "");
        let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 1.0);
        let list = vec![Note::Span { mean: LEVEL, from: 0.5, to: 0.25, level: 1.0 }];
        let fault = statistics.apply(&Notes { list, ..Notes::default() }, 0.5, LpId(0), &mut NoRows).unwrap_err();
        assert_eq!(fault, Fault::Span { name: "level".into(), from: 0.5, to: 0.25 });
    }

    /// Whether counts are added in one place or in several, and in whatever order, they overflow together or not at all.
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
}
