//! Observations of events, on their way to the commit.

use std::ops::Range;

use warpline_base::LpId;
use warpline_memory::Exhausted;

use super::kinds::kind::Kind;
use super::kinds::table::*;
use crate::fault::Fault;
use crate::outside::Act;
use crate::tables::{Cell, Table};

macro_rules! observation {
    ($($kind:ident($said:ty) $method:ident -> $outcome:ty, $about:literal;)*) => {
        /// An observation that waits for its event to commit.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Observation {
            $(
                #[doc = concat!("What an event says of a [`", stringify!($kind), "`].")]
                $kind($kind, $said),
            )*
            /// A row. Its cells are the next ones of [`Observations::cells`].
            Row {
                /// The table.
                table: Table,
                /// The number of its cells.
                cells: u32,
            },
            /// The next act of [`Observations::acts`].
            Act,
            /// A send whose delay is lost to rounding.
            LostDelay {
                /// The receiver.
                to: LpId,
                /// The number of the sending event at its LP, modulo 2³².
                event: u32,
                /// The delay.
                delay: f64,
            },
        }

        impl Observation {
            /// The slot and item of its handle, and the kind of statistic.
            pub(super) fn place(&self) -> (u16, u32, StatisticKind) {
                match *self {
                    $(Observation::$kind(handle, _) => (handle.slot, handle.item, StatisticKind::$kind),)*
                    Observation::Row { .. } | Observation::Act | Observation::LostDelay { .. } => unreachable!("only \
                        statistics have slots"),
                }
            }

            /// The beginning and end of its span, if it has one. It was written at `time`.
            pub(super) fn span(&self, time: f64) -> Option<(f64, f64)> {
                match *self {
                    $(Observation::$kind(_, said) => $kind::span(said, time),)*
                    _ => None,
                }
            }

            /// Its first value that is NaN or infinite, if any. It was written at `time`.
            pub(super) fn not_finite(&self, time: f64) -> Option<f64> {
                match *self {
                    $(Observation::$kind(_, said) => $kind::values(said, time).find(|value| !value.is_finite()),)*
                    _ => None,
                }
            }
        }
    };
}

for_each_kind!(observation);

// An event may keep many of them.
const _: () = assert!(size_of::<Observation>() == 40);

/// The observations of one event, in order.
///
/// An engine that keeps observations until their event commits may [leave them in the
/// list](Self::seal). The list then begins with those of earlier events, which only
/// [`replace_list`](Self::replace_list) touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// The observations, after those of earlier events.
    pub list: Vec<Observation>,
    /// Where the observations of this event begin.
    pub(super) begin: usize,
    /// The cells of all rows, one after the other.
    pub cells: Vec<Cell>,
    /// The acts on the outside world.
    pub acts: Vec<Act>,
    /// Whether the list has rows or acts. A row may have no cells.
    pub(super) has_rows: bool,
    /// How many bytes the observations would have needed, if there was no memory for one of them.
    pub(super) lacking: Option<usize>,
}

