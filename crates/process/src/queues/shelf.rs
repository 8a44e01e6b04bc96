//! Items that processes take: what mailboxes and stores have in common.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::wait_queue::WaitQueue;
use crate::keys::WaitKey;
use crate::running::tables::Tables;

/// Which items a process wants.
pub(crate) type Filter<T> = Box<dyn Fn(&T) -> bool + Send>;

/// The order in which items are taken.
pub(crate) type Order<T> = fn(&T, &T) -> Ordering;

/// Items, and who waits for one.
///
/// Invariant: no item lies on the shelf that somebody waits for and wants.
pub(crate) struct Shelf<T> {
    items: VecDeque<T>,
    takers: WaitQueue<Option<Filter<T>>>,
    /// Items that were given to a process which has not looked yet.
    given: Vec<(WaitKey, T)>,
    order: Option<Order<T>>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf {
            items: VecDeque::new(),
            takers: WaitQueue::default(),
            given: Vec::new(),
            order: None,
        }
    }
}

impl<T> Shelf<T> {
    /// A shelf whose least item is taken first.
    pub(crate) fn ordered(order: Order<T>) -> Self {
        Shelf { order: Some(order), ..Shelf::default() }
    }

    /// How many items lie there.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// How many processes wait for an item.
    pub(crate) fn takers(&self) -> usize {
        self.takers.len()
    }

    /// Gives an item to the first who wants it, or puts it on the shelf.
    pub(crate) fn put(&mut self, item: T, tables: &mut Tables) {
        let wants = |filter: &Option<Filter<T>>| filter.as_ref().is_none_or(|wants| wants(&item));
        if let Some(taker) = self.takers.take(tables, wants) {
            self.given.push((taker.wait, item));
            tables.finish_wait(taker.wait, 0);
            return;
        }
        match self.order {
            None => self.items.push_back(item),
            Some(order) => {
                let place =
                    self.items.partition_point(|other| order(other, &item) != Ordering::Greater);
                self.items.insert(place, item);
            }
        }
    }

    /// Takes the first item that `filter` wants for `wait`. If there is none, `wait` waits for it.
    /// Returns whether there was one.
    pub(crate) fn take(
        &mut self,
        wait: WaitKey,
        filter: Option<Filter<T>>,
        tables: &mut Tables,
    ) -> bool {
        let place = match &filter {
            None => (!self.items.is_empty()).then_some(0),
            Some(wants) => self.items.iter().position(wants),
        };
        match place.and_then(|place| self.items.remove(place)) {
            Some(item) => {
                self.given.push((wait, item));
                if let Some(wait) = tables.waits.get_mut(wait) {
                    wait.is_over = true;
                }
                true
            }
            None => {
                self.takers.push(0, wait, filter);
                false
            }
        }
    }

    /// The first item.
    pub(crate) fn take_now(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// The item that was given to `wait`.
    pub(crate) fn given(&mut self, wait: WaitKey) -> Option<T> {
        let place = self.given.iter().position(|(owner, _)| *owner == wait)?;
        Some(self.given.swap_remove(place).1)
    }

    /// Withdraws a wait, which has just been removed from the table of waits. What was given to it
    /// is given to the next, or lies on the shelf again, before its equals.
    pub(crate) fn withdraw(&mut self, wait: WaitKey, was_over: bool, tables: &mut Tables) {
        if !was_over {
            return self.takers.withdraw(tables);
        }
        let Some(item) = self.given(wait) else { return };
        let wants = |filter: &Option<Filter<T>>| filter.as_ref().is_none_or(|wants| wants(&item));
        if let Some(taker) = self.takers.take(tables, wants) {
            self.given.push((taker.wait, item));
            tables.finish_wait(taker.wait, 0);
        } else {
            let is_less = |other: &T| match self.order {
                None => false,
                Some(order) => order(other, &item) == Ordering::Less,
            };
            let place = self.items.partition_point(is_less);
            self.items.insert(place, item);
        }
    }
}
