use std::ops::Range;

use warpline_base::LpId;
use warpline_memory::Exhausted;

use super::StatisticKind;
use crate::{Act, Cell, Counter, Fault, Histogram, Mean, Table, TimeMean};

/// One observation, waiting for its event to commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// Add `by` to a counter.
    Count {
        /// The counter.
        counter: Counter,
        /// The increment.
        by: u64,
    },
    /// A value for a mean.
    Observe {
        /// The mean.
        mean: Mean,
        /// The value.
        value: f64,
    },
    /// A level that was held over a span of time.
    Span {
        /// The mean over time.
        mean: TimeMean,
        /// The start of the span.
        from: f64,
        /// The end of the span.
        to: f64,
        /// The level.
        level: f64,
    },
    /// A [`Level`](crate::Level) begins, at time 0.
    Open {
        /// The mean over time.
        mean: TimeMean,
        /// The level.
        level: f64,
    },
    /// A [`Level`](crate::Level) has changed, at the time of the event.
    Change {
        /// The mean over time.
        mean: TimeMean,
        /// The time of the change before.
        from: f64,
        /// The level until now.
        level: f64,
        /// The level from now on.
        next: f64,
    },
    /// A value for a histogram.
    Sample {
        /// The histogram.
        histogram: Histogram,
        /// The value.
        value: f64,
    },
    /// A row; its cells are the next ones of [`Notes::cells`].
    Row {
        /// The table.
        table: Table,
        /// How many cells it has.
        cells: u32,
    },
    /// The next one of [`Notes::acts`].
    Act,
    /// An event was sent whose delay is lost to rounding.
    LostDelay {
        /// The LP that it goes to.
        to: LpId,
        /// Which event of its LP sent it, modulo 2³².
        event: u32,
        /// The delay.
        delay: f64,
    },
}

impl Note {
    /// The slot and item that it belongs to, and the kind of its handle.
    pub(super) fn place(&self) -> (u16, u32, StatisticKind) {
        match *self {
            Note::Count { counter: Counter { slot, item }, .. } => (slot, item, StatisticKind::Counter),
            Note::Observe { mean: Mean { slot, item }, .. } => (slot, item, StatisticKind::Mean),
            Note::Span { mean: TimeMean { slot, item }, .. }
            | Note::Open { mean: TimeMean { slot, item }, .. }
            | Note::Change { mean: TimeMean { slot, item }, .. } => (slot, item, StatisticKind::TimeMean),
            Note::Sample { histogram: Histogram { slot, item }, .. } => (slot, item, StatisticKind::Histogram),
            Note::Row { .. } | Note::Act | Note::LostDelay { .. } => unreachable!("only statistics have slots"),
        }
    }

    /// The span that it is about, as (start, end, level), if it was written at `time`.
    #[inline]
    pub(super) fn span(&self, time: f64) -> Option<(f64, f64, f64)> {
        match *self {
            Note::Span { from, to, level, .. } => Some((from, to, level)),
            Note::Change { from, level, .. } => Some((from, time, level)),
            _ => None,
        }
    }

    /// Its first value that is NaN or infinite, if any, if it was written at `time`.
    pub(super) fn not_finite(&self, time: f64) -> Option<f64> {
        let next = if let Note::Change { next, .. } = *self { next } else { 0.0 };
        match *self {
            Note::Observe { value, .. } | Note::Sample { value, .. } | Note::Open { level: value, .. } => {
                Some(value).filter(|x| !x.is_finite())
            }
            _ => self.span(time).and_then(|(from, to, level)| [from, to, level, next].into_iter().find(|x| !x.is_finite())),
        }
    }
}

/// What one event observed, in order.
///
/// An engine that keeps observations until their event commits may [leave them where they are](Self::seal): the list then begins with those of
/// earlier events, which no method here but [`replace_list`](Self::replace_list) touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The observations, after those of earlier events.
    pub list: Vec<Note>,
    /// Where those of this event begin.
    pub(super) begin: usize,
    /// The cells of all rows, one after the other.
    pub cells: Vec<Cell>,
    /// What is to be done outside.
    pub acts: Vec<Act>,
    /// Whether there are rows or acts in the list. A row may have no cells.
    pub(super) has_rows: bool,
    /// Whether there was no memory for some of them.
    pub(super) incomplete: bool,
}

