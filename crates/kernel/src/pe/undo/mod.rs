//! Undoing events that were executed too early, and cancelling what they sent: at once (aggressive
//! cancellation) or [later](self::lazily).
//!
//! Rollback and anti-messages are those of D. Jefferson, "Virtual time", ACM TOPLAS 7(3), 1985.
//! Cancelling a message in the one copy that sender and receiver share is direct cancellation: R.
//! Fujimoto, "Time Warp on a shared memory multiprocessor", Trans. Society for Computer Simulation
//! 6(3), 1989. Reverse code: C. Carothers, K. Perumalla and R. Fujimoto, "Efficient optimistic
//! parallel simulations using reverse computation", ACM TOMACS 9(3), 1999. A log of changes, undone
//! last first: incremental state saving, as in J. Steinman, "Incremental state saving in SPEEDES
//! using C++", WSC 1993.
//!
//! The record of an event leads to what it sent, and most messages that are cancelled have not been
//! processed. Anti-messages are needed only for messages that another PE has processed, and for
//! those sent by value. An anti-message carries the handle of the message, so nothing is searched;
//! only messages by value are looked up (`Identity`).

mod for_memory;
mod lazily;

use warpline_base::{EventKey, Moment, VirtualTime};
use warpline_memory::{CancelOutcome, Handle, catch_panic};

use super::Pe;
use crate::Undoing;
use crate::agenda::store::OptionalHandle;
use crate::faults::failure::{journal_fault, journal_panic};
use crate::gauge::phases::Phase;
use crate::gvt::Gvt;
use crate::mail::SentByValue;
use crate::mail::wires::MessageKind;
use crate::past::{SideRecordId, StateBefore, Undone};
use crate::pe::types::{PeTypes, StateOf};

/// How far a KP rolls back.
#[derive(Clone, Copy)]
pub(in crate::pe) enum Until<'a> {
    /// Every event after this key is undone.
    After(&'a EventKey),
    /// This event is the last to be undone.
    With(Handle),
    /// Every event from this time on is undone.
    From(VirtualTime),
}

