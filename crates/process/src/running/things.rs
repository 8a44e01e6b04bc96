//! What the processes of an LP share: its resources, containers, stores, gates and values, each in
//! a place of one table; and what is to be observed of them when the run has ended.

use std::any::Any;
use std::fmt;

use warpline_base::LpId;
use warpline_model::{Cell, Counter, Histogram, Mean, Observe, Table, TimeMean};

/// Something that the processes of an LP share.
pub(crate) trait Thing: Any + Send {
    /// What it is, in words, such as "the resource `till`".
    fn describe(&self) -> String;

    /// Whether it tells itself who waits for it.
    fn tells_itself(&self) -> bool {
        false
    }
}

/// Everything that the processes of an LP share.
#[derive(Default)]
pub(crate) struct Things {
    things: Vec<Box<dyn Thing>>,
    /// What is done when the run has ended.
    endings: Vec<Ending>,
}

/// Something that is done when the run has ended.
pub(crate) type Ending = Box<dyn Fn(&mut AtEnd<'_>) + Send>;

/// The place of a thing, and its LP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThingKey {
    pub(crate) place: u32,
    lp: LpId,
}

impl Things {
    pub(crate) fn add(&mut self, lp: LpId, thing: impl Thing) -> ThingKey {
        self.things.push(Box::new(thing));
        ThingKey { place: self.things.len() as u32 - 1, lp }
    }

    /// # Panics
    /// If it is a thing of another LP.
    #[inline]
    pub(crate) fn get<T: Thing>(&mut self, lp: LpId, key: ThingKey) -> &mut T {
        let found = self.things.get_mut(key.place as usize).filter(|_| key.lp == lp);
        match found.and_then(|thing| (&mut **thing as &mut dyn Any).downcast_mut()) {
            Some(thing) => thing,
            None => of_another_lp(lp, key),
        }
    }

    /// A thing to look at.
    ///
    /// # Panics
    /// If it is a thing of another LP.
    fn look_at<T: Thing>(&self, lp: LpId, key: ThingKey) -> &T {
        let found = self.things.get(key.place as usize).filter(|_| key.lp == lp);
        match found.and_then(|thing| (&**thing as &dyn Any).downcast_ref()) {
            Some(thing) => thing,
            None => of_another_lp(lp, key),
        }
    }

    /// Adds something that is done when the run has ended.
    pub(crate) fn at_end(&mut self, ending: Ending) {
        self.endings.push(ending);
    }

    /// The run has ended.
    pub(crate) fn end(&self, lp: LpId, now: f64, observe: &mut dyn Observe) {
        let mut end = AtEnd { lp, now, things: self, observe };
        self.endings.iter().for_each(|ending| ending(&mut end));
    }

    /// What a thing is, in words.
    pub(crate) fn describe(&self, place: u32) -> String {
        self.things.get(place as usize).map_or_else(String::new, |thing| thing.describe())
    }

    /// Whether a thing tells itself who waits for it.
    pub(crate) fn tells_itself(&self, place: u32) -> bool {
        self.things.get(place as usize).is_some_and(|thing| thing.tells_itself())
    }

    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }
}

/// An LP at the end of the run: see [`Sim::at_end`](crate::Sim::at_end). It looks at what the
/// processes of the LP share, and observes.
pub struct AtEnd<'a> {
    lp: LpId,
    now: f64,
    things: &'a Things,
    observe: &'a mut dyn Observe,
}

impl AtEnd<'_> {
    /// The end of the run, in model units.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// # Panics
    /// If it is a thing of another LP.
    pub(crate) fn look_at<T: Thing>(&self, key: ThingKey) -> &T {
        self.things.look_at(self.lp, key)
    }

    /// Adds `by` to a counter.
    pub fn count(&mut self, counter: Counter, by: u64) {
        self.observe.count(counter, by);
    }

    /// Adds a value to a mean.
    pub fn observe(&mut self, mean: Mean, value: f64) {
        self.observe.observe(mean, value);
    }

    /// Adds a value to a histogram.
    pub fn sample(&mut self, histogram: Histogram, value: f64) {
        self.observe.sample(histogram, value);
    }

    /// Adds the time from `from` to `to` at `level` to a mean over time.
    pub fn span(&mut self, mean: TimeMean, from: f64, to: f64, level: f64) {
        self.observe.span(mean, from, to, level);
    }

    /// Adds a row to a table.
    pub fn record(&mut self, table: Table, row: &[Cell]) {
        self.observe.record(table, row);
    }
}

impl fmt::Debug for AtEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtEnd").field("lp", &self.lp).field("now", &self.now).finish()
    }
}

#[cold]
fn of_another_lp(lp: LpId, key: ThingKey) -> ! {
    panic!(
        "{lp} used a resource, store, gate or value that {} had made: only the processes of one LP share \
         such things; LPs tell each other by Sim::send",
        key.lp
    )
}
