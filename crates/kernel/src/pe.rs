//! One processing element (PE): the event loop of Time Warp, after D. Jefferson, "Virtual time", ACM TOPLAS 7(3), 1985, with the
//! kernel processes (KPs) of C. Carothers, D. Bauer and S. Pearce, "ROSS: a high-performance, low-memory, modular Time Warp
//! system", J. Parallel and Distributed Computing 62(11), 2002.

use std::ops::Range;
use std::time::Instant;

use warpline_base::record::Phases;
use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_memory::{Apart, Books, Buffers, Handle, PoolFull, prefer_huge_pages};
use warpline_model::{Context, Fault, Model, Statistics};

use crate::committed::Committed;
use crate::counts::Counts;
use crate::extras::Extras;
use crate::failure::{Failed, Held};
use crate::gvt::{AnyGvt, Verdict, Work};
use crate::history::History;
use crate::lp::{Kp, Lp};
use crate::pending::{Entry, PendingSet};
use crate::phases::{Meter, Phase, WallClock};
use crate::trace::{Done, Trace, TraceLimits};
use crate::undoing::Copies;
use crate::wires::{Message, Port};
use crate::{Event, MomentRow, Partition, Undoing, Window};

/// A working set up to this many bytes stays in the nearest cache without being fetched ahead.
const CACHED_BYTES: usize = 32 << 10;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There was something to do.
    Worked,
    /// There was nothing to execute: the PE waits for others.
    Idle,
    /// The run is over, and everything has committed.
    Finished,
    /// The run is over, because a mistake of the model has committed.
    Failed,
}

/// Settings of a PE. None of them changes what commits. Counts are at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The most events of a step.
    pub batch: u32,
    /// The most KPs. They have equal numbers of LPs, a power of two, but for the last.
    pub kps: u32,
    /// How many events are executed before a new GVT is asked for. A PE that has nothing to execute asks at once.
    pub gvt_interval: u32,
    /// The most events that are executed and not committed, unless they come before some that are; never more than twice as many and a
    /// batch.
    pub history_most: u64,
    /// How events are undone.
    pub undoing: Undoing,
    /// The lookahead of the model, if events that it makes certain are to be committed at once; none for Time Warp and nothing else.
    pub lookahead: Option<f64>,
}

/// What a PE is to simulate.
#[derive(Debug)]
pub struct Task<'m, M: Model> {
    /// The model.
    pub model: &'m M,
    /// Which PE has which LPs.
    pub partition: Partition,
    /// The order of events of one time.
    pub ties: TieBreak,
    /// The end of the run, in model time: events at it are not executed.
    pub end: VirtualTime,
}

/// One processing element: some of the LPs, and the loop over their events.
///
/// It is on cache lines of its own, as its neighbours in memory are other threads' business.
///
/// A PE is stepped: [`step`](Self::step) does a bounded amount of work, and never blocks or sleeps, nor decides anything by a clock, which
/// it only reads now and then to tell how long things took. Whoever steps it decides what to do when there is nothing to do.
#[repr(align(128))]
pub struct Pe<'m, M: Model, Q, P> {
    pub(crate) me: u32,
    pub(crate) model: &'m M,
    pub(crate) partition: Partition,
    pub(crate) ties: TieBreak,
    pub(crate) end: VirtualTime,
    pub(crate) tuning: Tuning,
    /// Its LPs, as far as they have been made.
    pub(crate) lps: Vec<Lp<M::State>>,
    pub(crate) ids: Range<u32>,
    /// When the last of them was made.
    pub(crate) made_at: Option<Instant>,
    /// What went wrong when the next LP was made.
    pub(crate) init_fault: Option<Fault>,
    pub(crate) kps: Vec<Kp>,
    /// The number of an LP's KP is its own without this many low bits.
    pub(crate) kp_shift: u32,
    pub(crate) buffers: Buffers<Event<M::Event>>,
    pub(crate) pending: Q,
    pub(crate) history: History<M::State>,
    pub(crate) extras: Extras,
    /// Where the history was last not in order: from this place on it is.
    pub(crate) inversion: u64,
    pub(crate) last_rank: u128,
    /// The latest time of any event executed so far.
    pub(crate) latest: VirtualTime,
    /// Events that failed and may still be undone.
    pub(crate) held: Vec<Held>,
    pub(crate) context: Context<M>,
    /// The event whose code of the model is running.
    pub(crate) running: Option<Entry>,
    pub(crate) port: P,
    pub(crate) incoming: Vec<Message>,
    /// Messages that wait to be handed over, by PE.
    pub(crate) outgoing: Vec<Apart<Vec<Message>>>,
    /// Processed events that were cancelled and are still to be undone.
    pub(crate) cancelled: Vec<Handle>,
    /// LPs whose state is still to be worked out from an earlier copy.
    pub(crate) stale: Vec<u32>,
    pub(crate) gvt: AnyGvt,
    pub(crate) verdict: Option<Verdict>,
    /// The GVT before that.
    pub(crate) settled: Option<Moment>,
    pub(crate) window: Window,
    /// Events before this time may be executed.
    pub(crate) bound: VirtualTime,
    /// Before this time nothing can arrive from another PE.
    pub(crate) horizon: VirtualTime,
    /// The time of GVT.
    pub(crate) gvt_time: f64,
    pub(crate) since_gvt: u32,
    /// What the other PEs have been told of its work.
    pub(crate) told: Work,
    pub(crate) statistics: Statistics,
    pub(crate) rows: Vec<MomentRow>,
    /// The events that committed last: all from the last GVT but one on.
    pub(crate) committed: Committed,
    pub(crate) failure: Option<Failed>,
    pub(crate) over: Option<Step>,
    pub(crate) prefetching: bool,
    pub(crate) copies: Copies,
    pub(crate) counts: Counts,
    pub(crate) meter: Meter<WallClock>,
    pub(crate) trace: Option<Box<Trace>>,
}

