//! Runs on the sequential engine: for their results, to verify the model, or to follow its critical
//! path.

mod dry_run;
mod explain;
mod verify;

use std::time::{Duration, Instant};

use warpline_base::{LpId, StateDigest, VirtualTime};
use warpline_kernel::pending::Ladder;
use warpline_kernel::{FailedEvent, Position, Sequential, SequentialParts, Step, Stop};
use warpline_model::Model;
use warpline_model::engine::Executor;
use warpline_record::Stuck;
use warpline_transport::thread_time;

use crate::conclude::finish::{Finisher, finish_failure};
use crate::job::Job;
use crate::job::check::RunSpec;
use crate::machine::core_time::CoreTime;
use crate::outcome::error::{Failure, event_text};
use crate::outcome::rows::Rows;
use crate::policy::engine_selector::Reading;
use crate::state::run_monitor::RunMonitor;
use crate::state::run_state::{RunState, SegmentEnd, SegmentSummary};
use crate::watch::drive::Pace;
use crate::{Error, Place};

/// How many LPs or events make a turn of this engine.
const PER_TURN: u64 = 1024;

/// The engine of a run.
struct Engine<'m, M: Model> {
    /// The name of the model, for errors.
    name: &'m str,
    engine: Sequential<'m, M, Ladder, Rows>,
}

/// How long the thread has been at work, and on a core.
struct WorkTime {
    began: Instant,
    on_core: Duration,
}

impl WorkTime {
    fn begin() -> Self {
        WorkTime { began: Instant::now(), on_core: thread_time() }
    }

    fn until(&self, now: Instant) -> CoreTime {
        CoreTime { on_core: thread_time().saturating_sub(self.on_core), elapsed: now - self.began }
    }
}

impl<M: Model> Job<M> {
    /// Runs a segment of a run on the sequential engine: to the end, or until it is ended early or
    /// is to go on with another engine.
    pub(crate) fn run_sequentially(
        &self,
        spec: &RunSpec,
        mut state: RunState<M>,
        monitor: &mut RunMonitor<'_>,
    ) -> Result<SegmentEnd<M>, Error> {
        // Kept for the next engine: this one has no use for what events cost.
        let costs = std::mem::take(&mut state.costs);
        let mut run = self.engine(spec, false, state);
        run.engine.draw_on(monitor.budget.account());
        monitor.control.watch(None, run.engine.executor().beat());
        let looped = run.begin_loop(monitor)?;
        let worked = WorkTime::begin();
        let cut_short = run.execute_all(spec.end, &worked, monitor)?;
        let ended = Instant::now();
        let work = Some(worked.until(ended));
        run.engine.balance();
        let SequentialParts { lps, statistics, rows, committed, pending, .. } =
            run.engine.into_parts();
        let left = pending.len();
        let state = RunState {
            from: cut_short.unwrap_or(spec.end),
            first_lp: 0,
            lps: vec![lps],
            pending: vec![pending],
            committed,
            statistics,
            rows,
            costs,
        };
        let goes_on = cut_short.is_some() && !monitor.stop.is_on();
        let summary =
            SegmentSummary { cut_short, goes_on, looped, ended, left, work, parallel: None };
        Ok(SegmentEnd { state, summary })
    }

    /// An engine that goes on from `state`.
    fn engine(&self, spec: &RunSpec, saving: bool, mut state: RunState<M>) -> Engine<'_, M> {
        let executor = Executor::with_limits(spec.limits.clone(), self.settings.seed(), saving);
        let resumed = !state.is_new();
        let lps = state.take_lps();
        let pending = state.take_pending();
        let mut engine = Sequential::new(
            &*self.model,
            executor,
            spec.ties,
            spec.end,
            state.statistics,
            state.rows,
            self.settings.pending().empty(),
        );
        if resumed {
            engine.take_over(lps, pending, state.committed);
        }
        Engine { name: &self.name, engine }
    }
}

impl<M: Model> Job<M> {
    /// Calls `finish` for all LPs, and adds their states to a digest, if there is one.
    fn finish(
        &self,
        done: &mut SequentialParts<M, Rows>,
        end: VirtualTime,
        digest: Option<&mut StateDigest>,
    ) -> Result<(), Error> {
        let SequentialParts { lps, executor, statistics, rows, committed, .. } = done;
        let stuck = &mut Stuck::default();
        let finisher = Finisher { model: &*self.model, executor, statistics, end, digest, stuck };
        let finished = finisher.finish(0, lps.iter().map(|lp| &lp.state), rows);
        finished.map_err(|fault| finish_failure(&self.name, fault, end, *committed))
    }
}

