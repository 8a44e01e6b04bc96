//! What the past keeps of timers: those that events have cancelled, and the tables that go with
//! copies of states.

use std::mem;

use warpline_base::Sequence;
use warpline_memory::Handle;
use warpline_model::engine::TimerTable;

use super::Past;
use super::side_records::SideRecordId;

impl<S, E> Past<S, E> {
    /// The timers that were pending before the event of the record at `place`, before which the
    /// state was copied.
    pub(crate) fn timers_before(&self, place: u64) -> Option<&TimerTable> {
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