impl<'m, M: Model, Q: PendingSet, P: Port> Pe<'m, M, Q, P> {
    /// The PE whose buffers these are, with its end of the wires. Its LPs are made by its first steps.
    ///
    /// # Errors
    /// If the memory for its LPs cannot be had.
    ///
    /// # Panics
    /// If there may be no KP at all.
    pub fn new(
        task: &Task<'m, M>,
        tuning: Tuning,
        (buffers, port): (Buffers<Event<M::Event>>, P),
        gvt: AnyGvt,
        window: Window,
        context: Context<M>,
        statistics: Statistics,
    ) -> Result<Self, PoolFull> {
        let me = buffers.me();
        let ids = task.partition.lps(me);
        let mut lps = Vec::new();
        lps.try_reserve_exact(ids.len()).map_err(|_| PoolFull::Memory)?;
        prefer_huge_pages(&mut lps);
        let count = ids.len();
        let kp_shift = (count as u32).div_ceil(tuning.kps).next_power_of_two().ilog2();
        let kps = vec![Kp::default(); count.div_ceil(1 << kp_shift)];
        let bound = window.bound(&Moment::Init(LpId(0)), task.end);
        Ok(Pe {
            me,
            model: task.model,
            partition: task.partition.clone(),
            ties: task.ties,
            end: task.end,
            tuning,
            lps,
            ids,
            made_at: None,
            init_fault: None,
            kps,
            kp_shift,
            buffers,
            pending: Q::default(),
            history: History::default(),
            extras: Extras::default(),
            inversion: 0,
            last_rank: 0,
            latest: VirtualTime::ZERO,
            held: Vec::new(),
            context,
            running: None,
            port,
            incoming: Vec::new(),
            outgoing: vec![Apart::default(); task.partition.pes() as usize],
            cancelled: Vec::new(),
            stale: Vec::new(),
            gvt,
            verdict: None,
            settled: None,
            window,
            bound,
            horizon: VirtualTime::ZERO,
            gvt_time: 0.0,
            since_gvt: 0,
            told: Work::default(),
            statistics,
            rows: Vec::new(),
            committed: Committed::default(),
            failure: None,
            over: None,
            prefetching: false,
            copies: Copies::new(tuning.undoing, count),
            counts: Counts::default(),
            meter: Meter::new(WallClock(Instant::now())),
            trace: None,
        })
    }

    /// From now on its thread does nothing else: all time between its steps counts as its own, and it waits then. Otherwise only the time
    /// in its steps does.
    pub fn begin_thread(&mut self) {
        self.meter.start();
    }

    /// Notes down what it does, within limits. To be called before its first step.
    pub fn trace(&mut self, limits: TraceLimits) {
        self.meter = Meter::new(WallClock(limits.origin));
        self.trace = Some(Box::new(Trace::new(limits)));
    }

    /// Whether all LPs have been made.
    pub(crate) fn made_all(&self) -> bool {
        self.lps.len() == self.ids.len()
    }

