//! The speculative lane, ahead of the horizon: Time Warp. Events are executed although others may
//! still precede them, with a record of what it takes to undo them. They are executed again to work
//! a state out from an earlier copy (coast forward, as with the infrequent state saving of Y. Lin
//! and E. Lazowska, "Reducing the state saving overhead for Time Warp parallel simulation", 1990).

use warpline_base::{EventKind, LpId, Moment, Sequence, VirtualTime};
use warpline_memory::{Handle, MakeRoom, catch_panic, try_drop};
use warpline_model::engine::TimersOf;

use super::Pe;
use crate::Event;
use crate::agenda::pending::Entry;
use crate::agenda::store::OptionalHandle;
use crate::faults::failure::{copy_fault, repeat_fault};
use crate::gauge::phases::Phase;
use crate::gvt::Gvt;
use crate::lps::handler::{run_handler, take_last};
use crate::mail::SentByValue;
use crate::mail::wires::{MessageKind, make_common};
use crate::past::SideRecordId;
use crate::pe::types::{EventOf, PeTypes};
use crate::tuning::{Cancellation, Messages};

/// When PEs undo far more than they commit, each has fewer uncommitted events than this, unless GVT
/// waits for it.
const THRASHING_MOST: u64 = 32;

/// The least `f32` that is not earlier than this time.
fn round_up_to_f32(time: f64) -> f32 {
    let rounded = time as f32;
    if f64::from(rounded) < time { rounded.next_up() } else { rounded }
}

