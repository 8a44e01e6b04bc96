//! What adds up over the segments of a run.

use std::time::Instant;

use serde_json::{Map, Value};
use warpline_base::VirtualTime;
use warpline_kernel::RoleCounts;
use warpline_record::{EngineStretch, ParallelRecord};

use crate::machine::core_time::CoreTime;
use crate::parallel::add_record;
use crate::policy::engine_choice::Engine;
use crate::policy::engine_selector::Reading;
use crate::state::run_state::{ParallelSegment, SegmentSummary};
use crate::{Error, TraceSummary};

/// The totals of a run so far.
pub(crate) struct RunTotals {
    /// When the run began.
    pub(crate) started: Instant,
    /// When all LPs had been initialised.
    looped: Option<Instant>,
    /// When the last segment had executed its last event.
    pub(crate) ended: Instant,
    /// Where the last segment ended, if before the end of the run.
    pub(crate) cut_short: Option<VirtualTime>,
    /// How long its threads had something to do, and were on a core then, if that is known of all
    /// segments.
    work: Option<CoreTime>,
    pub(crate) parallel: Option<ParallelRecord>,
    /// The engines of a run that chose them itself.
    pub(crate) engines: Vec<EngineStretch>,
    /// The settings of the last parallel engine.
    pub(crate) engine: Option<Map<String, Value>>,
    /// Its trace, if there was to be one.
    pub(crate) traced: Option<Result<TraceSummary, Error>>,
    /// What the LPs of each role did, by PE.
    pub(crate) by_role: Vec<Vec<RoleCounts>>,
    /// How often PEs were given to other threads.
    pub(crate) moved: u64,
    /// Whether nothing was left to do, at the end and beyond it.
    pub(crate) ran_out: bool,
}

impl RunTotals {
    pub(crate) fn new(started: Instant) -> Self {
        RunTotals {
            started,
            looped: None,
            ended: started,
            cut_short: None,
            work: Some(CoreTime::default()),
            parallel: None,
            engines: Vec::new(),
            engine: None,
            traced: None,
            by_role: Vec::new(),
            moved: 0,
            ran_out: false,
        }
    }

    /// Adds a segment that began at this time of the clock.
    pub(crate) fn add(&mut self, began: Instant, segment: SegmentSummary) {
        let SegmentSummary { cut_short, goes_on, looped, ended, work, left, parallel } = segment;
        self.looped.get_or_insert(looped.unwrap_or(began));
        self.ended = ended;
        self.cut_short = cut_short;
        self.ran_out = !goes_on && left == 0 && cut_short.is_none();
        self.work = self.work.zip(work).map(|(all, more)| [all, more].into_iter().sum());
        if let Some(parallel) = parallel {
            self.add_parallel(parallel);
        }
    }

    fn add_parallel(&mut self, segment: ParallelSegment) {
        match &mut self.parallel {
            None => self.parallel = Some(segment.record),
            Some(parallel) => add_record(parallel, segment.record),
        }
        self.by_role.extend(segment.by_role);
        self.moved += segment.moved;
        self.engine = Some(segment.engine);
        self.traced = self.traced.take().or(segment.traced);
    }

    /// Notes for the record what `engine` executed between two readings, at which rate, and why.
    pub(crate) fn note_engine(
        &mut self,
        engine: Engine,
        began: Reading,
        ended: Reading,
        (why, event_rate): (String, Option<f64>),
    ) {
        let looped = self.looped.unwrap_or(began.now);
        self.engines.push(EngineStretch {
            sync: engine.sync.name().to_owned(),
            pes: engine.pes,
            from: began.virtual_time,
            to: ended.virtual_time,
            began_seconds: began.now.saturating_duration_since(looped).as_secs_f64(),
            seconds: (ended.now - began.now.max(looped)).as_secs_f64(),
            committed_events: ended.committed - began.committed,
            event_rate,
            why,
        });
    }

    /// How long the event loops took, and all that came between them.
    pub(crate) fn loop_seconds(&self) -> f64 {
        self.looped.map_or(0.0, |looped| (self.ended - looped).as_secs_f64())
    }

    /// Of the time for which its threads had something to do, the share for which they had a core,
    /// if that is known.
    pub(crate) fn core_share(&self) -> Option<f64> {
        let work = self.work.filter(|work| !work.elapsed.is_zero())?;
        Some(work.share_since(CoreTime::default()))
    }
}
