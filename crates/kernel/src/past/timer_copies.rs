use std::collections::VecDeque;

use warpline_memory::MakeRoom;
use warpline_model::engine::TimerTable;

/// Copies of tables of timers, by the places of the records with the copies of the states.
///
/// Invariant: places ascend.
#[derive(Debug, Default)]
pub(super) struct TimerCopies(VecDeque<(u64, TimerTable)>);

impl TimerCopies {
    /// Adds the table of an LP whose state is copied before the event of the record at `place`, the
    /// last. Forgets those before `first`, which have been reclaimed.
    #[cold]
    #[inline(never)]
    pub(super) fn push(&mut self, place: u64, timers: &TimerTable, first: u64) {
        while self.0.front().is_some_and(|(copied, _)| *copied < first) {
            self.0.pop_front();
        }
        self.0.make_room(1, "copies of tables of timers");
        self.0.push_back((place, timers.clone()));
    }

    /// Forgets those from a place on.
    #[inline]
    pub(super) fn forget_from(&mut self, place: u64) {
        while self.0.back().is_some_and(|(copied, _)| *copied >= place) {
            self.0.pop_back();
        }
    }

    /// The one at a place, if there is one.
    pub(super) fn get(&self, place: u64) -> Option<&TimerTable> {
        let index = self.0.binary_search_by_key(&place, |(copied, _)| *copied).ok()?;
        Some(&self.0[index].1)
    }
}
