use std::num::NonZero;

use serde::{Deserialize, Serialize};
use warpline_memory::{MakeRoom, check_room};

use super::kind::Moment;
use crate::statistics::STATISTICS;
use crate::statistics::series::SeriesTally;

/// The items of one statistic. An item without observations takes four bytes, which are never
/// touched: every part of a run has all items, but most items are used by one part only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct Items<T> {
    /// By item: its place in `seen`, if it has observations.
    places: Vec<Option<Place>>,
    seen: Vec<T>,
}

/// The place of an item among those with observations. It is never 0, so that a list of no places
/// is a list of zeros.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place(NonZero<u32>);

impl Place {
    /// The place with this index, which is below 2³² - 1.
    fn at(index: usize) -> Self {
        Place(NonZero::<u32>::MIN.saturating_add(index as u32))
    }

    #[inline]
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl<T: Default> Items<T> {
    /// This many items without observations.
    ///
    /// # Panics
    /// If there is no memory: by [unwinding](warpline_memory::Exhausted::unwind).
    pub(super) fn new(count: usize) -> Self {
        Items { places: zeros(count), seen: Vec::new() }
    }

    /// The number of items.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// `None` if there is no such item.
    #[inline]
    pub(super) fn check(&self, item: u32) -> Option<()> {
        ((item as usize) < self.places.len()).then_some(())
    }

    /// The items that saw something, in the order in which they did.
    pub(super) fn seen(&self) -> &[T] {
        &self.seen
    }

    /// Applies `read` to an item, which may have no observations.
    pub(super) fn read<R>(&self, item: u32, read: impl FnOnce(&T) -> R) -> R {
        match self.get(item) {
            Some(seen) => read(seen),
            None => read(&T::default()),
        }
    }

    /// An item, if it has observations.
    #[inline]
    pub(super) fn get(&self, item: u32) -> Option<&T> {
        let place = (*self.places.get(item as usize)?)?;
        self.seen.get(place.index())
    }

    /// An item to be changed; `None` if there is no such item.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, item: u32) -> Option<&mut T> {
        let place = match *self.places.get(item as usize)? {
            Some(place) => place,
            None => self.begin(item),
        };
        self.seen.get_mut(place.index())
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, item: u32) -> Place {
        let place = Place::at(self.seen.len());
        self.seen.make_room(1, STATISTICS);
        self.seen.push(T::default());
        self.places[item as usize] = Some(place);
        place
    }

    /// Adds the items of another part of the run, each by `merge`.
    pub(super) fn merge(&mut self, other: &Self, merge: impl Fn(&mut T, &T)) {
        for (item, place) in (0..).zip(&other.places) {
            let Some(place) = place else { continue };
            if let Some(mine) = self.get_mut(item) {
                merge(mine, &other.seen[place.index()]);
            }
        }
    }

    /// Adds a value that `event` observes, by `add`, to an item and to the series; `None` if there
    /// is no such item, or the value is not finite. Only the series counts before the end of the
    /// warm-up.
    #[inline(always)]
    pub(super) fn observe(
        &mut self,
        series: Option<&mut SeriesTally>,
        event: &Moment<'_>,
        item: u32,
        value: f64,
        add: impl FnOnce(&mut T),
    ) -> Option<()> {
        if !value.is_finite() {
            return None;
        }
        if event.is_observed() {
            add(self.get_mut(item)?);
        } else {
            self.check(item)?;
        }
        if let Some(series) = series {
            series.observe(event.time, value);
        }
        Some(())
    }
}

/// A list of zeros, in memory that the system provides only where it is touched.
pub(super) fn zeros<N: Clone + Default>(count: usize) -> Vec<N> {
    check_room::<N>(count, STATISTICS);
    vec![N::default(); count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_saw_nothing_take_no_room_in_any_part() {
        let mut parts = [(); 2].map(|()| Items::<Vec<u8>>::new(1000));
        for (item, value) in [(7, 1), (999, 2), (7, 3)] {
            parts[0].get_mut(item).unwrap().push(value);
        }
        parts[1].get_mut(7).unwrap().push(4);
        let [mut all, more] = parts;
        all.merge(&more, |mine, theirs| mine.extend(theirs));
        assert_eq!(
            ([7, 8, 999].map(|item| all.get(item).cloned()), all.seen.len()),
            ([Some(vec![1, 3, 4]), None, Some(vec![2])], 2)
        );
        assert_eq!((all.count(), all.get_mut(1000)), (1000, None));
    }
}