impl Observations {
    /// Whether nothing was observed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.len() == self.begin && self.lacking.is_none()
    }

    /// The observations of this event.
    #[inline]
    pub fn current(&self) -> &[Observation] {
        &self.list[self.begin..]
    }

    /// Whether the list alone is complete: the event wrote neither rows nor acts, and there was
    /// memory for everything.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.has_rows && self.lacking.is_none()
    }

    /// Leaves the observations of this event in the list, and begins those of the next event.
    /// Returns the range of those of this event.
    #[inline]
    pub fn seal(&mut self) -> Range<usize> {
        let begin = std::mem::replace(&mut self.begin, self.list.len());
        begin..self.list.len()
    }

    /// Continues with another list, which must be empty, and returns the old one, which holds only
    /// observations of earlier events.
    pub fn replace_list(&mut self, list: Vec<Observation>) -> Vec<Observation> {
        debug_assert!(list.is_empty() && self.is_empty(), "lists are replaced between events");
        self.begin = 0;
        std::mem::replace(&mut self.list, list)
    }

    /// Moves the observations of this event to `other`, which must be empty. If there is no memory,
    /// [`apply`](super::Statistics::apply) returns the fault.
    pub fn move_to(&mut self, other: &mut Observations) {
        if let Some(bytes) = self.lacking.take() {
            // The event fails if it ever commits. Until then, others need the memory.
            self.clear();
            self.list.shrink_to_fit();
            self.cells = Vec::new();
            self.acts = Vec::new();
            other.lacking = Some(bytes);
            return;
        }
        let earlier = self.begin;
        let current = self.current().len();
        // The shorter part is copied: there may be no memory for a second copy of very many
        // observations.
        if other.list.try_reserve(earlier.min(current)).is_err() {
            other.lacking = Some(self.bytes_with_another());
            self.list.truncate(earlier);
        } else if current <= earlier {
            other.list.extend(self.list.drain(earlier..));
        } else {
            other.list.extend(self.list.drain(..earlier));
            std::mem::swap(&mut self.list, &mut other.list);
        }
        std::mem::swap(&mut self.cells, &mut other.cells);
        std::mem::swap(&mut self.acts, &mut other.acts);
        other.has_rows = std::mem::take(&mut self.has_rows);
    }

    /// Discards the observations of this event, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.list.truncate(self.begin);
        self.cells.clear();
        self.acts.clear();
        self.has_rows = false;
        self.lacking = None;
    }

    /// Adds the start of a level.
    pub(crate) fn open(&mut self, mean: TimeMean, level: f64) {
        self.push(Observation::TimeMean(mean, Held::Open { level }));
    }

    /// Adds a change of a level, which was `level` from the time `from` on, and is `next` now.
    #[inline]
    pub fn change(&mut self, mean: TimeMean, from: f64, level: f64, next: f64) {
        self.push(Observation::TimeMean(mean, Held::Change { from, level, next }));
    }

    /// Adds a send whose delay is lost to rounding.
    #[cold]
    pub(crate) fn lose(&mut self, to: LpId, event: u32, delay: f64) {
        self.push(Observation::LostDelay { to, event, delay });
    }

    /// Adds an observation. If there is no memory for it, the event fails when it commits.
    #[inline]
    pub(super) fn push(&mut self, observation: Observation) {
        // After one failure no further attempt is made, to save time.
        if self.list.len() == self.list.capacity()
            && (self.lacking.is_some() || self.list.try_reserve(1).is_err())
        {
            self.lack();
        } else {
            self.list.push(observation);
        }
    }

    pub(super) fn push_row(&mut self, table: Table, row: &[Cell]) {
        self.has_rows = true;
        let room = self.lacking.is_none() && self.cells.try_reserve(row.len()).is_ok();
        self.push(Observation::Row { table, cells: if room { row.len() as u32 } else { 0 } });
        if room {
            self.cells.extend_from_slice(row);
        } else {
            self.lack();
        }
    }

    pub(super) fn push_act(&mut self, act: Act) {
        if self.lacking.is_some() || self.acts.try_reserve(1).is_err() {
            self.lack();
        } else {
            self.has_rows = true;
            self.acts.push(act);
            self.push(Observation::Act);
        }
    }

    /// # Errors
    /// If there was no memory for all observations.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.lacking.map_or(Ok(()), |bytes| {
            Err(Fault::Memory(Exhausted::Memory { what: "what an event observes", bytes }))
        })
    }

    /// Notes that there is no memory for another observation.
    #[cold]
    fn lack(&mut self) {
        let bytes = self.bytes_with_another();
        self.lacking.get_or_insert(bytes);
    }

    fn bytes_with_another(&self) -> usize {
        (self.current().len() + 1) * size_of::<Observation>() + self.cells.len() * size_of::<Cell>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_empty_until_something_is_observed() {
        let mut observations = Observations::default();
        assert!(observations.is_empty());
        observations.list.push(Observation::Row { table: Table(0), cells: 1 });
        observations.cells.push(Cell::Whole(7));
        assert!(!observations.is_empty());
        observations.clear();
        assert_eq!(observations, Observations::default());
    }

    /// The earlier observations may be more or fewer than those that are moved.
    #[test]
    fn observations_of_earlier_events_stay_when_others_are_moved() {
        let observation = |by| Observation::Counter(Counter::slot(0), by);
        for (earlier, current) in [(0, 3), (2, 5), (5, 2), (3, 0)] {
            let mut observations = Observations::default();
            let mut other = Observations::default();
            observations.list.extend((0..earlier).map(observation));
            assert_eq!(observations.seal(), 0..earlier as usize);
            observations.list.extend((10..10 + current).map(observation));
            observations.push_row(Table(0), &[]);
            assert!(!observations.is_plain());
            observations.move_to(&mut other);
            let row = Observation::Row { table: Table(0), cells: 0 };
            assert_eq!(
                other.current(),
                (10..10 + current).map(observation).chain([row]).collect::<Vec<_>>()
            );
            assert!(!other.is_plain());
            assert!(
                observations.is_plain()
                    && observations.is_empty()
                    && observations.list == (0..earlier).map(observation).collect::<Vec<_>>()
            );
            let list = observations.replace_list(Vec::new());
            assert_eq!((list.len(), observations.list.len()), (earlier as usize, 0));
        }
    }
}
