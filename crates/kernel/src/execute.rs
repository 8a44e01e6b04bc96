//! Executing events: forward, and again where a state has to be worked out from an earlier one (coast forward, as with the infrequent
//! state saving of Y. Lin and E. Lazowska, "Reducing the state saving overhead for Time Warp parallel simulation", 1990).

use std::any::Any;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use warpline_base::{EventKey, LpId, Moment, Sequence, TieBreak, VirtualTime};
use warpline_memory::{Buffers, Handle, PoolFull, prefetch};
use warpline_model::engine::Outgoing;
use warpline_model::{Fault, Model};

use crate::Event;
use crate::extras::ExtraId;
use crate::failure::{Held, panic_message};
use crate::history::{Fate, Record};
use crate::lp::Lp;
use crate::pe::Pe;
use crate::pending::{Entry, PendingSet, Ties};
use crate::phases::Phase;
use crate::wires::{Message, MessageKind, Port};

/// How many events ahead the memory of an event, and of the LP that it reaches, is fetched.
const EVENT_AHEAD: usize = 12;
const LP_AHEAD: usize = 6;

/// Orders entries of equal rank by the keys of their events.
pub(crate) struct Keys<'a, E> {
    pub(crate) buffers: &'a Buffers<Event<E>>,
    pub(crate) ties: TieBreak,
}

impl<E> Ties for Keys<'_, E> {
    #[cold]
    fn order(&self, a: Handle, b: Handle) -> Ordering {
        // Equal for an event that was cancelled and the one that was sent in its place; which goes first is all the same.
        self.ties.compare(&self.buffers.get(a).key(), &self.buffers.get(b).key())
    }
}

/// A time that is hardly later, in half the space.
fn not_before(time: f64) -> f32 {
    let rounded = time as f32;
    if f64::from(rounded) < time { rounded.next_up() } else { rounded }
}