impl Notes {
    /// Whether nothing was observed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.len() == self.begin && !self.incomplete
    }

    /// The observations of this event.
    #[inline]
    pub fn current(&self) -> &[Note] {
        &self.list[self.begin..]
    }

    /// Whether all that the event observed is in the list: neither rows nor acts, and nothing for which there was no memory.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.has_rows && !self.incomplete
    }

    /// Leaves the observations of this event where they are in the list, and begins those of the next. Returns where they are.
    #[inline]
    pub fn seal(&mut self) -> Range<usize> {
        let begin = std::mem::replace(&mut self.begin, self.list.len());
        begin..self.list.len()
    }

    /// Goes on with another list, which is empty, and returns the one so far, which ends with the observations of an earlier event.
    pub fn replace_list(&mut self, list: Vec<Note>) -> Vec<Note> {
        debug_assert!(list.is_empty() && self.is_empty(), "lists are replaced between events");
        self.begin = 0;
        std::mem::replace(&mut self.list, list)
    }

    /// Moves what this event observed to `other`, which is empty. If there is no memory for it, [`apply`](super::Statistics::apply) says so.
    pub fn move_to(&mut self, other: &mut Notes) {
        let (earlier, current) = (self.begin, self.current().len());
        // Whichever is less is copied: there may be no memory for a second copy of very many observations.
        if other.list.try_reserve(earlier.min(current)).is_err() {
            self.list.truncate(earlier);
            other.incomplete = true;
        } else if current <= earlier {
            other.list.extend(self.list.drain(earlier..));
        } else {
            other.list.extend(self.list.drain(..earlier));
            std::mem::swap(&mut self.list, &mut other.list);
        }
        std::mem::swap(&mut self.cells, &mut other.cells);
        std::mem::swap(&mut self.acts, &mut other.acts);
        other.has_rows = std::mem::take(&mut self.has_rows);
        other.incomplete |= std::mem::take(&mut self.incomplete);
    }

    /// Discards what this event observed, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.list.truncate(self.begin);
        self.cells.clear();
        self.acts.clear();
        (self.has_rows, self.incomplete) = (false, false);
    }

    /// Adds the beginning of a level.
    pub(crate) fn open(&mut self, mean: TimeMean, level: f64) {
        self.push(Note::Open { mean, level });
    }

    /// Adds a change of a level.
    #[inline]
    pub(crate) fn change(&mut self, mean: TimeMean, from: f64, level: f64, next: f64) {
        self.push(Note::Change { mean, from, level, next });
    }

    /// Adds a send whose delay is lost to rounding.
    #[cold]
    pub(crate) fn lose(&mut self, to: LpId, event: u32, delay: f64) {
        self.push(Note::LostDelay { to, event, delay });
    }

    /// Adds an observation. If there is no memory for it, the event turns out to be at fault when it commits.
    #[inline]
    fn push(&mut self, note: Note) {
        // One refusal is enough: to ask again takes time.
        if self.list.len() == self.list.capacity() && (self.incomplete || self.list.try_reserve(1).is_err()) {
            self.incomplete = true;
        } else {
            self.list.push(note);
        }
    }

    fn push_row(&mut self, table: Table, row: &[Cell]) {
        self.has_rows = true;
        let room = !self.incomplete && self.cells.try_reserve(row.len()).is_ok();
        self.push(Note::Row { table, cells: if room { row.len() as u32 } else { 0 } });
        match room {
            true => self.cells.extend_from_slice(row),
            false => self.incomplete = true,
        }
    }

    fn push_act(&mut self, act: Act) {
        if self.incomplete || self.acts.try_reserve(1).is_err() {
            self.incomplete = true;
        } else {
            self.has_rows = true;
            self.acts.push(act);
            self.push(Note::Act);
        }
    }

    /// # Errors
    /// If there was no memory for all of what was observed.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.incomplete { Err(self.lack()) } else { Ok(()) }
    }

    #[cold]
    fn lack(&self) -> Fault {
        let bytes = (self.current().len() + 1) * size_of::<Note>() + self.cells.len() * size_of::<Cell>();
        Fault::Memory(Exhausted::Memory { what: "what an event observes", bytes })
    }
}

