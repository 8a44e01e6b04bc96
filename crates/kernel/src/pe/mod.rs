//! A processing element (PE). Its event loop is that of Time Warp: D. Jefferson, "Virtual time",
//! ACM TOPLAS 7(3), 1985, with the kernel processes (KPs) of C. Carothers, D. Bauer and S. Pearce,
//! "ROSS: a high-performance, low-memory, modular Time Warp system", J. Parallel and Distributed
//! Computing 62(11), 2002. As far as lookahead reaches, it is a conservative one.

mod commit;
mod cut_short;
mod event_loop;
mod failures;
mod find_gvt;
mod fossils;
mod hand_over;
mod lanes;
mod on_gvt;
mod parts;
mod publish;
mod receive;
mod status;
mod timers;
mod types;
mod undo;
mod wait_for_gvt;
pub(crate) mod world;

use std::time::Duration;

use warpline_base::VirtualTime;
use warpline_memory::{Account, Buffers, catch_panic, prefetch, prefetch_all};
use warpline_model::Statistics;
use warpline_model::engine::Executor;

pub use self::parts::Parts;
pub use self::status::Position;
use self::types::StateOf;
pub use self::types::{EventOf, PeTypes};
use crate::agenda::Agenda;
use crate::agenda::store::Store;
use crate::effects::Effects;
use crate::faults::Faults;
use crate::frontier::Frontier;
use crate::frontier::rounds::Rounds;
use crate::gauge::Gauge;
use crate::gauge::trace::TraceLimits;
use crate::gvt::{AnyGvt, Gvt, Pacer};
use crate::lps::Lps;
use crate::mail::Mail;
use crate::pacing::caution::Caution;
use crate::pacing::flow::Flow;
use crate::pacing::interval::GvtCalls;
use crate::pacing::memory::MemoryControl;
use crate::pacing::stride::Stride;
use crate::past::Past;
use crate::pe::world::{Task, World};
use crate::{Event, GoAhead, Tuning, Window};

/// A processing element: a share of the LPs, and the loop over their events.
///
/// A PE is stepped: [`step`](Self::step) does a bounded amount of work. It never blocks or sleeps,
/// and decides nothing by a clock; it reads one now and then, but only to measure. Whoever steps it
/// decides what to do when it is idle.
///
/// It has cache lines of its own, as other threads use the memory beside it.
#[repr(align(128))]
pub struct Pe<'m, T: PeTypes> {
    /// What never changes, except that the end may come earlier.
    world: World<'m, T::Model>,
    lps: Lps<StateOf<T>>,
    agenda: Agenda<EventOf<T>, T::Pending>,
    past: Past<StateOf<T>, EventOf<T>>,
    mail: Mail<EventOf<T>, T::Port>,
    gvt: AnyGvt,
    frontier: Frontier,
    /// Pacing: whether it goes ahead of its horizon, how many events it executes in a step, when it
    /// asks for GVT, and what it does when buffers or memory are short.
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
    /// The PE can [only wait](Self::is_waiting_for_gvt) for a verdict, as of its last step.
    waits_for_verdict: bool,
}

/// What a PE is made from, beside its task and its tuning.
pub struct PeInputs<T: PeTypes> {
    /// Its buffers, which also say which PE it is.
    pub buffers: Buffers<Event<EventOf<T>>>,
    /// Its end of the wires.
    pub port: T::Port,
    /// An empty pending event set.
    pub pending: T::Pending,
    /// Its part of the GVT algorithm.
    pub gvt: AnyGvt,
    /// How far beyond GVT it may execute events.
    pub window: Window,
    /// What runs the code of the model.
    pub executor: Executor<T::Model>,
    /// The sums of what its events observe.
    pub statistics: Statistics,
}

impl<'m, T: PeTypes> Pe<'m, T> {
    /// The PE that owns these buffers. Its first steps initialise its LPs.
    ///
    /// # Panics
    /// If `tuning` allows no KP, or asks for both windows and the speculative lane. If there is no
    /// memory for its LPs, it [unwinds](warpline_memory::Exhausted::unwind).
    pub fn new(task: &Task<'m, T::Model>, tuning: Tuning, inputs: PeInputs<T>) -> Self {
        let PeInputs { buffers, port, pending, mut gvt, window, executor, statistics } = inputs;
        assert!(
            !(tuning.windows && tuning.lanes.has_speculative()),
            "in windows nothing is executed ahead"
        );
        let world = World::new(task, buffers.me(), tuning);
        if world.is_driven_by_gvt() {
            gvt.drive();
        }
        let rounds = tuning.windows.then(|| Rounds::new(world.me(), world.pes()));
        let ids = world.partition().lps(world.me());
        let calls = GvtCalls::new(&tuning, gvt.stops_pes());
        let flow = Flow::new(buffers.is_bounded());
        let store = Store::new(buffers, world.pools_events());
        Pe {
            lps: Lps::new(ids.clone(), task.roles.clone()),
            agenda: Agenda::new(pending, store, world.ties(), world.may_pool_events()),
            past: Past::new(ids.len(), &tuning),
            mail: Mail::new(port, world.pes()),
            gvt,
            frontier: Frontier::new(window, world.end(), rounds, world.delay_from_unbound()),
            caution: Caution::new(tuning.go_ahead == GoAhead::Auto && world.bounds_advance()),
            stride: Stride::new(tuning.batch, world.bounds_advance() && !tuning.windows),
            calls,
            flow,
            memory: MemoryControl::default(),
            effects: Effects::new(statistics, world.ties(), !tuning.lanes.has_safe()),
            faults: Faults::default(),
            gauge: Gauge::new(task.roles.count(), tuning.measures),
            executor,
            world,
            waits_for_verdict: false,
        }
    }

