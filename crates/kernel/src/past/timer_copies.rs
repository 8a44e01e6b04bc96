use std::collections::VecDeque;

use warpline_memory::MakeRoom;
use warpline_model::engine::TimerTable;

/// Copies of tables of timers, by the places of the records with the copies of the states.
///
/// Invariant: places ascend.
#[derive(Debug, Default)]
pub(super) struct TimerCopies {
    copies: VecDeque<(u64, TimerTable)>,
    /// What the tables take beside themselves, in bytes.
    beside: usize,
}

impl TimerCopies {
    /// Adds the table of an LP whose state is copied before the event of the record at `place`, the
    /// last. Forgets those before `first`, which have been reclaimed.
    #[cold]
    #[inline(never)]
    pub(super) fn push(&mut self, place: u64, timers: &TimerTable, first: u64) {
        while self.copies.front().is_some_and(|(copied, _)| *copied < first) {
            self.copies.pop_front().inspect(|copy| self.beside -= copy.1.bytes_beside());
        }
        self.copies.make_room(1, "copies of tables of timers");
        let timers = timers.clone();
        self.beside += timers.bytes_beside();
        self.copies.push_back((place, timers));
    }

    /// Forgets those from a place on.
    #[inline]
    pub(super) fn forget_from(&mut self, place: u64) {
        while self.copies.back().is_some_and(|(copied, _)| *copied >= place) {
            self.copies.pop_back().inspect(|copy| self.beside -= copy.1.bytes_beside());
        }
    }

    /// The one at a place, if there is one.
    pub(super) fn get(&self, place: u64) -> Option<&TimerTable> {
        let index = self.copies.binary_search_by_key(&place, |(copied, _)| *copied).ok()?;
        Some(&self.copies[index].1)
    }

    /// How much memory they take, in bytes, in use or free.
    pub(super) fn bytes(&self) -> usize {
        size_of::<(u64, TimerTable)>() * self.copies.capacity() + self.beside
    }
}
