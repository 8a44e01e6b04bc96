//! What a new GVT or horizon brings: events commit, their memory is reclaimed (fossil collection),
//! mistakes become errors. These are the duties of the global control mechanism in D. Jefferson,
//! "Virtual time", ACM TOPLAS 7(3), 1985; how GVT is found, see [`crate::gvt`].
//!
//! *Exactly what is certain commits*, whatever the order of execution. KPs run ahead of each other,
//! so the history is not sorted; it is scanned up to the place from which it is known to be in
//! order. Events of an LP commit in its order all the same: before the safe lane executes an event
//! of a KP that has gone ahead, what came before it there commits (`close_kp_before`).
//!
//! *Payloads are kept after commit* where states are not copied before every event, as events may
//! have to be executed again. A panic on dropping one is then found late, and reported for the same
//! event. When a run fails, all PEs first drop what they have kept, so that the earliest failure
//! counts.

use std::any::Any;
use std::panic::resume_unwind;

use warpline_base::{EventKey, LpId, Moment, VirtualTime};
use warpline_memory::{MakeRoom, catch_panic, try_drop};
use warpline_model::Fault;

use super::Pe;
use crate::agenda::fetch::fetch_payload;
use crate::agenda::pending::Entry;
use crate::faults::failure::{CommittedFault, FailedEvent, drop_fault, event_text};
use crate::faults::panics::panic_message;
use crate::faults::{Blamed, DeferredFault, ExecutedEvent};
use crate::gauge::phases::Phase;
use crate::past::{Fate, Past, Record, RecordStatus, SideRecordId, StateBefore};
use crate::pe::types::{EventOf, PeTypes, StateOf};
use crate::tuning::Messages;

/// How many events ahead the memory of an event is fetched.
const COMMIT_AHEAD: u64 = 8;
/// The same for the bytes that it carries. The event itself must have arrived by then.
const PAYLOAD_AHEAD: u64 = 4;

