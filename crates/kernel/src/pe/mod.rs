//! One processing element (PE): the event loop of Time Warp, after D. Jefferson, "Virtual time",
//! ACM TOPLAS 7(3), 1985, with the kernel processes (KPs) of C. Carothers, D. Bauer and S. Pearce,
//! "ROSS: a high-performance, low-memory, modular Time Warp system", J. Parallel and Distributed
//! Computing 62(11), 2002; and, as far as lookahead goes, a conservative one.

mod commit;
mod cut_short;
mod event_loop;
mod find_gvt;
mod hand_over;
mod lanes;
mod on_gvt;
mod publish;
mod receive;
mod types;
mod undo;
pub(crate) mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline_base::{LpId, Moment};
use warpline_memory::{Account, Books, Buffers, DropEach, catch_panic};
use warpline_model::engine::{Beat, Executor};
use warpline_model::{Model, Statistics};

use self::types::StateOf;
pub use self::types::{EventOf, PeTypes};
use crate::agenda::Agenda;
use crate::agenda::store::Store;
use crate::effects::Effects;
use crate::faults::Faults;
use crate::faults::failure::CommittedFault;
use crate::frontier::Frontier;
use crate::frontier::rounds::Rounds;
use crate::gauge::Gauge;
use crate::gauge::counts::Counts;
use crate::gauge::phases::Measured;
use crate::gauge::trace::{Trace, TraceLimits};
use crate::gvt::{AnyGvt, Barrier, IntervalHistory, Pacer, Verdict};
use crate::lps::{Lp, Lps};
use crate::mail::Mail;
use crate::pacing::caution::Caution;
use crate::pacing::flow::Flow;
use crate::pacing::interval::GvtCalls;
use crate::pacing::memory::MemoryControl;
use crate::pacing::stride::Stride;
use crate::past::Past;
use crate::pe::world::{Task, World};
use crate::step::Step;
use crate::{Event, GoAhead, MomentRow, RoleCounts, Tuning, Window};

/// One processing element: some of the LPs, and the loop over their events.
///
/// It is on cache lines of its own, as its neighbours in memory are other threads' business.
///
/// A PE is stepped: [`step`](Self::step) does a bounded amount of work, and never blocks or sleeps,
/// nor decides anything by a clock, which it only reads now and then to tell how long things took.
/// Whoever steps it decides what to do when there is nothing to do.
#[repr(align(128))]
pub struct Pe<'m, T: PeTypes> {
    /// What never changes, but for an earlier end.
    world: World<'m, T::Model>,
    lps: Lps<StateOf<T>>,
    agenda: Agenda<EventOf<T>, T::Pending>,
    past: Past<StateOf<T>, EventOf<T>>,
    mail: Mail<EventOf<T>, T::Port>,
    gvt: AnyGvt,
    frontier: Frontier,
    /// Pacing: whether it goes ahead of its horizon, how many events it executes in a step, when it
    /// asks for GVT, what it does where buffers or memory are short.
    caution: Caution,
    stride: Stride,
    calls: GvtCalls,
    flow: Flow,
    memory: MemoryControl,
    effects: Effects,
    faults: Faults,
    gauge: Gauge,
    /// Where the code of the model runs.
    executor: Executor<T::Model>,
}

impl<'m, T: PeTypes> Pe<'m, T> {
    /// The PE whose buffers these are, with its end of the wires and an empty pending set. Its LPs
    /// are initialised by its first steps.
    ///
    /// # Panics
    /// If `tuning` allows no KP at all, or has events executed ahead in windows. If there is no
    /// memory for its LPs, it [unwinds](warpline_memory::Exhausted::unwind).
    pub fn new(
        task: &Task<'m, T::Model>,
        tuning: Tuning,
        (buffers, port, pending): (Buffers<Event<EventOf<T>>>, T::Port, T::Pending),
        gvt: AnyGvt,
        window: Window,
        executor: Executor<T::Model>,
        statistics: Statistics,
    ) -> Self {
        assert!(
            !(tuning.windows && tuning.lanes.has_speculative()),
            "in windows nothing is executed ahead"
        );
        let world = World::new(task, buffers.me(), tuning);
        let rounds = tuning.windows.then(|| Rounds::new(world.me(), world.pes()));
        let ids = world.partition().lps(world.me());
        let calls = GvtCalls::new(&tuning, gvt.stops_pes());
        let flow = Flow::new(buffers.is_bounded(), world.pes());
        let store = Store::new(buffers, world.pools_events());
        Pe {
            lps: Lps::new(ids.clone(), task.roles.clone()),
            agenda: Agenda::new(pending, store, world.ties(), world.may_pool_events()),
            past: Past::new(ids.len(), &tuning),
            mail: Mail::new(port, world.pes()),
            gvt,
            frontier: Frontier::new(window, world.end(), rounds),
            caution: Caution::new(tuning.go_ahead == GoAhead::Auto && world.bounds_advance()),
            stride: Stride::new(tuning.batch, world.bounds_advance() && !tuning.windows),
            calls,
            flow,
            memory: MemoryControl::default(),
            effects: Effects::new(statistics),
            faults: Faults::default(),
            gauge: Gauge::new(task.roles.count()),
            executor,
            world,
        }
    }

