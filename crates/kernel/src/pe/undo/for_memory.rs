//! How a PE keeps within the memory budget of its machine.
//!
//! Each PE counts the memory that it has taken, in use or free, and charges it to an account of the
//! budget, a number to which all PEs add (`warpline_memory::Budget`). The engine does not know what
//! states and events allocate themselves, so the memory of the process is sampled now and then, and
//! what is on no account is added. When less than an eighth of the budget is left, memory is short.
//! The rest is for events that are certain:
//!
//! - A PE executes ahead only if its lists have room, and asks for GVT otherwise. Free buffers go
//!   to a pool that all PEs share, as the PE that needs them may be another one than before. A list
//!   is not doubled if that would make memory short.
//! - If the next commit makes no room, the PE undoes the later half of what it has executed ahead
//!   (artificial rollback).
//! - If it has nothing left to undo, it sends pending events back to the PEs that sent them, which
//!   undo the events that had sent them (cancelback).
//! - If all PEs together have exceeded the budget, each undoes everything beyond GVT, drops what
//!   that cancels, and gives back what is not in use. The PEs then need as much as a sequential
//!   run, and their tables. Until that is done, they execute at most a batch for each GVT, and no
//!   PE goes more than a few batches ahead of GVT within its instant, which may have very many
//!   events.
//! - If even that does not help, verdict after verdict, the run ends with an error that says how
//!   much it needed.
//!
//! All of this happens when a GVT has just been adopted, as undoing more cannot then make wrong
//! what a PE has published. It only decides how far ahead PEs go, so no answer depends on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use warpline_base::{EventKey, LpId, Moment, Priority, Sequence, VirtualTime};
use warpline_memory::Handle;

use super::Until;
use crate::gauge::phases::Phase;
use crate::pe::Pe;
use crate::pe::types::PeTypes;

/// The most events that a PE sends back at a time.
const RETURNS_MOST: usize = 16;
/// When memory is short, a PE with so many uncommitted batches executes nothing that is due, unless
/// GVT waits for it: an instant may have very many events, and GVT goes through them by key.
const DUE_MOST: u64 = 4;
/// When the budget is exceeded, a PE with so many uncommitted batches undoes even what is due.
const DUE_FAR_TOO_MANY: u64 = 16;