impl<T: PeTypes> Pe<'_, T> {
    /// Rolls a KP back if the event of `key`, which is about to be executed, is a straggler: it
    /// comes before what the KP has executed already. This is not done on receipt, as many
    /// stragglers are cancelled before their turn comes.
    #[cold]
    pub(in crate::pe) fn roll_back_if_straggler(&mut self, k: usize, key: &EventKey) {
        if let Some(last) = self.past.last_open(k)
            && self.world.ties().compare(key, &self.key_at(last)).is_lt()
        {
            self.gauge.count(|counts| counts.primary += 1);
            let timed = self.gauge.begin_rollback(Phase::Execute);
            self.roll_back(k, Until::After(key));
            self.undo_cancelled();
            self.gauge.end_rollback(timed, true);
        }
    }

    /// Undoes processed events that were cancelled, and everything after them in their KPs, until
    /// that cancels no more processed events.
    pub(in crate::pe) fn undo_cancelled(&mut self) {
        while let Some(handle) = self.past.take_cancelled() {
            // It may have been undone already, with others of its KP.
            if !self.agenda.is_undone(handle) {
                self.gauge.count(|counts| counts.secondary += 1);
                let k = self.past.kp_of(self.index_of(handle));
                self.roll_back(k, Until::With(handle));
                assert!(
                    self.agenda.is_undone(handle),
                    "a processed event is in the history of its KP"
                );
            }
            self.annihilate(handle);
        }
    }

    /// Undoes a processed event that an anti-message has cancelled.
    pub(in crate::pe) fn undo_received(&mut self, handle: Handle) {
        self.retry_deferred();
        self.past.cancel(handle);
        let timed = self.gauge.begin_rollback(Phase::Receive);
        self.undo_cancelled();
        self.gauge.end_rollback(timed, false);
    }

    /// Undoes everything that can still be undone.
    #[cold]
    pub(in crate::pe) fn make_room(&mut self) {
        self.undo_from(self.frontier.horizon());
        self.collect_fossils();
    }

    /// Undoes every event from a time on.
    pub(in crate::pe) fn undo_from(&mut self, time: VirtualTime) {
        self.retry_deferred();
        let timed = self.gauge.begin_rollback(Phase::Gvt);
        (0..self.past.kps()).for_each(|k| self.roll_back(k, Until::From(time)));
        self.cancel_sent_before(time);
        self.undo_cancelled();
        self.gauge.end_rollback(timed, false);
        self.past.undone_from(time);
    }

    /// The key of the event whose record is at `place`.
    pub(in crate::pe) fn key_at(&self, place: u64) -> EventKey {
        self.agenda.event(self.past.event(place)).key()
    }

    /// Undoes events of a KP, the last first.
    pub(in crate::pe) fn roll_back(&mut self, k: usize, until: Until<'_>) {
        self.past.begin_rollback();
        let before = self.gauge.counts().rolled_back;
        while let Some(place) = self.past.last_open(k) {
            let event = self.past.event(place);
            let stays = match until {
                Until::After(key) => self.world.ties().compare(&self.key_at(place), key).is_le(),
                Until::From(time) => self.key_at(place).time < time,
                Until::With(_) => false,
            };
            if stays {
                break;
            }
            self.undo(k, place, !matches!(until, Until::From(_)));
            if matches!(until, Until::With(last) if last == event) {
                break;
            }
        }
        let time = self.past.last_open(k).map(|last| self.key_at(last).time);
        self.past.rolled_back_to(k, time);
        self.refresh();
        self.past.end_rollback();
        self.gauge.count(|counts| counts.rollback(counts.rolled_back - before));
    }

    /// Undoes the last event of a KP. What it had sent is cancelled, or kept if `may_keep` allows
    /// it and keeping pays.
    fn undo(&mut self, k: usize, place: u64, may_keep: bool) {
        let Undone { event, sent, digest, side_record, state } = self.past.undo_last(k, place);
        let index = self.index_of(event);
        match state {
            StateBefore::Logged(_) => self.undo_changes(index, place),
            StateBefore::Copied(state) => self.restore(index, state),
            StateBefore::WorkedOut => self.reverse_or_work_out(event, index, side_record),
        }
        let lp = self.lps.get_mut(index);
        lp.events -= 1;
        lp.digest = digest;
        self.past.copy_soon(index);
        let is_pending = self.agenda.undo_recorded(event, place);
        if is_pending {
            self.agenda.push_event(event);
        }
        if self.executor.timers().of(index).is_some() {
            self.undo_timers(index, event, side_record, is_pending);
        }
        if is_pending && may_keep && self.past.keeps_sent(side_record) {
            self.keep_sent(index, event, sent, side_record);
        } else {
            self.cancel_sent(event, sent, side_record);
        }
        self.gauge.undone(|| self.lps.role(self.lps.id(index)));
    }

    /// Restores the state of an LP from the copy before an event.
    fn restore(&mut self, index: usize, state: StateOf<T>) {
        self.faults.find_again(index);
        self.lps.get_mut(index).bring_back(state);
        self.past.set_fresh(index);
    }

    /// Restores the state that an LP had before an event by reverse code, or notes that it has yet
    /// to be worked out from an earlier copy.
    fn reverse_or_work_out(&mut self, event: Handle, index: usize, side_record: SideRecordId) {
        // If a copy could not be used, an earlier one may be good.
        let was_lost = self.faults.find_again(index);
        // Reverse code needs the state after the event, which a stale LP does not have.
        if was_lost || !self.past.is_stale(index) && !self.reverse(event, index, side_record) {
            self.past.set_stale(index);
        }
    }

    /// Undoes what the event of the record at `place` has changed.
    fn undo_changes(&mut self, index: usize, place: u64) {
        self.past.read_changes(place, self.executor.logged_mut());
        self.undo_logged(index);
    }

    /// Undoes the changes that the context has logged, on the state of an LP. If that fails, the LP
    /// is lost, as there is no copy of its state.
    pub(in crate::pe) fn undo_logged(&mut self, index: usize) {
        if !self.faults.are_none() && self.faults.lost(index).is_some() {
            return self.executor.forget();
        }
        let state = &mut self.lps.get_mut(index).state;
        match catch_panic(|| self.executor.undo_logged(state)) {
            Ok(true) => {}
            Ok(false) => self.faults.lose(index, journal_fault()),
            Err(panic) => {
                self.executor.forget();
                self.faults.lose(index, journal_panic(panic));
            }
        }
    }

    /// Runs the model's reverse code, if that is how events are undone. Returns whether it
    /// succeeded.
    fn reverse(&mut self, event: Handle, index: usize, side_record: SideRecordId) -> bool {
        if self.world.tuning().undoing != Undoing::Reverse {
            return false;
        }
        let event = self.agenda.event(event);
        let lp = self.lps.get_mut(index);
        self.executor.begin(event.receiver, lp.events, event.time, event.step);
        self.past.take_saved(side_record, self.executor.saved_mut());
        let outcome = catch_panic(|| {
            self.executor.reverse(self.world.model(), &mut lp.state, &event.payload)
        });
        let good = outcome.is_ok() && !self.executor.has_fault();
        self.executor.forget();
        good
    }

    /// Cancels everything that an undone event had sent.
    fn cancel_sent(&mut self, undone: Handle, mut sent: OptionalHandle, side_record: SideRecordId) {
        while let Some(message) = sent.handle() {
            // Read the link first, as the buffer may be reused once the message is cancelled.
            sent = self.agenda.next(message);
            self.cancel(message, undone);
        }
        self.cancel_values(side_record, undone);
        self.cancel_copied(side_record, undone);
        self.past.forget(side_record);
    }

    /// Cancels a message that an undone event had sent. If it has not been processed, this happens
    /// in place.
    pub(in crate::pe) fn cancel(&mut self, message: Handle, undone: Handle) {
        let receiver = self.agenda.receiver(message);
        match self.agenda.cancel(message) {
            CancelOutcome::Pending => self.gauge.count(|counts| counts.cancelled_in_place += 1),
            CancelOutcome::Processed => match receiver {
                None => self.past.cancel(message),
                Some((to, buffer)) => {
                    // This PE may not read the message any more, but it comes after the event that
                    // sent it.
                    let tag = self.gvt.sent(to, || Moment::Event(self.agenda.event(undone).key()));
                    self.mail.send(to, buffer, MessageKind::Anti, tag);
                    self.gauge.anti_sent();
                }
            },
        }
    }

    /// Cancels what an undone event had sent by value. For GVT, an anti-message counts at the event
    /// that sent the message, so nothing that is pending at GVT will be cancelled.
    pub(in crate::pe) fn cancel_values(&mut self, side_record: SideRecordId, undone: Handle) {
        for sent in self.past.take_sent_by_value(side_record) {
            let at = Moment::Event(self.agenda.event(undone).key());
            self.mail.send_value_anti(&sent, at, &mut self.gvt);
            self.mail.drop_copy(sent.copy);
            self.gauge.anti_sent();
        }
    }

    /// The same for one message, of which no copy is kept.
    pub(in crate::pe) fn cancel_value(&mut self, sent: &SentByValue, undone: Handle) {
        let at = Moment::Event(self.agenda.event(undone).key());
        self.mail.send_value_anti(sent, at, &mut self.gvt);
        self.gauge.anti_sent();
    }
}
