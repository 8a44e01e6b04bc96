//! What the past tells of events that are undone, the last first.

use std::mem;
use std::num::NonZeroU32;

use warpline_base::{HistoryDigest, VirtualTime};
use warpline_memory::{Handle, MakeRoom};

use super::Past;
use super::history::{Fate, StateBefore};
use super::side_records::{SentAway, SideRecordId};
use crate::agenda::store::OptionalHandle;
use crate::mail::SentByValue;

/// What an undone event leaves to be restored and cancelled.
pub(crate) struct Undone<S> {
    pub(crate) event: Handle,
    /// The last message that it sent; each links to the previous one.
    pub(crate) sent: OptionalHandle,
    /// The LP's digest before the event.
    pub(crate) digest: HistoryDigest,
    pub(crate) side_record: SideRecordId,
    pub(crate) state: StateBefore<S>,
}

impl<S, E> Past<S, E> {
    /// Begins the rollback of a KP. What is sent from now on may reuse the sequence numbers of what
    /// is cancelled.
    pub(crate) fn begin_rollback(&mut self) {
        self.incarnation = self.incarnation.checked_add(1).unwrap_or(NonZeroU32::MIN);
    }

    /// Undoes the last event of a KP, whose record is at `place`.
    #[inline(always)]
    pub(crate) fn undo_last(&mut self, k: usize, place: u64) -> Undone<S> {
        let record = self.history.get_mut(place);
        record.fate = Fate::Undone;
        self.kps.step_back(k, record.before);
        Undone {
            event: record.event,
            sent: mem::take(&mut record.sent),
            digest: record.digest,
            side_record: record.side_record,
            state: record.state.take(),
        }
    }

    /// Notes the time of the last event that may be undone, if any, of a KP that has rolled back.
    pub(crate) fn rolled_back_to(&mut self, k: usize, time: Option<VirtualTime>) {
        self.kps.set_last_time(k, time);
    }

    /// Ends a rollback, when all states have been worked out: undone records at the end are
    /// dropped.
    pub(crate) fn end_rollback(&mut self) {
        self.history.trim();
        self.timer_copies.forget_from(self.history.end());
    }

    /// Notes that everything from this time on was undone.
    pub(crate) fn undone_from(&mut self, time: VirtualTime) {
        self.latest = time;
        self.history.close_front();
    }

    /// Copies what the event of the record at `place` has changed to the end of a list.
    pub(crate) fn read_changes(&self, place: u64, into: &mut Vec<u64>) {
        self.history.read_changes(place, into);
    }

    /// Takes out what an event saved for its reverse code.
    pub(crate) fn take_saved(&mut self, side_record: SideRecordId, into: &mut Vec<u64>) {
        if let Some(side_record) = self.side_records.get(side_record) {
            mem::swap(into, &mut side_record.saved);
        }
    }

    /// Takes out what an event sent by value.
    pub(crate) fn take_sent_by_value(
        &mut self,
        side_record: SideRecordId,
    ) -> impl Iterator<Item = SentByValue> {
        self.side_records
            .get(side_record)
            .into_iter()
            .flat_map(|side_record| side_record.sent.drain(..))
    }

    /// Takes out the last of what an event sent to other PEs with a copy.
    pub(crate) fn pop_sent_away(&mut self, side_record: SideRecordId) -> Option<SentAway<E>> {
        self.side_records.get(side_record).and_then(|side_record| side_record.away.pop())
    }

    /// Forgets what an event has left behind.
    #[inline]
    pub(crate) fn forget(&mut self, side_record: SideRecordId) {
        self.side_records.give_back(side_record);
    }

    /// The executed events of a KP, from the last to the first that is still recorded, each with
    /// the place of its record and the copy of the state before it if there is one.
    pub(crate) fn executed_of(&self, k: usize) -> impl Iterator<Item = (u64, Handle, Option<&S>)> {
        let mut place = self.kps.last(k);
        std::iter::from_fn(move || {
            let at = place?.get();
            let record = self.history.holds(at).then(|| self.history.get(at))?;
            place = record.before;
            Some((at, record.event, record.state.copy()))
        })
    }

    /// Notes that the state of an LP was worked out from a copy.
    pub(crate) fn worked_out(&mut self, index: usize) {
        self.copies.worked_out(index);
    }

    /// Whether the state of an LP has yet to be worked out from an earlier copy.
    pub(crate) fn is_stale(&self, index: usize) -> bool {
        self.stale.contains(&index)
    }

    /// Notes that the state of an LP has to be worked out.
    pub(crate) fn set_stale(&mut self, index: usize) {
        self.stale.make_room(1, "events that are undone");
        self.stale.push(index);
    }

    /// Notes that the state of an LP was restored.
    pub(crate) fn set_fresh(&mut self, index: usize) {
        self.stale.retain(|&stale| stale != index);
    }

    /// Takes out an LP whose state has to be worked out, by its index.
    pub(crate) fn take_stale(&mut self) -> Option<usize> {
        self.stale.pop()
    }
}
