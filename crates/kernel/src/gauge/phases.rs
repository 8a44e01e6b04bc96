//! Measures where a PE's time goes. The figures are for the record of the run; nothing is decided
//! by them.
//!
//! Reading a clock takes a quarter as long as executing an event, so most steps are not timed. One
//! in `EVERY` of those that execute something is a *sample*: the clock is read at its start and
//! end and, within its batch, three times per event. Commits are rare and all timed, and so are
//! rollbacks up to some number, and waiting, since a PE that waits has time to read a clock.
//!
//! Samples never say how long a PE with a thread of its own was at work: that is the thread's time
//! less what it waited, and less the time for which others had its core, which the system's clock
//! of the thread tells. Only this is divided in the proportions of the samples. Steps that wait are
//! counted apart from those that work, as one kind may take a thousand times as long as the other.
//! A sample in which the thread lost its core is left out. The cost of reading the clock is itself
//! measured and taken off the samples.

use std::time::Duration;

use warpline_record::Phases;

use super::clock::Clock;
use super::samples::Samples;

/// All of the first rollbacks up to this number are timed, and one in [`ROLLBACK_EVERY`] after
/// that.
const ROLLBACKS_ALL: u64 = 4096;
const ROLLBACK_EVERY: u64 = 16;
/// A sample is left out if its thread was off its core for longer than this, in nanoseconds, and
/// than this share of the sample.
const LOST: i64 = 20_000;
const LOST_SHARE: i64 = 4;
/// A thread that waits looks again sooner than this, in nanoseconds, unless it is off its core.
const LOOKS_WITHIN: u64 = 2_000;

/// The phases that samples measure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Receive,
    PendingSet,
    Execute,
    Send,
    Gvt,
}

/// A stretch of time that is measured on its own: a commit or a rollback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) since: u64,
    pub(crate) until: u64,
}

/// The thread of a PE that has one of its own.
#[derive(Clone, Copy, Debug)]
struct OwnThread {
    started: u64,
    /// For how long it had been on a core then.
    on_core: Option<u64>,
    /// When it ended, and for how long it had been on a core then.
    stopped: Option<(u64, Option<u64>)>,
}

/// Measures the phases of a PE. Times are in nanoseconds, and signed wherever the cost of reading
/// the clock is subtracted.
#[derive(Debug)]
pub(crate) struct Meter<C> {
    clock: C,
    /// The cost of reading the clock.
    cost: i64,
    /// Steps that executed something.
    working: Samples,
    /// All other steps. Their time is measured anyway if the PE has a thread of its own.
    idle: Samples,
    /// Whether the current step is a sample.
    sampling: bool,
    /// Whether a sample was due of steps that execute something, if the current step is one.
    working_due: bool,
    /// Whether a sample was due of all other steps.
    idle_due: bool,
    /// The last reading of the clock in the current sample.
    last: u64,
    /// When the current sample began, and for how long the thread had been on a core then.
    since: (u64, Option<u64>),
    /// The phases of the current sample.
    laps: [i64; 5],
    commits: i64,
    rollbacks: u64,
    rollback: i64,
    thread: Option<OwnThread>,
    /// For a PE with a thread of its own: the time waited so far.
    waited: u64,
    /// The part of it that the thread was off its core.
    waited_off_core: u64,
    /// Since when it has been waiting, if it is.
    waits_since: Option<u64>,
}

impl<C: Clock> Meter<C> {
    pub(crate) fn new(clock: C) -> Self {
        if clock.stands_still() {
            return Self::with(clock, 0);
        }
        // The least of several readings, as the thread may be interrupted between two.
        let reads = |_| {
            let since = clock.now();
            (1..8).for_each(|_| _ = std::hint::black_box(clock.now()));
            (clock.now() - since) as i64 / 8
        };
        let cost = (0..8).map(reads).min().unwrap_or_default();
        Self::with(clock, cost)
    }

