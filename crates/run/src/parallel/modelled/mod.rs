//! Steps PEs on a modelled machine, in the order of its time. See the README beside this file.

mod core;
mod costs;
mod event_list;
mod gvt_latency;
mod outcome;
mod registers;
mod shown;
mod time_line;

use std::sync::Arc;

use warpline_kernel::{Counts, PanicSilencer, Step, last_panic};
use warpline_machine::{Machine, Time};
use warpline_memory::{Region, catch_panic, list_for, prefer_huge_pages, prefetch_all};
use warpline_record::MachineRecord;
use warpline_transport::{Arrival, ModelledWires};

use self::core::Core;
use self::event_list::EventList;
use self::gvt_latency::GvtLatency;
use self::registers::RegisterHorizon;
use self::time_line::Recorder;
use super::any_pe::AnyPe;
use super::cluster::pass_on_rows;
use super::driven::Driven;
use super::ending::{Ending, EndingStage};
use super::monitor::LoopMonitor;
use super::out_of_memory::OutOfMemory;
use super::status::PeStatus;
use crate::Error;
use crate::machine::core_time::CoreTime;

/// Steps between two looks at whether the run is to end.
const LOOK_EVERY: u64 = 1 << 12;
/// Steps for each PE between two looks at all PEs: how far they have come, and what rows they have.
const STEPS_A_PE: u64 = 8;
/// The least steps between two looks at all PEs.
const ALL_EVERY: u64 = 1 << 13;
/// So often in a row all PEs may look in vain for something to do.
const STALLS_MOST: u32 = 10_000;

/// A machine, and what the PEs of a run on it need.
pub(super) struct Modelled<'w> {
    pub(super) machine: Arc<Machine>,
    pub(super) wires: &'w dyn ModelledWires,
    /// The seed of noise.
    pub(super) seed: u64,
    /// Whether PEs publish bounds.
    pub(super) has_bounds: bool,
    /// Whether events that arrive can be executed at once, or make room for others.
    pub(super) events_wake: bool,
    /// Whether registers tell PEs how far they may go.
    pub(super) has_registers: bool,
    /// Whether PEs also make steps in which they would do nothing.
    pub(super) all_steps: bool,
    /// The least delay between PEs in model time, unless they send each other nothing.
    pub(super) least_delay: Option<f64>,
}

/// A PE is prefetched so many turns before its own, and one more.
const FETCH_AHEAD: usize = 1;

/// Steps PEs until all of them are done.
pub(super) fn drive(
    pes: &mut [&mut dyn AnyPe],
    modelled: &Modelled<'_>,
    watch: &mut LoopMonitor<'_, '_>,
) -> Result<Driven, Error> {
    watch.begin_in_turns(pes);
    let ending = watch.ending(&Region::own(), pes.len() as u32);
    let mut stepper = Stepper::new(modelled, pes.len());
    let mut full = None;
    let mut ends_early = false;
    let all_every = ALL_EVERY.max(STEPS_A_PE * pes.len() as u64).next_multiple_of(LOOK_EVERY);
    let quiet = PanicSilencer::new();
    while stepper.running > 0 && full.is_none() {
        let Some((now, pe)) = stepper.list.pop() else {
            stepper.wake_all();
            continue;
        };
        if let Some(next) = stepper.list.upcoming(0) {
            modelled.wires.prefetch_arrivals(next);
        }
        if let Some(soon) = stepper.list.upcoming(FETCH_AHEAD) {
            stepper.prefetch(&*pes[soon as usize], soon);
        }
        if let Err(why) = stepper.turn(pes, pe, now, &ending) {
            full = Some(OutOfMemory { place: Some(pes[pe as usize].position()), why });
        }
        if stepper.steps.is_multiple_of(LOOK_EVERY) {
            watch.run.go_on()?;
            let looks_at_all = stepper.steps.is_multiple_of(all_every);
            if looks_at_all {
                pass_on_rows(pes, watch);
                watch.note(PeStatus::of_all(pes), None, CoreTime::default(), &ending);
            }
            if ending.is_under_way() && (looks_at_all || !ends_early) {
                ends_early = true;
                stepper.wake_all();
            }
        }
    }
    drop(quiet);
    let machine = Some(stepper.outcome(pes));
    Ok(Driven { full, cut_short: ending.earlier_than(watch.until), machine, ..Driven::default() })
}

/// The cores of the machine, and when each of them is due.
struct Stepper<'a, 'w> {
    modelled: &'a Modelled<'w>,
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

impl<'a, 'w> Stepper<'a, 'w> {
    fn new(modelled: &'a Modelled<'w>, pes: usize) -> Self {
        let machine = &modelled.machine;
        let mut cores: Vec<Core> = list_for(pes, "cores of a machine");
        prefer_huge_pages(&mut cores);
        cores.extend((0..pes as u32).map(|pe| Core::new(machine, modelled.seed, pe)));
        for pe in shown::recorded(machine, modelled.seed, pes) {
            cores[pe].recorder = Some(Box::new(Recorder::new()));
        }
        let mut stepper = Stepper {
            modelled,
            cores,
            list: EventList::new(pes),
            stages: vec![EndingStage::default(); pes],
            running: pes,
            steps: 0,
            now: Time::ZERO,
            stalls: 0,
            word: None,
            word_takes: machine.latency_most(pes as u32) + machine.costs.register_read,
            horizon: RegisterHorizon::default(),
            gvt_latency: GvtLatency::new(pes),
        };
        (0..pes as u32).for_each(|pe| stepper.list.schedule(pe, Time::ZERO));
        stepper
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
        self.modelled.wires.prefetch(pe);
    }

