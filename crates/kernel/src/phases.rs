//! Measures how long a PE spends on what. It goes into the record of the run only; nothing is decided by it.
//!
//! Reading a clock takes a quarter as long as executing an event, so most steps are not timed. One in [`EVERY`] is a *sample*: the clock is
//! read at its start and end and, within its batch, three times per event. Commits are rare and all timed, and so are rollbacks up to some
//! number, and waiting, since a PE that waits has time to read a clock. The rest of a thread's time is divided in the proportions of the
//! samples, so that the phases add up to the thread's time. The cost of reading the clock is itself measured and taken off the samples.

use std::fmt::Debug;
use std::time::Instant;

use warpline_base::record::Phases;

/// One step in this many is a sample: a prime, so that samples do not fall into step with GVT.
const EVERY: u32 = 509;
/// All of the first rollbacks up to this number are timed, and one in [`ROLLBACK_EVERY`] after that.
const ROLLBACKS_ALL: u64 = 4096;
const ROLLBACK_EVERY: u64 = 16;
/// A sample that took this many times the mean is discarded: the thread was preempted.
const OUTLIER: i64 = 64;
/// How many samples the running mean covers.
const MEAN_OF: i64 = 16;

/// Nanoseconds since an arbitrary moment.
pub(crate) trait Clock: Debug {
    fn now(&self) -> u64;
}

/// The system's clock, and when it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock(pub(crate) Instant);

impl Clock for WallClock {
    #[inline]
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}

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

/// Measures the phases of a PE. Times are in nanoseconds, and signed wherever the cost of reading the clock is subtracted.
#[derive(Debug)]
pub(crate) struct Meter<C> {
    clock: C,
    /// The cost of reading the clock.
    cost: i64,
    /// Steps until the next sample, and the interval between the last two: samples are closer together at the start, for short runs.
    until_sample: u32,
    interval: u32,
    /// Whether the current step is a sample.
    sampling: bool,
    last: u64,
    /// The phases of the current sample.
    laps: [i64; 5],
    /// The sum over the samples that executed something, each weighted by the steps that it stands for.
    busy: [i64; 5],
    /// The same for samples that executed nothing.
    idle_samples: i64,
    /// How many steps the samples stand for.
    weight: u64,
    /// How many samples there are, and their total time.
    samples: i64,
    sampled: i64,
    steps: u64,
    commits: i64,
    rollbacks: u64,
    rollback: i64,
    /// When the PE's thread began, if it has one of its own, and when it ended.
    started: Option<u64>,
    stopped: Option<u64>,
    /// For a PE with a thread: the time waited so far, and since when it has been waiting.
    waited: u64,
    waits_since: Option<u64>,
}