impl<T: PeTypes> Pe<'_, T> {
    /// Executes up to `most` events within the window.
    #[inline(never)]
    pub(in crate::pe) fn execute_speculative<const WATCHED: bool>(&mut self, most: u32) {
        self.executor.beat().goes_ahead();
        if self.stays_parked() {
            return;
        }
        let limit = self.limit();
        let mut left = most;
        while left > 0 && !self.flow.is_parked() {
            let Some(entry) = self.agenda.pop_before(limit) else { break };
            if self.lps.any_conservative() && self.sets_aside(entry) {
                continue;
            }
            left -= 1;
            if !self.faults.are_none() && self.waits(entry) {
                break;
            }
            if self.agenda.prefetches() {
                self.fetch_ahead();
            }
            self.gauge.event_lap::<WATCHED>(Phase::PendingSet);
            self.execute_with_record::<WATCHED>(entry);
        }
        let open = self.past.open_len();
        self.gauge.count(|counts| counts.history_max = counts.history_max.max(open));
    }

    /// Sets an event aside if its LP is conservative, so that other LPs of the PE need not wait for
    /// it. Returns whether it did.
    #[inline(never)]
    fn sets_aside(&mut self, entry: Entry) -> bool {
        let role = self.lps.role(self.agenda.event(entry.handle()).receiver);
        if role.is_conservative() {
            self.agenda.set_aside(entry);
            self.gauge.set_aside(role);
        }
        role.is_conservative()
    }

    /// Returns the time before which events may be executed. With a full history, these are only
    /// events that are due at GVT, so that it advances, or precede what was executed already. One
    /// event far ahead would let everything before it through, so nothing is executed when the
    /// history is twice as long: the next GVT makes room.
    fn limit(&mut self) -> VirtualTime {
        let open = self.past.open_len();
        let most = self.world.tuning().history_most;
        let limit = self.frontier.limit();
        // An instant may have very many events, and no window ends within it.
        if self.frontier.thrashes() && open >= THRASHING_MOST && self.least() != self.frontier.gvt()
        {
            return VirtualTime::ZERO;
        }
        if !self.affords_batch() {
            return self.limit_where_memory_is_short();
        }
        if open < most {
            limit
        } else if open < 2 * most {
            self.past.latest().max(self.frontier.due()).min(limit)
        } else {
            VirtualTime::ZERO
        }
    }

    /// Executes an event ahead, with a record of what it takes to undo it.
    #[inline(always)]
    fn execute_with_record<const WATCHED: bool>(&mut self, entry: Entry) {
        let handle = entry.handle();
        let time = entry.time();
        let gvt = self.frontier.gvt_time();
        // What was sent before GVT cannot be cancelled any more.
        let Some(mut event) =
            self.agenda.begin_ahead(handle, |sent| f64::from(f32::from_bits(sent)) < gvt)
        else {
            self.annihilate_pending(handle);
            return;
        };
        let index = self.lps.index(event.receiver);
        let k = self.past.kp_of(index);
        if self.past.may_straggle(k, time) {
            let key = event.key();
            self.roll_back_if_straggler(k, &key);
            if !self.faults.are_none() && self.defer_if_lost(entry, index) {
                return;
            }
            event = self.agenda.event(handle);
        }
        let key = event.key();
        let lp = self.lps.get_mut(index);
        let number = lp.events + 1;
        self.faults.begin_running(entry);
        let begun = self.past.begin(k, index, handle, lp, self.executor.timers(), time);
        let logs = self.past.begin_changes(begun);
        if logs {
            self.executor.begin_log(&lp.state);
        }
        if self.executor.any_timers() {
            self.executor.lend_timers(self.executor.timers().of(index), event.as_timer());
        }
        run_handler(self.world.model(), &mut self.executor, lp, event, time, number);
        if self.executor.forwards() {
            // The event keeps its payload, as it may have to be executed again.
            let payload_of = |event| &self.agenda.event(event).payload;
            self.executor.copy_forwards(payload_of(handle), payload_of);
        }
        self.faults.end_running();
        if self.executor.has_fault() || number >= Sequence::EVENT_LIMIT {
            self.defer_failed(entry, number, false);
            return;
        }
        if self.lacks_room(&key) {
            return self.park(entry);
        }
        if logs {
            self.past.log_changes(self.executor.logged_mut());
            self.executor.end_log();
        }
        let lp = self.lps.get_mut(index);
        lp.count(number, &key);
        let place = self.past.executed(begun, k, index, &entry);
        self.agenda.recorded(handle, place);
        self.gauge.executed_ahead();
        self.gauge.event_lap::<WATCHED>(Phase::Execute);
        self.complete_record(index, handle, place, number);
        self.gauge.event_lap::<WATCHED>(Phase::Send);
    }

    /// Completes the record at `place`: keeps what its event observed and saved, and sends what it
    /// sent. This was the `number`-th event of the LP with this index.
    #[inline(always)]
    fn complete_record(&mut self, index: usize, event: Handle, place: u64, number: u64) {
        let side_record = self.keep_side_record();
        if self.executor.has_timers() {
            self.complete_with_timers(index, event, place, number, side_record);
        } else if self.past.has_pending_cancellations() {
            self.send_uncertain_again(index, event, place, number, side_record);
        } else {
            let (sent, side_record) =
                self.send_uncertain::<false>(self.lps.id(index), number, side_record);
            self.past.complete(place, sent, side_record);
        }
    }

    /// Moves what the current event observed and saved out of the context.
    #[inline(always)]
    fn keep_side_record(&mut self) -> SideRecordId {
        let nothing =
            self.executor.observations_mut().is_empty() && self.executor.saved_mut().is_empty();
        if nothing { SideRecordId::NONE } else { self.keep_in_side_record() }
    }

    /// Not inlined, so that models without observations pay nothing for it.
    #[inline(never)]
    fn keep_in_side_record(&mut self) -> SideRecordId {
        self.effects.fetch(self.executor.observations());
        let (observations, saved) = self.executor.observations_and_saved_mut();
        self.past.keep(observations, saved)
    }

    /// Sends what LP `sender` sent in its `number`-th event. Returns the chain of the messages that
    /// lie in this PE's store, and the side record, which notes those sent by value. `TIMERS`: the LP
    /// has timers.
    #[inline(always)]
    pub(in crate::pe) fn send_uncertain<const TIMERS: bool>(
        &mut self,
        sender: LpId,
        number: u64,
        mut side_record: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        let first = Sequence::first_of(number);
        let mut sent = OptionalHandle::default();
        let sends =
            if TIMERS { self.sends_with_timers() } else { self.executor.outbox_mut().len() };
        self.gauge.sent(sends);
        while let Some(last) = self.executor.outbox_mut().last() {
            if !self.lps.contain(last.to) {
                (sent, side_record) = self.send_uncertain_away(sender, first, sent, side_record);
                continue;
            }
            let Some(event) = take_last(&mut self.executor, sender, first) else { break };
            if TIMERS && event.kind == EventKind::CancelledTimer {
                _ = try_drop(event);
                continue;
            }
            let timer = event.as_timer().filter(|_| TIMERS);
            let handle = self.agenda.insert(event, sent);
            if let Some(timer) = timer {
                self.executor.note_timer(timer, handle);
            }
            sent = OptionalHandle::some(handle);
        }
        (sent, side_record)
    }

    /// Sends the last event in the outbox to another PE. Not inlined, so that an event that stays
    /// here is written straight into its place.
    #[inline(never)]
    pub(in crate::pe) fn send_uncertain_away(
        &mut self,
        sender: LpId,
        first: Sequence,
        sent: OptionalHandle,
        side_record: SideRecordId,
    ) -> (OptionalHandle, SideRecordId) {
        let Some(mut event) = take_last(&mut self.executor, sender, first) else {
            return (sent, side_record);
        };
        let pe = self.world.partition().pe(event.receiver);
        let near = self.world.is_near(pe);
        if near {
            make_common::<T::Model>(&mut event.payload);
        }
        self.gauge.message_sent();
        if self.world.tuning().cancellation != Cancellation::Aggressive
            && let Some(copy) = self.copy_to_compare(&event)
        {
            return (sent, self.send_comparable(pe, near, event, copy, side_record));
        }
        if !near || self.world.tuning().messages == Messages::Copy {
            return (sent, self.send_uncertain_value(pe, event, side_record));
        }
        (OptionalHandle::some(self.send_buffer(pe, sent, event)), side_record)
    }

    /// Sends an event in a buffer, and returns its handle here.
    #[inline(always)]
    pub(in crate::pe) fn send_buffer(
        &mut self,
        to: u32,
        next: OptionalHandle,
        event: Event<EventOf<T>>,
    ) -> Handle {
        let tag = self.gvt.sent(to, || Moment::Event(event.key()));
        let mark = round_up_to_f32(self.executor.now()).to_bits();
        let (handle, buffer) = self.agenda.share(to, mark, next, event);
        self.mail.send(to, buffer, MessageKind::Event, tag);
        handle
    }

    fn send_uncertain_value(
        &mut self,
        to: u32,
        event: Event<EventOf<T>>,
        side_record: SideRecordId,
    ) -> SideRecordId {
        let incarnation = self.past.incarnation();
        let copy = if self.world.tuning().messages == Messages::Copy {
            self.mail.keep_copy(&event)
        } else {
            OptionalHandle::default()
        };
        let sent =
            SentByValue { to, receiver: event.receiver, key: event.key(), incarnation, copy };
        let side_record = self.past.keep_sent_by_value(side_record, sent);
        self.mail.send_value(to, event, Some(incarnation), &mut self.gvt);
        self.gauge.value_sent();
        side_record
    }

    /// Works the state of an LP out from its last copy, by executing the events since then again.
    /// If the model panics over that, the LP is lost.
    pub(in crate::pe) fn coast_forward(&mut self, index: usize) {
        let id = self.lps.id(index);
        let mut again: Vec<Handle> = Vec::new();
        let mut copy = None;
        let mut timers = None;
        for (place, event, state) in self.past.executed_of(self.past.kp_of(index)) {
            if self.agenda.event(event).receiver != id {
                continue;
            }
            again.make_room(1, "events that are executed again");
            again.push(event);
            if let Some(state) = state {
                copy = Some(catch_panic(|| state.clone()));
                timers = self.past.timers_before(place).cloned();
                break;
            }
        }
        let copy = copy.unwrap_or_else(|| {
            panic!("there is a copy of the state of {id} before every event that may be undone")
        });
        self.past.worked_out(index);
        match copy {
            Ok(state) => self.lps.get_mut(index).bring_back(state),
            Err(panic) => return self.faults.lose(index, copy_fault(panic)),
        }
        let tables = self.executor.timers_mut();
        let mut timers = timers.map_or_else(TimersOf::default, |timers| tables.add(timers));
        let repeated = catch_panic(|| self.execute_again(index, again, &mut timers));
        if let Err(panic) = repeated {
            self.executor.forget();
            self.faults.lose(index, repeat_fault(panic));
        }
        self.executor.timers_mut().remove(timers);
    }

    /// Executes the last events of an LP again, on the state before them. In `again`, the last
    /// comes first. `timers` is a
    /// table of its own of those that were pending before them.
    fn execute_again(&mut self, index: usize, again: Vec<Handle>, timers: &mut TimersOf) {
        let lp = self.lps.get_mut(index);
        let mut number = lp.events - again.len() as u64;
        self.gauge.count(|counts| counts.repeated += again.len() as u64);
        for handle in again.into_iter().rev() {
            number += 1;
            let event = self.agenda.event(handle);
            if timers.is_some() {
                self.executor.lend_timers(*timers, event.as_timer());
            }
            run_handler(self.world.model(), &mut self.executor, lp, event, event.time, number);
            if self.executor.has_timers() {
                self.executor.settle_repeated_timers(timers);
            }
            self.executor.forget();
        }
    }

    /// Works out the states of stale LPs.
    pub(in crate::pe) fn refresh(&mut self) {
        while let Some(index) = self.past.take_stale() {
            self.coast_forward(index);
        }
    }
}