    /// The loop, once: receive, execute a batch or make LPs, accept what was received, hand over, do what there is to do for GVT; on a new
    /// GVT commit and collect fossils. When the run is over, it does nothing more.
    ///
    /// # Errors
    /// If there is no memory for another event. The run cannot go on then; [`position`](Self::position) says where it was.
    ///
    /// # Panics
    /// If a mistake of the engine is found out. Panics of the model are caught.
    pub fn step(&mut self) -> Result<Step, PoolFull> {
        if let Some(over) = self.over {
            return Ok(over);
        }
        let watched = self.meter.begin_step() || self.trace.is_some();
        if watched {
            self.begin_watched();
        }
        self.receive();
        self.meter.lap_of_sample(Phase::Receive);
        let bytes = self.lps.len() * size_of::<Lp<M::State>>() + self.pending.len() * size_of::<Event<M::Event>>();
        self.prefetching = bytes > CACHED_BYTES;
        let executed = match self.made_all() {
            true if watched => self.execute_watched()?,
            true => self.execute_batch::<false>()?,
            false => self.make_lps()?,
        };
        // What was executed has been timed already.
        self.meter.lap_of_sample(Phase::Execute);
        self.port.prefetch();
        self.accept_received();
        self.meter.lap_of_sample(Phase::Receive);
        self.hand_over();
        self.meter.lap_of_sample(Phase::Send);
        self.advance_gvt(executed);
        self.counts.steps += 1;
        self.counts.idle_steps += u64::from(executed == 0);
        self.meter.end_step(executed == 0);
        if watched {
            self.end_watched(executed == 0);
        }
        if self.over.is_some() {
            self.meter.stop();
        }
        Ok(self.over.unwrap_or(if executed > 0 { Step::Worked } else { Step::Idle }))
    }

    /// A step begins that is a sample of how long the phases take, or is traced.
    #[cold]
    fn begin_watched(&mut self) {
        let done = self.done();
        if let Some(trace) = &mut self.trace {
            trace.begin_step(self.meter.now(), done);
        }
        self.meter.begin_sample();
    }

    #[cold]
    fn end_watched(&mut self, idle: bool) {
        self.meter.end_sample(idle);
        let done = self.done();
        if let Some(trace) = &mut self.trace {
            trace.end_step(self.meter.now(), done, idle);
            if self.over.is_some() {
                trace.end();
            }
        }
    }

    /// A batch of a sample, which is timed event by event, or one that is traced.
    #[cold]
    #[inline(never)]
    fn execute_watched(&mut self) -> Result<u32, PoolFull> {
        self.execute_batch::<true>()
    }

    /// In a sample: what went on since the last border was `phase`.
    #[inline(always)]
    pub(crate) fn lap<const WATCHED: bool>(&mut self, phase: Phase) {
        if WATCHED {
            self.meter.lap_of_sample(phase);
        }
    }

    /// How much it has done, for its trace.
    pub(crate) fn done(&self) -> Done {
        Done { made: self.lps.len() as u64, executed: self.counts.processed, committed: self.counts.committed }
    }

    /// When all its LPs had been made, if they have.
    pub fn made_at(&self) -> Option<Instant> {
        self.made_at
    }

    /// The last verdict on GVT, if there was any.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// All before this moment is settled: it has committed here, and no PE has failed there. It lags behind GVT, as a failure that is
    /// found while events commit becomes known with the next verdict.
    pub fn settled(&self) -> Option<Moment> {
        self.settled
    }

    /// What it has done so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How far beyond GVT it may execute events at present, in model time.
    pub fn window(&self) -> f64 {
        self.window.width()
    }

    /// The rows that have committed since this was last asked, in no particular order. All of its rows before GVT have been given out
    /// then, and perhaps some after it.
    pub fn take_rows(&mut self) -> Vec<MomentRow> {
        std::mem::take(&mut self.rows)
    }

    /// Where it was when memory ran out: the LP, the time in model units, and how many events it holds.
    pub fn position(&self) -> Position {
        Position { lp: self.context.id(), time: self.context.now(), pending: self.buffers.books().live }
    }

    /// What is left when the run is over.
    pub fn into_parts(self) -> Parts<M> {
        let Pe { ids, lps, statistics, rows, failure, counts, buffers, pending, meter, trace, .. } = self;
        let (books, pending, phases) = (buffers.books(), pending.len(), meter.phases());
        Parts { first_lp: ids.start, lps, statistics, rows, failure, counts, books, pending, phases, trace }
    }
}

/// Where a PE was when memory ran out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// The LP whose code ran last.
    pub lp: LpId,
    /// Its time, in model units.
    pub time: f64,
    /// How many events the PE held.
    pub pending: u64,
}

/// What a PE leaves behind.
#[derive(Debug)]
pub struct Parts<M: Model> {
    /// Its first LP.
    pub first_lp: u32,
    /// Its LPs.
    pub lps: Vec<Lp<M::State>>,
    /// What its committed events observed.
    pub statistics: Statistics,
    /// Rows that have not been taken.
    pub rows: Vec<MomentRow>,
    /// Its failure, if it had one.
    pub failure: Option<Failed>,
    /// What it did.
    pub counts: Counts,
    /// The books of its buffers.
    pub books: Books,
    /// How many events are pending beyond the end, cancelled ones included.
    pub pending: usize,
    /// How long it spent on what: an estimate.
    pub phases: Phases,
    /// What it did, if it was to be traced.
    pub trace: Option<Box<Trace>>,
}
