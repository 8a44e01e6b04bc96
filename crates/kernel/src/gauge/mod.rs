mod clock;
pub(crate) mod counts;
pub(crate) mod phases;
mod samples;
pub(crate) mod trace;

use std::time::{Duration, Instant};

use warpline_base::{EventKey, LpId};

use crate::gauge::clock::WallClock;
use crate::gauge::counts::Counts;
use crate::gauge::phases::{Measured, Meter, Phase};
use crate::gauge::trace::{Activity, Snapshot, Totals, Trace, TraceLimits};
use crate::gvt::{Verdict, Work};
use crate::lps::roles::{Role, RoleCounts};

/// What a PE has measured.
///
/// Invariant: it decides nothing. Others may decide by what it has counted, never by how long
/// something took.
pub(crate) struct Gauge {
    counts: Counts,
    /// By role of the LP; empty if all LPs have one role.
    by_role: Vec<RoleCounts>,
    meter: Meter<WallClock>,
    trace: Option<Box<Trace>>,
    /// LPs initialised, for the trace.
    initialised: u64,
    /// When the last of them was initialised.
    initialised_at: Option<Instant>,
}

impl Gauge {
    /// `measures`: whether it also measures how long things take.
    pub(crate) fn new(roles: usize, measures: bool) -> Self {
        let origin = measures.then(Instant::now);
        let meter = Meter::new(WallClock { origin, on_core: None });
        Gauge {
            counts: Counts::default(),
            by_role: vec![RoleCounts::default(); roles],
            meter,
            trace: None,
            initialised: 0,
            initialised_at: None,
        }
    }

    /// The current thread steps the PE from now on. `on_core` tells how long the thread has been on
    /// a core. If it is `alone`, the PE has the thread to itself, and all of its time counts as the
    /// PE's.
    pub(crate) fn begin_thread(&mut self, on_core: fn() -> Duration, alone: bool) {
        self.meter.tell_by(|clock| clock.on_core = Some(on_core));
        if alone {
            self.meter.start();
        }
    }

    pub(crate) fn end_thread(&mut self) {
        self.meter.stop();
    }

    pub(crate) fn slept(&mut self, time: Duration) {
        self.meter.slept(time);
    }

    pub(crate) fn begin_sharing(&mut self) {
        self.counts.gathered += 1;
        self.meter.leave_thread();
    }

    pub(crate) fn trace(&mut self, limits: TraceLimits) {
        self.meter = Meter::new(WallClock { origin: Some(limits.origin), on_core: None });
        self.trace = Some(Box::new(Trace::new(limits)));
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    fn done(&self) -> Totals {
        Totals {
            made: self.initialised,
            executed: self.counts.processed,
            committed: self.counts.committed,
        }
    }

    /// A step begins. Returns whether it is watched event by event: it is a sample, or traced.
    #[inline]
    pub(crate) fn begin_step(&mut self) -> bool {
        let watched = self.meter.begin_step() || self.trace.is_some();
        if watched {
            self.begin_watched();
        }
        watched
    }

    #[cold]
    fn begin_watched(&mut self) {
        let done = self.done();
        if let Some(trace) = &mut self.trace {
            trace.begin_step(self.meter.now(), done);
        }
        self.meter.begin_sample();
    }

    /// The step ends. `over`: it was the last.
    #[inline]
    pub(crate) fn end_step(&mut self, idle: bool, watched: bool, over: bool) {
        self.counts.steps += 1;
        self.counts.idle_steps += u64::from(idle);
        self.meter.end_step(idle);
        if watched {
            self.end_watched(idle, over);
        }
        if over {
            self.meter.stop();
        }
    }

    #[cold]
    fn end_watched(&mut self, idle: bool, over: bool) {
        self.meter.end_sample(idle);
        let done = self.done();
        if let Some(trace) = &mut self.trace {
            trace.end_step(self.meter.now(), done, idle);
            if over {
                trace.end();
            }
        }
    }

    /// In a sample: attributes the time since the last reading to `phase`.
    #[inline]
    pub(crate) fn lap(&mut self, phase: Phase) {
        self.meter.lap_if_sampling(phase);
    }

    /// The same for what happens at every event: it does nothing unless the step is watched.
    #[inline(always)]
    pub(crate) fn event_lap<const WATCHED: bool>(&mut self, phase: Phase) {
        if WATCHED {
            self.meter.lap_if_sampling(phase);
        }
    }

    /// What has been counted.
    #[inline(always)]
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Counts something that happens in only one place of the code. What happens in several places
    /// has a method of its own.
    #[inline(always)]
    pub(crate) fn count(&mut self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counts);
    }

    /// An event has been executed ahead.
    #[inline(always)]
    pub(crate) fn executed_ahead(&mut self) {
        self.counts.processed += 1;
    }

    /// An event has been executed for good.
    #[inline(always)]
    pub(crate) fn executed_for_good(&mut self) {
        self.counts.processed += 1;
        self.counts.certain += 1;
    }

    /// Counts events sent, to this PE or to another.
    #[inline(always)]
    pub(crate) fn sent(&mut self, events: usize) {
        self.counts.sent += events as u64;
    }

