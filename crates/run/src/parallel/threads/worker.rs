//! The loop of a thread: it steps its PEs in turn. That takes nanoseconds, where the operating
//! system would take microseconds to switch threads.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_kernel::gvt::Barrier;
use warpline_kernel::{PanicSilencer, Step};
use warpline_transport::thread_time;

use super::assignment::PeAssignment;
use super::guard::{WAIT, WorkerGuard};
use crate::machine::core_time::{CoreTime, SharedTime};
use crate::parallel::any_pe::AnyPe;
use crate::parallel::ending::{Ending, EndingStage};
use crate::parallel::far::work::CommunicationWork;
use crate::parallel::out_of_memory::OutOfMemory;

/// Of so many short rounds one is timed, where that is of use: reading the clock takes a while.
const TIMED_EVERY: u32 = 4;
/// A round that takes longer is not short.
const SHORT: Duration = Duration::from_micros(200);
/// A thread tells how long it has been on a core after so many timed rounds.
const TELL_EVERY: u32 = 64;
/// A thread has had a turn, and checks whether to stop, after so many rounds.
const ROUNDS_PER_TURN: u32 = 1024;
/// Where PEs move at random, one moves after so many rounds.
const MIGRATES_EVERY: u32 = 16;
/// How many states are copied to measure how long that takes.
const COPIES_WEIGHED: u32 = 16;

/// A PE and what its thread notes about it.
pub(crate) struct SteppedPe<'p> {
    pub(crate) number: usize,
    pe: &'p mut dyn AnyPe,
    /// The GVT computations that have been posted.
    epochs: u64,
    stage: EndingStage,
    /// How long it was at work, in nanoseconds: an estimate.
    pub(crate) busy: u64,
    over: bool,
}

impl<'p> SteppedPe<'p> {
    /// A PE that has not been stepped.
    pub(crate) fn new((number, pe): (usize, &'p mut dyn AnyPe)) -> Self {
        SteppedPe { number, pe, epochs: 0, stage: EndingStage::default(), busy: 0, over: false }
    }
}

/// The threads of PEs.
pub(crate) type SteppedPes<'p> = PeAssignment<SteppedPe<'p>>;

/// A thread and its PEs.
pub(crate) struct Worker<'w, 'p> {
    number: usize,
    pes: Vec<SteppedPe<'p>>,
    guard: WorkerGuard<'w>,
    ending: &'w Ending<'w>,
    communication: &'w CommunicationWork<'w>,
    /// Where PEs belong, if they may move.
    assignment: Option<&'w SteppedPes<'p>>,
    /// Draws the moves of PEs that move at random.
    migrate_at_random: Option<Random>,
    /// Whether all PEs shared a thread when it last looked.
    gathered: bool,
    /// How often PEs had been given other threads when it last looked.
    changes: u32,
    /// Rounds in a row in which there was nothing to do.
    idle: u32,
    /// All rounds.
    rounds: u32,
    /// Of so many rounds one is timed, if any is.
    timed_every: Option<u32>,
    /// Rounds of nothing to do before it yields.
    patience: u32,
    began: Instant,
    asleep: Duration,
    /// Since when its time is measured, and what it had done by then.
    measured_since: Option<(Instant, SharedTime)>,
    /// How long it was off its core because it yielded.
    yielded: Duration,
}

/// What all threads of PEs share.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'w, 'p> {
    pub(crate) ending: &'w Ending<'w>,
    pub(crate) communication: &'w CommunicationWork<'w>,
    /// Where PEs belong, if they may move.
    pub(crate) assignment: Option<&'w SteppedPes<'p>>,
    /// Whether some rounds are timed.
    pub(crate) timed: bool,
    /// Rounds of nothing to do before a thread yields.
    pub(crate) patience: u32,
    /// For tests: PEs move at random, by this seed.
    pub(crate) migrate_at_random: Option<u64>,
}

/// What came of a round.
#[derive(Default)]
struct Round {
    worked: bool,
    /// Whether it is time to check whether to stop.
    look: bool,
}

impl<'w, 'p> Worker<'w, 'p> {
    pub(crate) fn new(
        number: usize,
        pes: Vec<SteppedPe<'p>>,
        guard: WorkerGuard<'w>,
        surroundings: Surroundings<'w, 'p>,
    ) -> Self {
        let by_seed = |seed| Random::new(seed, LpId(number as u32), 0);
        Worker {
            number,
            pes,
            guard,
            ending: surroundings.ending,
            communication: surroundings.communication,
            assignment: surroundings.assignment,
            migrate_at_random: surroundings.migrate_at_random.map(by_seed),
            gathered: false,
            changes: 0,
            idle: 0,
            rounds: 0,
            timed_every: surroundings.timed.then_some(TIMED_EVERY),
            patience: surroundings.patience,
            began: Instant::now(),
            asleep: Duration::ZERO,
            measured_since: None,
            yielded: Duration::ZERO,
        }
    }