    /// From now on `on_core` tells for how long the thread that steps it has been on a core.
    /// `alone`: the thread does nothing else until [`end_thread`](Self::end_thread), so all time
    /// between its steps counts as its own, and it waits then. Otherwise only the time in its steps
    /// does.
    pub fn begin_thread(&mut self, on_core: fn() -> Duration, alone: bool) {
        self.gauge.begin_thread(on_core, alone);
    }

    /// The thread that did nothing else ends.
    pub fn end_thread(&mut self) {
        self.gauge.end_thread();
    }

    /// The thread that does nothing else slept for so long between two steps.
    pub fn slept(&mut self, time: Duration) {
        self.gauge.slept(time);
    }

    /// From now on its thread steps all PEs of its process: only the time in its steps counts as
    /// its own.
    pub fn begin_sharing(&mut self) {
        self.gauge.begin_sharing();
    }

    /// Notes down what it does, within limits. To be called before its first step.
    pub fn trace(&mut self, limits: TraceLimits) {
        self.gauge.trace(limits);
    }

    /// A thread that does nothing but send and receive says when GVT is to be found: from now on
    /// the PE asks for it only if it is idle. To be called before its first step, of PEs that adapt
    /// the interval.
    pub fn follow(&mut self, pacer: Pacer) {
        self.calls.follow(pacer);
    }

    /// Whatever memory it takes it draws on this account, and keeps within the budget by going less
    /// far ahead. To be called before its first step.
    pub fn draw_on(&mut self, account: Account) {
        self.memory.begin(account);
    }

    /// Whether it chooses the interval between copies of states, for which it matters how many
    /// events cost as much as a copy.
    pub fn weighs_copies(&self) -> bool {
        self.past.adapts_copies()
    }

    /// Copies the states of some LPs, up to this number and others each time, and drops the copies:
    /// whoever steps the PE can find out what that costs. Returns how many were copied; fewer if
    /// copying or dropping one panics.
    pub fn copy_states(&mut self, most: u32) -> u32 {
        let (lps, first) = (self.lps.initialised(), self.gauge.counts().processed as usize);
        let copy = |index: usize| catch_panic(|| drop(self.lps.get(index % lps).state.clone()));
        (0..lps.min(most as usize))
            .take_while(|more| copy(first.wrapping_add(*more)).is_ok())
            .count() as u32
    }

    /// Says how many events cost as much as a copy of a state. Unless told, it assumes one.
    pub fn set_copy_cost(&mut self, events: f64) {
        self.past.set_copy_cost(events);
    }

    /// How long its model's code has taken so far, per event, in seconds: an estimate, with copies
    /// of states and the like.
    pub fn event_seconds(&self) -> f64 {
        self.gauge.event_seconds()
    }

    /// What it is doing, for a thread that watches it.
    pub fn beat(&self) -> &Arc<Beat> {
        self.executor.beat()
    }

    /// The barrier and the round for which it waits there, if it does: until all other PEs have
    /// arrived, steps do nothing.
    pub fn waits_at_barrier(&self) -> Option<(&Barrier, u64)> {
        self.gvt.waits_at_barrier()
    }

    /// Whether all its LPs have been initialised.
    pub fn is_initialised(&self) -> bool {
        self.lps.all_initialised()
    }

    /// When it had initialised all its LPs, if it has.
    pub fn initialised_at(&self) -> Option<Instant> {
        self.gauge.initialised_at()
    }

