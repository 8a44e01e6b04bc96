//! Timers: what a PE does when an LP sets, cancels and reschedules them, and when that is undone or
//! commits. All of it is out of the way of models that set none.
//!
//! The table of an LP's pending timers is a part of its state that the engine keeps. It is lent to
//! the context for each event of the LP, and undone with the event.
//!
//! A cancelled timer never happens, but its cancellation may be undone. So its event is *stopped*:
//! it stays where it is among the pending ones, and is passed over when its turn comes. It is later
//! than the event that cancelled it, of the same LP. Whatever undoes that event comes earlier still,
//! and holds GVT back itself; so a stopped event never does.
//! - If the event that cancelled it is undone, the timer is pending again. The side record of that
//!   event has it in the meantime, also when its turn has come.
//! - If that event commits, or was executed for good, the timer is dropped: at its turn, or with
//!   all others when there are more of them than other pending events.
//! - If the event that *set* it is undone, the one that cancelled it has been undone before, as it
//!   is later and of the same KP. Then the timer is cancelled like any message.
//!
//! To work a state out from an earlier copy, events are executed again, and must find the same
//! timers pending. So wherever a state is copied, the table is, too.

use std::mem::take;

use warpline_base::{EventKind, LpId, Sequence};
use warpline_memory::{Handle, MakeRoom};

use super::Pe;
use crate::agenda::fetch::fetch_timers_ahead;
use crate::past::SideRecordId;
use crate::pe::types::PeTypes;

impl<T: PeTypes> Pe<'_, T> {
    /// Prefetches the timers of the LPs of coming events.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn fetch_timers_ahead(&self) {
        fetch_timers_ahead(
            self.executor.timers(),
            |distance| self.agenda.upcoming(distance),
            |event| self.lps.index(self.agenda.event(event).receiver),
            |event| self.agenda.prefetch(event),
        );
    }

    /// Puts everything back that the last event has done to the timers of its LP, as it has failed
    /// or was parked.
    pub(in crate::pe) fn put_back_timers(&mut self, index: usize) {
        self.executor.put_back_timers(index);
    }

    /// How many events the current event of an LP with timers sends.
    pub(in crate::pe) fn sends_with_timers(&mut self) -> usize {
        let sent = self.executor.outbox_mut().iter();
        sent.filter(|sent| sent.kind != EventKind::CancelledTimer).count()
    }

    /// Completes the record at `place`, of an event of an LP with timers: keeps what the event
    /// observed, saved and cancelled, and sends what it sent.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn complete_with_timers(
        &mut self,
        index: usize,
        event: Handle,
        place: u64,
        number: u64,
        side_record: SideRecordId,
    ) {
        let mut cancelled = take(self.executor.cancelled_timers_mut());
        let stopped = self.stopped(&cancelled);
        cancelled.iter().for_each(|(_, timer)| self.agenda.stop(*timer));
        let side_record = self.past.keep_cancelled_timers(side_record, &mut cancelled);
        *self.executor.cancelled_timers_mut() = cancelled;
        let (sent, side_record) = match self.take_sent_if_any(event) {
            Some(before) => {
                self.send_again::<false>(before, self.lps.id(index), number, side_record)
            }
            None => self.send_uncertain::<true>(self.lps.id(index), number, side_record),
        };
        self.past.complete(place, sent, side_record);
        self.end_timers(index, stopped);
    }

    /// As [`send_for_good`](Self::send_for_good), for an event of an LP with timers.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn send_for_good_with_timers(
        &mut self,
        event: Handle,
        sender: LpId,
        number: u64,
    ) {
        let index = self.lps.index(sender);
        let cancelled = take(self.executor.cancelled_timers_mut());
        let stopped = self.stopped(&cancelled);
        for (_, timer) in &cancelled {
            self.agenda.stop(*timer);
            self.agenda.stop_for_good(*timer);
        }
        *self.executor.cancelled_timers_mut() = cancelled;
        match self.take_sent_if_any(event) {
            Some(before) => {
                self.send_again::<true>(before, sender, number, SideRecordId::NONE);
                self.drop_payload(event, |agenda| agenda.free(event));
            }
            None => self.send_certain::<true>(Some(event), sender, number),
        }
        self.end_timers(index, stopped);
        self.sweep_stopped();
    }

    /// Those of the cancelled timers that may have been executed and undone before, so that
    /// something may be kept of what they had sent.
    fn stopped(&self, cancelled: &[(Sequence, Handle)]) -> Vec<Handle> {
        let mut stopped = Vec::new();
        if self.past.has_pending_cancellations() {
            stopped.make_room(cancelled.len(), "timers that an event cancels");
            stopped.extend(cancelled.iter().map(|(_, timer)| *timer));
        }
        stopped
    }

    /// Ends what the current event does with timers: they are settled, and what stopped ones had
    /// sent before they were undone is cancelled, as they are no longer pending.
    fn end_timers(&mut self, index: usize, stopped: Vec<Handle>) {
        self.executor.settle_timers(index);
        stopped.into_iter().for_each(|timer| self.leaves_pending(timer));
        self.undo_what_was_sent();
    }

    /// Undoes what an undone event, of the LP with this index, had done with timers. If the event
    /// `is_pending` again and is a timer itself, so is the timer.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn undo_timers(
        &mut self,
        index: usize,
        event: Handle,
        side_record: SideRecordId,
        is_pending: bool,
    ) {
        let Pe { executor, lps, agenda, past, .. } = self;
        let lp = lps.get(index);
        let of = executor.timers().of(index);
        executor.timers_mut().change(of, |timers| {
            timers.forget_from(Sequence::first_of(lp.events + 1));
            for (timer, handle) in past.take_cancelled_timers(side_record) {
                timers.insert(timer, handle);
                agenda.resume(handle);
            }
            if let Some(fired) = agenda.event(event).as_timer().filter(|_| is_pending) {
                timers.insert(fired, event);
            }
        });
    }

    /// Drops stopped timers before their turn comes, if there are many.
    pub(in crate::pe) fn sweep_stopped(&mut self) {
        if self.agenda.has_many_stopped() {
            self.gauge.annihilated(self.agenda.sweep_stopped());
        }
    }
}