impl<T: PeTypes> Pe<'_, T> {
    /// Raises the horizon, as all that had arrived when bounds were read has been filed, and
    /// commits what has become certain: at once if there is nothing else to do, and otherwise when
    /// it is worth it.
    pub(super) fn commit_if_horizon_moved(&mut self, executed: u32) {
        if self.world.tuning().lanes.has_safe() {
            self.frontier.raise_horizon();
            if self.past.has_open()
                && self.lps.all_initialised()
                && (executed == 0 || self.past.is_worth_a_commit())
            {
                let timed = self.gauge.begin_commit();
                self.commit_certain_and_before(Moment::Init(LpId(0)));
                self.gauge.end_commit(timed);
            }
        }
        self.gauge.lap(Phase::Receive);
    }

    /// Commits all events before `gvt`, and those before the horizon that nothing pending here
    /// comes before, whatever the order in which they were executed; and reclaims their memory.
    pub(super) fn commit_on_gvt(&mut self, gvt: Moment) {
        let timed = self.gauge.begin_commit();
        self.raise(gvt);
        self.commit_certain_and_before(gvt);
        // Once nothing is left to execute, nobody needs free buffers any more.
        if gvt != Moment::Never {
            self.return_surplus();
        }
        self.gauge.end_commit(timed);
    }

    fn commit_certain_and_before(&mut self, gvt: Moment) {
        assert!(!self.past.has_cancelled(), "what was cancelled is undone before anything commits");
        let horizon = self.frontier.horizon();
        let due = match gvt {
            Moment::Init(_) => VirtualTime::ZERO,
            _ => self.frontier.due(),
        };
        // With little or no lookahead, it is GVT that says what is certain.
        let beyond = horizon >= due || gvt == Moment::Never;
        loop {
            // A fault found on the way lowers the limit, and what is left is looked through again.
            let least = self.least();
            let limit = if beyond { least } else { least.earlier(gvt, self.world.ties()) };
            let limit = limit.earlier(self.faults.failure_moment(), self.world.ties());
            let until = due.max(horizon);
            match catch_panic(|| self.commit_all_before(limit, until)) {
                Ok(Ok(())) => {
                    self.past.commit_done(limit.time(self.world.end()).min(horizon));
                    break;
                }
                Ok(Err((entry, fault))) => self.fail(entry, fault),
                Err(panic) => self.fail_panicked(panic),
            }
        }
        self.collect_fossils();
    }

    /// Commits what a KP has executed ahead, in order: all of it, as what comes next in the KP is
    /// certain.
    pub(super) fn commit_kp(&mut self, k: usize) {
        let mut places = Vec::new();
        for place in self.past.open_of(k) {
            places.make_room(1, "events that commit");
            places.push(place);
        }
        for place in places.into_iter().rev() {
            match catch_panic(|| {
                self.commit_record::<true>(place, &Moment::Never, self.world.end())
            }) {
                Ok(Ok(_)) => {}
                Ok(Err((entry, fault))) => return self.fail(entry, fault),
                Err(panic) => return self.fail_panicked(panic),
            }
        }
    }

    /// Reclaims the memory of committed events, except for those whose copies may still be needed.
    pub(super) fn collect_fossils(&mut self) {
        self.collect(Past::reclaim);
    }

    /// The same for all of them, when the run is over.
    pub(super) fn collect_fossils_at_end(&mut self) {
        self.collect(Past::reclaim_at_end);
    }

    fn collect(
        &mut self,
        next: impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        if self.past.keeps_committed() {
            self.release_committed(next);
        } else {
            self.past.reclaim_closed();
        }
        self.agenda.tidy(self.past.first());
    }

    /// Drops what is left of committed events when the run has failed: one of them may fail over
    /// that, and come before.
    pub(super) fn release_all(&mut self) {
        if self.past.keeps_committed() {
            self.release_committed(Past::take_first);
        }
    }

    fn release_committed(
        &mut self,
        mut next: impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        // Panics are caught once for many events.
        while let Err(panic) = catch_panic(|| self.release_each(&mut next)) {
            self.fail_panicked(panic);
        }
    }

    fn release_each(
        &mut self,
        next: &mut impl FnMut(&mut Past<StateOf<T>, EventOf<T>>) -> Option<Record<StateOf<T>>>,
    ) {
        while let Some(Record { event, fate, state, .. }) = next(&mut self.past) {
            if let StateBefore::Copied(state) = state {
                // A copy of a state is the engine's doing: no run depends on how it is dropped.
                _ = try_drop(state);
            }
            if fate == Fate::Committed {
                self.drop_payload(event, |agenda| agenda.release_executed(event));
            }
        }
    }

    /// Commits what comes before both `limit` and `end`.
    fn commit_all_before(&mut self, limit: Moment, end: VirtualTime) -> Result<(), (Entry, Fault)> {
        if self.gauge.is_traced() {
            self.commit_traced(limit, end)
        } else {
            self.commit_before::<false>(limit, end)
        }
    }

    #[cold]
    #[inline(never)]
    fn commit_traced(&mut self, limit: Moment, end: VirtualTime) -> Result<(), (Entry, Fault)> {
        self.commit_before::<true>(limit, end)
    }

    #[inline]
    fn commit_before<const TRACED: bool>(
        &mut self,
        limit: Moment,
        end: VirtualTime,
    ) -> Result<(), (Entry, Fault)> {
        let mut scan = self.past.scan(limit.time(self.world.end()).min(end));
        while let Some(place) = self.past.next(&mut scan) {
            if let Some(coming) = self.past.event_at(place + COMMIT_AHEAD) {
                self.agenda.prefetch(coming);
            }
            if let Some(coming) = self.past.open_event_at(place + PAYLOAD_AHEAD) {
                fetch_payload::<T::Model>(&self.agenda.event(coming).payload);
            }
            match self.commit_record::<TRACED>(place, &limit, end)? {
                RecordStatus::Closed => scan.close(place),
                RecordStatus::Open if self.past.is_in_order_from(place) => break,
                RecordStatus::Open => {}
            }
        }
        self.past.end_scan(&scan);
        Ok(())
    }

    /// Commits the event whose record is at `place`, if it is open and comes before both `limit`
    /// and `end`.
    #[inline(always)]
    fn commit_record<const TRACED: bool>(
        &mut self,
        place: u64,
        limit: &Moment,
        end: VirtualTime,
    ) -> Result<RecordStatus, (Entry, Fault)> {
        let begun = self.past.begin_commit(place, |handle| {
            let event = self.agenda.event(handle);
            let key = event.key();
            (key.time < end && Moment::Event(key).is_before(limit, self.world.ties()))
                .then_some((handle, key, event))
        });
        let ((handle, key, event), extra) = match begun {
            Ok(begun) => begun,
            Err(status) => return Ok(status),
        };
        let (id, at) = (event.receiver, Moment::Event(key));
        self.executor.visit(id, key.time);
        let entry = Entry::new(key.time, 0, handle);
        self.faults.begin_running(entry);
        self.executor.commit(self.world.model(), &event.payload);
        self.faults.end_running();
        if extra.is_figures() {
            let figures = self.past.figures(extra, self.executor.notes());
            self.effects.observe_figures(figures, id, key.time).map_err(|fault| (entry, fault))?;
            self.past.forget(extra);
        } else if extra != SideRecordId::NONE {
            self.apply_extra(extra, at, id, key.time).map_err(|fault| (entry, fault))?;
        }
        if !self.executor.notes().is_empty() {
            self.effects
                .observe(self.executor.notes_mut(), at, id, key.time)
                .map_err(|fault| (entry, fault))?;
        }
        self.past.end_commit(place);
        if !self.past.keeps_committed() {
            self.drop_payload(handle, |agenda| agenda.release_executed(handle));
        }
        self.effects.committed(key);
        self.gauge.committed::<TRACED>(id, &key, !self.lps.contain(key.sender));
        Ok(RecordStatus::Closed)
    }

    /// Applies what the event of a side record, which commits, had observed.
    #[inline(never)]
    fn apply_extra(
        &mut self,
        extra: SideRecordId,
        at: Moment,
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        let Pe { past, effects, executor, mail, world, .. } = self;
        if world.tuning().messages == Messages::Copy {
            past.copies_of_sent(extra).for_each(|copy| mail.drop_copy(copy));
        }
        if let Some(notes) = past.notes(extra) {
            effects.observe(notes, at, lp, time)?;
        }
        effects.observe_figures(past.figures(extra, executor.notes()), lp, time)?;
        past.forget(extra);
        Ok(())
    }

    /// What was held back and turns out to happen becomes a failure.
    fn raise(&mut self, gvt: Moment) {
        let next = self.lps.next();
        if gvt == Moment::Init(next) {
            self.faults.raise_init(next);
        }
        while let Some(held) = self
            .faults
            .take_held_at(&gvt, self.world.ties(), |event| self.agenda.is_cancelled(event))
        {
            self.fail_held(held);
        }
        self.faults.raise_unreadable(&gvt, self.world.end(), self.world.ties());
        if gvt == Moment::Never {
            // No event is left that these faults could be held for.
            for (index, fault) in self.faults.take_lost() {
                let (lp, time) = (self.lps.id(index), self.world.end());
                self.faults.fail(
                    CommittedFault { moment: Moment::Finish(lp), lp, time, event: None, fault },
                    self.world.ties(),
                );
            }
        }
    }

    fn fail_panicked(&mut self, panic: Box<dyn Any + Send>) {
        match self.faults.take_blamed() {
            Some(Blamed::Running(entry)) => self.fail(entry, Fault::Panic(panic_message(panic))),
            Some(Blamed::Dropped(over)) => self.fail_dropped(over, panic),
            // It was the engine that panicked.
            None => resume_unwind(panic),
        }
    }

    /// Notes that the payload of an event that is over panicked when it was dropped.
    #[cold]
    pub(super) fn fail_dropped(
        &mut self,
        ExecutedEvent { key, lp }: ExecutedEvent,
        panic: Box<dyn Any + Send>,
    ) {
        self.executor.forget();
        self.fail_held(DeferredFault {
            key,
            lp,
            entry: None,
            fault: drop_fault(panic),
            certain: true,
        });
    }

    fn fail(&mut self, entry: Entry, fault: Fault) {
        // What the model observed on commit goes with the fault.
        self.executor.forget();
        let event = self.agenda.event(entry.handle());
        let (key, lp) = (event.key(), event.receiver);
        self.fail_held(DeferredFault { key, lp, entry: Some(entry), fault, certain: true });
    }

    /// Which event of its LP an event is that has failed, counted from 1. Of its LP, nothing but
    /// later events may be open beside it.
    fn number_of(&self, key: &EventKey, lp: LpId) -> u64 {
        let this = Moment::Event(*key);
        let open = self.past.open_events().map(|handle| self.agenda.event(handle));
        let undone = open
            .filter(|event| {
                event.receiver == lp
                    && !Moment::Event(event.key()).is_before(&this, self.world.ties())
            })
            .count();
        self.lps.get(self.lps.index(lp)).events - undone as u64 + 1
    }

    /// Notes a fault that is certain: it is a failure if GVT has reached it, of which only the
    /// earliest counts, and held back otherwise, as there may be earlier ones elsewhere. When the
    /// run is over, all that has committed came before any failure.
    fn fail_held(&mut self, held: DeferredFault) {
        let moment = Moment::Event(held.key);
        if self.frontier.over().is_none()
            && self.frontier.gvt().is_before(&moment, self.world.ties())
        {
            return self.faults.hold(held);
        }
        let DeferredFault { key, lp, entry, fault, .. } = held;
        let event = entry.map_or_else(FailedEvent::dropped, |entry| FailedEvent {
            number: Some(self.number_of(&key, lp)),
            payload: event_text(&self.agenda.event(entry.handle()).payload),
        });
        self.faults.fail(
            CommittedFault { moment, lp, time: key.time, event: Some(event), fault },
            self.world.ties(),
        );
    }
}
