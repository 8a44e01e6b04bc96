//! PEs stepped by hand, with wires on which messages arrive when the test says so.

mod play;
mod wires;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_kernel::gvt::{AnyGvt, GvtAlgorithm, Hierarchy, Verdict};
use warpline_kernel::pending::Heap;
use warpline_kernel::{
    Cancellation, Counts, Delays, GoAhead, GvtStart, Horizon, Lanes, Messages, Partition, Pe,
    PeInputs, Role, Roles, Rule, Step, Task, Trace, Tuning, Undoing, Window, balance,
};
use warpline_memory::{Region, buffers};
use warpline_model::engine::Executor;
use warpline_model::prelude::*;
use warpline_model::{Declarations, Statistics};
use warpline_record::Phases;

pub(crate) use self::play::{END, HANDLED, NO_COPY, Play, Sent, last};
use self::play::{SEED, draws};
use self::wires::{Network, Wire};

/// How a play is run.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) pes: u32,
    pub(crate) algorithm: GvtAlgorithm,
    pub(crate) tuning: Tuning,
}

/// The tuning that stories begin from: a KP for every LP, one event per step, and no GVT unless
/// there is nothing to execute.
pub(crate) const TUNING: Tuning = Tuning {
    batch: 1,
    kps: 1000,
    gvt_interval: 10_000,
    adapts_interval: false,
    patience: 1,
    measures: true,
    crowded: false,
    history_most: 10_000,
    undoing: Undoing::Copy { interval: 1 },
    cancellation: Cancellation::Aggressive,
    lanes: Lanes::Speculative,
    go_ahead: GoAhead::Always,
    horizon: Horizon::Bounds,
    gvt_start: GvtStart::OnDemand,
    messages: Messages::Shared,
    windows: false,
};

/// Two PEs with the base tuning.
impl Default for Setting {
    fn default() -> Self {
        Setting { pes: 2, algorithm: GvtAlgorithm::Asynchronous, tuning: TUNING }
    }
}

/// A failure as it is reported to a user.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) time: f64,
    pub(crate) event: String,
    pub(crate) fault: String,
    /// How many events had committed before it.
    pub(crate) committed: u64,
}

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) failure: Option<Failure>,
    /// By PE.
    pub(crate) counts: Vec<Counts>,
    /// The events that each LP has handled.
    pub(crate) handled: Vec<Vec<&'static str>>,
    /// How many events were handled according to the statistics.
    pub(crate) observed: u64,
    /// How many buffers there were.
    pub(crate) places: u64,
    /// All verdicts on GVT.
    pub(crate) verdicts: Vec<Verdict>,
    /// By PE: its trace, if one was asked for.
    pub(crate) traces: Vec<Option<Box<Trace>>>,
    /// By PE: where its time went.
    pub(crate) phases: Vec<Phases>,
}

/// PEs and their wires.
pub(crate) struct Stage<'m> {
    pub(crate) pes: Vec<Pe<'m, (Play, Heap, Wire)>>,
    network: Rc<RefCell<Network>>,
    verdicts: Vec<Verdict>,
}

impl<'m> Stage<'m> {
    /// PEs that have initialised their LPs and executed nothing.
    pub(crate) fn new(play: &'m Play, setting: Setting) -> Self {
        Stage::bare(play, setting).initialised()
    }

    /// Two PEs with this tuning that have initialised their LPs and executed nothing.
    pub(crate) fn tuned(play: &'m Play, tuning: Tuning) -> Self {
        Stage::new(play, Setting { tuning, ..Setting::default() })
    }

    /// Steps PEs that have not been stepped at all until they have initialised their LPs.
    pub(crate) fn initialised(mut self) -> Self {
        for pe in &mut self.pes {
            while pe.initialised_at().is_none() {
                pe.step().expect("there is memory");
            }
        }
        self
    }

