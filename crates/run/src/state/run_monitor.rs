//! What all engines of a run have in common: those who watch it and may end it, how it is logged,
//! and who chooses the next engine.

use std::time::{Duration, Instant};

use warpline_record::SpeculationSample;

use crate::Error;
use crate::machine::budget::RunBudget;
use crate::policy::engine_selector::{EngineSelector, Reading};
use crate::watch::drive::Log;
use crate::watch::end_patience::EndPatience;
use crate::watch::{Control, StopSwitch};

/// How often the memory of the process is read, which takes some microseconds.
const NOTE_MEMORY_EVERY: Duration = Duration::from_millis(10);

/// Watches a run over all its segments.
pub(crate) struct RunMonitor<'r> {
    pub(crate) control: &'r Control,
    pub(crate) stop: &'r StopSwitch,
    /// Bytes of stack of every thread.
    pub(crate) stack: usize,
    /// The end that is wanted, in model time.
    end: f64,
    log: Log,
    /// What the run may take of the memory.
    pub(crate) budget: RunBudget,
    memory_noted: Instant,
    pub(crate) selector: EngineSelector,
    /// What PEs did in earlier segments of the run.
    before: SpeculationSample,
    /// Of a sequential engine.
    end_patience: EndPatience<f64>,
}

impl<'r> RunMonitor<'r> {
    /// The monitor of a run that has just been started.
    pub(crate) fn new(
        control: &'r Control,
        stop: &'r StopSwitch,
        stack: usize,
        end: f64,
        budget: RunBudget,
        selector: EngineSelector,
    ) -> Self {
        let log = Log::new(Instant::now(), end, control.listener());
        let before = SpeculationSample::default();
        RunMonitor {
            control,
            stop,
            stack,
            end,
            log,
            budget,
            memory_noted: Instant::now(),
            selector,
            before,
            end_patience: EndPatience::default(),
        }
    }

    /// The event loop begins: progress is logged from `now`.
    pub(crate) fn begin_loop(&mut self, now: Instant) {
        self.log = Log::new(now, self.end, self.control.listener());
    }

    /// Notes how far the run has come. `speculation` is what the PEs of this segment have done so
    /// far, if it has PEs.
    pub(crate) fn note(&mut self, reading: Reading, speculation: Option<SpeculationSample>) {
        let Reading { now, virtual_time, committed, .. } = reading;
        self.log.note_all(
            now,
            virtual_time.min(self.end),
            committed,
            speculation.map(|sample| self.summed(sample)),
        );
    }

    /// Notes how much memory the process takes, if some time has passed since that was done last.
    pub(crate) fn note_memory(&mut self, now: Instant) {
        if now - self.memory_noted >= NOTE_MEMORY_EVERY {
            self.memory_noted = now;
            self.budget.look();
        }
    }

    /// Notes what the PEs of a segment that is over have done.
    pub(crate) fn note_segment(&mut self, sample: SpeculationSample) {
        self.before = self.summed(sample);
    }

    /// What the PEs of this segment and of earlier ones have done.
    fn summed(&self, sample: SpeculationSample) -> SpeculationSample {
        SpeculationSample {
            processed_events: self.before.processed_events + sample.processed_events,
            rolled_back_events: self.before.rolled_back_events + sample.rolled_back_events,
            gvt_epochs: self.before.gvt_epochs + sample.gvt_epochs,
            throttled_epochs: self.before.throttled_epochs + sample.throttled_epochs,
            gathered: self.before.gathered + sample.gathered,
            ..sample
        }
    }

    /// # Errors
    /// If the caller no longer waits for the run.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        self.control.go_on()
    }

    /// Looks at a sequential engine that has reached this virtual time, in its `turn`th turn of many
    /// events or LPs.
    ///
    /// # Errors
    /// If it is to end, and has come no further for too long.
    pub(crate) fn check_end(&mut self, now: Instant, reached: f64, turn: u64) -> Result<(), Error> {
        if !self.stop.is_on() {
            return Ok(());
        }
        let looked = self.end_patience.look(now, reached, vec![turn]);
        looked.map_err(|seconds| Error::NoEnd { seconds })
    }

    /// The log of the whole run, and what PEs did in it.
    pub(crate) fn into_log(self) -> (Log, SpeculationSample) {
        (self.log, self.before)
    }
}
