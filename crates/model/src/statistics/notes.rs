use super::Kind;
use crate::{Cell, Counter, Histogram, Mean, Table, TimeMean};

/// One observation, waiting for its event to commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// Add `by` to a counter.
    Count {
        /// Which.
        counter: Counter,
        /// How much.
        by: u64,
    },
    /// A value for a mean.
    Observe {
        /// Which.
        mean: Mean,
        /// The value.
        value: f64,
    },
    /// A level that was held over a span of time.
    Span {
        /// Which.
        mean: TimeMean,
        /// Since when.
        from: f64,
        /// Until when.
        to: f64,
        /// The level.
        level: f64,
    },
    /// A value for a histogram.
    Sample {
        /// Which.
        histogram: Histogram,
        /// The value.
        value: f64,
    },
    /// A row; its cells are the next ones of [`Notes::cells`].
    Row {
        /// Of which table.
        table: Table,
        /// How many cells.
        cells: u32,
    },
}

impl Note {
    /// The slot and item that it belongs to, and the kind that its handle says.
    pub(super) fn place(&self) -> (u16, u32, Kind) {
        match *self {
            Note::Count { counter: Counter { slot, item }, .. } => (slot, item, Kind::Counter),
            Note::Observe { mean: Mean { slot, item }, .. } => (slot, item, Kind::Mean),
            Note::Span { mean: TimeMean { slot, item }, .. } => (slot, item, Kind::TimeMean),
            Note::Sample { histogram: Histogram { slot, item }, .. } => (slot, item, Kind::Histogram),
            Note::Row { .. } => unreachable!("rows belong to tables"),
        }
    }

    /// Its first value that is NaN or infinite, if any.
    pub(super) fn not_finite(&self) -> Option<f64> {
        match *self {
            Note::Observe { value, .. } | Note::Sample { value, .. } => Some(value).filter(|x| !x.is_finite()),
            Note::Span { from, to, level, .. } => [from, to, level].into_iter().find(|x| !x.is_finite()),
            Note::Count { .. } | Note::Row { .. } => None,
        }
    }
}

/// What one event observed, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// The observations.
    pub list: Vec<Note>,
    /// The cells of all rows, one after the other.
    pub cells: Vec<Cell>,
}

impl Notes {
    /// Whether nothing was observed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets everything, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.cells.clear();
    }
}

/// Writing statistics and rows. They take effect when the event commits.
pub trait Observe {
    /// Where observations wait for the commit.
    #[doc(hidden)]
    fn notes(&mut self) -> &mut Notes;

    /// Adds `by` to a counter.
    #[inline]
    fn count(&mut self, counter: Counter, by: u64) {
        self.notes().list.push(Note::Count { counter, by });
    }

    /// Adds a value to a mean; it must be finite.
    #[inline]
    fn observe(&mut self, mean: Mean, value: f64) {
        self.notes().list.push(Note::Observe { mean, value });
    }

    /// Adds a value to a histogram; it must be finite.
    #[inline]
    fn sample(&mut self, histogram: Histogram, value: f64) {
        self.notes().list.push(Note::Sample { histogram, value });
    }

    /// Adds the time from `from` to `to` at `level` to a mean over time. The span may reach into the future; what
    /// lies beyond the end of the run does not count.
    #[inline]
    fn span(&mut self, mean: TimeMean, from: f64, to: f64, level: f64) {
        self.notes().list.push(Note::Span { mean, from, to, level });
    }

    /// Adds a row to a table. The engine puts time and LP in front.
    #[inline]
    fn record(&mut self, table: Table, row: &[Cell]) {
        let notes = self.notes();
        notes.list.push(Note::Row { table, cells: row.len() as u32 });
        notes.cells.extend_from_slice(row);
    }
}
