//! A PE's part in finding GVT: when it asks for a new one, and what the algorithm sees of it.

use warpline_base::{LpId, Moment, TieBreak, VirtualTime};

use super::Pe;
use crate::agenda::Agenda;
use crate::faults::Faults;
use crate::frontier::Frontier;
use crate::gauge::Gauge;
use crate::gvt::{Action, AnyGvt, Gvt, Local, RegisterAccesses, Work};
use crate::lps::Lps;
use crate::past::Past;
use crate::pe::types::{EventOf, PeTypes, StateOf};
use crate::{Event, GvtStart};

/// An event is far away if it lies more than this many least delays beyond the horizon: bounds
/// would have to creep up to it.
const FAR: f64 = 4.0;
/// A PE that has undone so many events since it last reported its work asks for GVT, however long
/// the interval: windows get narrower only then.
const UNDONE_MOST: u64 = 1024;
/// The same once PEs have been found to undo far more than they commit.
const UNDONE_WITH_CARE: u64 = 64;

impl<T: PeTypes> Pe<'_, T> {
    /// Takes part in the GVT algorithm, after a batch of `executed` events. A GVT that has been
    /// found is [adopted](Self::on_gvt).
    pub(super) fn take_part_in_gvt(&mut self, executed: u32) {
        let waits = executed == 0 && self.gvt.is_on();
        self.gauge.count(|counts| counts.waiting_steps += u64::from(waits));
        self.calls.on_step(executed);
        if self.wants_gvt(executed) {
            self.gvt.wish();
        }
        self.advance_gvt();
        // Where no horizon passes the event at GVT, it has to be executed ahead, or GVT stands still.
        let vain = self.has_worked_in_vain() && !self.is_at_gvt();
        self.caution.note_vain(vain);
    }

    /// Does what the GVT algorithm asks for.
    pub(super) fn advance_gvt(&mut self) {
        loop {
            let (gvt, mut view) = self.gvt_view();
            match gvt.advance(&mut view) {
                None => return self.calls.note_joined(self.gvt.epoch()),
                Some(Action::Send { to, control }) => self.mail.send_control(to, control),
                Some(Action::Write { to, put }) => self.mail.write(to, put),
                // A batch comes before the next computation, or the PE might never execute
                // anything.
                Some(Action::Adopt(verdict)) => return self.on_gvt(verdict),
            }
        }
    }

    /// Whether to ask for a new GVT, after enough events or because nothing else is left to do. See
    /// [`crate::pacing::interval`].
    fn wants_gvt(&mut self, executed: u32) -> bool {
        if self.calls.is_called(self.gvt.epoch())
            || self.memory.wants_gvt()
            || self.remembers_too_much()
            || self.frontier.unreported(&self.gauge.work()).rolled_back >= self.undone_most()
        {
            return true;
        }
        let driven = self.world.is_driven_by_gvt();
        if driven && self.wants_to_be_driven(executed) {
            return true;
        }
        if !self.world.bounds_advance() && !self.reads_gvt() {
            return executed == 0 || !driven && self.calls.is_due();
        }
        if self.world.tuning().windows && self.frontier.floor() >= self.world.end() {
            return true;
        }
        self.calls.is_stuck()
            || executed == 0 && self.flow.is_parked()
            || self.needs_gvt()
            || self.calls.is_idle() && self.is_far()
            || self.calls.is_due_with_bounds(self.past.open_len())
    }

    /// How many events the PE may undo before it asks for GVT.
    fn undone_most(&self) -> u64 {
        if self.frontier.throttled() > 0 { UNDONE_WITH_CARE } else { UNDONE_MOST }
    }

    /// Whether the PE has undone so much since it last reported its work that going ahead is in
    /// vain before GVT is found: windows get narrower only then. A PE that executes the same events
    /// again and again would delay even that, by all the messages that it sends and cancels.
    fn has_worked_in_vain(&self) -> bool {
        let Work { processed, rolled_back, .. } = self.frontier.unreported(&self.gauge.work());
        rolled_back >= self.undone_most() && 2 * rolled_back > processed
    }

    /// Whether a PE whose horizon follows from GVT asks for the next one: only that can tell what
    /// else it may execute for good, or makes room in its log of commits.
    fn wants_to_be_driven(&mut self, executed: u32) -> bool {
        if self.world.tuning().gvt_start == GvtStart::AtOnce
            || executed == 0 && self.effects.must_wait_for_others(self.memory.is_short())
        {
            return true;
        }
        let first = self.first_time();
        let is_over = first >= self.world.end();
        is_over || !self.reads_gvt() && first >= self.frontier.horizon_by_gvt()
    }

    /// Whether the PE reads GVT between computations. Without lookahead that raises no horizon.
    #[inline]
    fn reads_gvt(&self) -> bool {
        self.gvt.is_readable() && self.world.follows_gvt_alone() && self.world.least_delay() > 0.0
    }

    /// Reads GVT if nothing is left to execute for good, where that can be done at any moment.
    pub(super) fn read_gvt(&mut self) {
        if !self.reads_gvt() || self.first_time() < self.frontier.horizon() {
            return;
        }
        self.gauge.count(|counts| counts.register_reads += 1);
        if let Some(read) = self.gvt.read()
            && self.frontier.read_gvt(read, self.world.least_delay())
        {
            self.calls.on_horizon();
            self.gauge.count(|counts| counts.gvt_reads += 1);
        }
    }

    /// How far the registers of GVT let all PEs go at this moment, if PEs read GVT from there.
    pub fn horizon_in_registers(&self) -> Option<VirtualTime> {
        let read = self.reads_gvt().then(|| self.gvt.read()).flatten()?;
        Some(self.frontier.time_beyond(read, self.world.least_delay()))
    }

    /// If nothing is left to execute for good: the time of its first pending event, beyond which the
    /// horizon must get.
    pub fn waits_for(&mut self) -> Option<VirtualTime> {
        let first = self.first_time();
        (first >= self.frontier.horizon()).then_some(first)
    }

    /// Counts how often this PE has used registers.
    #[inline]
    pub(super) fn count_register_accesses(&mut self) {
        let RegisterAccesses { reads, writes } = self.gvt.take_register_accesses();
        self.gauge.count(|counts| {
            counts.register_reads += reads;
            counts.register_writes += writes;
        });
    }

    /// Whether memory is short and the log of commits is full. Only a new GVT empties it: bounds
    /// are times, so they keep all commits of the present instant.
    #[inline]
    fn remembers_too_much(&self) -> bool {
        self.memory.is_short() && self.effects.must_wait_for_others(true)
    }

    /// Whether every event that waits here needs a new GVT: it may be executed only when it is
    /// certain, and no horizon passes GVT.
    #[inline]
    fn needs_gvt(&self) -> bool {
        (!self.world.tuning().lanes.has_speculative() || self.agenda.has_aside())
            && self.frontier.is_held_up()
    }

    /// Whether the next event here is the one at GVT, and no horizon will ever allow it.
    pub(super) fn is_at_gvt(&mut self) -> bool {
        let gvt = self.frontier.gvt();
        let waits = !self.faults.are_none()
            && matches!(gvt, Moment::Event(key) if self.faults.waits(&key, self.world.ties()));
        !waits && self.needs_gvt() && self.least() == gvt
    }

    /// Whether bounds would have to creep up to this PE's next event.
    pub(super) fn is_far(&mut self) -> bool {
        if self.world.tuning().windows {
            // The floor jumps to the first event of all PEs.
            return false;
        }
        let next = self.agenda.first_time().unwrap_or(self.world.end()).min(self.world.end());
        next.get() - self.frontier.horizon().get() > FAR * self.world.least_delay()
    }

    /// The PE as GVT sees it.
    fn gvt_view(&mut self) -> (&mut AnyGvt, GvtView<'_, T>) {
        let view = GvtView {
            next_lp: (!self.lps.all_initialised()).then(|| self.lps.next()),
            agenda: &mut self.agenda,
            past: &self.past,
            lps: &self.lps,
            faults: &self.faults,
            ties: self.world.ties(),
            end: self.world.end(),
            frontier: &mut self.frontier,
            gauge: &mut self.gauge,
        };
        (&mut self.gvt, view)
    }

    /// The earliest moment of anything that has yet to be done here.
    pub(super) fn least(&mut self) -> Moment {
        self.gvt_view().1.earliest()
    }
}