    fn with(clock: C, cost: i64) -> Self {
        let [working, idle] = if clock.stands_still() { [u32::MAX; 2] } else { [0, 1] };
        Meter {
            clock,
            cost,
            working: Samples::first_after(working),
            idle: Samples::first_after(idle),
            sampling: false,
            working_due: false,
            idle_due: false,
            last: 0,
            since: (0, None),
            laps: [0; 5],
            commits: 0,
            rollbacks: 0,
            rollback: 0,
            thread: None,
            waited: 0,
            waited_off_core: 0,
            waits_since: None,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Changes the clock, which goes on from the same moment.
    pub(crate) fn tell_by(&mut self, change: impl FnOnce(&mut C)) {
        change(&mut self.clock);
    }

    /// Lets all time of the current thread count as the PE's own, from now on.
    pub(crate) fn start(&mut self) {
        self.thread = Some(OwnThread {
            started: self.clock.now(),
            on_core: self.clock.on_core(),
            stopped: None,
        });
    }

    /// Lets only the time in steps count as the PE's own, from now on. For the time before, the
    /// samples count.
    pub(crate) fn leave_thread(&mut self) {
        self.thread = None;
        self.waits_since = None;
    }

    /// Time up to now does not count.
    pub(crate) fn restart(&mut self)
    where
        C: Clone,
    {
        let has_thread = self.thread.is_some();
        *self = Self::with(self.clock.clone(), self.cost);
        if has_thread {
            self.start();
        }
    }

    /// The PE has finished, or its thread ends. Only the first of several calls counts.
    pub(crate) fn stop(&mut self) {
        let stopped = (self.clock.now(), self.clock.on_core());
        self.thread.iter_mut().for_each(|thread| _ = thread.stopped.get_or_insert(stopped));
    }

    /// A step begins. Returns whether it is a sample.
    #[inline]
    pub(crate) fn begin_step(&mut self) -> bool {
        if self.waits_since.is_some() {
            self.note_waiting();
        }
        self.working.is_due() || self.idle.is_due()
    }

    fn note_waiting(&mut self) {
        let now = self.clock.now();
        let waited = now - self.waits_since.replace(now).unwrap_or(now);
        self.waited += waited;
        if waited > LOOKS_WITHIN {
            self.waited_off_core += waited;
        }
    }

    /// The thread slept for `time`, to let others catch up. It was not kept from its core.
    pub(crate) fn slept(&mut self, time: Duration) {
        let nanoseconds = time.as_nanos() as u64;
        self.waited += nanoseconds;
        self.waited_off_core += nanoseconds;
        // If it was waiting already, it goes on waiting from here.
        self.waits_since.iter_mut().for_each(|since| *since += nanoseconds);
    }

    #[inline]
    pub(crate) fn end_step(&mut self, idle: bool) {
        if !idle {
            self.waits_since = None;
            self.working.passed();
            return;
        }
        if self.thread.is_none() {
            self.idle.passed();
        } else if self.waits_since.is_none() {
            self.waits_since = Some(self.clock.now());
        }
    }

    /// A step begins that may be a sample.
    pub(crate) fn begin_sample(&mut self) {
        self.working_due = self.working.is_due();
        self.idle_due = self.idle.is_due();
        if self.working_due || self.idle_due {
            self.sampling = true;
            self.laps = [0; 5];
            let on_core = self.clock.on_core();
            self.last = self.clock.now();
            self.since = (self.last, on_core);
        }
    }

    /// The step ends, its work for GVT included.
    pub(crate) fn end_sample(&mut self, idle: bool) {
        self.lap_if_sampling(Phase::Gvt);
        if !std::mem::take(&mut self.sampling) {
            return;
        }
        let (began, on_core) = self.since;
        let passed = (self.last - began) as i64;
        let on_core = on_core
            .zip(self.clock.on_core())
            .map_or(passed, |(since, until)| (until - since) as i64);
        let off_core = passed - on_core;
        let is_lost = off_core > LOST && off_core * LOST_SHARE > passed;
        match idle {
            true if self.idle_due => self.idle.add(&self.laps, is_lost),
            // A working sample stays due until a step works.
            true => {}
            false if self.working_due => self.working.add(&self.laps, is_lost),
            // Idle steps are all alike, so that another one will do as well.
            false => self.idle.put_off(),
        }
    }

    /// In a sample: attributes the time since the last reading to `phase`.
    #[cold]
    pub(crate) fn lap(&mut self, phase: Phase) {
        let now = self.clock.now();
        self.laps[phase as usize] += (now - self.last) as i64 - self.cost;
        self.last = now;
    }

    /// The same, if the current step is a sample.
    #[inline]
    pub(crate) fn lap_if_sampling(&mut self, phase: Phase) {
        if self.sampling {
            self.lap(phase);
        }
    }

    /// A stretch that is measured on its own begins within a phase.
    fn interrupt(&mut self, within: Phase) -> u64 {
        if self.sampling {
            self.lap(within);
            return self.last;
        }
        self.clock.now()
    }

    /// The stretch ends.
    fn resume(&mut self, since: u64) -> Stretch {
        self.last = self.clock.now();
        // It was not waiting.
        if let Some(waits) = &mut self.waits_since {
            *waits += self.last - since;
        }
        Stretch { since, until: self.last }
    }

    pub(crate) fn begin_commit(&mut self) -> u64 {
        self.interrupt(Phase::Gvt)
    }

    pub(crate) fn end_commit(&mut self, since: u64) -> Stretch {
        let stretch = self.resume(since);
        self.commits += (stretch.until - since) as i64 - self.cost;
        stretch
    }

    /// A rollback begins within a phase. Returns when, if it is timed or `wanted`.
    pub(crate) fn begin_rollback(&mut self, within: Phase, wanted: bool) -> Option<u64> {
        self.rollbacks += 1;
        (self.rollback_weight() > 0 || self.sampling || wanted).then(|| self.interrupt(within))
    }

    pub(crate) fn end_rollback(&mut self, since: Option<u64>) -> Option<Stretch> {
        let stretch = self.resume(since?);
        self.rollback +=
            self.rollback_weight() * ((stretch.until - stretch.since) as i64 - self.cost);
        Some(stretch)
    }

    /// How many rollbacks the last one stands for.
    fn rollback_weight(&self) -> i64 {
        match self.rollbacks {
            count if count <= ROLLBACKS_ALL => 1,
            count if count.is_multiple_of(ROLLBACK_EVERY) => ROLLBACK_EVERY as i64,
            _ => 0,
        }
    }

    /// How long the model's code has taken so far, in seconds: an estimate.
    pub(crate) fn event_processing(&self) -> f64 {
        self.working.times()[Phase::Execute as usize] * 1e-9
    }

    /// Seconds in each phase so far. They add up to the time of the PE's thread; for a PE that
    /// shares a thread, to the time spent in its steps, as estimated from the samples.
    pub(crate) fn phases(&self) -> Measured {
        let sampled = self.working.times();
        let all = sampled.iter().sum::<f64>();
        let commits = self.commits.max(0) as f64;
        let rollback = self.rollback.max(0) as f64;
        let Some(thread) = self.thread else {
            let phases = seconds(sampled, [rollback, commits, self.idle.times().iter().sum(), 0.0]);
            return Measured { phases, samples: self.working.effective() };
        };
        let (stopped, on_core) = thread.stopped.unwrap_or_else(|| (self.clock.now(), None));
        let time = (stopped - thread.started) as f64;
        let idle = (self.waited as f64).min(time);
        let work = time - idle;
        let on_core =
            thread.on_core.zip(on_core).map_or(time, |(since, until)| (until - since) as f64);
        // While it waits, it needs no core.
        let off_core = (time - on_core - self.waited_off_core as f64).clamp(0.0, work);
        // Others may have had the core at any moment of its work.
        let share = if work > 0.0 { (work - off_core) / work } else { 0.0 };
        let commits = commits.min(work);
        // Only some of many rollbacks were timed, so extrapolation may yield more time than there
        // is.
        let rollback = rollback.min(work - commits);
        let rest = share * (work - commits - rollback);
        // Without anything executed, all of it was waiting.
        let (scale, idle) = if all > 0.0 { (rest / all, idle) } else { (0.0, idle + rest) };
        let phases = seconds(
            sampled.map(|time| time * scale),
            [share * rollback, share * commits, idle, off_core],
        );
        Measured { phases, samples: if agrees(scale) { self.working.effective() } else { 0.0 } }
    }
}

/// Where the time of a PE went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Seconds in each phase.
    pub phases: Phases,
    /// How many samples of equal length would say as much of the phases: little more than 1 if one
    /// sample took longer than all others together, and 0 if the samples and the time of the thread
    /// contradict each other.
    pub samples: f64,
}

/// Whether samples can be believed, if the time that was measured is this many times what they say.
pub fn agrees(times: f64) -> bool {
    (0.5..=2.0).contains(&times)
}

/// Phases whose times are given in nanoseconds.
fn seconds(sampled: [f64; 5], [rollback, commits, idle, off_core]: [f64; 4]) -> Phases {
    let of = |phase: Phase| sampled[phase as usize] * 1e-9;
    Phases {
        event_processing: of(Phase::Execute),
        send: of(Phase::Send),
        receive: of(Phase::Receive),
        pending_set: of(Phase::PendingSet),
        rollback: rollback * 1e-9,
        gvt: of(Phase::Gvt),
        fossil_collection: commits * 1e-9,
        idle: idle * 1e-9,
        off_core: off_core * 1e-9,
    }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
