use serde::{Deserialize, Serialize};
use warpline_memory::{MakeRoom, check_room};

use crate::statistics::STATISTICS;

/// The items of one statistic. An item without observations takes four bytes, which are never
/// touched: every part of a run has all items, but most items are used by one part only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::statistics) struct Items<T> {
    /// By item: its place in `seen`, from 1 on; 0 if it has none.
    places: Vec<u32>,
    seen: Vec<T>,
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
        self.seen.get((*self.places.get(item as usize)? as usize).wrapping_sub(1))
    }

    /// An item to be changed; `None` if there is no such item.
    #[inline]
    pub(super) fn get_mut(&mut self, item: u32) -> Option<&mut T> {
        let place = match *self.places.get(item as usize)? {
            0 => self.begin(item),
            place => place,
        };
        self.seen.get_mut(place as usize - 1)
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, item: u32) -> u32 {
        self.seen.make_room(1, STATISTICS);
        self.seen.push(T::default());
        let place = self.seen.len() as u32;
        self.places[item as usize] = place;
        place
    }

    /// Adds the items of another part of the run, each by `merge`.
    pub(super) fn merge(&mut self, other: &Self, merge: impl Fn(&mut T, &T)) {
        for (item, &place) in (0..).zip(&other.places).filter(|(_, place)| **place != 0) {
            if let Some(mine) = self.get_mut(item) {
                merge(mine, &other.seen[place as usize - 1]);
            }
        }
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