    /// PEs that have not been stepped at all.
    pub(crate) fn bare(play: &'m Play, setting: Setting) -> Self {
        let Setting { pes, algorithm, tuning } = setting;
        let end = time(END);
        let ties = TieBreak::BySender;
        let task = Task {
            model: play,
            partition: Partition::new(play.lps, pes),
            ties,
            end,
            delays: Delays::uniform(pes, play.lookahead),
            roles: Roles::new(
                (0..play.lps).map(|lp| Role::new(0, play.conservative.contains(&lp))).collect(),
            ),
            near: 0..pes,
        };
        let empty = || vec![Vec::new(); pes as usize];
        let no_values = || (0..pes).map(|_| Vec::new()).collect();
        let network = Network {
            under_way: empty(),
            arrived: empty(),
            values_under_way: no_values(),
            values_arrived: no_values(),
            room: usize::MAX,
            handed_over: vec![0; pes as usize],
            flushes: vec![0; pes as usize],
            published: vec![(0, 0); pes as usize],
            rounds: vec![Vec::new(); pes as usize],
            bounds_arrive: false,
            controls: vec![VecDeque::new(); pes as usize],
        };
        let network = Rc::new(RefCell::new(network));
        let mut declarations = Declarations::default();
        play.declare(&mut declarations);
        let statistics =
            Statistics::new(declarations.checked().expect("they are well formed"), 0.0, END);
        let mut gvts =
            AnyGvt::all(&Region::own(), algorithm, Hierarchy::new(pes, pes), ties).into_iter();
        let make = |buffers: warpline_memory::Buffers<_>| {
            let me = buffers.me();
            let gvt = gvts.next().expect("one for each PE");
            let executor = Executor::new(play, SEED, 1000, tuning.undoing == Undoing::Reverse);
            let window = Window::new(Rule::Fixed(END), end, play.lookahead, pes);
            let wire = Wire { me, network: network.clone(), kept: Vec::new() };
            let inputs = PeInputs {
                buffers,
                port: wire,
                pending: Heap::default(),
                gvt,
                window,
                executor,
                statistics: statistics.clone(),
            };
            Pe::new(&task, tuning, inputs)
        };
        let pes = buffers(pes).into_iter().map(make).collect();
        Stage { pes, network, verdicts: Vec::new() }
    }

    /// Steps all PEs in turn, with everything arriving at once, until this one is over. Returns how
    /// often it flushes in the step after that.
    pub(crate) fn flushes_when_over(&mut self, pe: usize) -> usize {
        let flushes = |stage: &Self| stage.network.borrow().flushes[pe];
        loop {
            for other in 0..self.pes.len() {
                self.deliver(other);
                if self.step_once(other) == Step::Finished && other == pe {
                    let before = flushes(self);
                    self.step(pe, 1);
                    return flushes(self) - before;
                }
            }
        }
    }

    fn step_once(&mut self, pe: usize) -> Step {
        let step = self.pes[pe].step().expect("there is memory");
        let adopted =
            self.pes[pe].verdict().filter(|verdict| verdict.epoch == self.verdicts.len() as u64);
        self.verdicts.extend(adopted);
        step
    }

    /// Steps a PE this many times.
    pub(crate) fn step(&mut self, pe: usize, times: u32) {
        for _ in 0..times {
            self.step_once(pe);
        }
    }

    /// Steps a PE until it has nothing to execute and so asks for GVT.
    pub(crate) fn exhaust(&mut self, pe: usize) {
        for _ in 0..10_000 {
            if self.step_once(pe) != Step::Worked {
                return;
            }
        }
        panic!("PE {pe} always finds something to execute");
    }

    /// Delivers everything sent to a PE, which receives it in its next step. Returns the number of
    /// messages.
    pub(crate) fn deliver(&mut self, to: usize) -> usize {
        let values = {
            let Network { values_under_way, values_arrived, .. } = &mut *self.network.borrow_mut();
            let values = values_under_way[to].len();
            values_arrived[to].append(&mut values_under_way[to]);
            values
        };
        values + self.deliver_first(to, usize::MAX)
    }

    /// Leaves room for this many messages from now on.
    pub(crate) fn make_room_for(&mut self, messages: usize) {
        self.network.borrow_mut().room = messages;
    }

    /// Lets PEs receive the bounds of others at once from now on.
    pub(crate) fn let_bounds_arrive(&mut self) {
        self.network.borrow_mut().bounds_arrive = true;
    }

    /// The last bound that a PE has published, in model time, and how many messages it had handed
    /// over by then.
    pub(crate) fn published(&self, pe: usize) -> (Option<f64>, usize) {
        let (bound, handed_over) = self.network.borrow().published[pe];
        (bound.checked_sub(1).map(|bits| VirtualTime::from_bits(bits).get()), handed_over)
    }

