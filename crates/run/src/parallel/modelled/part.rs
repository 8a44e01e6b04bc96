//! A part of a modelled machine, whose PEs take turns in one thread of the host.

use std::ops::Range;

use warpline_kernel::{Step, last_panic};
use warpline_machine::Time;
use warpline_memory::{Exhausted, catch_panic, list_for, prefer_huge_pages, prefetch_all};
use warpline_transport::{Arrival, ModelledWires};

use super::core::Core;
use super::event_list::EventList;
use super::gvt_latency::GvtLatency;
use super::registers::RegisterHorizon;
use super::setup::Modelled;
use super::shown;
use super::time_line::Recorder;
use crate::Error;
use crate::parallel::any_pe::AnyPe;
use crate::parallel::ending::{Ending, EndingStage};
use crate::parallel::out_of_memory::OutOfMemory;

/// A PE is prefetched so many turns before its own, and one more.
const FETCH_AHEAD: usize = 1;
/// So often in a row all PEs may look in vain for something to do.
const STALLS_MOST: u32 = 10_000;
/// Steps between two looks at whether the run is to end.
const LOOK_EVERY: u64 = 1 << 12;

/// A part of the machine: the cores of some of its nodes, and when each of them is due. Here PEs are
/// numbered from the first of the part on.
pub(super) struct Part<'a, 'w> {
    modelled: &'a Modelled<'w>,
    wires: &'w dyn ModelledWires,
    /// Its PEs, as the machine numbers them.
    pes: Range<u32>,
    cores: Vec<Core>,
    list: EventList,
    stages: Vec<EndingStage>,
    /// PEs that are not done.
    running: usize,
    steps: u64,
    /// The time of the last step.
    now: Time,
    /// How often in a row all PEs were woken, as nothing was on its way.
    stalls: u32,
    /// What PEs last found in the memory that all share.
    word: Option<u64>,
    /// How long it takes until another PE finds it.
    word_takes: Time,
    horizon: RegisterHorizon,
    gvt_latency: GvtLatency,
}

impl<'a, 'w> Part<'a, 'w> {
    pub(super) fn new(modelled: &'a Modelled<'w>, wires: &'w dyn ModelledWires) -> Self {
        let machine = &modelled.machine;
        let own = wires.pes();
        let pes = own.len();
        let mut cores: Vec<Core> = list_for(pes, "cores of a machine");
        prefer_huge_pages(&mut cores);
        cores.extend(own.clone().map(|pe| Core::new(machine, modelled.seed, pe)));
        let recorded = shown::recorded(machine, modelled.seed, modelled.pes as usize);
        for pe in recorded.into_iter().filter(|pe| own.contains(&(*pe as u32))) {
            cores[pe - own.start as usize].recorder = Some(Box::new(Recorder::new()));
        }
        let mut part = Part {
            modelled,
            wires,
            pes: own,
            cores,
            list: EventList::new(pes),
            stages: vec![EndingStage::default(); pes],
            running: pes,
            steps: 0,
            now: Time::ZERO,
            stalls: 0,
            word: None,
            word_takes: machine.latency_most(modelled.pes) + machine.costs.register_read,
            horizon: RegisterHorizon::default(),
            gvt_latency: GvtLatency::new(pes),
        };
        (0..pes as u32).for_each(|pe| part.list.schedule(pe, Time::ZERO));
        part
    }

    /// What GVT has taken of the time of its PEs.
    pub(super) fn gvt_latency(&mut self) -> &mut GvtLatency {
        &mut self.gvt_latency
    }

    /// Its cores.
    pub(super) fn into_cores(self) -> Vec<Core> {
        self.cores
    }

    /// The number of a PE in the machine.
    fn id(&self, pe: u32) -> u32 {
        self.pes.start + pe
    }

    /// How many PEs it has.
    pub(super) fn pes(&self) -> usize {
        self.pes.len()
    }

    /// How many of them are not done.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// How many steps they have made.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The time of the last step.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// When the first of its PEs is due, if any is.
    pub(super) fn first_due(&mut self) -> Option<Time> {
        self.list.first()
    }

