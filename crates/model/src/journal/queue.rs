use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;

use super::changing::{Changing, address};
use super::journaled::{Change, Journaled, Plain};

/// A double-ended list in the state of an LP, whose changes a [journal](macro@crate::model) can
/// undo: a [`VecDeque`] whose changing methods take `lp`.
///
/// It derefs to a `VecDeque` for reading. Without a journal, changes cost hardly more than those of
/// a `VecDeque`.
///
/// ```
/// use warpline_model::prelude::*;
/// # use warpline_model::engine::*;
///
/// struct Shop;
/// #[model(journal)]
/// impl Model for Shop {
///     type State = Queue<f64>; // when those who wait came
///     type Event = bool; // somebody comes (true), or is served
///     fn lps(&self) -> u32 { 1 }
///     fn init(&self, lp: &mut Init<Self>) -> Queue<f64> { lp.send(0, 1.0, true); Queue::default() }
///     fn handle(&self, waiting: &mut Queue<f64>, comes: &bool, lp: &mut Context<Self>) {
///         if *comes {
///             waiting.push_back(lp.now(), lp);
///         } else if let Some(since) = waiting.pop_front(lp) {
///             let _waited = lp.now() - since;
///         }
///     }
/// }
/// # let mut executor = Executor::new(&Shop, 1, 9, false);
/// # let mut waiting = Queue::from_iter([1.0, 2.0]);
/// # executor.begin(LpId(0), 1, 2.5f64.try_into().unwrap(), 0);
/// # executor.begin_log(&waiting);
/// # Shop.handle(&mut waiting, &true, executor.lp());
/// # Shop.handle(&mut waiting, &false, executor.lp());
/// # assert_eq!(waiting, Queue::from_iter([2.0, 2.5]));
/// # assert!(executor.undo_logged(&mut waiting));
/// # assert_eq!(waiting, Queue::from_iter([1.0, 2.0]));
/// ```
///
/// Its items must be [`Plain`]. In [reverse code](crate::Model::reverse), `lp` is the
/// [`Reverse`](crate::Reverse), and nothing is logged.
#[derive(Clone, PartialEq)]
pub struct Queue<T> {
    items: VecDeque<T>,
}

// The kinds of change, in the lowest bits of the last logged word. The index in the queue is in the
// bits above.
const PUSHED_BACK: u64 = 0;
const PUSHED_FRONT: u64 = 1;
const POPPED_BACK: u64 = 2;
const POPPED_FRONT: u64 = 3;
const INSERTED: u64 = 4;
const REMOVED: u64 = 5;
const CHANGED: u64 = 6;
const BITS: u32 = 3;

impl<T: Plain> Queue<T> {
    /// Adds an item at the end.
    #[inline]
    pub fn push_back(&mut self, item: T, lp: &mut impl Changing) {
        lp.note_change(&*self, 1, |log| log.push(PUSHED_BACK));
        self.items.push_back(item);
    }

    /// Adds an item at the front.
    #[inline]
    pub fn push_front(&mut self, item: T, lp: &mut impl Changing) {
        lp.note_change(&*self, 1, |log| log.push(PUSHED_FRONT));
        self.items.push_front(item);
    }

    /// Removes and returns the last item.
    #[inline]
    pub fn pop_back(&mut self, lp: &mut impl Changing) -> Option<T> {
        self.note_old(self.items.back(), POPPED_BACK, lp)?;
        self.items.pop_back()
    }

    /// Removes and returns the first item.
    #[inline]
    pub fn pop_front(&mut self, lp: &mut impl Changing) -> Option<T> {
        self.note_old(self.items.front(), POPPED_FRONT, lp)?;
        self.items.pop_front()
    }

    /// Inserts an item at index `place`, before the item there.
    ///
    /// # Panics
    /// If the queue has fewer than `place` items.
    pub fn insert(&mut self, place: usize, item: T, lp: &mut impl Changing) {
        assert!(
            place <= self.items.len(),
            "a queue of {} items has no place {place} to insert at",
            self.items.len()
        );
        lp.note_change(&*self, 1, |log| log.push((place as u64) << BITS | INSERTED));
        self.items.insert(place, item);
    }

    /// Removes and returns the item at index `place`, if there is one.
    pub fn remove(&mut self, place: usize, lp: &mut impl Changing) -> Option<T> {
        self.note_old(self.items.get(place), (place as u64) << BITS | REMOVED, lp)?;
        self.items.remove(place)
    }

    /// The item at index `place`, if there is one, to be changed.
    #[inline]
    pub fn change(&mut self, place: usize, lp: &mut impl Changing) -> Option<&mut T> {
        self.note_old(self.items.get(place), (place as u64) << BITS | CHANGED, lp)?;
        self.items.get_mut(place)
    }

    /// Removes all items.
    pub fn clear(&mut self, lp: &mut impl Changing) {
        while self.pop_back(lp).is_some() {}
    }

    /// Logs an item, if there is one, that is about to be removed or changed.
    #[inline]
    fn note_old(&self, item: Option<&T>, what: u64, lp: &mut impl Changing) -> Option<()> {
        let item = item?;
        lp.note_change(self, T::WORDS + 1, |log| {
            item.keep(log);
            log.push(what);
        });
        Some(())
    }
}

impl<T: Plain> Journaled for Queue<T> {
    fn restore(&mut self, change: &mut Change<'_>) -> bool {
        if change.at != address(self) {
            return false;
        }
        let Some(what) = change.log.pop() else { return false };
        let place = (what >> BITS) as usize;
        let items = &mut self.items;
        match what & ((1 << BITS) - 1) {
            PUSHED_BACK => items.pop_back().is_some(),
            PUSHED_FRONT => items.pop_front().is_some(),
            INSERTED => items.remove(place).is_some(),
            POPPED_BACK => {
                items.push_back(T::take(change.log));
                true
            }
            POPPED_FRONT => {
                items.push_front(T::take(change.log));
                true
            }
            REMOVED if place <= items.len() => {
                items.insert(place, T::take(change.log));
                true
            }
            CHANGED => items.get_mut(place).map(|item| *item = T::take(change.log)).is_some(),
            _ => false,
        }
    }
}

impl<T> Deref for Queue<T> {
    type Target = VecDeque<T>;

    #[inline]
    fn deref(&self) -> &VecDeque<T> {
        &self.items
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { items: VecDeque::new() }
    }
}

impl<T> FromIterator<T> for Queue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Queue { items: items.into_iter().collect() }
    }
}

impl<'a, T> IntoIterator for &'a Queue<T> {
    type Item = &'a T;
    type IntoIter = std::collections::vec_deque::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}
