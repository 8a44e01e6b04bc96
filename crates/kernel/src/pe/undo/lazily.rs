//! Lazy cancellation: what an undone event had sent is kept until the event is executed again. A
//! message that it sends again stands, and its receiver need not execute it again. After A. Gafni,
//! "Rollback mechanisms for optimistic distributed simulation systems", SCS Multiconference on
//! Distributed Simulation, 1988; on when it pays, P. Reiher, F. Wieland and D. Jefferson,
//! "Limitation of optimism in the Time Warp operating system", WSC 1989. Aggressive cancellation is
//! in [`undo`](super).
//!
//! # What is kept
//! The key of a message contains its sender's event count, so an event sends the same again only if
//! its LP has executed as many events before it as the first time: it was undone because of another
//! LP of its KP, or because of an event that was cancelled and sent again. Keys, receivers and
//! payloads are compared. A message to another PE is compared with a copy made when it was sent, as
//! this PE may no longer read the message itself.
//!
//! So there is seldom much to keep, and cancellation is aggressive unless asked otherwise. Under
//! lazy cancellation, messages that went to other PEs while this one made no copies are cancelled
//! at once. So is everything that is kept when memory is short or the run is cut short.
//!
//! # Why late cancellation is not too late
//! A kept message is later than the event that had sent it, and that event is pending. While it is,
//! neither this PE's bound nor its share for GVT passes it. So other PEs treat everything at or
//! after it as uncertain: they keep records, and check the status of buffers. They must do that for
//! messages that the pending event may yet send, and messages that it may yet cancel need no more.
//! What is kept is settled in the step in which the event stops being pending, and so before the
//! next bound or share:
//! - The event is executed again, with a record or for good. What it does not send again is
//!   cancelled before the step ends. An anti-message counts for GVT at the event, so that GVT does
//!   not pass it until the anti-message has taken effect.
//! - The event has been cancelled. Another PE may do that in place at any time, so this PE notices
//!   it only when the event's turn comes. Until then the event counts for GVT like any other
//!   ([`least`](crate::agenda::Agenda::least)), or others might commit what it had sent.
//! - The event is deferred because it fails, or everything from some time on is undone, in a full
//!   history or at an early end. The event may be executed much later or never, so what it had sent
//!   is cancelled at once.

use warpline_base::{EventKind, LpId, Sequence, VirtualTime};
use warpline_memory::{Handle, MakeRoom, catch_panic, try_drop};
use warpline_model::Model;
use warpline_model::engine::Outgoing;

use crate::Event;
use crate::agenda::store::OptionalHandle;
use crate::gauge::phases::Phase;
use crate::lps::handler::take_last;
use crate::mail::SentByValue;
use crate::past::{SentAway, SentBefore, SideRecordId, Way};
use crate::pe::Pe;
use crate::pe::types::{EventOf, PeTypes};
use crate::tuning::Messages;