impl<M: Model, Q: PendingSet, P: Port> Pe<'_, M, Q, P> {
    /// Makes some of the LPs that are still to be made, and returns how many.
    pub(crate) fn make_lps(&mut self) -> Result<u32, PoolFull> {
        let made = self.lps.len();
        while self.init_fault.is_none() && !self.made_all() && self.lps.len() < made + self.tuning.batch as usize {
            let id = LpId(self.ids.start + self.lps.len() as u32);
            let state = match catch_unwind(AssertUnwindSafe(|| self.context.init(self.model, id))) {
                Ok(state) => state,
                Err(panic) => {
                    // What the code did wrong before it panicked comes first.
                    self.init_fault = Some(self.context.take_fault().unwrap_or_else(|| Fault::Panic(panic_message(panic))));
                    break;
                }
            };
            self.init_fault = self.context.take_fault().or_else(|| self.observe_init(id).err());
            if self.init_fault.is_none() {
                self.send(id, 0)?;
                self.lps.push(Lp::new(state));
            }
        }
        if self.made_all() {
            self.made_at = Some(Instant::now());
            self.meter.restart();
        }
        Ok((self.lps.len() - made) as u32)
    }

    /// Executes up to a batch of events, and returns how many.
    pub(crate) fn execute_batch<const WATCHED: bool>(&mut self) -> Result<u32, PoolFull> {
        if self.gvt.holds() || self.failure.is_some() {
            return Ok(0);
        }
        let bound = self.bound.min(self.room());
        self.retry_held();
        let start = self.counts.processed;
        // Panics are caught once per batch, not per event.
        loop {
            let left = self.tuning.batch - (self.counts.processed - start) as u32;
            match catch_unwind(AssertUnwindSafe(|| self.execute_before::<WATCHED>(bound, left))) {
                Ok(outcome) => break outcome?,
                Err(panic) => self.hold_panicked(panic),
            }
        }
        self.counts.history_max = self.counts.history_max.max(self.history.open_len());
        Ok((self.counts.processed - start) as u32)
    }

    /// Events before this time may be executed as far as there is room for them in the history. With a full history, only what comes before
    /// events executed already, or is due at GVT, so that it can commit. With twice as much, nothing that leaves a record: the next GVT
    /// makes room.
    fn room(&self) -> VirtualTime {
        let (open, most) = (self.history.open_len(), self.tuning.history_most);
        if open < most {
            self.end
        } else if open < 2 * most {
            self.latest.max(self.due()).max(self.horizon)
        } else {
            self.horizon
        }
    }

    /// The event loop. On its own, so that nothing around it takes registers from it.
    #[inline(never)]
    fn execute_before<const WATCHED: bool>(&mut self, bound: VirtualTime, most: u32) -> Result<(), PoolFull> {
        for _ in 0..most {
            let keys = Keys { buffers: &self.buffers, ties: self.ties };
            let Some(entry) = self.pending.pop_before(bound, &keys) else { break };
            if !self.held.is_empty() && self.waits(entry) {
                break;
            }
            if self.prefetching {
                self.fetch_ahead();
            }
            self.lap::<WATCHED>(Phase::PendingSet);
            self.execute::<WATCHED>(entry)?;
        }
        // For what was looked for and not found.
        self.lap::<WATCHED>(Phase::PendingSet);
        Ok(())
    }

    #[inline]
    fn execute<const WATCHED: bool>(&mut self, entry: Entry) -> Result<(), PoolFull> {
        let (handle, time) = (entry.handle(), entry.time());
        // Neither what comes before the horizon nor what was sent before GVT can be cancelled any more.
        let certain = time < self.horizon;
        let Some(mut event) = self.buffers.begin_if(handle, |sent| certain || f64::from(f32::from_bits(sent)) < self.gvt_time) else {
            self.annihilate(handle);
            return Ok(());
        };
        let index = (event.receiver.0 - self.ids.start) as usize;
        let k = index >> self.kp_shift;
        if time.bits() <= self.kps[k].last_time {
            let key = event.key();
            self.mind_straggler(k, &key);
            event = self.buffers.get(handle);
        }
        if certain && self.history.is_open(self.kps[k].last) {
            // Events of an LP commit in its order.
            if !self.commit_kp(k) {
                self.postpone(entry);
                return Ok(());
            }
            event = self.buffers.get(handle);
        }
        let (id, key) = (event.receiver, event.key());
        let (lp, place) = (&mut self.lps[index], self.history.end());
        let number = lp.events + 1;
        self.running = Some(entry);
        let copied = !certain && self.copies.is_due(index, place);
        if !certain {
            let (before, digest) = (self.kps[k].last, lp.history);
            // Nothing is to be undone, should the copy of the state panic.
            let fate = Fate::Undone;
            let record = self.history.push(Record { event: handle, sent: None, before, digest, extra: ExtraId::NONE, fate, state: None });
            if copied {
                record.state = Some(lp.state.clone());
            }
            record.fate = Fate::Open;
        }
        self.context.begin(id, number, time, key.step);
        self.model.handle(&mut lp.state, &event.payload, &mut self.context);
        if self.context.has_fault() || number >= Sequence::EVENT_LIMIT {
            self.running = None;
            self.hold_failed(entry, number);
            return Ok(());
        }
        lp.events = number;
        lp.history.push(&key);
        if certain {
            self.context.commit(self.model, &event.payload);
            self.running = None;
            return self.settle::<WATCHED>(entry, key, id, number);
        }
        self.running = None;
        self.copies.executed(index, place, copied);
        (self.kps[k].last, self.kps[k].last_time) = (place, time.bits());
        if entry.rank() <= self.last_rank {
            self.inversion = place;
        }
        self.latest = self.latest.max(time);
        self.last_rank = entry.rank();
        self.counts.processed += 1;
        self.lap::<WATCHED>(Phase::Execute);
        let sent = self.send(id, number)?;
        let extra = self.keep_extra();
        let record = self.history.get_mut(place);
        (record.sent, record.extra) = (sent, extra);
        self.lap::<WATCHED>(Phase::Send);
        Ok(())
    }

    /// Puts an event back that was begun and turned out to have to wait.
    #[cold]
    fn postpone(&mut self, entry: Entry) {
        // If it cannot be taken back, it was cancelled meanwhile, and an anti-message is on its way.
        if self.buffers.undo(entry.handle()) {
            self.pending.push(entry, &Keys { buffers: &self.buffers, ties: self.ties });
        }
    }

    /// What is left to do for an event that nothing can undo any more, as it comes before the horizon and before all else that is pending
    /// here: it commits as in a sequential run, without a record.
    #[inline]
    fn settle<const WATCHED: bool>(&mut self, entry: Entry, key: EventKey, id: LpId, number: u64) -> Result<(), PoolFull> {
        if !self.context.notes_mut().is_empty()
            && let Err(fault) = self.observe(Moment::Event(key), id, key.time)
        {
            self.hold(entry, fault);
            return Ok(());
        }
        self.context.saved_mut().clear();
        // Later states cannot be worked out from copies before this event.
        self.copies.soon((id.0 - self.ids.start) as usize);
        self.counts.processed += 1;
        self.counts.committed += 1;
        self.committed.push(key);
        let partner = self.buffers.release(entry.handle());
        self.counts.remote_committed += u64::from(partner != self.me);
        if WATCHED && let Some(trace) = &mut self.trace {
            trace.event(id, &key);
        }
        self.lap::<WATCHED>(Phase::Execute);
        self.send(id, number)?;
        self.lap::<WATCHED>(Phase::Send);
        Ok(())
    }

    /// Moves what the event at hand observed and saved out of the context.
    #[inline(always)]
    fn keep_extra(&mut self) -> ExtraId {
        let nothing = self.context.notes_mut().is_empty() && self.context.saved_mut().is_empty();
        if nothing { ExtraId::NONE } else { self.keep_some_extra() }
    }

    /// On its own, so that models without observations pay nothing for it.
    #[inline(never)]
    fn keep_some_extra(&mut self) -> ExtraId {
        self.statistics.fetch(self.context.notes_mut());
        let (id, extra) = self.extras.take();
        std::mem::swap(self.context.notes_mut(), &mut extra.notes);
        std::mem::swap(self.context.saved_mut(), &mut extra.saved);
        id
    }

    /// Sends what LP `sender` sent in its `number`-th event. Returns the first of a chain of all of it.
    #[inline(always)]
    pub(crate) fn send(&mut self, sender: LpId, number: u64) -> Result<Option<Handle>, PoolFull> {
        let (sequence, mut sent) = (Sequence::first_of(number), None);
        self.counts.sent += self.context.outbox_mut().len() as u64;
        while let Some(Outgoing { time, to: receiver, step, priority, event: payload }) = self.context.outbox_mut().pop() {
            let index = self.context.outbox_mut().len() as u32;
            let sequence = sequence.nth(index);
            let (pe, tie) = (self.partition.pe(receiver), self.ties.prefix(&EventKey { time, step, priority, sender, sequence }));
            let mark = if pe == self.me { 0 } else { not_before(self.context.now()).to_bits() };
            let event = || Event { time, sequence, sender, receiver, step, priority, payload };
            let handle = self.buffers.insert_with(pe, mark, sent, event)?;
            sent = Some(handle);
            if pe == self.me {
                self.pending.push(Entry::new(time, tie, handle), &Keys { buffers: &self.buffers, ties: self.ties });
            } else {
                let message = Message { event: handle, tag: self.gvt.sent(), kind: MessageKind::Event };
                self.outgoing[pe as usize].0.push(message);
                self.counts.messages_sent += 1;
            }
        }
        Ok(sent)
    }

    /// Brings the memory of coming events near, and of the LPs that they reach.
    #[inline]
    fn fetch_ahead(&self) {
        if let Some(handle) = self.pending.upcoming(EVENT_AHEAD) {
            self.buffers.prefetch(handle);
        }
        if let Some(handle) = self.pending.upcoming(LP_AHEAD) {
            prefetch(&self.lps[(self.buffers.get(handle).receiver.0 - self.ids.start) as usize]);
        }
    }

    /// Works the states of stale LPs out: from an earlier copy, by executing again what came after it (coast forward).
    pub(crate) fn refresh(&mut self) {
        while let Some(index) = self.stale.pop() {
            self.coast_forward(index as usize);
        }
    }

    fn coast_forward(&mut self, index: usize) {
        let (id, mut place) = (LpId(self.ids.start + index as u32), self.kps[index >> self.kp_shift].last);
        let mut again = Vec::new();
        loop {
            assert!(self.history.holds(place), "there is a copy of the state of {id} before every event that may be undone");
            let record = self.history.get(place);
            if self.buffers.get(record.event).receiver == id {
                again.push(record.event);
                if let Some(state) = &record.state {
                    self.lps[index].state = state.clone();
                    break;
                }
            }
            place = record.before;
        }
        let lp = &mut self.lps[index];
        let mut number = lp.events - again.len() as u64;
        for handle in again.into_iter().rev() {
            number += 1;
            let event = self.buffers.get(handle);
            self.context.begin(id, number, event.time, event.step);
            self.model.handle(&mut lp.state, &event.payload, &mut self.context);
            self.context.forget();
        }
        self.copies.soon(index);
    }

    /// Holds back a panic of the model.
    #[cold]
    fn hold_panicked(&mut self, panic: Box<dyn Any + Send>) {
        // Without an event at hand, it was the engine that panicked.
        let Some(entry) = self.running.take() else { resume_unwind(panic) };
        // What the code did wrong before it panicked comes first.
        let fault = self.context.take_fault().unwrap_or_else(|| Fault::Panic(panic_message(panic)));
        self.hold(entry, fault);
    }

    #[cold]
    fn hold_failed(&mut self, entry: Entry, number: u64) {
        let many = || Fault::TooManyEvents { limit: Sequence::EVENT_LIMIT };
        let fault = if number >= Sequence::EVENT_LIMIT { many() } else { self.context.take_fault().unwrap_or_else(many) };
        self.hold(entry, fault);
    }

    /// Holds back an event that failed. Unless it is certain to happen, and to happen like this, what it did is undone.
    fn hold(&mut self, entry: Entry, fault: Fault) {
        self.context.forget();
        let certain = entry.time() < self.horizon;
        // If it cannot be taken back, it was cancelled meanwhile, and an anti-message is on its way.
        if certain || self.take_back(entry.handle()) {
            let key = self.buffers.get(entry.handle()).key();
            self.held.push(Held { entry, key, fault, certain });
        }
    }

    /// Undoes what an event did that failed half-way. Returns whether it is pending again.
    fn take_back(&mut self, handle: Handle) -> bool {
        self.counts.held_back += 1;
        let index = self.index_of(handle);
        // Unless it was the copy of the state that panicked.
        if self.history.last().is_some_and(|record| record.event == handle && record.fate == Fate::Open) {
            match self.history.pop().and_then(|record| record.state) {
                Some(state) => self.lps[index].state = state,
                None => {
                    self.stale.push(index as u32);
                    self.refresh();
                }
            }
            self.copies.soon(index);
        }
        self.buffers.undo(handle)
    }

    /// Whether the first pending event, which was taken out, must wait for one that is held back. What is held back is tried again
    /// after anything that comes before it.
    #[cold]
    fn waits(&mut self, entry: Entry) -> bool {
        let key = self.buffers.get(entry.handle()).key();
        let waits = self.held.iter().any(|held| self.ties.compare(&held.key, &key).is_lt());
        if waits {
            self.pending.push(entry, &Keys { buffers: &self.buffers, ties: self.ties });
        } else {
            self.release_held();
        }
        waits
    }

    /// Lets go of what was held back, if any of it has been cancelled.
    fn retry_held(&mut self) {
        if self.held.iter().any(|held| self.buffers.is_cancelled(held.event())) {
            self.release_held();
        }
    }

    /// What was held back and may still come otherwise is to be tried again.
    pub(crate) fn release_held(&mut self) {
        for held in self.held.extract_if(.., |held| !held.certain) {
            self.pending.push(held.entry, &Keys { buffers: &self.buffers, ties: self.ties });
        }
    }

    /// Drops a cancelled event.
    pub(crate) fn annihilate(&mut self, handle: Handle) {
        self.buffers.release(handle);
        self.counts.annihilated += 1;
    }

    pub(crate) fn index_of(&self, handle: Handle) -> usize {
        (self.buffers.get(handle).receiver.0 - self.ids.start) as usize
    }
}
