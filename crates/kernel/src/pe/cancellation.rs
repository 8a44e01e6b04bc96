//! Lazy cancellation: what an undone event had sent is kept until the event is executed again. If
//! it sends the same again, the message stands, and its receiver need not execute it again. After
//! A. Gafni, "Rollback mechanisms for optimistic distributed simulation systems", SCS
//! Multiconference on Distributed Simulation, 1988; on when it pays, P. Reiher, F. Wieland and D.
//! Jefferson, "Limitation of optimism in the Time Warp operating system", WSC 1989. Aggressive
//! cancellation is in [`rollback`](super::rollback).
//!
//! # What is kept
//! The key of a message contains its sender's event count, so an event sends the same again only if
//! its LP has executed as many events before it: if it was undone because of another LP of its KP,
//! or because of something that was cancelled and sent again. Keys, receivers and payloads are
//! compared. What went to another PE is compared with a copy that is made when it is sent, as the
//! message itself is no longer this PE's to read.
//!
//! So there is little to keep, and cancellation is aggressive unless asked otherwise. Under lazy
//! cancellation, messages that went to other PEs while this one made no copies are cancelled at
//! once. So is all that is kept when memory is to be made, or the run is cut short.
//!
//! # Why late cancellation is not too late
//! A kept message is later than the event that had sent it, and that event is pending. As long as
//! it is, neither this PE's bound nor its share for GVT passes it, so others treat whatever comes
//! at or after it as uncertain: they hold records of it, and still look at the status of its
//! buffer. They have to do so for a message that the pending event may yet send, and one that it
//! may yet cancel needs no more. What is kept is dealt with in the step in which the event stops
//! being pending, and so before the next bound or share:
//! - The event is executed again. It is recorded, or certain; what is left over is cancelled before
//!   the step ends. An anti-message counts for GVT at the event, so that GVT does not pass it until
//!   the anti-message has taken effect.
//! - The event has been cancelled. As another PE may do that in place at any time, this PE notices
//!   it only when the event's turn comes. Until then the event counts for GVT like any other
//!   ([`least`](crate::agenda::Agenda::least)), as others might otherwise commit what it had sent.
//! - The event is held back because it fails, or everything from some time on is undone, in a full
//!   history or at an early end. It may be long until the event is executed again, or never, so
//!   what it had sent is cancelled at once.

use warpline_base::{LpId, Sequence, VirtualTime};
use warpline_memory::{Handle, MakeRoom, catch_panic, try_drop};
use warpline_model::Model;
use warpline_model::engine::Outgoing;

use super::Pe;
use super::safe::take_last;
use crate::Event;
use crate::pending::PendingSet;
use crate::pending_cancellations::PendingCancellation;
use crate::phases::Phase;
use crate::side_records::{SentAway, SentByValue, SideRecordId, Way};
use crate::store::OptionalHandle;
use crate::tuning::Messages;
use crate::wires::Port;

