//! PEs stepped by hand, with wires on which messages arrive when the test says so.
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use warpline_base::random::Stream;
use warpline_base::{LpId, Moment, TieBreak, VirtualTime};
use warpline_kernel::gvt::{AnyGvt, Control, GvtAlgorithm, Hierarchy, Put, Verdict};
use warpline_kernel::pending::Heap;
use warpline_kernel::{
    BoundPort, Cancellation, ControlPort, Counts, Delays, GoAhead, Lanes, Message, MessagePort,
    Messages, Partition, Pe, PeInputs, Port, Role, Roles, Rule, Step, Task, Trace, Tuning, Undoing,
    ValueMessage, ValuePort, Window, balance,
};
use warpline_memory::{Region, buffers};
use warpline_model::engine::Executor;
use warpline_model::prelude::*;
use warpline_model::{Change, Changing, Declarations, Statistics};
use warpline_record::Phases;

/// How many events were handled, according to the statistics.
pub(crate) const HANDLED: Counter = Counter::slot(0);
const SEED: u64 = 1;
/// The end of every run.
pub(crate) const END: f64 = 100.0;

/// The receiver, the time, and the event.
pub(crate) type Sent = (u32, f64, &'static str);

/// An event after which the state of its LP cannot be copied.
pub(crate) const NO_COPY: &str = "no copy";

/// The state of an LP: the events that it has handled, and the random number that each of them
/// drew.
#[derive(Debug)]
pub(crate) struct Handled {
    pub(crate) labels: Vec<&'static str>,
    drawn: Vec<u64>,
}

/// An event does nothing to a state but add to both lists.
impl Journaled for Handled {
    fn restore(&mut self, _: &mut Change<'_>) -> bool {
        self.labels.pop().and(self.drawn.pop()).is_some()
    }
}

impl Clone for Handled {
    fn clone(&self) -> Self {
        assert!(!self.labels.contains(&NO_COPY), "this state cannot be copied");
        Handled { labels: self.labels.clone(), drawn: self.drawn.clone() }
    }
}

/// A model that follows the test's script.
pub(crate) struct Play {
    pub(crate) lps: u32,
    pub(crate) lookahead: f64,
    /// The conservative LPs.
    pub(crate) conservative: &'static [u32],
    /// What an LP sends when it is initialised.
    pub(crate) first: fn(u32) -> Vec<Sent>,
    /// What an LP sends after it has handled these events, the last of them just now. The function
    /// may panic.
    pub(crate) then: fn(&[&'static str]) -> Vec<Sent>,
    /// What an event saves for its reverse code.
    pub(crate) save: fn(&'static str, &mut Context<Play>),
    /// The reverse code of an event, applied to the list of events that its LP has handled.
    pub(crate) reverse: fn(&mut Vec<&'static str>, &'static str, &mut Reverse<Play>),
    /// What happens when an event commits.
    pub(crate) commit: fn(&'static str),
}

impl Play {
    /// Four LPs without events.
    pub(crate) const NOTHING: Play = Play {
        lps: 4,
        lookahead: 0.0,
        conservative: &[],
        first: |_| Vec::new(),
        then: |_| Vec::new(),
        save: |_, _| {},
        reverse: |handled, label, _| assert_eq!(handled.pop(), Some(label)),
        commit: |_| {},
    };
}

impl Default for Play {
    fn default() -> Self {
        Play::NOTHING
    }
}

#[model(journal)]
impl Model for Play {
    type State = Handled;
    type Event = &'static str;

    fn lps(&self) -> u32 {
        self.lps
    }

    fn lookahead(&self) -> f64 {
        self.lookahead
    }

    fn declare(&self, declare: &mut Declarations) {
        declare.counter(HANDLED, "handled", "events", "events handled");
    }

    fn init(&self, lp: &mut Init<Self>) -> Handled {
        for (to, at, label) in (self.first)(lp.id().0) {
            lp.send(to, at, label);
        }
        Handled { labels: Vec::new(), drawn: Vec::new() }
    }

    fn handle(&self, handled: &mut Handled, label: &&'static str, lp: &mut Context<Self>) {
        lp.note_change(handled, 1, |log| log.push(0));
        let Handled { labels, drawn } = handled;
        labels.push(label);
        drawn.push(lp.random().next_u64());
        lp.count(HANDLED, 1);
        (self.save)(label, lp);
        for (to, at, label) in (self.then)(labels) {
            lp.send(to, at - lp.now(), label);
        }
    }

    fn reverse(
        &self,
        Handled { labels, drawn }: &mut Handled,
        label: &&'static str,
        lp: &mut Reverse<Self>,
    ) {
        drawn.pop();
        (self.reverse)(labels, label, lp);
    }

    fn commit(&self, label: &&'static str, _: &mut Commit<Self>) {
        (self.commit)(label);
    }
}

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
    history_most: 10_000,
    undoing: Undoing::Copy { interval: 1 },
    cancellation: Cancellation::Aggressive,
    lanes: Lanes::Speculative,
    go_ahead: GoAhead::Always,
    messages: Messages::Shared,
    windows: false,
};

/// Two PEs with the base tuning.
impl Default for Setting {
    fn default() -> Self {
        Setting { pes: 2, algorithm: GvtAlgorithm::Asynchronous, tuning: TUNING }
    }
}

/// The messages on the wires, by receiver.
struct Network {
    under_way: Vec<Vec<Message>>,
    arrived: Vec<Vec<Message>>,
    values_under_way: Vec<Vec<ValueMessage<&'static str>>>,
    values_arrived: Vec<Vec<ValueMessage<&'static str>>>,
    /// For how many more messages there is room.
    room: usize,
    /// By PE: how many messages it has handed over.
    handed_over: Vec<usize>,
    /// By PE: how often it has flushed.
    flushes: Vec<usize>,
    /// By PE: the last bound published, and how many messages had been handed over by then.
    published: Vec<(u64, usize)>,
    /// By PE and round: the bound published, and how many messages had been handed over by then.
    rounds: Vec<Vec<(u64, usize)>>,
    /// Whether PEs receive the bounds of others.
    bounds_arrive: bool,
    controls: Vec<VecDeque<Control>>,
}

pub(crate) struct Wire {
    me: u32,
    network: Rc<RefCell<Network>>,
    /// Messages by value that have not been flushed, and their receivers.
    kept: Vec<(u32, ValueMessage<&'static str>)>,
}

impl MessagePort for Wire {
    fn send(&mut self, to: u32, messages: &[Message]) -> usize {
        let network = &mut *self.network.borrow_mut();
        let taken = messages.len().min(network.room);
        network.under_way[to as usize].extend_from_slice(&messages[..taken]);
        network.handed_over[self.me as usize] += taken;
        network.room -= taken;
        taken
    }

    fn receive(&mut self, into: &mut Vec<Message>) {
        into.append(&mut self.network.borrow_mut().arrived[self.me as usize]);
    }
}

impl ValuePort<&'static str> for Wire {
    fn send_value(
        &mut self,
        to: u32,
        message: ValueMessage<&'static str>,
    ) -> Result<(), ValueMessage<&'static str>> {
        let room = &mut self.network.borrow_mut().room;
        if *room == 0 {
            return Err(message);
        }
        *room -= 1;
        self.kept.push((to, message));
        Ok(())
    }

    fn receive_values(&mut self, take: &mut impl FnMut(ValueMessage<&'static str>)) {
        let arrived =
            std::mem::take(&mut self.network.borrow_mut().values_arrived[self.me as usize]);
        arrived.into_iter().for_each(take);
    }
}

impl BoundPort for Wire {
    fn publish(&mut self, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        network.published[self.me as usize] = (bound, network.handed_over[self.me as usize]);
    }

    /// As long as no bounds arrive, GVT alone determines the horizon.
    fn bound(&mut self, pe: u32) -> u64 {
        let Network { published, bounds_arrive, .. } = &*self.network.borrow();
        if *bounds_arrive { published[pe as usize].0 } else { 0 }
    }

    fn publish_round(&mut self, round: u64, bound: u64) {
        let network = &mut *self.network.borrow_mut();
        let me = self.me as usize;
        let handed_over = network.handed_over[self.me as usize];
        network.rounds[me].push((bound, handed_over));
        assert_eq!(network.rounds[me].len() as u64, round, "rounds are numbered without gaps");
    }

    fn bound_of_round(&mut self, pe: u32, round: u64) -> Option<u64> {
        let Network { rounds, bounds_arrive, .. } = &*self.network.borrow();
        assert_eq!(
            rounds[self.me as usize].len() as u64,
            round,
            "PEs ask only for the last round that they have published for"
        );
        rounds[pe as usize]
            .get(round as usize - 1)
            .filter(|_| *bounds_arrive)
            .map(|(bound, _)| *bound)
    }
}

impl ControlPort for Wire {
    fn send_control(&mut self, to: u32, control: Control) {
        self.network.borrow_mut().controls[to as usize].push_back(control);
    }

    fn receive_control(&mut self) -> Option<Control> {
        self.network.borrow_mut().controls[self.me as usize].pop_front()
    }

    fn write(&mut self, to: u32, put: Put) {
        self.send_control(to, put.read(self.me));
    }

    fn written(&mut self) -> Option<(u32, Put)> {
        None
    }
}

impl Port<&'static str> for Wire {
    fn flush(&mut self) {
        let network = &mut *self.network.borrow_mut();
        network.handed_over[self.me as usize] += self.kept.len();
        network.flushes[self.me as usize] += 1;
        self.kept
            .drain(..)
            .for_each(|(to, message)| network.values_under_way[to as usize].push(message));
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
            delays: Delays::uniform(play.lookahead),
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

/// The random numbers that the first events of an LP draw.
fn draws(lp: LpId, events: usize) -> Vec<u64> {
    let mut stream = Stream::new(SEED, 0);
    let draw = |number| {
        stream.point(lp, number);
        stream.random().next_u64()
    };
    (1..=events as u64).map(draw).collect()
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