impl<T: PeTypes> Pe<'_, T> {
    /// Charges the memory of this PE to its account, if there is a budget.
    #[inline]
    pub(in crate::pe) fn charge_memory(&mut self) {
        if self.memory.is_on() {
            self.account_memory();
        }
    }

    fn account_memory(&mut self) {
        let bytes = self.lps.bytes_held()
            + self.agenda.bytes_held()
            + self.past.bytes()
            + self.effects.bytes()
            + self.executor.timers().bytes()
            + self.mail.bytes();
        self.memory.settle(bytes);
        let taken = self.memory.taken();
        self.gauge.count(|counts| counts.memory_most = counts.memory_most.max(taken));
    }

    /// Whether a batch of events may be executed ahead. When memory is short, that must take no
    /// more of it; otherwise, no list may be doubled if that would make memory short.
    #[inline]
    pub(in crate::pe) fn affords_batch(&mut self) -> bool {
        if !self.memory.is_on() {
            return true;
        }
        let batch = self.world.tuning().batch as usize;
        let waits = if self.memory.is_short() {
            !self.past.has_room_for(batch) || !self.agenda.has_room_for(batch)
        } else {
            // Mostly nothing grows, which saves the division.
            let growth = self.past.growth(batch) as u64;
            growth > 0 && growth > self.memory.left() / u64::from(self.world.pes())
        };
        self.memory.set_waits(waits);
        self.gauge.count(|counts| counts.memory_stops += u64::from(waits));
        !waits
    }

    /// Whether certain events must wait, as the budget is exceeded, until a GVT has made all PEs
    /// give back what they can. A batch may be executed after each GVT.
    #[inline]
    pub(in crate::pe) fn waits_for_memory(&mut self) -> bool {
        self.memory.is_short() && self.memory.is_exceeded() && !self.memory.take_batch()
    }

    /// The time before which events may be executed although memory is short. These are the events
    /// that are due, so that GVT advances, and a batch for each GVT, which commits what precedes it
    /// in its instant.
    #[cold]
    pub(in crate::pe) fn limit_where_memory_is_short(&mut self) -> VirtualTime {
        let is_too_far = self.has_batches(DUE_MOST) && self.least() != self.frontier.gvt();
        if is_too_far || !self.memory.take_batch() {
            return VirtualTime::ZERO;
        }
        self.past.make_little_room(self.world.tuning().batch as usize);
        self.frontier.due().min(self.frontier.limit())
    }

    /// Keeps within the budget, after a GVT and the commit and fossil collection that follow it.
    /// Events are undone for memory only here.
    pub(in crate::pe) fn relieve_memory(&mut self, gvt: Moment) {
        // When nothing is left to execute, memory does not matter any more, and an event sent back
        // would arrive after GVT has passed everything.
        if self.memory.is_on() && gvt != Moment::Never && self.faults.failure().is_none() {
            self.keep_within_budget();
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_within_budget(&mut self) {
        self.mail.measure();
        self.account_memory();
        self.agenda.save_memory(self.memory.is_short());
        let waits = self.memory.take_waits();
        if self.memory.is_overdrawn() {
            self.undo_all_ahead();
            self.give_back_room();
        } else if waits && self.memory.is_short() && !self.affords_batch() {
            self.undo_later_half();
        }
        self.undo_returned();
        if self.memory.is_short() {
            self.cancel_sent_before(VirtualTime::ZERO);
            self.undo_what_was_sent();
        }
        self.drop_or_send_back(waits);
        self.account_memory();
        if let Err(why) = self.memory.judge() {
            why.unwind();
        }
    }

    /// Undoes everything that was executed beyond GVT's instant. What is due must be executed soon,
    /// so it is undone only if there is very much of it, or if the rest was not enough.
    fn undo_all_ahead(&mut self) {
        self.undo_executed_from(self.frontier.due().get());
        if self.has_batches(DUE_FAR_TOO_MANY)
            || self.memory.is_exceeded() && self.memory.was_exceeded()
        {
            self.undo_executed_from(self.frontier.gvt_time());
        }
    }

    /// Undoes the further half of what lies ahead of GVT. The nearer half would be executed again
    /// sooner.
    fn undo_later_half(&mut self) {
        let gvt = self.frontier.gvt_time();
        let latest = self.past.latest().get();
        self.undo_executed_from((gvt + (latest - gvt) / 2.0).max(self.frontier.due().get()));
    }

    /// Makes room in the pending set: sends events back if nothing else is left, and otherwise
    /// drops cancelled ones.
    fn drop_or_send_back(&mut self, waits: bool) {
        let undone = self.gauge.counts().rolled_back;
        if self.memory.should_send_back(waits && !self.past.has_open() && self.world.pes() > 1) {
            self.send_back();
        } else if self.memory.is_short() && (self.agenda.is_roomy() || self.memory.may_drop(undone))
        {
            self.memory.note_dropped(undone);
            self.gauge.annihilated(self.agenda.drop_cancelled(|_| {}));
        }
    }

    /// Whether so many batches of events have been executed and not committed.
    fn has_batches(&self, count: u64) -> bool {
        self.past.open_len() >= count * u64::from(self.world.tuning().batch)
    }

    /// Artificial rollback: undoes what was executed from a time on, which is at or after GVT, but
    /// nothing that is certain.
    fn undo_executed_from(&mut self, time: f64) {
        let time = VirtualTime::new(time).unwrap_or(self.world.end()).max(self.frontier.horizon());
        if self.past.has_open() && self.past.latest() >= time {
            let before = self.gauge.counts().rolled_back;
            self.undo_from(time);
            let undone = self.gauge.counts().rolled_back - before;
            self.gauge.count(|counts| {
                counts.artificial += u64::from(undone > 0);
                counts.artificial_events += undone;
            });
            self.collect_fossils();
        }
    }

    /// Undoes the events that sent what has come back, unless they have committed meanwhile.
    fn undo_returned(&mut self) {
        for (sender, sequence) in self.memory.take_returned() {
            let Some(handle) = self.open_event(sender, sequence.event()) else { continue };
            self.retry_deferred();
            let k = self.past.kp_of(self.lps.index(sender));
            let before = self.gauge.counts().rolled_back;
            let timed = self.gauge.begin_rollback(Phase::Gvt);
            self.roll_back(k, Until::With(handle));
            self.cancel_sent_before(VirtualTime::ZERO);
            self.undo_cancelled();
            self.gauge.end_rollback(timed, false);
            self.past.close_front();
            self.gauge.count(|counts| {
                counts.taken_back += 1;
                counts.artificial_events += counts.rolled_back - before;
            });
        }
    }

    /// The `number`-th event of an LP, if it may still be undone.
    fn open_event(&self, lp: LpId, number: u64) -> Option<Handle> {
        if !self.lps.contain(lp) {
            return None;
        }
        let index = self.lps.index(lp);
        let executed = self.lps.get(index).events;
        let events = self.past.open_of(self.past.kp_of(index)).map(|place| self.past.event(place));
        let mut events = events.filter(|event| self.agenda.event(*event).receiver == lp);
        events.nth(executed.checked_sub(number)? as usize)
    }

    /// Cancelback: sends the pending events of other PEs that lie furthest ahead back to their
    /// senders. Only these know whether the sending events can still be undone.
    fn send_back(&mut self) {
        let due = self.frontier.due().max(self.frontier.horizon());
        let mut furthest: BinaryHeap<Reverse<(VirtualTime, LpId, LpId, Sequence)>> =
            BinaryHeap::with_capacity(RETURNS_MOST + 1);
        let Pe { agenda, gauge, lps, .. } = self;
        let annihilated = agenda.drop_cancelled(|event| {
            if event.time > due && !lps.contain(event.sender) {
                furthest.push(Reverse((event.time, event.receiver, event.sender, event.sequence)));
                if furthest.len() > RETURNS_MOST {
                    furthest.pop();
                }
            }
        });
        gauge.annihilated(annihilated);
        for Reverse((time, receiver, sender, sequence)) in furthest {
            let key = EventKey { time, step: 0, priority: Priority::NORMAL, sender, sequence };
            self.mail.send_back(self.world.partition().pe(sender), receiver, key, &mut self.gvt);
            self.gauge.count(|counts| counts.sent_back += 1);
        }
    }

    fn give_back_room(&mut self) {
        self.agenda.give_back_room();
        self.past.give_back_room();
        self.effects.give_back_room();
        self.mail.give_back_room();
    }
}