/// What an event had sent.
struct Before<E> {
    /// To its own PE, the last one at the end.
    here: Vec<Handle>,
    /// To other PEs, likewise.
    away: Vec<SentAway<E>>,
    sent_again: u64,
    cancelled: u64,
}

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// Whether to keep what an event had sent that is pending again.
    #[inline]
    pub(super) fn keeps(&mut self, extra: SideRecordId) -> bool {
        let copied = self.past.side_records.get(extra).is_some_and(|extra| !extra.away.is_empty());
        self.past.cancellations.keeps(copied)
    }

    /// Keeps what an event had sent that is pending again, and cancels what could not be compared.
    pub(super) fn keep(&mut self, k: usize, undone: Handle, mut sent: OptionalHandle, extra: SideRecordId) {
        self.cancel_values(extra, undone);
        let (extra, kept) = self.past.side_records.get_or_take(extra);
        kept.saved.clear();
        let mut here = std::mem::take(&mut kept.here);
        while let Some(message) = sent.handle() {
            sent = self.agenda.store().next(message);
            if self.agenda.store().receiver(message).is_some() {
                self.cancel(message, undone);
                continue;
            }
            here.make_room(1, "what undone events may send again");
            here.push(message);
        }
        self.past.side_records.forget_observed(extra);
        let Some(kept) = self.past.side_records.get(extra) else { return };
        kept.here = here;
        let messages = kept.here.len() + kept.away.len();
        if messages == 0 {
            return self.past.side_records.give_back(extra);
        }
        self.gauge.counts.kept += messages as u64;
        self.past.cancellations.push(k, PendingCancellation { event: undone, time: self.agenda.event(undone).time, extra });
    }

    /// A copy of an event that goes to another PE, if what is sent again may have to be compared with it.
    pub(super) fn copy_to_compare(&mut self, event: &Event<M::Event>) -> Option<Event<M::Event>> {
        let comparable = M::ABILITIES.comparable().filter(|_| self.past.cancellations.copies())?;
        // What cannot be copied cannot be kept.
        let payload = catch_panic(|| comparable.copy(&event.payload)).ok()?;
        let Event { time, sequence, sender, receiver, step, priority, .. } = *event;
        Some(Event { time, sequence, sender, receiver, step, priority, payload })
    }

    /// Sends an event to another PE and keeps a copy in the side record of the sending event. Returns that side record.
    pub(super) fn send_comparable(
        &mut self,
        to: u32,
        near: bool,
        event: Event<M::Event>,
        copy: Event<M::Event>,
        extra: SideRecordId,
    ) -> SideRecordId {
        let way = if near && self.world.tuning.messages != Messages::Copy {
            Way::Buffer(self.send_buffer(to, OptionalHandle::default(), event))
        } else {
            self.mail.send_value(to, event, Some(self.incarnation), &mut self.gvt);
            self.gauge.counts.values_sent += 1;
            Way::Value(to, self.incarnation)
        };
        let (id, extra) = self.past.side_records.get_or_take(extra);
        extra.away.make_room(1, "what undone events may send again");
        extra.away.push(SentAway { way, copy });
        id
    }

    /// As [`send_uncertain`](Self::send_uncertain), for the event of the record at `place`, which may have been executed before: then what
    /// it had sent and does not send again is cancelled and undone.
    #[cold]
    #[inline(never)]
    pub(super) fn send_uncertain_again(&mut self, k: usize, event: Handle, place: u64, sender: LpId, number: u64, extra: SideRecordId) {
        let (sent, extra) = match self.past.cancellations.take(k, event, self.agenda.event(event).time) {
            Some(kept) => self.send_again::<false>(kept, sender, number, extra),
            None => self.send_uncertain(sender, number, extra),
        };
        let record = self.past.history.get_mut(place);
        (record.sent, record.extra) = (sent, extra);
        self.undo_what_was_sent();
    }

    /// As [`send_certain`](Self::send_certain), for an undone event for which something is kept.
    #[cold]
    #[inline(never)]
    pub(super) fn send_certain_again(&mut self, event: Handle, sender: LpId, number: u64) {
        let k = self.past.kp_of(self.index_of(event));
        let Some(kept) = self.past.cancellations.take(k, event, self.agenda.event(event).time) else { return };
        self.send_again::<true>(kept, sender, number, SideRecordId::NONE);
        self.begin_drop(event);
        self.agenda.store_mut().release(event);
        self.end_drop();
        self.undo_what_was_sent();
    }

    /// Sends what is in the outbox, except what the event had sent before, and cancels what it had sent and does not send now.
    fn send_again<const CERTAIN: bool>(
        &mut self,
        kept: PendingCancellation,
        sender: LpId,
        number: u64,
        mut extra: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        let (first, mut sent, event) = (Sequence::first_of(number), OptionalHandle::default(), kept.event);
        let mut before = self.take_before(kept);
        while let Some(last) = self.executor.outbox_mut().last() {
            let (stays, sequence) = (self.lps.contain(last.to), first.nth(self.executor.outbox_mut().len() as u32 - 1));
            self.cancel_later_than(sequence, &mut before, event);
            let Some(last) = self.executor.outbox_mut().last() else { break };
            if stays
                && let Some(&message) = before.here.last()
                && is_same::<M>(self.agenda.event(message), sequence, last)
            {
                before.here.pop();
                if !CERTAIN {
                    self.agenda.store_mut().set_next(message, sent);
                    sent = OptionalHandle::some(message);
                }
            } else if !stays && let Some(away) = before.away.pop_if(|away| is_same::<M>(&away.copy, sequence, last)) {
                if CERTAIN {
                    _ = try_drop(away);
                } else {
                    let (id, to) = self.past.side_records.get_or_take(extra);
                    to.away.make_room(1, "what undone events may send again");
                    to.away.push(away);
                    extra = id;
                }
            } else {
                self.gauge.counts.sent += 1;
                (sent, extra) = self.send_last::<CERTAIN>(stays, sender, first, sent, extra);
                continue;
            }
            before.sent_again += 1;
            _ = try_drop(self.executor.outbox_mut().pop());
        }
        self.finish_before(kept.extra, before, event);
        (sent, extra)
    }

    /// Sends the last event in the outbox.
    fn send_last<const CERTAIN: bool>(
        &mut self,
        stays: bool,
        sender: LpId,
        first: Sequence,
        sent: OptionalHandle,
        extra: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        match (stays, CERTAIN) {
            (true, _) => {
                let Some(event) = take_last(&mut self.executor, sender, first) else { return (sent, extra) };
                let next = if CERTAIN { OptionalHandle::default() } else { sent };
                (OptionalHandle::some(self.agenda.insert(event, next)), extra)
            }
            (false, true) => {
                self.send_certain_away(sender, first);
                (sent, extra)
            }
            (false, false) => self.send_uncertain_away(sender, first, sent, extra),
        }
    }

    /// Cancels what an event that is dropped or held back had sent before it was undone.
    pub(super) fn drop_kept(&mut self, event: Handle) {
        let k = self.past.kp_of(self.index_of(event));
        if let Some(kept) = self.past.cancellations.take(k, event, self.agenda.event(event).time) {
            self.cancel_kept(kept);
        }
    }

    /// Cancels what events from a time on had sent before they were undone.
    pub(super) fn drop_kept_from(&mut self, time: VirtualTime) {
        for k in 0..self.past.kps() {
            self.past.cancellations.take_from(k, time).into_iter().for_each(|kept| self.cancel_kept(kept));
        }
    }

    fn cancel_kept(&mut self, kept: PendingCancellation) {
        let before = self.take_before(kept);
        self.finish_before(kept.extra, before, kept.event);
    }

    /// Undoes what this PE has executed of the messages that were cancelled late.
    pub(super) fn undo_what_was_sent(&mut self) {
        if self.past.has_cancelled() {
            let timed = self.gauge.begin_rollback(Phase::Execute);
            self.undo_cancelled();
            self.gauge.end_rollback(timed, false);
        }
    }

    fn take_before(&mut self, kept: PendingCancellation) -> Before<M::Event> {
        let (mut here, mut away) = (Vec::new(), Vec::new());
        if let Some(extra) = self.past.side_records.get(kept.extra) {
            (here, away) = (std::mem::take(&mut extra.here), extra.away.take());
        }
        away.reverse();
        Before { here, away, sent_again: 0, cancelled: 0 }
    }

    /// Cancels what an event had sent later than this among its messages.
    fn cancel_later_than(&mut self, sequence: Sequence, before: &mut Before<M::Event>, event: Handle) {
        while let Some(message) = before.here.pop_if(|message| self.agenda.event(*message).sequence > sequence) {
            before.cancelled += 1;
            self.cancel(message, event);
        }
        while let Some(away) = before.away.pop_if(|away| away.copy.sequence > sequence) {
            before.cancelled += 1;
            self.cancel_away(away, event);
        }
    }

    /// Cancels what an undone event had sent to other PEs with copies, which are not needed after all.
    pub(super) fn cancel_copied(&mut self, extra: SideRecordId, undone: Handle) {
        while let Some(away) = self.past.side_records.get(extra).and_then(|extra| extra.away.pop()) {
            self.cancel_away(away, undone);
        }
    }

    fn cancel_away(&mut self, SentAway { way, copy }: SentAway<M::Event>, event: Handle) {
        match way {
            Way::Buffer(message) => self.cancel(message, event),
            Way::Value(to, incarnation) => {
                let sent = SentByValue { to, receiver: copy.receiver, key: copy.key(), incarnation, copy: OptionalHandle::default() };
                self.cancel_value(&sent, event);
            }
        }
        _ = try_drop(copy);
    }

    /// Cancels whatever is left, and counts what became of everything.
    fn finish_before(&mut self, extra: SideRecordId, mut before: Before<M::Event>, event: Handle) {
        while let Some(message) = before.here.pop() {
            before.cancelled += 1;
            self.cancel(message, event);
        }
        while let Some(away) = before.away.pop() {
            before.cancelled += 1;
            self.cancel_away(away, event);
        }
        // The lists' memory is reused.
        if let Some(extra) = self.past.side_records.get(extra) {
            (extra.here, *extra.away) = (before.here, before.away);
        }
        self.past.side_records.give_back(extra);
        self.gauge.counts.sent_again += before.sent_again;
        self.gauge.counts.cancelled_late += before.cancelled;
        self.past.cancellations.note(before.sent_again, before.cancelled);
    }
}

/// Whether what an event sends is what it had sent before.
fn is_same<M: Model>(before: &Event<M::Event>, sequence: Sequence, now: &Outgoing<M::Event>) -> bool {
    let Outgoing { time, to, step, priority, event } = now;
    let same = before.sequence == sequence && before.time == *time && before.receiver == *to;
    let same = same && before.step == *step && before.priority == *priority;
    // Comparing runs the model's code, which may panic.
    same && M::ABILITIES
        .comparable()
        .is_some_and(|comparable| catch_panic(|| comparable.are_equal(&before.payload, event)).unwrap_or(false))
}
