use std::collections::VecDeque;

use crate::keys::WaitKey;
use crate::running::tables::Tables;

/// Who waits for a thing, in the order of priority, and of arrival among equals.
///
/// A wait that is withdrawn stays in the list until it comes first or until the list is half empty,
/// so withdrawing costs a constant on average.
pub(crate) struct WaitQueue<T> {
    entries: VecDeque<Entry<T>>,
    /// How many entries have been withdrawn.
    withdrawn: usize,
}

pub(crate) struct Entry<T> {
    pub(crate) priority: i32,
    pub(crate) wait: WaitKey,
    pub(crate) data: T,
}

impl<T> Default for WaitQueue<T> {
    fn default() -> Self {
        WaitQueue { entries: VecDeque::new(), withdrawn: 0 }
    }
}

impl<T> WaitQueue<T> {
    /// How many wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.withdrawn
    }

    /// Adds a wait behind those of the same priority. The least priority comes first.
    pub(crate) fn push(&mut self, priority: i32, wait: WaitKey, data: T) {
        let entry = Entry { priority, wait, data };
        if self.entries.back().is_none_or(|last| last.priority <= priority) {
            return self.entries.push_back(entry);
        }
        let place = self.entries.partition_point(|other| other.priority <= priority);
        self.entries.insert(place, entry);
    }

    /// Who comes first.
    #[inline]
    pub(crate) fn first(&mut self, tables: &Tables) -> Option<&mut Entry<T>> {
        while let Some(entry) = self.entries.front() {
            if tables.is_waiting(entry.wait) {
                break;
            }
            self.entries.pop_front();
            self.withdrawn -= 1;
        }
        self.entries.front_mut()
    }

    /// Removes the entry that [`first`](Self::first) has just returned.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry<T>> {
        self.entries.pop_front()
    }

    /// Removes the first entry that `wants` wants.
    pub(crate) fn take(
        &mut self,
        tables: &Tables,
        mut wants: impl FnMut(&T) -> bool,
    ) -> Option<Entry<T>> {
        self.first(tables)?;
        let wanted = |entry: &Entry<T>| tables.is_waiting(entry.wait) && wants(&entry.data);
        let place = self.entries.iter().position(wanted)?;
        self.entries.remove(place)
    }

    /// Removes all entries, in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Entry<T>> {
        self.withdrawn = 0;
        self.entries.drain(..)
    }

    /// One of the waits in the queue has just been removed from the table of waits.
    pub(crate) fn withdraw(&mut self, tables: &Tables) {
        self.withdrawn += 1;
        if self.withdrawn > 16 && self.withdrawn > self.entries.len() / 2 {
            self.entries.retain(|entry| tables.is_waiting(entry.wait));
            self.withdrawn = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::waits::What;
    use crate::test_support::one_process;
    use std::panic::Location;

    fn wait(tables: &mut Tables) -> WaitKey {
        tables.begin_wait(What::Message, 0.0, Location::caller())
    }

    #[test]
    fn the_least_priority_comes_first_and_equals_in_the_order_of_arrival() {
        let mut tables = one_process();
        let mut queue = WaitQueue::default();
        for (number, priority) in [3, 1, 3, -2, 1].into_iter().enumerate() {
            let key = wait(&mut tables);
            queue.push(priority, key, number);
        }
        let mut order = Vec::new();
        while let Some(entry) = queue.first(&tables) {
            order.push(entry.data);
            queue.pop();
        }
        assert_eq!(order, [3, 1, 4, 0, 2]);
    }

    #[test]
    fn withdrawn_waits_are_passed_over_and_do_not_pile_up() {
        let mut tables = one_process();
        let mut queue = WaitQueue::default();
        let kept = wait(&mut tables);
        for number in 0..1000 {
            let key = wait(&mut tables);
            queue.push(0, key, number);
            if number == 500 {
                queue.push(0, kept, 9999);
            }
            tables.end_wait(key);
            queue.withdraw(&tables);
            assert!(queue.entries.len() < 40);
        }
        assert_eq!(queue.len(), 1);
        assert_eq!(queue.first(&tables).map(|entry| entry.data), Some(9999));
    }

    #[test]
    fn entries_are_taken_from_the_middle() {
        let mut tables = one_process();
        let mut queue = WaitQueue::default();
        for number in 0..5 {
            let key = wait(&mut tables);
            queue.push(0, key, number);
        }
        assert_eq!(queue.take(&tables, |&number| number == 3).map(|entry| entry.data), Some(3));
        assert!(queue.take(&tables, |&number| number == 3).is_none());
        assert_eq!(queue.drain().map(|entry| entry.data).collect::<Vec<_>>(), [0, 1, 2, 4]);
    }
}