    /// Its PEs, when it has ended.
    pub(crate) fn into_pes(self) -> Vec<SteppedPe<'p>> {
        self.pes
    }

    /// Whether it has had one PE all the time, which then measures the thread's time as its own.
    fn is_alone(&self) -> bool {
        self.pes.len() == 1
            && self
                .assignment
                .is_none_or(|assignment| assignment.is_one_each() && assignment.changes() == 0)
    }

    /// What it has done since it began.
    fn time(&self) -> SharedTime {
        let elapsed = self.began.elapsed();
        let time = CoreTime { on_core: thread_time(), elapsed };
        SharedTime { time, rested: self.asleep + self.yielded, longest: elapsed }
    }

    /// How its time went since all LPs of its PEs were initialised, if it does not belong to one PE
    /// alone.
    fn shared_time(&self) -> Option<SharedTime> {
        let (since, before) = self.measured_since.filter(|_| !self.is_alone())?;
        let SharedTime { time, rested, .. } = self.time();
        let elapsed = since.elapsed();
        let on_core = time.on_core.saturating_sub(before.time.on_core);
        Some(SharedTime {
            time: CoreTime { on_core, elapsed },
            rested: rested.saturating_sub(before.rested),
            longest: elapsed,
        })
    }

    /// Steps its PEs in turn, until all PEs of the run are done or some thread cannot go on.
    /// Returns where memory ran out, if it did, and how its time went, if it does not belong to one
    /// PE alone.
    pub(crate) fn work(&mut self) -> (Option<OutOfMemory>, Option<SharedTime>) {
        let alone = self.is_alone();
        self.pes.iter_mut().for_each(|stepped| stepped.pe.begin_thread(thread_time, alone));
        let full = self.step_all();
        if alone {
            self.pes.iter_mut().for_each(|stepped| stepped.pe.end_thread());
        }
        (full, self.shared_time())
    }

    fn step_all(&mut self) -> Option<OutOfMemory> {
        let _quiet = PanicSilencer::new();
        while !self.ending.all_over() {
            if let Some(assignment) = self.assignment {
                if let Some(random) = &mut self.migrate_at_random {
                    move_one(assignment, &self.pes, self.rounds, random);
                }
                self.exchange(assignment);
            }
            let Round { worked, mut look } = match self.round() {
                Ok(round) => round,
                Err(full) => {
                    self.guard.thread.stop_all();
                    self.ending.break_off();
                    return Some(full);
                }
            };
            if self.measured_since.is_none() {
                self.begin_to_measure();
            }
            if look {
                self.wait_for_watcher();
            }
            if self.rounds.is_multiple_of(ROUNDS_PER_TURN) {
                self.guard.note_turn();
                look = true;
            }
            self.idle = if worked { 0 } else { self.idle.saturating_add(1) };
            if self.idle > 0 {
                look |= self.wait();
            }
            // Relaxed: it publishes nothing else.
            if look
                && (self.guard.thread.stop.load(Ordering::Relaxed) || self.ending.is_broken_off())
            {
                break;
            }
        }
        None
    }

    fn wait_for_watcher(&mut self) {
        let asleep = self.guard.wait_for_watcher(self.ending);
        if asleep > Duration::ZERO {
            self.asleep += asleep;
            if self.is_alone() {
                self.pes.iter_mut().for_each(|stepped| stepped.pe.slept(asleep));
            }
        }
    }

    /// Begins to measure its time once all LPs of its PEs have been initialised, as the PEs do.
    #[cold]
    fn begin_to_measure(&mut self) {
        if self.pes.iter().all(|stepped| stepped.pe.is_initialised()) {
            self.measured_since = Some((Instant::now(), self.time()));
        }
    }

    /// Steps each PE once.
    fn round(&mut self) -> Result<Round, OutOfMemory> {
        let mut round = Round::default();
        self.rounds = self.rounds.wrapping_add(1);
        let timed = self
            .timed_every
            .filter(|every| self.rounds.is_multiple_of(*every))
            .map(|every| (every, Instant::now()));
        for stepped in &mut self.pes {
            self.ending.guide(stepped.pe, &mut stepped.stage);
            let since = timed.map(|(every, _)| (every, Instant::now()));
            match stepped.pe.step() {
                Ok(Step::Worked) => {
                    round.worked = true;
                    stepped.busy += since.map_or(0, |(every, since)| {
                        u64::from(every) * since.elapsed().as_nanos() as u64
                    });
                }
                Ok(Step::Idle) => {}
                Ok(Step::Finished | Step::Failed) => {
                    if !std::mem::replace(&mut stepped.over, true) {
                        self.ending.note_over();
                    }
                    // Its steps only hand over what is left, but other PEs may need its courier.
                    self.communication.work_for(stepped.number);
                }
                Err(why) => return Err(OutOfMemory { place: Some(stepped.pe.position()), why }),
            }
            let epochs = stepped.pe.counts().gvt_epochs;
            if epochs != stepped.epochs {
                stepped.epochs = epochs;
                round.look = true;
                self.guard.post(stepped.number, stepped.pe, stepped.busy);
                if epochs.is_power_of_two() && stepped.pe.weighs_copies() {
                    weigh_copies(stepped.pe);
                }
            }
        }
        if let Some((every, began)) = timed {
            self.timed_every = Some(if began.elapsed() > SHORT { 1 } else { TIMED_EVERY });
            if self.rounds.is_multiple_of(every * TELL_EVERY) {
                // Sleep counts as time on the core, as nobody kept the thread from it.
                self.guard.clock.tell(CoreTime {
                    on_core: thread_time() + self.asleep,
                    elapsed: self.began.elapsed(),
                });
            }
        }
        Ok(round)
    }

    /// Waits a moment, as there was nothing to do. Returns whether it is time to check whether to
    /// stop.
    fn wait(&mut self) -> bool {
        let barrier = barrier_to_sleep_at(&self.pes);
        if self.pes.is_empty() || barrier.is_some() {
            let since = Instant::now();
            match barrier {
                Some((barrier, round)) => barrier.sleep(round, WAIT),
                None => thread::sleep(WAIT),
            }
            self.asleep += since.elapsed();
            return true;
        }
        if self.idle > self.patience {
            self.give_way();
            return true;
        }
        std::hint::spin_loop();
        false
    }

    /// Yields the core for a moment, if others want it.
    fn give_way(&mut self) {
        /// Yielding takes longer only if others have the core meanwhile.
        const TAKES: Duration = Duration::from_micros(2);
        let since = Instant::now();
        thread::yield_now();
        let away = since.elapsed();
        if away > TAKES {
            self.yielded += away;
        }
    }

    /// Sends PEs to the threads that are to step them now, and takes in those that have arrived.
    fn exchange(&mut self, assignment: &SteppedPes<'p>) {
        let changes = assignment.changes();
        let gathered = assignment.are_gathered();
        if changes != self.changes {
            self.changes = changes;
            for stepped in
                self.pes.extract_if(.., |stepped| assignment.of(stepped.number) != self.number)
            {
                assignment.send(assignment.of(stepped.number), stepped);
            }
            if gathered && !self.gathered {
                self.pes.iter_mut().for_each(|stepped| stepped.pe.begin_sharing());
            }
            self.gathered = gathered;
        }
        let mut arrived = assignment.receive(self.number);
        if !arrived.is_empty() {
            arrived.iter_mut().filter(|_| gathered).for_each(|stepped| stepped.pe.begin_sharing());
            self.pes.extend(arrived);
            // One of them may have been reassigned meanwhile: look again.
            self.changes = changes.wrapping_sub(1);
        }
    }
}

