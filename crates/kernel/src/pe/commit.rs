//! What a new GVT or horizon brings: events commit. This and fossil collection are the duties of
//! the global control mechanism in D. Jefferson, "Virtual time", ACM TOPLAS 7(3), 1985; how GVT is
//! found, see [`crate::gvt`].
//!
//! *Exactly what is certain commits*, in whatever order it was executed. KPs run ahead of each
//! other, so the history is not sorted; it is scanned up to the place from which it is known to be
//! in order. The events of an LP commit in order all the same: before the safe lane executes an
//! event of a KP that has gone ahead, all earlier events of that KP commit (`close_kp_before`).

use warpline_base::{LpId, Moment, VirtualTime};
use warpline_memory::{MakeRoom, catch_panic};
use warpline_model::Fault;

use super::Pe;
use crate::agenda::fetch::fetch_payload;
use crate::agenda::pending::Entry;
use crate::gauge::phases::Phase;
use crate::past::{RecordStatus, SideRecordId};
use crate::pe::types::PeTypes;
use crate::tuning::Messages;

/// How many places ahead of the commit events are prefetched.
const COMMIT_AHEAD: u64 = 8;
/// The same for payloads. The event itself must be in the cache by then.
const PAYLOAD_AHEAD: u64 = 4;

/// An event that failed when it committed, and its fault.
type FailedCommit = (Entry, Fault);

impl<T: PeTypes> Pe<'_, T> {
    /// Raises the horizon, now that everything that had arrived when the bounds were read is filed,
    /// and commits what that makes certain: at once if the PE had nothing to execute, and otherwise
    /// when enough has been executed to be worth it.
    pub(super) fn raise_horizon(&mut self, executed: u32) {
        if self.world.tuning().lanes.has_safe() {
            self.frontier.raise_horizon();
            if self.past.has_open()
                && self.lps.all_initialised()
                && (executed == 0 || self.past.is_worth_a_commit())
            {
                let timed = self.gauge.begin_commit();
                self.commit_certain(None);
                self.gauge.end_commit(timed);
            }
        }
        self.gauge.lap(Phase::Receive);
    }

    /// Raises the faults that `gvt` has reached, and commits what it makes certain.
    pub(super) fn commit_on_gvt(&mut self, gvt: Moment) {
        let timed = self.gauge.begin_commit();
        self.raise_faults(gvt);
        self.commit_certain(Some(gvt));
        // When nothing is left to execute, nobody needs free buffers.
        if gvt != Moment::Never {
            self.return_surplus();
        }
        self.gauge.end_commit(timed);
    }

    /// Commits all events before `gvt`, if a new one has been found, and those before both the
    /// horizon and everything pending here, in whatever order they were executed. Reclaims their
    /// memory.
    fn commit_certain(&mut self, gvt: Option<Moment>) {
        assert!(!self.past.has_cancelled(), "what was cancelled is undone before anything commits");
        let horizon = self.frontier.horizon();
        let due = match gvt {
            None | Some(Moment::Init(_)) => VirtualTime::ZERO,
            Some(_) => self.frontier.due(),
        };
        let until = due.max(horizon);
        // With little or no lookahead, GVT alone says what is certain.
        let bound = gvt.filter(|gvt| horizon < due && *gvt != Moment::Never);
        loop {
            // A fault found at a commit lowers the limit, and the rest is scanned again.
            let ties = self.world.ties();
            let least = self.least().earlier(bound.unwrap_or(Moment::Never), ties);
            let limit = least.earlier(self.faults.failure_moment(), ties);
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
        self.sweep_stopped();
    }

    /// Commits everything that a KP has executed ahead, in order: its next event is certain, and so
    /// are these.
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

    /// Commits the events that come before both `limit` and `end`.
    fn commit_all_before(&mut self, limit: Moment, end: VirtualTime) -> Result<(), FailedCommit> {
        if self.gauge.is_traced() {
            self.commit_traced(limit, end)
        } else {
            self.commit_before::<false>(limit, end)
        }
    }

    #[cold]
    #[inline(never)]
    fn commit_traced(&mut self, limit: Moment, end: VirtualTime) -> Result<(), FailedCommit> {
        self.commit_before::<true>(limit, end)
    }

    #[inline]
    fn commit_before<const TRACED: bool>(
        &mut self,
        limit: Moment,
        end: VirtualTime,
    ) -> Result<(), FailedCommit> {
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
    ) -> Result<RecordStatus, FailedCommit> {
        let begun = self.past.begin_commit(place, |handle| {
            let event = self.agenda.event(handle);
            let key = event.key();
            (key.time < end && Moment::Event(key).is_before(limit, self.world.ties()))
                .then_some((handle, key, event))
        });
        let ((handle, key, event), side_record) = match begun {
            Ok(begun) => begun,
            Err(status) => return Ok(status),
        };
        let id = event.receiver;
        let at = Moment::Event(key);
        self.executor.visit(id, key.time);
        let entry = Entry::new(key.time, 0, handle);
        self.faults.begin_running(entry);
        self.executor.commit(self.world.model(), &event.payload);
        self.faults.end_running();
        if side_record.is_figures() {
            let figures = self.past.figures(side_record, self.executor.observations());
            self.effects.observe_figures(figures, id, key.time).map_err(|fault| (entry, fault))?;
            self.past.forget(side_record);
        } else if side_record != SideRecordId::NONE {
            self.apply_side_record(side_record, at, id, key.time)
                .map_err(|fault| (entry, fault))?;
        }
        if !self.executor.observations().is_empty() {
            self.effects
                .observe(self.executor.observations_mut(), at, id, key.time)
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

    /// Applies what an event that commits has observed, from its side record.
    #[inline(never)]
    fn apply_side_record(
        &mut self,
        side_record: SideRecordId,
        at: Moment,
        lp: LpId,
        time: VirtualTime,
    ) -> Result<(), Fault> {
        let Pe { past, effects, executor, mail, world, agenda, gauge, .. } = self;
        if world.tuning().messages == Messages::Copy {
            past.copies_of_sent(side_record).for_each(|copy| mail.drop_copy(copy));
        }
        if let Some(observations) = past.observations(side_record) {
            effects.observe(observations, at, lp, time)?;
        }
        effects.observe_figures(past.figures(side_record, executor.observations()), lp, time)?;
        for (_, timer) in past.take_cancelled_timers(side_record) {
            gauge.annihilated(u64::from(agenda.stop_for_good(timer)));
        }
        past.forget(side_record);
        Ok(())
    }
}