    /// Gives PEs their turns that are due before `until`, until `steps` have been made in all. In
    /// between it asks `goes_on`.
    ///
    /// # Errors
    /// If memory runs out, or those of `goes_on`.
    pub(super) fn take_turns(
        &mut self,
        pes: &mut [&mut dyn AnyPe],
        (until, steps): (Time, u64),
        ending: &Ending<'_>,
        goes_on: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<Turns, Error> {
        // What has been sent leaves for other parts although all PEs of this one are done.
        while self.steps < steps && (self.running > 0 || self.modelled.parts.len() > 1) {
            let Some((now, pe)) = self.list.pop_before(until) else { return Ok(Turns::Over) };
            if let Some(next) = self.list.upcoming(0) {
                self.wires.prefetch_arrivals(self.id(next));
            }
            if let Some(soon) = self.list.upcoming(FETCH_AHEAD) {
                self.prefetch(&*pes[soon as usize], soon);
            }
            let made = self.steps;
            let due = &mut *pes[pe as usize];
            if self.begins_step(due, pe, now, ending.is_under_way())
                && let Err(why) = self.step(due, pe, now, ending)
            {
                return Ok(Turns::Full(OutOfMemory { place: Some(due.position()), why }));
            }
            if self.steps > made && self.steps.is_multiple_of(LOOK_EVERY) && !goes_on()? {
                return Ok(Turns::Stop);
            }
        }
        Ok(Turns::Stop)
    }

    /// Passes on what has left for other parts. Returns when the first of it arrives.
    pub(super) fn hand_over(&self) -> Option<Time> {
        self.wires.hand_over()
    }

    /// Takes what other parts have passed on.
    pub(super) fn take_over(&mut self) {
        let Part { modelled, wires, pes, cores, list, .. } = self;
        let stalls = &mut self.stalls;
        wires.take_over(&mut |arrival| {
            *stalls = 0;
            note_arrival(modelled, pes.start, cores, list, arrival);
        });
    }

    /// Prefetches a PE, its core and its mailbox.
    fn prefetch(&self, soon: &dyn AnyPe, pe: u32) {
        let core = &self.cores[pe as usize];
        if core.waits_for_gvt() {
            soon.prefetch_for_gvt()
        } else {
            soon.prefetch()
        }
        prefetch_all(core);
        self.wires.prefetch(self.id(pe));
    }

    /// A PE is due: what its last step has sent leaves. Returns whether it makes the next step now;
    /// while the run `ends` early, also one in which it has nothing to do.
    fn begins_step(&mut self, due: &mut dyn AnyPe, pe: u32, now: Time, ends: bool) -> bool {
        self.now = now;
        let core = &mut self.cores[pe as usize];
        if core.take_departing() && self.depart(pe, now) {
            return false;
        }
        let core = &mut self.cores[pe as usize];
        if core.is_over() {
            return false;
        }
        if core.free() > now {
            self.list.schedule(pe, core.free());
            return false;
        }
        if core.falls_asleep() {
            self.sleep(due, pe, now);
            return false;
        }
        if let Some(at) = core.reads_at(now) {
            self.list.schedule(pe, at);
            return false;
        }
        if self.does_nothing(pe, now) && !ends {
            self.leave_out(due, pe, now);
            return false;
        }
        true
    }

    /// Whether a PE has nothing to do in a step at this time.
    fn does_nothing(&self, pe: u32, now: Time) -> bool {
        self.cores[pe as usize].waits() && {
            let first = self.wires.next(self.id(pe), now, true, false);
            first.is_none_or(|first| first > now)
        }
    }

    /// Charges a step in which a PE does nothing, without making it.
    fn leave_out(&mut self, idle: &mut dyn AnyPe, pe: u32, now: Time) {
        let core = &mut self.cores[pe as usize];
        core.account_for_nothing(&self.modelled.machine, self.modelled.pes, now);
        core.note_step(now, true, false);
        let ends = core.free();
        self.steps += 1;
        self.sleep(idle, pe, ends);
    }

    /// What the last step of a PE has sent leaves, and wakes those who wait for it. Returns whether
    /// that keeps the PE busy.
    fn depart(&mut self, pe: u32, now: Time) -> bool {
        let Part { modelled, wires, pes, cores, list, .. } = self;
        let departed = wires.depart(pes.start + pe, now, &mut |arrival| {
            note_arrival(modelled, pes.start, cores, list, arrival);
        });
        let is_busy = departed.waits.is_some() || departed.until > now;
        if is_busy || cores[pe as usize].is_blocked() {
            cores[pe as usize].note_departed(now, departed);
        }
        if is_busy {
            list.schedule(pe, departed.until);
        }
        is_busy
    }

    /// Makes a step of a PE.
    fn step(
        &mut self,
        stepped: &mut dyn AnyPe,
        pe: u32,
        now: Time,
        ending: &Ending<'_>,
    ) -> Result<(), Exhausted> {
        let modelled = self.modelled;
        let Modelled { machine, has_bounds, events_wake, has_registers, pes: all, .. } = modelled;
        let wires = self.wires;
        let id = self.id(pe);
        let core = &mut self.cores[pe as usize];
        if *has_bounds {
            stepped.note_idle_steps(core.missed_steps(now, machine.costs.turn));
        }
        ending.guide(stepped, &mut self.stages[pe as usize]);
        let opened = wires.open(id, now, core.free());
        let step = catch_panic(|| stepped.step()).unwrap_or_else(|_| {
            let steps = self.steps;
            panic!("a mistake of the engine, at PE {id} after {steps} steps: {}", last_panic())
        })?;
        self.steps += 1;
        let is_over = matches!(step, Step::Finished | Step::Failed);
        let sent = wires.sent(id);
        let did = core.account((machine, *all), stepped.counts(), opened, sent);
        if did.verdicts > 0 {
            let without_work = std::mem::take(&mut core.without_work);
            self.gvt_latency.note(stepped.counts().gvt_epochs, did.verdicts, without_work);
        }
        // What has arrived with a bound may be executed in the next step.
        let rises = *has_bounds && core.raises(stepped.horizon());
        let mail_counts = *events_wake || *has_bounds;
        let has_news = rises || if mail_counts { did.any() } else { did.more_than_mail() };
        core.note_step(now, step == Step::Idle && !has_news, is_over);
        core.note_waits(stepped.is_waiting_for_gvt(), modelled.all_steps);
        self.running -= usize::from(is_over);
        if !core.is_idle() {
            self.stalls = 0;
        }
        let ends = core.free();
        let leaves = core.has_departing();
        let word = stepped.shared_word();
        if word != self.word {
            assert!(modelled.parts.len() == 1, "PEs of several parts share memory");
            self.word = word;
            self.wake_others(pe, ends + self.word_takes);
        }
        if *has_registers {
            let Part { horizon, cores, list, .. } = self;
            horizon.look(machine, (stepped, pe, ends), cores, list);
        }
        if machine.mailboxes.is_some() {
            self.wake_senders(pe, now);
        }
        if leaves || !self.cores[pe as usize].falls_asleep() {
            self.list.schedule(pe, ends);
        } else {
            self.sleep(stepped, pe, ends);
        }
        Ok(())
    }

    /// After a step of a PE that began at `now`: its mailbox has been emptied, and those try again
    /// that waited for room in it.
    fn wake_senders(&mut self, pe: u32, now: Time) {
        for sender in self.wires.has_room(self.id(pe)) {
            let sender = sender - self.pes.start;
            if self.cores[sender as usize].is_blocked() {
                self.list.schedule(sender, now);
            }
        }
    }

    /// A PE that has nothing to do sleeps until something arrives.
    fn sleep(&mut self, sleeper: &mut dyn AnyPe, pe: u32, now: Time) {
        let Modelled { machine, has_bounds, events_wake, .. } = self.modelled;
        let id = self.id(pe);
        let core = &mut self.cores[pe as usize];
        core.sleep();
        // What arrives while it makes its last turn is found in the next.
        let looked = core.looked();
        let next = self.wires.next(id, looked, *events_wake, *has_bounds).map(|at| at.max(now));
        let steps = if *has_bounds { sleeper.idle_steps_left() } else { None };
        let timer = steps.map(|steps| core.timer(steps, machine.costs.turn).max(now));
        let word = core.word_due(now);
        let due = [next, timer, word].into_iter().flatten().min();
        if let Some(due) = due {
            self.list.schedule(pe, due);
        }
    }

    /// All PEs but `but` look again at this time.
    fn wake_others(&mut self, but: u32, at: Time) {
        for (pe, core) in (0..).zip(&mut self.cores).filter(|(pe, _)| *pe != but) {
            core.note_word(at);
            if core.is_asleep() {
                self.list.schedule(pe, at.max(core.free()));
            }
        }
    }

    /// Nothing is on its way, or the run is to end early: all PEs look again.
    #[cold]
    pub(super) fn wake_all(&mut self, now: Time) {
        self.stalls += 1;
        assert!(
            self.stalls < STALLS_MOST,
            "a mistake of the engine: nothing is on its way, and PEs wait after {} steps",
            self.steps
        );
        self.wake_others(u32::MAX, now + self.modelled.machine.costs.turn);
    }
}

/// Something arrives at a PE of a part that begins with `first`. It wakes whoever waits for it.
fn note_arrival(
    modelled: &Modelled<'_>,
    first: u32,
    cores: &[Core],
    list: &mut EventList,
    Arrival { to, at, is_event }: Arrival,
) {
    if is_event && !modelled.events_wake {
        return;
    }
    let to = to - first;
    let core = &cores[to as usize];
    if core.is_asleep() {
        list.schedule(to, at.max(core.free()));
    }
}

/// How PEs have taken their turns.
pub(super) enum Turns {
    /// No PE is due before the end.
    Over,
    /// So many steps have been made, all PEs are done, or the caller wanted no more.
    Stop,
    /// Memory ran out.
    Full(OutOfMemory),
}