impl<M: Model> Engine<'_, M> {
    /// How far the run has come.
    fn reading(&self, now: Instant, core_time: CoreTime) -> Reading {
        let engine = &self.engine;
        Reading {
            pending: Some(engine.pending()),
            core_time,
            ..Reading::new(now, engine.now(), engine.committed())
        }
    }

    /// Initialises the LPs, unless an earlier engine has. Returns when the event loop began, if it
    /// begins here.
    fn begin_loop(&mut self, monitor: &mut RunMonitor<'_>) -> Result<Option<Instant>, Error> {
        if self.engine.next_lp().is_none() {
            return Ok(None);
        }
        self.initialise(|id| {
            let now = Instant::now();
            monitor.note(Reading::new(now, 0.0, 0), None);
            monitor.check_end(now, 0.0, u64::from(id.0) / PER_TURN)?;
            monitor.go_on()
        })?;
        let now = Instant::now();
        monitor.begin_loop(now);
        Ok(Some(now))
    }

    /// Executes events to `end`, or until the segment is to end earlier. Returns where, then.
    fn execute_all(
        &mut self,
        end: VirtualTime,
        worked: &WorkTime,
        monitor: &mut RunMonitor<'_>,
    ) -> Result<Option<VirtualTime>, Error> {
        // The time on a core takes a system call, so it is measured only for the engine selector.
        let measured = !monitor.selector.is_fixed();
        let core_time =
            |now: Instant| if measured { worked.until(now) } else { CoreTime::default() };
        let now = worked.began;
        let mut pace = Pace::new(now);
        monitor.selector.begin(self.reading(now, core_time(now)));
        let first = self.engine.committed();
        let most = monitor.selector.events().unwrap_or(u64::MAX);
        let mut cut_short = None;
        while self.step(pace.events().min(u32::try_from(most).unwrap_or(u32::MAX)))? == Step::Worked
        {
            let now = Instant::now();
            pace.stepped(now, monitor.selector.patience());
            let reading = self.reading(now, core_time(now));
            monitor.note_memory(now);
            monitor.note(reading, None);
            monitor.go_on()?;
            monitor.check_end(now, reading.virtual_time, reading.committed / PER_TURN)?;
            let ends = monitor.stop.is_on()
                || monitor.selector.is_over(reading)
                || reading.committed - first >= most;
            if cut_short.is_none() && ends {
                cut_short = Some(self.engine.end_soon()).filter(|earlier| *earlier < end);
            }
        }
        Ok(cut_short)
    }

    /// Initialises all LPs in the order of their ids, and calls `go_on` now and then.
    fn initialise(
        &mut self,
        mut go_on: impl FnMut(LpId) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some(id) = self.engine.next_lp() {
            if id.0.is_multiple_of(64) {
                go_on(id)?;
            }
            self.engine.initialise_next().map_err(|stop| self.error(stop, Place::Init(id)))?;
        }
        Ok(())
    }

    /// Executes up to `most` events.
    fn step(&mut self, most: u32) -> Result<Step, Error> {
        self.engine.step(most).map_err(|stop| self.error(stop, self.current_place()))
    }

    /// The event executed last.
    fn current_place(&self) -> Place {
        let event = self.engine.running().map_or_else(FailedEvent::dropped, |event| FailedEvent {
            number: Some(self.engine.running_number()),
            payload: event_text(&event.payload),
        });
        Place::event(self.lp(), self.engine.now(), event)
    }

    /// The LP whose code ran last.
    fn lp(&self) -> LpId {
        self.engine.executor().id()
    }

    #[cold]
    fn error(&self, stop: Stop, place: Place) -> Error {
        let time = self.engine.now();
        match stop {
            Stop::Fault(fault) => {
                let model = self.name.to_owned();
                let committed = self.engine.committed();
                Error::Fault(Box::new(Failure { model, place, time, fault, committed }))
            }
            Stop::Exhausted(why) => {
                let place = Position { lp: self.lp(), time, pending: self.engine.pending() as u64 };
                Error::Memory { place: Some(place), why }
            }
        }
    }
}