/// Writes statistics and rows, in [`Model`](crate::Model)'s `init`, `handle`, `commit` and `finish`. They take effect when the event
/// commits.
///
/// What is observed before the warm-up ends does not count, except in [series](super::Declaration::series); rows always do.
///
/// # Faults
/// A handle that does not fit its declaration, a value that is NaN or infinite, a span that ends before it begins, or a row of the wrong
/// length end the run with a [`Fault`](crate::Fault), if the event commits. A counter whose total exceeds `u64::MAX` is a fault of the run
/// as a whole, reported after the last event.
pub trait Observe {
    /// Where observations wait for the commit.
    #[doc(hidden)]
    fn notes(&mut self) -> &mut Notes;

    /// Adds `by` to a counter. The total of each item over the whole run may be up to `u64::MAX`.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
    /// # struct Lp(Notes);
    /// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
    /// const LOST: Counter = Counter::slot(0);
    /// declare.counter(LOST, "lost", "packets", "packets dropped for want of room");
    /// // In `handle`:
    /// lp.count(LOST, 2);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
    /// // After the run:
    /// assert_eq!(statistics.counter(LOST), 2);
    /// ```
    #[inline]
    fn count(&mut self, counter: Counter, by: u64) {
        self.notes().push(Note::Count { counter, by });
    }

    /// Adds a value to a mean; it must be finite.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
    /// # struct Lp(Notes);
    /// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
    /// const WAIT: Mean = Mean::slot(0);
    /// declare.mean(WAIT, "wait", "min", "time from arrival to service");
    /// // In `handle`:
    /// lp.observe(WAIT, 4.0);
    /// lp.observe(WAIT, 5.0);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
    /// // After the run:
    /// assert_eq!(statistics.mean(WAIT).mean, Some(4.5));
    /// ```
    ///
    /// Each kind of statistic has its own method:
    /// ```compile_fail,E0308
    /// # use warpline_model::prelude::*;
    /// const WAIT: Counter = Counter::slot(0);
    /// # fn handle(lp: &mut impl Observe) {
    /// lp.observe(WAIT, 4.0); // error: mismatched types: expected `Mean`, found `Counter`
    /// # }
    /// ```
    #[inline]
    fn observe(&mut self, mean: Mean, value: f64) {
        self.notes().push(Note::Observe { mean, value });
    }

    /// Adds a value to a histogram; it must be finite.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
    /// # struct Lp(Notes);
    /// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
    /// const DELAY: Histogram = Histogram::slot(0);
    /// declare.histogram(DELAY, "delay", "ms", "time from sender to receiver");
    /// // In `handle`:
    /// for delay in 1..=100 {
    ///     lp.sample(DELAY, f64::from(delay));
    /// }
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
    /// // After the run, to within 1.6 %:
    /// let p90 = statistics.histogram(DELAY).quantile(0.9).unwrap();
    /// assert!((p90 - 90.0).abs() < 1.5);
    /// ```
    #[inline]
    fn sample(&mut self, histogram: Histogram, value: f64) {
        self.notes().push(Note::Sample { histogram, value });
    }

    /// Adds the time from `from` to `to` at `level` to a mean over time, all times in model units. The span may reach into the
    /// future; what lies beyond the end of the run or before the warm-up does not count, and neither does a span that ends before
    /// it begins. Spans that overlap add up.
    ///
    /// [`Level`](crate::Level) does this for a quantity that changes now and then.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
    /// # struct Lp(Notes);
    /// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
    /// const BUSY: TimeMean = TimeMean::slot(0);
    /// declare.time_mean(BUSY, "busy", "", "share of time that the server works");
    /// # let now = 2.0;
    /// // In `handle`, at time 2: the server is taken for the next 4 units of time.
    /// lp.span(BUSY, now, now + 4.0, 1.0);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
    /// // After a run to time 10:
    /// assert_eq!(statistics.time_mean(BUSY).mean, Some(0.4));
    /// ```
    #[inline]
    fn span(&mut self, mean: TimeMean, from: f64, to: f64, level: f64) {
        self.notes().push(Note::Span { mean, from, to, level });
    }