    /// The last verdict on GVT, if there has been one.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.frontier.verdict()
    }

    /// Everything before this moment is settled: this PE has committed it, and no PE has failed
    /// before it. It lags behind GVT, as a failure that is found while events commit becomes known
    /// with the next verdict.
    pub fn settled(&self) -> Option<Moment> {
        self.frontier.settled()
    }

    /// Where the run failed, as far as this PE knows: from the last verdict, or from its own
    /// failures since.
    pub fn failure(&self) -> Moment {
        let known = self.frontier.verdict().map_or(Moment::Never, |verdict| verdict.failure);
        known.earlier(self.faults.failure_moment(), self.world.ties())
    }

    /// What it has done so far.
    pub fn counts(&self) -> &Counts {
        self.gauge.counts()
    }

    /// How far beyond GVT it may execute events at present, in model time.
    pub fn window(&self) -> f64 {
        self.frontier.window()
    }

    /// The rows that have committed since this was last asked, in no particular order. All of its
    /// rows before GVT have been given out then, and perhaps some after it.
    pub fn take_rows(&mut self) -> Vec<MomentRow> {
        self.effects.take_rows()
    }

    /// How many committed events of this PE come before `moment`, at which a PE has failed.
    pub fn committed_before(&self, moment: &Moment) -> u64 {
        self.gauge.counts().committed - self.effects.count_from(moment, self.world.ties())
    }

    /// Where it was when memory ran out: the LP, the time in model units, and how many events it
    /// holds.
    pub fn position(&self) -> Position {
        Position {
            lp: self.executor.id(),
            time: self.executor.now(),
            pending: self.agenda.books().live,
        }
    }

    /// What is left when the run is over, and no PE does anything any more, in whatever process.
    ///
    /// # Panics
    /// If an anti-message has come for a message that never did, or an event that is over could
    /// still be cancelled.
    pub fn into_parts(self) -> Parts<T::Model> {
        let Pe {
            world,
            lps,
            effects,
            faults,
            mut gauge,
            agenda,
            past,
            mut mail,
            calls,
            frontier,
            ..
        } = self;
        let over = frontier.over();
        let books = agenda.books();
        gauge.count(|counts| {
            counts.side_records_kept = past.side_records_in_use() + mail.copies();
            counts.mailbox = mail.refusals();
            counts.unreadable = faults.unreadable() as u64;
            counts.pooled = agenda.is_pooled();
            counts.buffers = books.places;
            counts.buffers_shared = books.deposited;
            if world.tuning().lanes.has_speculative() {
                counts.copy_interval = past.copy_interval();
            }
        });
        // A run that failed, on whatever PE, ends with messages still on their way, and with events
        // that were executed and not committed.
        if over == Some(Step::Finished) {
            assert_eq!(
                agenda.cancelled_early(),
                0,
                "an anti-message came for a message that never did"
            );
            assert!(
                !past.has_pending_cancellations(),
                "what an undone event had sent was neither sent again nor cancelled"
            );
            assert!(
                agenda.identities() <= agenda.len(),
                "an event that is over is still known by identity"
            );
        }
        let (first_lp, lps) = lps.into_parts();
        let (statistics, rows) = effects.into_parts();
        let (counts, by_role, measured, trace) = gauge.into_parts();
        let (pending, failure) = (agenda.len(), faults.into_failure());
        let interval = calls.history();
        if over != Some(Step::Finished) {
            mail.drop_values();
        }
        agenda.drop_rest();
        Parts {
            first_lp,
            lps,
            statistics,
            rows,
            failure,
            counts,
            by_role,
            interval,
            books,
            pending,
            measured,
            trace,
        }
    }
}

/// Where a PE was when memory ran out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    pub lps: DropEach<Lp<M::State>>,
    /// What its committed events observed.
    pub statistics: Statistics,
    /// Rows that have not been taken.
    pub rows: Vec<MomentRow>,
    /// Its failure, if it had one.
    pub failure: Option<CommittedFault>,
    /// What it did.
    pub counts: Counts,
    /// What its LPs did, by [role](crate::Role::index), where they differ.
    pub by_role: Vec<RoleCounts>,
    /// What became of the GVT interval, if it was adapted.
    pub interval: Option<IntervalHistory>,
    /// The books of its events' memory.
    pub books: Books,
    /// How many events are pending beyond the end, cancelled ones included.
    pub pending: usize,
    /// How long it spent on what: an estimate.
    pub measured: Measured,
    /// What it did, if it was to be traced.
    pub trace: Option<Box<Trace>>,
}
