//! What undone events had sent and may send again, under lazy cancellation.

use std::mem;

use warpline_base::VirtualTime;
use warpline_memory::Handle;

use super::Past;
use super::pending_cancellations::PendingCancellation;
use super::side_records::{SentAway, SideRecordId};

/// What an event had sent before it was undone.
pub(crate) struct SentBefore<E> {
    pub(crate) event: Handle,
    /// What it had sent to its own PE, in the order of sending.
    pub(crate) here: Vec<Handle>,
    /// What it had sent to other PEs, in the order of sending.
    pub(crate) away: Vec<SentAway<E>>,
    /// How many of these messages it has sent again.
    pub(crate) sent_again: u64,
    /// How many of them were cancelled.
    pub(crate) cancelled: u64,
    side_record: SideRecordId,
}

impl<S, E> Past<S, E> {
    /// Whether anything is kept of what undone events had sent.
    #[inline(always)]
    pub(crate) fn has_pending_cancellations(&self) -> bool {
        self.cancellations.is_any()
    }

    /// Whether anything is kept of what this event had sent. It is an event of the LP with this
    /// index, and the next in the pending set.
    #[inline]
    pub(crate) fn is_sent_before(&self, index: usize, event: Handle, time: VirtualTime) -> bool {
        self.cancellations.has(self.kps.of(index), event, time)
    }

    /// Whether to copy what is sent to other PEs now, so that it can be compared with what is sent
    /// again.
    #[inline(always)]
    pub(crate) fn copies_sent(&mut self) -> bool {
        self.cancellations.copies()
    }

    /// Whether to keep what an event had sent that was undone and is pending again.
    #[inline]
    pub(crate) fn keeps_sent(&mut self, side_record: SideRecordId) -> bool {
        let copied = self
            .side_records
            .get(side_record)
            .is_some_and(|side_record| !side_record.away.is_empty());
        self.cancellations.keeps(copied)
    }

    /// Begins to keep what an undone event had sent. Returns its side record, and an empty list for
    /// what it had sent to its own PE, to be passed to [`keep_sent`](Self::keep_sent).
    pub(crate) fn begin_keeping_sent(
        &mut self,
        side_record: SideRecordId,
    ) -> (SideRecordId, Vec<Handle>) {
        let (id, kept) = self.side_records.get_or_take(side_record);
        kept.saved.clear();
        (id, mem::take(&mut kept.here))
    }

    /// Keeps what an undone event had sent, until the event is [executed again](Self::take_sent) or
    /// leaves the pending set. Returns the number of messages.
    pub(crate) fn keep_sent(
        &mut self,
        index: usize,
        event: Handle,
        time: VirtualTime,
        side_record: SideRecordId,
        here: Vec<Handle>,
    ) -> u64 {
        self.side_records.forget_observed(side_record);
        let Some(kept) = self.side_records.get(side_record) else { return 0 };
        kept.here = here;
        let messages = kept.here.len() + kept.away.len();
        if messages == 0 {
            self.side_records.give_back(side_record);
        } else {
            self.cancellations
                .push(self.kps.of(index), PendingCancellation { event, time, side_record });
        }
        messages as u64
    }

    /// Takes out what is kept of what this event had sent. It is the next in the pending set.
    pub(crate) fn take_sent(
        &mut self,
        index: usize,
        event: Handle,
        time: VirtualTime,
    ) -> Option<SentBefore<E>> {
        let kept = self.cancellations.take(self.kps.of(index), event, time)?;
        Some(self.sent_before(kept))
    }

    /// Takes out the undone events of a KP, from a time on, for which something is kept.
    pub(crate) fn take_senders_from(
        &mut self,
        k: usize,
        time: VirtualTime,
    ) -> Vec<PendingCancellation> {
        self.cancellations.take_from(k, time)
    }

    /// Takes out what one of them had sent.
    pub(crate) fn sent_before(
        &mut self,
        PendingCancellation { event, side_record, .. }: PendingCancellation,
    ) -> SentBefore<E> {
        let mut here = Vec::new();
        let mut away = Vec::new();
        if let Some(side_record) = self.side_records.get(side_record) {
            here = mem::take(&mut side_record.here);
            away = side_record.away.take();
        }
        away.reverse();
        SentBefore { event, here, away, sent_again: 0, cancelled: 0, side_record }
    }

    /// Notes that everything an event had sent was sent again or cancelled.
    pub(crate) fn settle_sent(&mut self, before: SentBefore<E>) {
        // The lists go back, so that their memory is reused.
        if let Some(side_record) = self.side_records.get(before.side_record) {
            side_record.here = before.here;
            *side_record.away = before.away;
        }
        self.side_records.give_back(before.side_record);
        self.cancellations.note(before.sent_again, before.cancelled);
    }
}