    /// An event goes to another PE.
    #[inline(always)]
    pub(crate) fn message_sent(&mut self) {
        self.counts.messages_sent += 1;
    }

    /// An event goes to another PE by value.
    #[inline(always)]
    pub(crate) fn value_sent(&mut self) {
        self.counts.values_sent += 1;
    }

    /// An anti-message goes to another PE.
    pub(crate) fn anti_sent(&mut self) {
        self.counts.anti_sent += 1;
    }

    /// Notes how many messages were found waiting.
    #[inline]
    pub(crate) fn found_waiting(&mut self, messages: u64) {
        if messages > 0 {
            self.counts.receipts += 1;
            self.counts.mailbox_depth_max = self.counts.mailbox_depth_max.max(messages);
        }
    }

    /// An event has been received from another PE.
    #[inline(always)]
    pub(crate) fn message_received(&mut self) {
        self.counts.messages_received += 1;
    }

    /// An anti-message has been received.
    pub(crate) fn anti_received(&mut self) {
        self.counts.anti_received += 1;
    }

    /// Counts events dropped because they were cancelled.
    pub(crate) fn annihilated(&mut self, events: u64) {
        self.counts.annihilated += events;
    }

    /// The work done so far, as GVT reports it.
    pub(crate) fn work(&self) -> Work {
        let Counts { processed, rolled_back, steps, idle_steps, waiting_steps, .. } = self.counts;
        Work { processed, rolled_back, steps, idle_steps, waiting_steps }
    }

    /// An event has committed; `remote`: another PE had sent it.
    #[inline(always)]
    pub(crate) fn committed<const TRACED: bool>(&mut self, lp: LpId, key: &EventKey, remote: bool) {
        self.counts.committed += 1;
        self.counts.remote_committed += u64::from(remote);
        if TRACED && let Some(trace) = &mut self.trace {
            trace.event(lp, key);
        }
    }

    /// `more` LPs have been initialised; `all`: they were the last.
    pub(crate) fn initialised(&mut self, more: usize, all: bool) {
        self.initialised += more as u64;
        if all {
            self.initialised_at = Some(Instant::now());
            self.meter.restart();
        }
    }

    pub(crate) fn initialised_at(&self) -> Option<Instant> {
        self.initialised_at
    }

    /// An event of an LP in this role was set aside.
    pub(crate) fn set_aside(&mut self, role: Role) {
        self.by_role[role.index()].set_aside += 1;
    }

    /// An event of an LP in this role was undone.
    #[inline]
    pub(crate) fn undone(&mut self, role: impl FnOnce() -> Role) {
        self.counts.rolled_back += 1;
        if !self.by_role.is_empty() {
            self.by_role[role().index()].rolled_back += 1;
        }
    }

    /// GVT has been found. `throttled`: how many verdicts have found PEs thrashing.
    pub(crate) fn on_gvt(&mut self, verdict: &Verdict, throttled: u64) {
        self.counts.throttled = throttled;
        self.counts.gvt_epochs += 1;
        self.counts.gvt_rounds += u64::from(verdict.rounds);
    }

    /// A commit begins.
    pub(crate) fn begin_commit(&mut self) -> (u64, u64) {
        (self.meter.begin_commit(), self.counts.committed)
    }

    /// The commit ends.
    pub(crate) fn end_commit(&mut self, (since, before): (u64, u64)) {
        let stretch = self.meter.end_commit(since);
        let after = self.done();
        if let Some(trace) = &mut self.trace {
            let committed = after.committed - before;
            trace.stretch(
                stretch,
                Totals { committed: before, ..after },
                after,
                Activity::Commit { committed },
            );
        }
    }

    /// A rollback begins within a phase. Returns what [`end_rollback`](Self::end_rollback) needs.
    pub(crate) fn begin_rollback(&mut self, within: Phase) -> (Option<u64>, u64) {
        (self.meter.begin_rollback(within, self.trace.is_some()), self.counts.rolled_back)
    }

    /// The rollback ends.
    pub(crate) fn end_rollback(&mut self, (since, before): (Option<u64>, u64), primary: bool) {
        let stretch = self.meter.end_rollback(since);
        let done = self.done();
        if let (Some(trace), Some(stretch)) = (&mut self.trace, stretch) {
            let length = self.counts.rolled_back - before;
            trace.stretch(stretch, done, done, Activity::Rollback { length, primary });
        }
    }

    /// Traces the state of the PE after a commit.
    pub(crate) fn snapshot(&mut self, gvt: f64, window: f64, pending: usize, uncommitted: u64) {
        if let Some(trace) = &mut self.trace {
            trace.snapshot(Snapshot { at: self.meter.now(), gvt, window, pending, uncommitted });
        }
    }

    /// How long the model's code has taken per event, in seconds.
    pub(crate) fn event_seconds(&self) -> f64 {
        self.meter.event_processing() / self.counts.processed.max(1) as f64
    }

    pub(crate) fn into_parts(self) -> (Counts, Vec<RoleCounts>, Measured, Option<Box<Trace>>) {
        (self.counts, self.by_role, self.meter.phases(), self.trace)
    }
}