impl<C: Clock> Meter<C> {
    pub(crate) fn new(clock: C) -> Self {
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
        Meter {
            clock,
            cost,
            until_sample: 1,
            interval: 1,
            sampling: false,
            last: 0,
            laps: [0; 5],
            busy: [0; 5],
            idle_samples: 0,
            weight: 0,
            samples: 0,
            sampled: 0,
            steps: 0,
            commits: 0,
            rollbacks: 0,
            rollback: 0,
            started: None,
            stopped: None,
            waited: 0,
            waits_since: None,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// From now on, all time counts as the PE's own.
    pub(crate) fn start(&mut self) {
        self.started = Some(self.clock.now());
    }

    /// Time up to now does not count.
    pub(crate) fn restart(&mut self)
    where
        C: Clone,
    {
        let started = self.started.map(|_| self.clock.now());
        *self = Meter { started, ..Self::with(self.clock.clone(), self.cost) };
    }

    /// The PE has finished.
    pub(crate) fn stop(&mut self) {
        self.stopped = Some(self.clock.now());
    }

    /// A step begins. Returns whether it is a sample.
    #[inline]
    pub(crate) fn begin_step(&mut self) -> bool {
        if self.waits_since.is_some() {
            self.note_waiting();
        }
        self.until_sample -= 1;
        self.until_sample == 0
    }

    fn note_waiting(&mut self) {
        let now = self.clock.now();
        self.waited += now - self.waits_since.replace(now).unwrap_or(now);
    }

    #[inline]
    pub(crate) fn end_step(&mut self, idle: bool) {
        self.steps += 1;
        if !idle {
            self.waits_since = None;
        } else if self.started.is_some() && self.waits_since.is_none() {
            self.waits_since = Some(self.clock.now());
        }
    }

    /// A step begins that may be a sample.
    pub(crate) fn begin_sample(&mut self) {
        if self.until_sample == 0 {
            (self.sampling, self.laps) = (true, [0; 5]);
            self.last = self.clock.now();
        }
    }

    /// The step ends, its work for GVT included.
    pub(crate) fn end_sample(&mut self, idle: bool) {
        self.lap_of_sample(Phase::Gvt);
        if !std::mem::take(&mut self.sampling) {
            return;
        }
        let (time, weight) = (self.laps.iter().sum::<i64>(), i64::from(self.interval));
        if self.samples < MEAN_OF || time.saturating_mul(self.samples) <= self.sampled.saturating_mul(OUTLIER) {
            self.weight += u64::from(self.interval);
            (self.samples, self.sampled) = (self.samples + 1, self.sampled + time);
            if idle {
                self.idle_samples += weight * time;
            } else {
                (0..5).for_each(|phase| self.busy[phase] += weight * self.laps[phase]);
            }
        }
        self.interval = (2 * self.interval).min(EVERY);
        self.until_sample = self.interval;
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
    pub(crate) fn lap_of_sample(&mut self, phase: Phase) {
        if self.sampling {
            self.lap(phase);
        }
    }

    /// A stretch that is measured on its own begins, within a phase.
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

    /// A rollback begins, within a phase. Returns when, if it is timed or `wanted`.
    pub(crate) fn begin_rollback(&mut self, within: Phase, wanted: bool) -> Option<u64> {
        self.rollbacks += 1;
        (self.rollback_weight() > 0 || self.sampling || wanted).then(|| self.interrupt(within))
    }

    pub(crate) fn end_rollback(&mut self, since: Option<u64>) -> Option<Stretch> {
        let stretch = self.resume(since?);
        self.rollback += self.rollback_weight() * ((stretch.until - stretch.since) as i64 - self.cost);
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

    /// Seconds in each phase so far. They add up to the time of the PE's thread; for a PE that shares a thread, to the time spent in its
    /// steps, as estimated from the samples.
    pub(crate) fn phases(&self) -> Phases {
        let sampled = self.busy.map(|time| time.max(0) as f64);
        let all = sampled.iter().sum::<f64>();
        let commits = self.commits.max(0) as f64;
        let (rest, idle, rollback) = match self.started {
            Some(started) => {
                let time = (self.stopped.unwrap_or_else(|| self.clock.now()) - started) as f64;
                let idle = (self.waited as f64).min(time);
                let commits = commits.min(time - idle);
                // Only some of many rollbacks were timed, so extrapolation may yield more time than there is.
                let rollback = (self.rollback.max(0) as f64).min(time - idle - commits);
                (time - idle - commits - rollback, idle, rollback)
            }
            None => {
                let scale = if self.weight > 0 { self.steps as f64 / self.weight as f64 } else { 0.0 };
                (all * scale, self.idle_samples.max(0) as f64 * scale, self.rollback.max(0) as f64)
            }
        };
        // Without a sample that executed anything, all time was waiting.
        let (share, idle) = if all > 0.0 { (rest / all, idle) } else { (0.0, idle + rest) };
        let seconds = |phase: Phase| sampled[phase as usize] * share * 1e-9;
        Phases {
            event_processing: seconds(Phase::Execute),
            send: seconds(Phase::Send),
            receive: seconds(Phase::Receive),
            pending_set: seconds(Phase::PendingSet),
            rollback: rollback * 1e-9,
            gvt: seconds(Phase::Gvt),
            fossil_collection: commits * 1e-9,
            idle: idle * 1e-9,
        }
    }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
