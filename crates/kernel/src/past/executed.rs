//! What the past records of an event that is executed ahead.

use warpline_base::VirtualTime;
use warpline_memory::{Handle, MakeRoom};
use warpline_model::engine::TimerTables;
use warpline_model::statistics::Observations;

use super::Past;
use super::history::{Fate, Record, StateBefore};
use super::side_records::{SentAway, SideRecordId};
use crate::Undoing;
use crate::agenda::pending::Entry;
use crate::agenda::store::OptionalHandle;
use crate::lps::Lp;
use crate::mail::SentByValue;

/// The record of the event that is being executed.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    place: u64,
    copied: bool,
}

impl<S, E> Past<S, E> {
    /// Whether an event at this time may come before what its KP has executed already.
    #[inline(always)]
    pub(crate) fn may_straggle(&self, k: usize, time: VirtualTime) -> bool {
        self.kps.may_straggle(k, time)
    }

    /// Begins the record of an event of KP `k` that is about to be executed, at `time` on the LP of
    /// this index. Copies the state of the LP, and its pending timers, if a copy is due.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        k: usize,
        index: usize,
        event: Handle,
        lp: &Lp<S>,
        timers: &TimerTables,
        time: VirtualTime,
    ) -> Begun
    where
        S: Clone,
    {
        let place = self.history.end();
        let copied = self.copies.is_due(index, place);
        let first = self.history.first();
        let record = self.history.push(
            Record {
                event,
                sent: OptionalHandle::default(),
                before: self.kps.last(k),
                digest: lp.digest,
                side_record: SideRecordId::NONE,
                // If copying the state panics, there is nothing to undo.
                fate: Fate::Undone,
                state: StateBefore::WorkedOut,
            },
            time,
        );
        if copied {
            record.state = StateBefore::Copied(lp.state.clone());
            if let Some(timers) = timers.get(timers.of(index)) {
                self.timer_copies.push(place, timers, first);
            }
        }
        record.fate = Fate::Open;
        Begun { place, copied }
    }

    /// Whether the event logs what it changes. If so, its record notes where that begins.
    #[inline(always)]
    pub(crate) fn begin_changes(&mut self, begun: Begun) -> bool {
        let logs = !begun.copied && self.undoing == Undoing::Journal;
        if logs {
            self.history.begin_changes();
        }
        logs
    }

    /// Appends what the event has changed to the log, and empties the list.
    #[inline(always)]
    pub(crate) fn log_changes(&mut self, changes: &mut Vec<u64>) {
        self.history.log_changes(changes);
    }

    /// Notes that the event has been executed and has not failed. Returns the place of its record.
    #[inline(always)]
    pub(crate) fn executed(&mut self, begun: Begun, k: usize, index: usize, entry: &Entry) -> u64 {
        let place = begun.place;
        self.copies.executed(index, place, begun.copied);
        self.kps.set_last(k, place, entry.time());
        if entry.rank() <= self.last_rank {
            self.inversion = place;
        }
        self.latest = self.latest.max(entry.time());
        self.last_rank = entry.rank();
        place
    }

    /// Keeps what the event has observed and saved, and empties both lists. One of them is not
    /// empty.
    #[inline]
    pub(crate) fn keep(
        &mut self,
        observations: &mut Observations,
        saved: &mut Vec<u64>,
    ) -> SideRecordId {
        self.side_records.keep(observations, saved)
    }

    /// Keeps what it takes to cancel a message that was sent by value.
    pub(crate) fn keep_sent_by_value(
        &mut self,
        side_record: SideRecordId,
        sent: SentByValue,
    ) -> SideRecordId {
        let (id, kept) = self.side_records.get_or_take(side_record);
        kept.sent.make_room(1, "what may have to be cancelled");
        kept.sent.push(sent);
        id
    }

    /// Keeps a message that was sent to another PE, to compare it with what is sent again.
    pub(crate) fn keep_sent_away(
        &mut self,
        side_record: SideRecordId,
        sent: SentAway<E>,
    ) -> SideRecordId {
        let (id, kept) = self.side_records.get_or_take(side_record);
        kept.away.make_room(1, "what undone events may send again");
        kept.away.push(sent);
        id
    }

    /// Completes the record at `place` with what its event has sent and left behind.
    #[inline(always)]
    pub(crate) fn complete(&mut self, place: u64, sent: OptionalHandle, side_record: SideRecordId) {
        let record = self.history.get_mut(place);
        record.sent = sent;
        record.side_record = side_record;
    }

    /// Whether the state before this event was being copied when the model panicked, so that the
    /// event was not executed.
    pub(crate) fn was_being_copied(&self, event: Handle) -> bool {
        // Records that a rollback has emptied are never the last while others are open.
        self.has_open()
            && self
                .history
                .last()
                .is_some_and(|record| record.event == event && record.fate == Fate::Undone)
    }

    /// Removes the last record if it is that of this event, which has failed or waits for buffers.
    /// Returns how to restore the state before it, if the event has touched the state.
    pub(crate) fn retract(&mut self, event: Handle) -> Option<StateBefore<S>> {
        if self.was_being_copied(event) {
            self.history.pop();
            return None;
        }

        let is_it = self
            .history
            .last()
            .is_some_and(|record| record.event == event && record.fate == Fate::Open);
        let record = if is_it { self.history.pop() } else { None };
        self.timer_copies.forget_from(self.history.end());
        record.map(|record| record.state)
    }
}
