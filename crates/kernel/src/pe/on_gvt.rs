//! What all PEs must agree on: GVT, failures, the end. GVT algorithms query a PE through [`Local`].
//!
//! *How often GVT is asked for.* Without lookahead nothing commits but by GVT, so a PE asks after a
//! GVT interval of events, or when it has nothing to execute. With lookahead, events commit as
//! bounds rise. So a PE asks after 32 times as many events (`GVT_SELDOM`), or after one interval if
//! as many events are executed and uncommitted. It also asks when it has been idle while its
//! horizon has not moved (`Tuning::patience` steps), or, if its next event is so far away that
//! bounds would have to creep up to it, after an eighth as many idle steps. Where memory is short
//! or much was undone, it asks at once.

use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_model::Model;

use super::Pe;
use crate::Event;
use crate::agenda::Agenda;
use crate::agenda::pending::PendingSet;
use crate::faults::Faults;
use crate::gauge::Gauge;
use crate::gvt::{Action, AnyGvt, Gvt, Local, Verdict, Work};
use crate::lps::Lps;
use crate::mail::wires::Port;
use crate::pacing::locality::Locality;
use crate::past::Past;
use crate::step::Step;

/// Where bounds advance, events commit without GVT, and it is asked for this many times less often.
const GVT_SELDOM: u64 = 32;
/// An event is far away if it lies this many times the least delay beyond the horizon: bounds would have to creep up to it.
const FAR: f64 = 4.0;
/// The patience of a PE whose next event is far away is divided by this.
const FAR_PATIENCE: u32 = 8;
/// A PE that has undone so many events since it last told others asks for GVT, however long the interval: only then can windows get narrower.
const UNDONE_MOST: u64 = 1024;