    /// A PE is due: what its last step has sent leaves, and it makes the next.
    fn turn(
        &mut self,
        pes: &mut [&mut dyn AnyPe],
        pe: u32,
        now: Time,
        ending: &Ending<'_>,
    ) -> Result<(), warpline_memory::Exhausted> {
        self.now = now;
        let core = &mut self.cores[pe as usize];
        if core.take_departing() && self.depart(pe, now) {
            return Ok(());
        }
        let core = &mut self.cores[pe as usize];
        if core.is_over() {
            return Ok(());
        }
        if core.free() > now {
            self.list.schedule(pe, core.free());
            return Ok(());
        }
        if core.falls_asleep() {
            self.sleep(&mut *pes[pe as usize], pe, now);
            return Ok(());
        }
        if let Some(at) = core.reads_at(now) {
            self.list.schedule(pe, at);
            return Ok(());
        }
        if self.does_nothing(pe, now) && !ending.is_under_way() {
            self.leave_out(pes, pe, now);
            return Ok(());
        }
        self.step(pes, pe, now, ending)
    }

    /// Whether a PE has nothing to do in a step at this time.
    fn does_nothing(&self, pe: u32, now: Time) -> bool {
        self.cores[pe as usize].waits() && {
            let first = self.modelled.wires.next(pe, now, true, false);
            first.is_none_or(|first| first > now)
        }
    }

    /// Charges a step in which a PE does nothing, without making it.
    fn leave_out(&mut self, pes: &mut [&mut dyn AnyPe], pe: u32, now: Time) {
        let core = &mut self.cores[pe as usize];
        core.account_for_nothing(&self.modelled.machine, pes.len() as u32, now);
        core.note_step(now, true, false);
        let ends = core.free();
        self.steps += 1;
        self.sleep(&mut *pes[pe as usize], pe, ends);
    }

    /// What the last step of a PE has sent leaves, and wakes those who wait for it. Returns whether
    /// that keeps the PE busy.
    fn depart(&mut self, pe: u32, now: Time) -> bool {
        let Stepper { modelled, cores, list, .. } = self;
        let departed = modelled.wires.depart(pe, now, &mut |Arrival { to, at, is_event }| {
            if is_event && !modelled.events_wake {
                return;
            }
            let core = &cores[to as usize];
            if core.is_asleep() {
                list.schedule(to, at.max(core.free()));
            }
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

    fn step(
        &mut self,
        pes: &mut [&mut dyn AnyPe],
        pe: u32,
        now: Time,
        ending: &Ending<'_>,
    ) -> Result<(), warpline_memory::Exhausted> {
        let modelled = self.modelled;
        let Modelled { machine, wires, has_bounds, events_wake, has_registers, .. } = modelled;
        let all = pes.len() as u32;
        let stepped = &mut *pes[pe as usize];
        let core = &mut self.cores[pe as usize];
        if *has_bounds {
            stepped.note_idle_steps(core.missed_steps(now, machine.costs.turn));
        }
        ending.guide(stepped, &mut self.stages[pe as usize]);
        let opened = wires.open(pe, now, core.free());
        let step = catch_panic(|| stepped.step()).unwrap_or_else(|_| {
            let steps = self.steps;
            panic!("a mistake of the engine, at PE {pe} after {steps} steps: {}", last_panic())
        })?;
        self.steps += 1;
        let is_over = matches!(step, Step::Finished | Step::Failed);
        let sent = wires.sent(pe);
        let did = core.account((machine, all), stepped.counts(), opened, sent);
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
            self.word = word;
            self.wake_others(pe, ends + self.word_takes);
        }
        if *has_registers {
            let Stepper { horizon, cores, list, .. } = self;
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
        for sender in self.modelled.wires.has_room(pe) {
            if self.cores[sender as usize].is_blocked() {
                self.list.schedule(sender, now);
            }
        }
    }

    /// A PE that has nothing to do sleeps until something arrives.
    fn sleep(&mut self, sleeper: &mut dyn AnyPe, pe: u32, now: Time) {
        let Modelled { machine, wires, has_bounds, events_wake, .. } = self.modelled;
        let core = &mut self.cores[pe as usize];
        core.sleep();
        // What arrives while it makes its last turn is found in the next.
        let looked = core.looked();
        let next = wires.next(pe, looked, *events_wake, *has_bounds).map(|at| at.max(now));
        let steps = if *has_bounds { sleeper.idle_steps_left() } else { None };
        let timer = steps.map(|steps| core.timer(steps, machine.costs.turn).max(now));
        let word = core.word_due(now);
        let due = [next, timer, word].into_iter().flatten().min();
        if let Some(due) = due {
            self.list.schedule(pe, due);
        }
    }

    /// What the record says of the machine.
    fn outcome(&mut self, pes: &[&mut dyn AnyPe]) -> MachineRecord {
        let counts: Vec<&Counts> = pes.iter().map(|pe| pe.counts()).collect();
        let gvt_latency = self.gvt_latency.of_each_pe();
        let Modelled { machine, wires, least_delay, .. } = self.modelled;
        let mailboxes = wires.mailbox_use();
        MachineRecord {
            least_delay: *least_delay,
            ..outcome::record(machine, mailboxes, &mut self.cores, &counts, gvt_latency)
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
    fn wake_all(&mut self) {
        self.stalls += 1;
        assert!(
            self.stalls < STALLS_MOST,
            "a mistake of the engine: nothing is on its way, and PEs wait after {} steps",
            self.steps
        );
        self.wake_others(u32::MAX, self.now + self.modelled.machine.costs.turn);
    }
}