    /// For each round that a PE has published for: the time, and how many messages it had handed
    /// over by then.
    pub(crate) fn rounds(&self, pe: usize) -> Vec<(f64, usize)> {
        let rounds = &self.network.borrow().rounds[pe];
        rounds
            .iter()
            .map(|(bound, handed_over)| (VirtualTime::from_bits(bound - 1).get(), *handed_over))
            .collect()
    }

    /// Delivers only the first `most` messages in shared buffers.
    pub(crate) fn deliver_first(&mut self, to: usize, most: usize) -> usize {
        let Network { under_way, arrived, .. } = &mut *self.network.borrow_mut();
        let count = most.min(under_way[to].len());
        arrived[to].extend(under_way[to].drain(..count));
        count
    }

    /// Delivers only the last message in a shared buffer, which overtakes the others.
    pub(crate) fn deliver_last(&mut self, to: usize) {
        let Network { under_way, arrived, .. } = &mut *self.network.borrow_mut();
        arrived[to].extend(under_way[to].pop());
    }

    /// Steps all PEs in turn, with nothing new arriving, until each has adopted one more verdict.
    pub(crate) fn gvt(&mut self) {
        let before: Vec<u64> = self.pes.iter().map(|pe| pe.counts().gvt_epochs).collect();
        for _ in 0..10_000 {
            let mut waiting = false;
            for (pe, before) in before.iter().enumerate() {
                if self.pes[pe].counts().gvt_epochs == *before {
                    self.step_once(pe);
                    waiting = true;
                }
            }
            if !waiting {
                return;
            }
        }
        panic!("GVT does not terminate");
    }

    /// The time of the last GVT, as a PE knows it.
    pub(crate) fn gvt_time(&self, pe: usize) -> f64 {
        self.pes[pe].verdict().map_or(0.0, |verdict| verdict.gvt.time(time(END)).get())
    }

    /// Steps all PEs in turn, with everything arriving at once, until the run is over.
    pub(crate) fn finish(mut self) -> Ended {
        for _ in 0..100_000 {
            let mut over = true;
            for pe in 0..self.pes.len() {
                self.deliver(pe);
                over &= matches!(self.step_once(pe), Step::Finished | Step::Failed);
            }
            if over {
                return self.end();
            }
        }
        panic!("the run does not end");
    }

    fn end(self) -> Ended {
        let moment = self.pes[0].verdict().map_or(Moment::Never, |verdict| verdict.failure);
        let committed = self.pes.iter().map(|pe| pe.committed_before(&moment)).sum();
        let mut parts: Vec<_> = self.pes.into_iter().map(Pe::into_parts).collect();
        let failed = parts
            .iter_mut()
            .filter_map(|pe| pe.failure.take())
            .find(|failed| failed.moment == moment);
        let failure = failed.map(|failed| Failure {
            time: failed.time.get(),
            event: failed.event.map(|event| event.payload).unwrap_or_default(),
            fault: failed.fault.to_string(),
            committed,
        });
        assert_eq!(failure.is_none(), moment == Moment::Never, "a failure that no PE has");
        if failure.is_none() {
            balance(parts.iter().map(|pe| (&pe.counts, pe.books, pe.pending)));
        }
        let places = parts.iter().map(|pe| pe.books.places).sum();
        let observed = parts.iter().map(|pe| pe.statistics.counter(HANDLED)).sum();
        let traces = parts.iter_mut().map(|pe| pe.trace.take()).collect();
        let phases = parts.iter().map(|pe| pe.measured.phases).collect();
        let (counts, lps): (Vec<_>, Vec<_>) =
            parts.into_iter().map(|pe| (pe.counts, pe.lps)).unzip();
        let states: Vec<_> = lps.into_iter().flatten().map(|lp| lp.state).collect();
        if failure.is_none() {
            states.iter().zip((0..).map(LpId)).for_each(|(state, lp)| {
                assert_eq!(state.drawn, draws(lp, state.labels.len()), "{lp}")
            });
        }
        Ended {
            failure,
            counts,
            handled: states.into_iter().map(|state| state.labels).collect(),
            observed,
            places,
            verdicts: self.verdicts,
            traces,
            phases,
        }
    }
}

pub(crate) fn time(time: f64) -> VirtualTime {
    VirtualTime::new(time).expect("it is a time")
}

/// Runs a test, and fails it if it hangs.
pub(crate) fn in_time(test: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(catch_unwind(AssertUnwindSafe(test))));
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => panic!("the test hangs"),
    }
}