    /// Prefetches it, as it is stepped soon. Where many PEs take turns, none of them stays in a cache.
    pub fn prefetch(&self) {
        prefetch_all(self);
    }

    /// Prefetches what it touches in a step in which it can only
    /// [wait](Self::is_waiting_for_gvt).
    pub fn prefetch_for_gvt(&self) {
        prefetch_all(&self.gvt);
        prefetch_all(&self.mail);
        prefetch_all(&self.calls);
        prefetch(&self.waits_for_verdict);
    }

    /// Declares which thread steps this PE: `on_core` returns how long that thread has been on a
    /// core. If it steps this PE `alone`, until [`end_thread`](Self::end_thread), the time between
    /// steps counts as waiting; otherwise only the time in steps counts.
    pub fn begin_thread(&mut self, on_core: fn() -> Duration, alone: bool) {
        self.gauge.begin_thread(on_core, alone);
    }

    /// Declares that the thread that stepped this PE alone has ended.
    pub fn end_thread(&mut self) {
        self.gauge.end_thread();
    }

    /// Notes how long the thread that steps this PE alone slept between two steps.
    pub fn slept(&mut self, time: Duration) {
        self.gauge.slept(time);
    }

    /// Notes that the PE was left alone for as long as so many steps would have taken, as all of
    /// them would have been idle: what it decides by counting idle steps, it decides as if it had
    /// made them.
    pub fn note_idle_steps(&mut self, steps: u32) {
        self.calls.note_idle_steps(steps);
        self.caution.note_idle_steps(steps);
    }

    /// Its horizon: it executes events before that for good. An idle step in which it rises may be
    /// followed by one that executes something.
    pub fn horizon(&self) -> VirtualTime {
        self.frontier.horizon()
    }

    /// After how many more idle steps in a row it does something of its own accord, if nothing
    /// arrives; `None` if it does not. Whoever steps it may leave all idle steps out but that one,
    /// and [note](Self::note_idle_steps) the others.
    pub fn idle_steps_left(&mut self) -> Option<u32> {
        let is_far = self.is_far();
        let asks = self.calls.idle_steps_left(is_far);
        let may_go_ahead = self.world.tuning().lanes.has_speculative();
        let goes_ahead = self.caution.idle_steps_left().filter(|_| may_go_ahead);
        asks.into_iter().chain(goes_ahead).min()
    }

    /// Declares that its thread steps all PEs of its process from now on, so that only the time in
    /// steps counts.
    pub fn begin_sharing(&mut self) {
        self.gauge.begin_sharing();
    }

    /// Traces what it does, within limits. Call this before its first step.
    pub fn trace(&mut self, limits: TraceLimits) {
        self.gauge.trace(limits);
    }

    /// Leaves it to a communication thread to say when GVT is to be found: the PE itself then asks
    /// only if it is idle. Call this before its first step, and only if it adapts the interval.
    pub fn follow(&mut self, pacer: Pacer) {
        self.calls.follow(pacer);
    }

    /// Charges the memory that it takes to this account. It keeps within the budget by going less
    /// far ahead. Call this before its first step.
    pub fn draw_on(&mut self, account: Account) {
        self.memory.begin(account);
    }

    /// Whether it adapts the interval between copies of states. It then wants to know [what a copy
    /// costs](Self::set_copy_cost).
    pub fn weighs_copies(&self) -> bool {
        self.past.adapts_copies()
    }

    /// Copies the states of up to `most` LPs, others each time, and drops the copies, so that the
    /// caller can measure what a copy costs. Returns how many it copied: fewer if copying or
    /// dropping one panics.
    pub fn copy_states(&mut self, most: u32) -> u32 {
        let lps = self.lps.initialised();
        let first = self.gauge.counts().processed as usize;
        let copy = |index: usize| catch_panic(|| drop(self.lps.get(index % lps).state.clone()));
        (0..lps.min(most as usize))
            .take_while(|more| copy(first.wrapping_add(*more)).is_ok())
            .count() as u32
    }

    /// Sets what a copy of a state costs, in events; 1 unless set.
    pub fn set_copy_cost(&mut self, events: f64) {
        self.past.set_copy_cost(events);
    }
}
