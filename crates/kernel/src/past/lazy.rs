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
    /// To its own PE, the last one at the end.
    pub(crate) here: Vec<Handle>,
    /// To other PEs, likewise.
    pub(crate) away: Vec<SentAway<E>>,
    /// How many of all that it has sent again.
    pub(crate) sent_again: u64,
    /// How many were cancelled.
    pub(crate) cancelled: u64,
    side_record: SideRecordId,
}

impl<S, E> Past<S, E> {
    /// Whether anything that undone events had sent has yet to be cancelled or sent again.
    #[inline(always)]
    pub(crate) fn has_pending_cancellations(&self) -> bool {
        self.cancellations.is_any()
    }

    /// Whether an event of the LP with this index, which is the next of the pending set, had sent
    /// anything of that kind.
    #[inline]
    pub(crate) fn is_sent_before(&self, index: usize, event: Handle, time: VirtualTime) -> bool {
        self.cancellations.has(self.kps.of(index), event, time)
    }

    /// Whether what is sent now to other PEs is copied, so that it can be compared with what is
    /// sent again.
    #[inline(always)]
    pub(crate) fn copies_sent(&mut self) -> bool {
        self.cancellations.copies()
    }

    /// Whether to keep what an event had sent that has been undone and is pending again.
    #[inline]
    pub(crate) fn keeps_sent(&mut self, side_record: SideRecordId) -> bool {
        let copied = self
            .side_records
            .get(side_record)
            .is_some_and(|side_record| !side_record.away.is_empty());
        self.cancellations.keeps(copied)
    }

    /// Begins to keep what an undone event had sent. Returns its side record, and an empty list for
    /// what it had sent to its own PE.
    pub(crate) fn begin_keeping_sent(
        &mut self,
        side_record: SideRecordId,
    ) -> (SideRecordId, Vec<Handle>) {
        let (id, kept) = self.side_records.get_or_take(side_record);
        kept.saved.clear();
        (id, mem::take(&mut kept.here))
    }

    /// Keeps what an undone event had sent, until the event [is executed again](Self::take_sent) or
    /// leaves the pending set. Returns how many messages these are.
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

    /// Takes out what an event had sent, if anything, as it is the next of the pending set.
    pub(crate) fn take_sent(
        &mut self,
        index: usize,
        event: Handle,
        time: VirtualTime,
    ) -> Option<SentBefore<E>> {
        let kept = self.cancellations.take(self.kps.of(index), event, time)?;
        Some(self.sent_before(kept))
    }

    /// The undone events of a KP from a time on, which had sent something.
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
        let (mut here, mut away) = (Vec::new(), Vec::new());
        if let Some(side_record) = self.side_records.get(side_record) {
            (here, away) = (mem::take(&mut side_record.here), side_record.away.take());
        }
        away.reverse();
        SentBefore { event, here, away, sent_again: 0, cancelled: 0, side_record }
    }

    /// All that an event had sent was sent again or cancelled.
    pub(crate) fn settle_sent(&mut self, before: SentBefore<E>) {
        // The lists' memory is reused.
        if let Some(side_record) = self.side_records.get(before.side_record) {
            side_record.here = before.here;
            *side_record.away = before.away;
        }
        self.side_records.give_back(before.side_record);
        self.cancellations.note(before.sent_again, before.cancelled);
    }
}