/// Measures how many events cost as much as a copy of a state, and tells the PE.
#[cold]
fn weigh_copies(pe: &mut dyn AnyPe) {
    let event = pe.event_seconds();
    let since = Instant::now();
    let copied = pe.copy_states(COPIES_WEIGHED);
    if copied > 0 && event > 0.0 {
        pe.set_copy_cost(since.elapsed().as_secs_f64() / f64::from(copied) / event);
    }
}

/// For tests: gives a PE to another thread now and then.
fn move_one(assignment: &SteppedPes<'_>, pes: &[SteppedPe<'_>], rounds: u32, random: &mut Random) {
    if rounds.is_multiple_of(MIGRATES_EVERY) && !pes.is_empty() {
        let moved = &pes[random.below(pes.len() as u32) as usize];
        assignment.set(moved.number, random.below(assignment.threads() as u32) as usize);
    }
}

/// The barrier at which all of these PEs wait, and its round, if threads are to sleep there.
fn barrier_to_sleep_at<'b>(pes: &'b [SteppedPe<'_>]) -> Option<(&'b Barrier, u64)> {
    let waiting = pes
        .iter()
        .map(|stepped| stepped.pe.waits_at_barrier())
        .try_fold(None, |_, waits| waits.map(Some))
        .flatten();
    waiting.filter(|(barrier, _)| barrier.sleeps())
}