/// The parts of a PE that GVT algorithms query.
struct GvtView<'a, T: PeTypes> {
    /// The LP to initialise next, if any.
    next_lp: Option<LpId>,
    agenda: &'a mut Agenda<EventOf<T>, T::Pending>,
    past: &'a Past<StateOf<T>, EventOf<T>>,
    lps: &'a Lps<StateOf<T>>,
    faults: &'a Faults,
    ties: TieBreak,
    end: VirtualTime,
    frontier: &'a mut Frontier,
    gauge: &'a mut Gauge,
}

impl<T: PeTypes> GvtView<'_, T> {
    fn earliest(&mut self) -> Moment {
        if let Some(lp) = self.next_lp {
            return Moment::Init(lp);
        }
        let deferred =
            self.faults.least(self.end, self.ties, |event| self.agenda.is_cancelled(event));
        let past = self.past;
        let lps = self.lps;
        // A cancelled event for which sent messages are kept has yet to cancel those.
        let keeps = |event: &Event<EventOf<T>>, handle| {
            past.is_sent_before(lps.index(event.receiver), handle, event.time)
        };
        let (least, annihilated) = self.agenda.least(self.end, keeps);
        self.gauge.annihilated(annihilated);
        least.earlier(deferred, self.ties).earlier(self.frontier.held_back_at(self.ties), self.ties)
    }
}

impl<T: PeTypes> Local for GvtView<'_, T> {
    fn least(&mut self) -> Moment {
        let least = self.earliest();
        self.frontier.contribute(least)
    }

    fn failure(&self) -> Moment {
        self.faults.failure_moment()
    }

    fn take_work(&mut self) -> Work {
        self.frontier.report(self.gauge.work())
    }
}