impl<M: Model, Q: PendingSet, P: Port<M::Event>> Pe<'_, M, Q, P> {
    /// Hands over what was sent, and publishes how far this PE has come.
    pub(super) fn hand_over_and_publish(&mut self, executed: u32) {
        let all = self.mail.hand_over(&mut self.gvt);
        if !(all && self.world.tuning.lanes.has_safe() && self.lps.all_initialised()) {
            return;
        }
        if self.world.tuning.windows {
            return self.end_window_if_over(executed);
        }
        let first = self.first_time();
        let committed = self.past.committed_to(self.frontier.horizon());
        self.mail.publish(self.frontier.own_bound(first, committed));
        self.effects.forget_before(self.frontier.floor());
    }

    /// The time of the first thing that has yet to be done here.
    #[inline]
    pub(super) fn first_time(&mut self) -> VirtualTime {
        let end = self.world.end;
        let first = self.agenda.first_time().unwrap_or(end);
        if self.faults.are_none() { first } else { self.faults.first_time().unwrap_or(end).min(first) }
    }

    /// Does what there is to do for GVT, after a batch of `executed` events.
    pub(super) fn advance_gvt(&mut self, executed: u32) {
        if executed == 0 {
            (self.idle_steps, self.stuck_steps) = (self.idle_steps.saturating_add(1), self.stuck_steps.saturating_add(1));
            let waits = self.gvt.is_on();
            self.gauge.count(|counts| counts.waiting_steps += u64::from(waits));
        } else {
            (self.idle_steps, self.stuck_steps) = (0, 0);
        }
        if self.wants_gvt(executed) {
            self.gvt.wish();
        }
        self.take_part_in_gvt();
    }

    fn take_part_in_gvt(&mut self) {
        loop {
            let (gvt, mut view) = self.gvt_view();
            match gvt.advance(&mut view) {
                None => return self.interval.note_joined(self.gvt.epoch()),
                Some(Action::Send { to, control }) => self.mail.send_control(to, control),
                Some(Action::Write { to, put }) => self.mail.write(to, put),
                // At least one batch comes before the next computation, or a PE might never execute anything.
                Some(Action::Adopt(verdict)) => return self.adopt(verdict),
            }
        }
    }

    /// Whether to ask for a new GVT: after enough events, or because there is nothing else to do.
    fn wants_gvt(&mut self, executed: u32) -> bool {
        self.since_gvt += u64::from(executed);
        let undone = self.gauge.counts().rolled_back - self.frontier.reported.rolled_back;
        if self.interval.is_called(self.gvt.epoch())
            || self.memory_control.wants_gvt()
            || self.remembers_too_much()
            || undone >= UNDONE_MOST
        {
            return true;
        }
        let interval = self.interval.events();
        if !self.world.bounds_advance() {
            return executed == 0 || self.since_gvt >= interval;
        }
        if self.world.tuning.windows && self.frontier.floor() >= self.world.end {
            return true;
        }
        let (open, patience) = (self.past.open_len(), self.world.tuning.patience);
        self.stuck_steps >= patience
            || executed == 0 && self.is_parked()
            || self.needs_gvt()
            || self.idle_steps > patience / FAR_PATIENCE && self.is_far()
            || self.since_gvt >= interval.saturating_mul(GVT_SELDOM)
            || open >= interval && self.since_gvt >= interval
    }

    /// Whether memory is short, and only a new GVT lets the PE forget commits: bounds are times, and so keep those of the present instant.
    #[inline]
    fn remembers_too_much(&self) -> bool {
        self.memory_control.is_short() && self.effects.must_wait_for_others(true)
    }

    /// Whether it takes a new GVT for every event that waits here: it may be executed only when it is certain, and no horizon passes GVT.
    #[inline]
    fn needs_gvt(&self) -> bool {
        (!self.world.tuning.lanes.has_speculative() || self.agenda.has_aside()) && self.frontier.is_held_up()
    }

    /// Whether the next event here is the one at GVT, and no horizon will ever allow it.
    pub(super) fn is_at_gvt(&mut self) -> bool {
        let gvt = self.frontier.gvt();
        let waits = |faults: &Faults| !faults.are_none() && matches!(gvt, Moment::Event(key) if faults.waits(&key, self.world.ties));
        self.needs_gvt() && !waits(&self.faults) && self.least() == gvt
    }

    /// Whether bounds would have to creep up to this PE's next event.
    fn is_far(&mut self) -> bool {
        if self.world.tuning.windows {
            // The floor moves straight to the first event of all PEs.
            return false;
        }
        let next = self.agenda.first_time().unwrap_or(self.world.end).min(self.world.end);
        next.get() - self.frontier.horizon().get() > FAR * self.world.least_delay
    }

    /// The PE as GVT sees it.
    fn gvt_view(&mut self) -> (&mut AnyGvt, GvtView<'_, M::State, M::Event, Q>) {
        let view = GvtView {
            held_back: self.frontier.held_back_at(self.world.ties),
            next_lp: (!self.lps.all_initialised()).then(|| self.lps.next()),
            agenda: &mut self.agenda,
            past: &self.past,
            lps: &self.lps,
            faults: &self.faults,
            ties: self.world.ties,
            end: self.world.end,
            reported: &mut self.frontier.reported,
            contributed: &mut self.frontier.contributed,
            gauge: &mut self.gauge,
        };
        (&mut self.gvt, view)
    }

    /// The earliest moment of anything that has yet to be done here.
    pub(super) fn least(&mut self) -> Moment {
        self.gvt_view().1.earliest()
    }

    /// Drops cancelled events whose turn would come later, so that they do not pile up where much is undone. One for which messages are kept
    /// has yet to cancel them.
    #[cold]
    #[inline(never)]
    fn sweep_cancelled(&mut self) {
        let Pe { agenda, past, lps, gauge, .. } = self;
        let keeps = |event: &Event<M::Event>, handle| past.is_sent_before(lps.index(event.receiver), handle, event.time);
        gauge.annihilated(agenda.sweep_cancelled(keeps));
    }

    fn adopt(&mut self, verdict: Verdict) {
        self.gauge.on_gvt(&verdict);
        self.interval.adopt(&verdict);
        (self.since_gvt, self.idle_steps, self.stuck_steps) = (0, 0, 0);
        if !self.world.tuning.lanes.has_safe() {
            // A failure reported now was found in the last commit at the earliest.
            self.effects.forget_older();
        }
        let least_delay = if self.world.pes() == 1 { f64::INFINITY } else { self.world.least_delay };
        self.frontier.adopt(verdict, self.world.tuning.lanes.has_safe().then_some(least_delay));
        if self.remembers_too_much()
            && let Some(settled) = self.frontier.settled()
        {
            self.effects.forget_before_moment(&settled, self.world.ties);
        }
        if verdict.failure != Moment::Never {
            self.over = Some(Step::Failed);
            return self.release_all();
        }
        let timed = self.gauge.begin_commit();
        self.commit_at(verdict.gvt);
        // Once nothing is left to execute, nobody needs free buffers any more.
        if verdict.gvt != Moment::Never {
            self.return_surplus();
        }
        self.gauge.end_commit(timed);
        if let Some(locality) = &mut self.locality {
            let (counts, bytes, left) = (self.gauge.counts(), self.agenda.bytes_held() as u64, self.memory_control.left());
            let store = self.agenda.store_mut();
            let little = bytes <= Locality::LITTLE.min(left / 16);
            store.pool(locality.pools(store.is_pooled(), counts.committed, counts.remote_committed, little));
        }
        // Only the verdict after the last commits tells whether one of them failed.
        if self.frontier.settled() == Some(Moment::Never) {
            self.over = Some(Step::Finished);
            // Nothing is open any more; but if the run was cut short, no commit has looked at what was undone beyond its end.
            self.past.close_front();
            self.collect_fossils_at_end();
            // Everything sent before the last epoch was closed has arrived, and nothing has been sent since.
            assert!(self.mail.is_empty(), "PE {} still has messages to hand over when the run is over", self.world.me);
        }
        // After a failure nothing commits any more, and the history may stay full.
        if self.faults.failure().is_none() && self.past.open_len() >= 2 * self.world.tuning.history_most {
            self.make_room();
        }
        // Once nothing is left to execute, memory does not matter any more, and an event sent back would arrive after GVT has passed all.
        if self.memory_control.is_on() && verdict.gvt != Moment::Never && self.over.is_none() && self.faults.failure().is_none() {
            self.relieve_memory();
        }
        self.frontier.adapt_window();
        let throttled = self.frontier.throttled();
        self.gauge.count(|counts| counts.throttled = throttled);
        if self.agenda.should_sweep(verdict.work.rolled_back) {
            self.sweep_cancelled();
        }
        self.past.on_gvt(self.gauge.counts().processed);
        let (gvt, window) = (self.frontier.gvt_time().min(self.world.end.get()), self.frontier.window());
        self.gauge.level(gvt, window, self.agenda.len(), self.past.open_len());
    }
}

