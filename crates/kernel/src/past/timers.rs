//! What the past keeps of timers: those that events have cancelled, and the tables that go with
//! copies of states.

use std::collections::VecDeque;
use std::mem;

use warpline_base::Sequence;
use warpline_memory::{Handle, MakeRoom};
use warpline_model::engine::TimerTable;

use super::Past;
use super::side_records::SideRecordId;

/// Copies of tables of timers, by the places of the records with the copies of the states.
///
/// Invariant: places ascend.
#[derive(Debug, Default)]
pub(super) struct TimerCopies(VecDeque<(u64, Box<TimerTable>)>);

impl TimerCopies {
    /// Adds the table of an LP whose state is copied before the event of the record at `place`, the
    /// last. Forgets those before `first`, which have been reclaimed.
    #[cold]
    #[inline(never)]
    pub(super) fn push(&mut self, place: u64, timers: &TimerTable, first: u64) {
        while self.0.pop_front_if(|(place, _)| *place < first).is_some() {}
        self.0.make_room(1, "copies of tables of timers");
        self.0.push_back((place, Box::new(timers.clone())));
    }

    /// Forgets those from a place on.
    #[inline]
    pub(super) fn forget_from(&mut self, place: u64) {
        while self.0.pop_back_if(|(copied, _)| *copied >= place).is_some() {}
    }

    fn get(&self, place: u64) -> Option<&Box<TimerTable>> {
        let index = self.0.binary_search_by_key(&place, |(copied, _)| *copied).ok()?;
        Some(&self.0[index].1)
    }
}

impl<S, E> Past<S, E> {
    /// The timers that were pending before the event of the record at `place`, before which the
    /// state was copied.
    pub(crate) fn timers_before(&self, place: u64) -> Option<&Box<TimerTable>> {
        self.timer_copies.get(place)
    }

    /// Keeps the timers that an event has cancelled, if any, and empties the list.
    pub(crate) fn keep_cancelled_timers(
        &mut self,
        side_record: SideRecordId,
        timers: &mut Vec<(Sequence, Handle)>,
    ) -> SideRecordId {
        if timers.is_empty() {
            return side_record;
        }
        let (id, kept) = self.side_records.get_or_take(side_record);
        mem::swap(timers, &mut kept.cancelled_timers);
        id
    }

    /// Takes out the timers that an event has cancelled.
    pub(crate) fn take_cancelled_timers(
        &mut self,
        side_record: SideRecordId,
    ) -> impl Iterator<Item = (Sequence, Handle)> {
        self.side_records
            .get(side_record)
            .into_iter()
            .flat_map(|side_record| side_record.cancelled_timers.drain(..))
    }
}