    /// Adds a row to a table: as many cells as the table has columns. The engine puts time and LP in front.
    ///
    /// ```
    /// # use warpline_model::{prelude::*, statistics::{Notes, Row, RowSink}};
    /// # struct Lp(Notes);
    /// # impl Observe for Lp { fn notes(&mut self) -> &mut Notes { &mut self.0 } }
    /// # impl RowSink for Lp { fn row(&mut self, row: Row<'_>) { assert_eq!(row.cells.len(), 3); } }
    /// # let (mut lp, mut declare) = (Lp(Notes::default()), Declarations::default());
    /// const TRIPS: Table = Table(0);
    /// declare.table(TRIPS, "trips", &[("to", ""), ("way", "km"), ("by", "")]);
    /// // In `handle`:
    /// lp.record(TRIPS, &[LpId(7).into(), 12.5.into(), "train".into()]);
    /// # let mut statistics = Statistics::new(declare.checked().unwrap(), 0.0, 10.0);
    /// # statistics.apply(&lp.0, 1.0, LpId(0), &mut Lp(Notes::default())).unwrap();
    /// assert_eq!(lp.0.cells, [Cell::Whole(7), Cell::Real(12.5), Cell::Text("train".into())]);
    /// ```
    #[inline]
    fn record(&mut self, table: Table, row: &[Cell]) {
        let notes = self.notes();
        notes.push_row(table, row);
    }

    /// Does something to the outside world, such as printing a line, once the event is settled: when it is certain that it happens, and no
    /// mistake of the model anywhere in the run comes before it. So nothing has to be taken back, whichever engine runs the model, and a run
    /// that fails has done exactly what a sequential one would have.
    ///
    /// All acts and rows of a run come one after the other, in the order of their events, each once. They are performed in the thread that
    /// watches the run, which PEs do not wait for unless it falls far behind; so how much later that is than the event's execution depends
    /// on the run. What an act learns from the outside cannot come back into the run. If it panics, no other follows, and the run goes on;
    /// its results say why the rest is missing. Verification and explanations perform none.
    ///
    /// In a run of several processes, an act is performed in the process of its LP, when its turn comes among those of all. So what it finds in
    /// memory is that of its process, and a file that LPs of several processes write to has to be opened by each, for appending. What acts
    /// print on stdout comes out of the first process, in order; what they print on stderr does not pass through it, and under a launcher of
    /// MPI programs may be out of order. If a process is lost, what had not been done by then is never done.
    ///
    /// It costs an allocation; and a tenth of a millisecond or so where the act before it, in the order of all, is that of another process.
    ///
    /// ```
    /// # use warpline_model::{engine::*, prelude::*};
    /// # struct Display;
    /// # impl Model for Display {
    /// #     type State = u32; type Event = f64;
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) -> u32 { 0 }
    /// fn handle(&self, shown: &mut u32, level: &f64, lp: &mut Context<Self>) {
    ///     *shown += 1;
    ///     let line = format!("{:.1} s: {level} m", lp.now());
    ///     lp.when_settled(move || println!("{line}"));
    /// }
    /// # }
    /// # let mut executor = Executor::new(&Display, 1, 9, false);
    /// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
    /// # Display.handle(&mut 0, &7.5, executor.lp());
    /// # assert_eq!(executor.notes_mut().acts.len(), 1);
    /// ```
    fn when_settled(&mut self, act: impl Fn() + Send + Sync + 'static)
    where
        Self: Sized,
    {
        self.notes().push_act(Act::new(act));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_empty_until_something_is_observed() {
        let mut notes = Notes::default();
        assert!(notes.is_empty());
        notes.list.push(Note::Row { table: Table(0), cells: 1 });
        notes.cells.push(Cell::Whole(7));
        assert!(!notes.is_empty());
        notes.clear();
        assert_eq!(notes, Notes::default());
    }

    /// Whether the earlier observations are more or fewer than those that are moved.
    #[test]
    fn observations_of_earlier_events_stay_when_others_are_moved() {
        let note = |by| Note::Count { counter: Counter::slot(0), by };
        for (earlier, current) in [(0, 3), (2, 5), (5, 2), (3, 0)] {
            let (mut notes, mut other) = (Notes::default(), Notes::default());
            notes.list.extend((0..earlier).map(note));
            assert_eq!(notes.seal(), 0..earlier as usize);
            notes.list.extend((10..10 + current).map(note));
            notes.push_row(Table(0), &[]);
            assert!(!notes.is_plain());
            notes.move_to(&mut other);
            let row = Note::Row { table: Table(0), cells: 0 };
            assert_eq!(other.current(), (10..10 + current).map(note).chain([row]).collect::<Vec<_>>());
            assert!(!other.is_plain());
            assert!(notes.is_plain() && notes.is_empty() && notes.list == (0..earlier).map(note).collect::<Vec<_>>());
            let list = notes.replace_list(Vec::new());
            assert_eq!((list.len(), notes.list.len()), (earlier as usize, 0));
        }
    }
}