impl<T: PeTypes> Pe<'_, T> {
    /// Notes that an event is no longer pending although it was not executed: it was cancelled or
    /// deferred. What is kept of what it had sent is cancelled and undone.
    #[inline]
    pub(in crate::pe) fn leaves_pending(&mut self, event: Handle) {
        if self.past.has_pending_cancellations()
            && let Some(before) = self.take_sent(event)
        {
            self.cancel_rest(before);
        }
        self.undo_what_was_sent();
    }

    /// Takes what is kept of what an event had sent before it was undone.
    fn take_sent(&mut self, event: Handle) -> Option<SentBefore<EventOf<T>>> {
        let index = self.index_of(event);
        let time = self.agenda.event(event).time;
        self.past.take_sent(index, event, time)
    }

    /// The same, if anything is kept at all.
    pub(in crate::pe) fn take_sent_if_any(
        &mut self,
        event: Handle,
    ) -> Option<SentBefore<EventOf<T>>> {
        if self.past.has_pending_cancellations() { self.take_sent(event) } else { None }
    }

    /// Cancels everything that is kept of what undone events from a time on had sent.
    pub(in crate::pe) fn cancel_sent_before(&mut self, time: VirtualTime) {
        if !self.past.has_pending_cancellations() {
            return;
        }
        for k in 0..self.past.kps() {
            for sender in self.past.take_senders_from(k, time) {
                let before = self.past.sent_before(sender);
                self.cancel_rest(before);
            }
        }
    }

    /// Keeps what an undone event had sent, and cancels what cannot be compared.
    pub(in crate::pe) fn keep_sent(
        &mut self,
        index: usize,
        undone: Handle,
        mut sent: OptionalHandle,
        side_record: SideRecordId,
    ) {
        self.cancel_values(side_record, undone);
        let (side_record, mut here) = self.past.begin_keeping_sent(side_record);
        while let Some(message) = sent.handle() {
            sent = self.agenda.next(message);
            if self.agenda.receiver(message).is_some() {
                self.cancel(message, undone);
                continue;
            }
            here.make_room(1, "what undone events may send again");
            here.push(message);
        }
        let messages =
            self.past.keep_sent(index, undone, self.agenda.event(undone).time, side_record, here);
        self.gauge.count(|counts| counts.kept += messages);
    }

    /// Copies an event that goes to another PE, if it may have to be compared with what is sent
    /// again.
    pub(in crate::pe) fn copy_to_compare(
        &mut self,
        event: &Event<EventOf<T>>,
    ) -> Option<Event<EventOf<T>>> {
        let comparable = T::Model::ABILITIES.comparable().filter(|_| self.past.copies_sent())?;
        // If copying the payload panics, the event cannot be kept.
        let payload = catch_panic(|| comparable.copy(&event.payload)).ok()?;
        let Event { time, sequence, sender, receiver, step, priority, kind, .. } = *event;
        Some(Event { time, sequence, sender, receiver, step, priority, kind, payload })
    }

    /// Sends an event to another PE and keeps a copy in the side record of its sender's event.
    /// Returns that side record.
    pub(in crate::pe) fn send_comparable(
        &mut self,
        to: u32,
        near: bool,
        event: Event<EventOf<T>>,
        copy: Event<EventOf<T>>,
        side_record: SideRecordId,
    ) -> SideRecordId {
        let way = if near && self.world.tuning().messages != Messages::Copy {
            Way::Buffer(self.send_buffer(to, OptionalHandle::default(), event))
        } else {
            self.mail.send_value(to, event, Some(self.past.incarnation()), &mut self.gvt);
            self.gauge.value_sent();
            Way::Value(to, self.past.incarnation())
        };
        self.past.keep_sent_away(side_record, SentAway { way, copy })
    }

    /// As [`send_uncertain`](Self::send_uncertain), for an event that may have been executed
    /// before, with the record at `place`, of the LP with this index. What it had sent and does not
    /// send again is cancelled and undone.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn send_uncertain_again(
        &mut self,
        index: usize,
        event: Handle,
        place: u64,
        number: u64,
        side_record: SideRecordId,
    ) {
        let sender = self.lps.id(index);
        let (sent, side_record) = match self.take_sent(event) {
            Some(before) => self.send_again::<false>(before, sender, number, side_record),
            None => self.send_uncertain::<false>(sender, number, side_record),
        };
        self.past.complete(place, sent, side_record);
        self.undo_what_was_sent();
    }

    /// As [`send_certain`](Self::send_certain), for an undone event for which something is kept.
    #[cold]
    #[inline(never)]
    pub(in crate::pe) fn send_certain_again(&mut self, event: Handle, sender: LpId, number: u64) {
        let Some(before) = self.take_sent(event) else { return };
        self.send_again::<true>(before, sender, number, SideRecordId::NONE);
        self.drop_payload(event, |agenda| agenda.free(event));
        self.undo_what_was_sent();
    }

    /// Sends what is in the outbox, except what the event had sent before. Cancels what it had sent
    /// and does not send now.
    pub(in crate::pe) fn send_again<const CERTAIN: bool>(
        &mut self,
        mut before: SentBefore<EventOf<T>>,
        sender: LpId,
        number: u64,
        mut side_record: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        let first = Sequence::first_of(number);
        let mut sent = OptionalHandle::default();
        while let Some(last) = self.executor.outbox_mut().last() {
            if last.kind == EventKind::CancelledTimer {
                _ = try_drop(self.executor.outbox_mut().pop());
                continue;
            }
            let stays = self.lps.contain(last.to);
            let sequence = first.nth(self.executor.outbox_mut().len() as u32 - 1);
            self.cancel_later_than(sequence, &mut before);
            let Some(last) = self.executor.outbox_mut().last() else { break };
            if stays
                && let Some(&message) = before.here.last()
                && is_same::<T>(self.agenda.event(message), sequence, last)
            {
                before.here.pop();
                if let Some(timer) = self.agenda.event(message).as_timer() {
                    self.executor.note_timer(timer, message);
                }
                if !CERTAIN {
                    self.agenda.set_next(message, sent);
                    sent = OptionalHandle::some(message);
                }
            } else if !stays
                && let Some(away) =
                    before.away.pop_if(|away| is_same::<T>(&away.copy, sequence, last))
            {
                if CERTAIN {
                    _ = try_drop(away);
                } else {
                    side_record = self.past.keep_sent_away(side_record, away);
                }
            } else {
                self.gauge.sent(1);
                (sent, side_record) =
                    self.send_last::<CERTAIN>(stays, sender, first, sent, side_record);
                continue;
            }
            before.sent_again += 1;
            _ = try_drop(self.executor.outbox_mut().pop());
        }
        self.cancel_rest(before);
        (sent, side_record)
    }

    /// Sends the last event in the outbox.
    fn send_last<const CERTAIN: bool>(
        &mut self,
        stays: bool,
        sender: LpId,
        first: Sequence,
        sent: OptionalHandle,
        side_record: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        match (stays, CERTAIN) {
            (true, _) => {
                let Some(event) = take_last(&mut self.executor, sender, first) else {
                    return (sent, side_record);
                };
                let next = if CERTAIN { OptionalHandle::default() } else { sent };
                let timer = event.as_timer();
                let handle = self.agenda.insert(event, next);
                if let Some(timer) = timer {
                    self.executor.note_timer(timer, handle);
                }
                (OptionalHandle::some(handle), side_record)
            }
            (false, true) => {
                self.send_certain_away(sender, first);
                (sent, side_record)
            }
            (false, false) => self.send_uncertain_away(sender, first, sent, side_record),
        }
    }

    /// Undoes what this PE has executed of the messages that were cancelled late.
    pub(in crate::pe) fn undo_what_was_sent(&mut self) {
        if self.past.has_cancelled() {
            let timed = self.gauge.begin_rollback(Phase::Execute);
            self.undo_cancelled();
            self.gauge.end_rollback(timed, false);
        }
    }

    /// Cancels those of an event's earlier messages that have a later sequence number than this.
    fn cancel_later_than(&mut self, sequence: Sequence, before: &mut SentBefore<EventOf<T>>) {
        while let Some(message) =
            before.here.pop_if(|message| self.agenda.event(*message).sequence > sequence)
        {
            before.cancelled += 1;
            self.cancel(message, before.event);
        }
        while let Some(away) = before.away.pop_if(|away| away.copy.sequence > sequence) {
            before.cancelled += 1;
            self.cancel_away(away, before.event);
        }
    }

    /// Cancels what an undone event had sent to other PEs and kept copies of, which are not needed.
    pub(in crate::pe) fn cancel_copied(&mut self, side_record: SideRecordId, undone: Handle) {
        while let Some(away) = self.past.pop_sent_away(side_record) {
            self.cancel_away(away, undone);
        }
    }

    fn cancel_away(&mut self, SentAway { way, copy }: SentAway<EventOf<T>>, event: Handle) {
        match way {
            Way::Buffer(message) => self.cancel(message, event),
            Way::Value(to, incarnation) => {
                let sent = SentByValue {
                    to,
                    receiver: copy.receiver,
                    key: copy.key(),
                    incarnation,
                    copy: OptionalHandle::default(),
                };
                self.cancel_value(&sent, event);
            }
        }
        _ = try_drop(copy);
    }

    /// Cancels the rest of what an event had sent, and counts what became of all of it.
    fn cancel_rest(&mut self, mut before: SentBefore<EventOf<T>>) {
        while let Some(message) = before.here.pop() {
            before.cancelled += 1;
            self.cancel(message, before.event);
        }
        while let Some(away) = before.away.pop() {
            before.cancelled += 1;
            self.cancel_away(away, before.event);
        }
        self.gauge.count(|counts| {
            counts.sent_again += before.sent_again;
            counts.cancelled_late += before.cancelled;
        });
        self.past.settle_sent(before);
    }
}

/// Whether an event sends the same message as before.
fn is_same<T: PeTypes>(
    before: &Event<EventOf<T>>,
    sequence: Sequence,
    now: &Outgoing<EventOf<T>>,
) -> bool {
    let Outgoing { time, to, step, priority, kind, event } = now;
    let is_same_but_payload = before.sequence == sequence
        && before.time == *time
        && before.receiver == *to
        && before.step == *step
        && before.priority == *priority
        && before.kind == *kind;
    // Comparing runs the model's code, which may panic.
    is_same_but_payload
        && T::Model::ABILITIES.comparable().is_some_and(|comparable| {
            catch_panic(|| comparable.are_equal(&before.payload, event)).unwrap_or(false)
        })
}