/// The part of a PE that GVT algorithms query.
struct GvtView<'a, S, E, Q> {
    /// What GVT must not pass if this PE holds back.
    held_back: Moment,
    /// The LP to initialise next, if any.
    next_lp: Option<LpId>,
    agenda: &'a mut Agenda<E, Q>,
    past: &'a Past<S, E>,
    lps: &'a Lps<S>,
    faults: &'a Faults,
    ties: TieBreak,
    end: VirtualTime,
    /// The work reported so far.
    reported: &'a mut Work,
    /// What it contributed to GVT last.
    contributed: &'a mut Moment,
    gauge: &'a mut Gauge,
}

impl<S, E, Q: PendingSet> GvtView<'_, S, E, Q> {
    fn earliest(&mut self) -> Moment {
        if let Some(lp) = self.next_lp {
            return Moment::Init(lp);
        }
        let held = self.faults.least(self.end, self.ties, self.agenda.store());
        let (past, lps) = (self.past, self.lps);
        // A cancelled event has yet to cancel what is kept of it.
        let keeps = |event: &Event<E>, handle| past.is_sent_before(lps.index(event.receiver), handle, event.time);
        let (least, annihilated) = self.agenda.least(self.end, keeps);
        self.gauge.annihilated(annihilated);
        least.earlier(held, self.ties).earlier(self.held_back, self.ties)
    }
}

impl<S, E, Q: PendingSet> Local for GvtView<'_, S, E, Q> {
    fn least(&mut self) -> Moment {
        *self.contributed = self.earliest();
        *self.contributed
    }

    fn failure(&self) -> Moment {
        self.faults.failure_moment()
    }

    fn take_work(&mut self) -> Work {
        let done = self.gauge.work();
        let reported = std::mem::replace(self.reported, done);
        Work {
            processed: done.processed - reported.processed,
            rolled_back: done.rolled_back - reported.rolled_back,
            steps: done.steps - reported.steps,
            idle_steps: done.idle_steps - reported.idle_steps,
            waiting_steps: done.waiting_steps - reported.waiting_steps,
        }
    }
}
