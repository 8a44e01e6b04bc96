//! The safe lane: events that nothing can precede any more. They are executed as in a sequential
//! engine, without a record, and commit at once. What they send can never be cancelled.

use std::mem::needs_drop;

use warpline_base::{EventKey, EventKind, LpId, Moment, Sequence, VirtualTime};
use warpline_memory::{Handle, try_drop};

use super::Pe;
use crate::agenda::Agenda;
use crate::agenda::pending::Entry;
use crate::agenda::store::OptionalHandle;
use crate::faults::ExecutedEvent;
use crate::gauge::phases::Phase;
use crate::gvt::Gvt;
use crate::lps::handler::{run_handler, take_last};
use crate::mail::wires::{MessageKind, make_common};
use crate::pe::types::{EventOf, PeTypes};
use crate::tuning::Messages;

impl<T: PeTypes> Pe<'_, T> {
    /// Executes up to `most` events before `limit`, all of which are certain.
    pub(in crate::pe) fn execute_safe<const WATCHED: bool>(
        &mut self,
        limit: VirtualTime,
        most: u32,
    ) {
        // Only an event that fails can change this, and that ends the batch.
        let plain = !self.past.has_open()
            && !self.past.has_pending_cancellations()
            && self.faults.are_none()
            && !self.agenda.has_identities();
        if plain && !WATCHED {
            self.execute_one_by_one::<false, true>(limit, most);
        } else {
            self.execute_one_by_one::<WATCHED, false>(limit, most);
        }
    }

    /// As [`execute_safe`](Self::execute_safe). `PLAIN`: no event is open, deferred or known by
    /// identity, and no cancellation is pending. Not inlined, so that the code around it takes no
    /// registers from the loop.
    #[inline(never)]
    fn execute_one_by_one<const WATCHED: bool, const PLAIN: bool>(
        &mut self,
        limit: VirtualTime,
        most: u32,
    ) {
        for _ in 0..most {
            let Some(entry) = self.agenda.pop_before(limit) else { break };
            if !PLAIN && !self.faults.are_none() && self.waits(entry) {
                break;
            }
            if self.agenda.prefetches() {
                self.fetch_ahead();
            }
            self.gauge.event_lap::<WATCHED>(Phase::PendingSet);
            if !self.execute_for_good::<WATCHED, PLAIN>(entry) {
                break;
            }
        }
    }

    /// Executes the event at GVT if it is here and no horizon may ever pass it. It is certain, as
    /// nothing earlier is left anywhere that could send, undo or cancel anything.
    #[cold]
    pub(in crate::pe) fn execute_at_gvt<const WATCHED: bool>(&mut self) {
        if self.agenda.has_aside() {
            self.execute_aside_at_gvt::<WATCHED>();
        } else if !self.world.tuning().lanes.has_speculative() && self.is_at_gvt() {
            self.execute_safe::<WATCHED>(self.frontier.due(), 1);
        }
    }

    #[cold]
    fn execute_aside_at_gvt<const WATCHED: bool>(&mut self) {
        let Some(entry) = self.agenda.take_aside_at(&self.frontier.gvt(), self.frontier.due())
        else {
            return;
        };
        if self.faults.are_none() || !self.waits(entry) {
            self.execute_for_good::<WATCHED, false>(entry);
        }
    }

    /// Executes an event that is certain, and returns whether the batch goes on.
    #[inline(always)]
    fn execute_for_good<const WATCHED: bool, const PLAIN: bool>(&mut self, entry: Entry) -> bool {
        let handle = entry.handle();
        let time = entry.time();
        let Some(mut event) = self.agenda.begin_for_good(handle) else {
            self.annihilate_pending(handle);
            return true;
        };
        let index = self.lps.index(event.receiver);
        // A conservative LP has executed nothing that could be undone.
        if !PLAIN && self.past.has_open() && !self.lps.role(event.receiver).is_conservative() {
            let key = event.key();
            self.close_kp_before(self.past.kp_of(index), &key);
            if !self.faults.are_none() && self.waits(entry) {
                return false;
            }
            event = self.agenda.event(handle);
        }
        let id = event.receiver;
        let key = event.key();
        let lp = self.lps.get_mut(index);
        let number = lp.events + 1;
        self.faults.begin_running(entry);
        if self.executor.any_timers() {
            self.executor.lend_timers(self.executor.timers().of(index), event.as_timer());
        }
        run_handler(self.world.model(), &mut self.executor, lp, event, time, number);
        let again = !PLAIN && self.past.is_sent_before(index, handle, time);
        if self.executor.forwards() {
            let timer = |timer| &self.agenda.event(timer).payload;
            if again {
                self.executor.copy_forwards(&event.payload, timer);
            } else {
                self.executor.copy_forwards_but_last(&event.payload, timer);
            }
        }
        if self.executor.has_fault() || number >= Sequence::EVENT_LIMIT {
            self.faults.end_running();
            self.defer_failed(entry, number, true);
            return false;
        }
        self.executor.commit(self.world.model(), &event.payload);
        self.faults.end_running();
        if !self.executor.observations().is_empty()
            && let Err(fault) =
                self.effects.observe(self.executor.observations_mut(), Moment::Event(key), id, time)
        {
            self.defer(entry, fault, true);
            return false;
        }
        lp.count(number, &key);
        self.committed_for_good::<WATCHED>(index, id, key);
        if !PLAIN && self.agenda.has_identities() {
            self.agenda.forget_identity(handle);
        }
        self.send_for_good(handle, id, number, again);
        self.gauge.event_lap::<WATCHED>(Phase::Send);
        true
    }

    /// Notes that an event, of the LP with this index and id, was executed for good and has
    /// committed.
    #[inline(always)]
    fn committed_for_good<const WATCHED: bool>(&mut self, index: usize, id: LpId, key: EventKey) {
        self.executor.saved_mut().clear();
        // Later states cannot be worked out from copies before this event.
        self.past.copy_soon(index);
        self.effects.committed(key);
        self.gauge.executed_for_good();
        self.gauge.committed::<WATCHED>(id, &key, !self.lps.contain(key.sender));
        self.gauge.event_lap::<WATCHED>(Phase::Execute);
    }

    /// Sends what an event that is over has sent; `again` if something is kept of what it had sent
    /// before.
    #[inline(always)]
    fn send_for_good(&mut self, handle: Handle, sender: LpId, number: u64, again: bool) {
        if self.executor.has_timers() {
            self.send_for_good_with_timers(handle, sender, number);
        } else if again {
            self.send_certain_again(handle, sender, number);
        } else if self.executor.forwards() {
            self.forward(handle, sender, number);
        } else {
            self.send_certain::<false>(Some(handle), sender, number);
        }
    }

    /// As [`send_certain`](Self::send_certain), for an event that forwards its payload.
    #[cold]
    #[inline(never)]
    fn forward(&mut self, spent: Handle, sender: LpId, number: u64) {
        let event = self.agenda.take_over(spent);
        self.executor.move_forward(event.payload);
        self.send_certain::<false>(None, sender, number);
    }

    /// Sends what LP `sender` sent in its `number`-th event, which nothing can undo. That event, at
    /// `spent`, is over, and its memory goes to one that it sent. `TIMERS`: the LP has timers.
    #[inline(always)]
    pub(in crate::pe) fn send_certain<const TIMERS: bool>(
        &mut self,
        mut spent: Option<Handle>,
        sender: LpId,
        number: u64,
    ) {
        let first = Sequence::first_of(number);
        let sends =
            if TIMERS { self.sends_with_timers() } else { self.executor.outbox_mut().len() };
        self.gauge.sent(sends);
        while let Some(last) = self.executor.outbox_mut().last() {
            if !self.lps.contain(last.to) {
                self.send_certain_away(sender, first);
                continue;
            }
            let Some(event) = take_last(&mut self.executor, sender, first) else { break };
            if TIMERS && event.kind == EventKind::CancelledTimer {
                _ = try_drop(event);
                continue;
            }
            let timer = event.as_timer().filter(|_| TIMERS);
            let handle = match spent.take() {
                Some(spent) => {
                    // Not `drop_payload`: the event would have to move into its closure first.
                    self.begin_drop(spent);
                    let handle = self.agenda.replace(spent, event);
                    self.end_drop();
                    handle
                }
                None => self.agenda.insert(event, OptionalHandle::default()),
            };
            if let Some(timer) = timer {
                self.executor.note_timer(timer, handle);
            }
        }
        if let Some(spent) = spent {
            self.drop_payload(spent, |agenda| agenda.free(spent));
        }
    }

    /// Sends the last event in the outbox to another PE. Not inlined, so that an event that stays
    /// here is written straight into its place.
    #[inline(never)]
    pub(in crate::pe) fn send_certain_away(&mut self, sender: LpId, first: Sequence) {
        let Some(mut event) = take_last(&mut self.executor, sender, first) else { return };
        let pe = self.world.partition().pe(event.receiver);
        let near = self.world.is_near(pe);
        if near {
            make_common::<T::Model>(&mut event.payload);
        }
        self.gauge.message_sent();
        self.mail.note_sent(event.time);
        if near && self.world.tuning().messages == Messages::Shared {
            let tag = self.gvt.sent(pe, || Moment::Event(event.key()));
            // It is marked as sent at time 0, before any GVT to come, so its receiver knows that
            // nobody will cancel it.
            let (_, buffer) = self.agenda.share(pe, 0, OptionalHandle::default(), event);
            self.mail.send(pe, buffer, MessageKind::Event, tag);
        } else {
            self.mail.send_value(pe, event, None, &mut self.gvt);
            self.gauge.value_sent();
        }
    }

    /// Drops the payload of an event that is over. That runs the model's code: if it panics, this
    /// event is to blame. Types that need no dropping pay nothing.
    #[inline(always)]
    pub(in crate::pe) fn drop_payload(
        &mut self,
        event: Handle,
        drop: impl FnOnce(&mut Agenda<EventOf<T>, T::Pending>),
    ) {
        self.begin_drop(event);
        drop(&mut self.agenda);
        self.end_drop();
    }

    #[inline(always)]
    fn begin_drop(&mut self, event: Handle) {
        if needs_drop::<EventOf<T>>() {
            let event = self.agenda.event(event);
            self.faults.begin_dropping(ExecutedEvent { key: event.key(), lp: event.receiver });
        }
    }

    #[inline(always)]
    fn end_drop(&mut self) {
        if needs_drop::<EventOf<T>>() {
            self.faults.end_dropping();
        }
    }

    /// Settles what a KP has executed ahead, before an event of this key is executed for good:
    /// later events are undone, and earlier ones commit, as they are just as certain.
    #[cold]
    fn close_kp_before(&mut self, k: usize, key: &EventKey) {
        self.roll_back_if_straggler(k, key);
        self.commit_kp(k);
    }

    /// Drops a cancelled event when its turn comes.
    #[cold]
    pub(in crate::pe) fn annihilate_pending(&mut self, handle: Handle) {
        self.leaves_pending(handle);
        self.annihilate(handle);
    }

    /// Drops a cancelled event.
    #[cold]
    pub(in crate::pe) fn annihilate(&mut self, handle: Handle) {
        let dropped = self.agenda.discard(handle);
        self.gauge.annihilated(u64::from(dropped));
    }
}
