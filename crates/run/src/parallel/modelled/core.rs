//! A core of the machine, with its PE: whether it is at work, and how its time has gone.

use warpline_base::VirtualTime;
use warpline_kernel::Counts;
use warpline_machine::{Machine, Noise, Time};
use warpline_transport::{Departed, Opened, Sent};

use super::costs::{Done, Slowdown, Spent};
use super::time_line::Recorder;

/// What a core does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its PE makes a step.
    AtWork,
    /// Its PE makes a step in which it finds nothing to do.
    FallsAsleep,
    /// Its PE waits for something to arrive.
    Asleep,
    /// Its PE is done.
    Over,
}

/// A core, and its PE.
pub(super) struct Core {
    state: State,
    /// When its last step began.
    looked: Time,
    /// When its last step ends.
    free: Time,
    /// Its last step has sent something.
    departing: bool,
    /// Since when a message waits for room in a full mailbox, if one does.
    blocked: Option<Time>,
    /// How long messages have waited so in all.
    pub(super) waited_for_room: Time,
    /// When what another PE has written into the memory of all gets here.
    word: Option<Time>,
    /// Beyond which time registers must let it go, if it waits for that.
    waits_for: Option<VirtualTime>,
    /// When it can read that they do.
    let_go: Option<Time>,
    /// The horizon of its PE after its last step.
    horizon: VirtualTime,
    /// Its PE does nothing in its next step unless something arrives before it.
    waits: bool,
    /// Its PE can only wait for a verdict.
    waits_for_gvt: bool,
    done: Done,
    pub(super) spent: Spent,
    /// When the system kept it from its core, in all.
    pub(super) interrupted: Time,
    pub(super) near_messages: u64,
    pub(super) far_messages: u64,
    pub(super) gvt_messages: u64,
    /// Time for waiting and for GVT, since its PE last knew the end of a computation of GVT.
    pub(super) without_work: Time,
    /// What it does when, if that goes into the record.
    pub(super) recorder: Option<Box<Recorder>>,
    number: u32,
    seed: u64,
    /// Interruptions so far.
    interruptions: u64,
    slowdown: Slowdown,
}

impl Core {
    pub(super) fn new(machine: &Machine, seed: u64, number: u32) -> Self {
        Core {
            state: State::AtWork,
            looked: Time::ZERO,
            free: Time::ZERO,
            departing: false,
            blocked: None,
            waited_for_room: Time::ZERO,
            word: None,
            waits_for: None,
            let_go: None,
            horizon: VirtualTime::ZERO,
            waits: false,
            waits_for_gvt: false,
            done: Done::default(),
            spent: Spent::default(),
            interrupted: Time::ZERO,
            near_messages: 0,
            far_messages: 0,
            gvt_messages: 0,
            without_work: Time::ZERO,
            recorder: None,
            number,
            seed,
            interruptions: 0,
            slowdown: Slowdown::new(machine.noise.slowdown_of(seed, number)),
        }
    }

    /// When its last step ends, or has ended.
    pub(super) fn free(&self) -> Time {
        self.free
    }

    /// How long it has been busy, with its PE or the system.
    pub(super) fn busy(&self) -> Time {
        self.spent.all() + self.interrupted
    }

    /// When its last step began: it has looked at what had arrived by then.
    pub(super) fn looked(&self) -> Time {
        self.looked
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.state == State::Asleep
    }

    pub(super) fn falls_asleep(&self) -> bool {
        self.state == State::FallsAsleep
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Whether its last step found nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::FallsAsleep | State::Asleep)
    }

    pub(super) fn sleep(&mut self) {
        self.state = State::Asleep;
    }

    pub(super) fn has_departing(&self) -> bool {
        self.departing
    }

    /// Whether its last step has sent something that has yet to leave, which it does now.
    pub(super) fn take_departing(&mut self) -> bool {
        std::mem::take(&mut self.departing)
    }

    /// What it has sent has left at `now`, as far as there was room.
    pub(super) fn note_departed(&mut self, now: Time, departed: Departed) {
        let waited = self.blocked.take().map_or(Time::ZERO, |since| now.since(since));
        let busy = departed.waits.unwrap_or(departed.until).since(now);
        self.waited_for_room += waited;
        self.spent.messages += waited + busy.since(departed.publishing);
        self.spent.gvt += departed.publishing;
        self.blocked = departed.waits;
        self.departing = departed.waits.is_some();
        self.free = departed.until;
    }

    /// Whether a message of its waits for room in a full mailbox.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// It waits for registers to let it go beyond this time, if for any.
    pub(super) fn note_waits_for(&mut self, time: Option<VirtualTime>) {
        self.waits_for = time;
        self.let_go = None;
    }

    /// Registers let PEs go up to this time, which can be read at `at`. Returns whether it waits for
    /// that.
    pub(super) fn note_horizon(&mut self, horizon: VirtualTime, at: Time) -> bool {
        let is_let_go = self.waits_for.is_some_and(|time| time < horizon);
        if is_let_go {
            self.waits_for = None;
            self.let_go = Some(at);
            self.note_word(at);
        }
        is_let_go
    }

    /// When it can read that registers let it go on, if that is later than `now`. It has nothing to
    /// do until then.
    pub(super) fn reads_at(&self, now: Time) -> Option<Time> {
        self.let_go.filter(|at| *at > now)
    }

    /// Notes the horizon of its PE after a step, and returns whether it has risen in that.
    pub(super) fn raises(&mut self, horizon: VirtualTime) -> bool {
        horizon > std::mem::replace(&mut self.horizon, horizon)
    }

    /// Another PE has written into the memory of all, and that gets here at this time.
    pub(super) fn note_word(&mut self, at: Time) {
        self.word = Some(self.word.map_or(at, |word| word.min(at)));
    }

    /// When it has to look at the memory of all, if it waits from `now` on.
    pub(super) fn word_due(&self, now: Time) -> Option<Time> {
        self.word.map(|word| word.max(now))
    }

    /// When a PE begins the last of so many idle steps, if it sleeps until then.
    pub(super) fn timer(&self, steps: u32, turn: Time) -> Time {
        self.free + step_time(turn) * u64::from(steps.saturating_sub(1))
    }

    /// The idle steps that a PE would have made up to now if it had not slept.
    pub(super) fn missed_steps(&self, now: Time, turn: Time) -> u32 {
        let steps = now.since(self.free).as_picoseconds() / step_time(turn).as_picoseconds();
        u32::try_from(steps).unwrap_or(u32::MAX)
    }

    /// Charges a step of one of so many PEs that began when the mailbox was opened. Returns what was
    /// done in it.
    pub(super) fn account(
        &mut self,
        (machine, pes): (&Machine, u32),
        counts: &Counts,
        opened: Opened,
        sent: Sent,
    ) -> Done {
        let done = Done::of(counts);
        let did = done.since(self.done);
        self.done = done;
        self.charge(machine, &opened, &Spent::of(machine, pes, did, sent));
        self.near_messages += sent.messages - sent.far;
        self.far_messages += sent.far;
        self.gvt_messages += sent.others;
        self.departing = sent.messages + sent.others > 0;
        did
    }

    /// Charges a step at this time in which nothing arrives and nothing is done.
    pub(super) fn account_for_nothing(&mut self, machine: &Machine, pes: u32, now: Time) {
        let ready = now.max(self.free);
        let opened = Opened { ready, receiving: Time::ZERO, gvt: Time::ZERO };
        let step = Spent::of(machine, pes, Done::default(), Sent::default());
        self.charge(machine, &opened, &step);
    }

    fn charge(&mut self, machine: &Machine, opened: &Opened, step: &Spent) {
        let since = self.free;
        self.spent.add(step, opened, self.slowdown);
        let ends = opened.ready + self.slowdown.of(step.all());
        self.free = self.end_after_noise(&machine.noise, opened.ready, ends);
        self.without_work +=
            opened.ready.since(since).since(opened.receiving) + self.slowdown.of(step.gvt);
        if let Some(recorder) = &mut self.recorder {
            recorder.note_step(since, opened, step, self.slowdown, self.free);
        }
    }

    /// Whether its PE does nothing in its next step unless something arrives before it.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Whether its PE can only wait for a verdict.
    pub(super) fn waits_for_gvt(&self) -> bool {
        self.waits_for_gvt
    }

    /// Notes after a step whether its PE can only wait for a verdict; and whether it makes also the
    /// steps in which it does nothing.
    pub(super) fn note_waits(&mut self, for_gvt: bool, all_steps: bool) {
        self.waits_for_gvt = for_gvt;
        self.waits = for_gvt && !all_steps && !self.is_idle();
    }

    /// When a step ends that began at `begun` and would end at `ends` without interruptions.
    fn end_after_noise(&mut self, noise: &Noise, begun: Time, mut ends: Time) -> Time {
        while let Some(at) = noise.interruption(self.seed, self.number, self.interruptions)
            && at < ends
        {
            self.interruptions += 1;
            if at >= begun {
                ends += noise.lasts;
                self.interrupted += noise.lasts;
            }
        }
        ends
    }

    /// Its PE has made a step that began at `now`.
    pub(super) fn note_step(&mut self, now: Time, idle: bool, over: bool) {
        self.looked = now;
        self.word = self.word.filter(|word| *word > now);
        self.state = match (over, idle) {
            (true, _) => State::Over,
            (false, true) => State::FallsAsleep,
            (false, false) => State::AtWork,
        };
    }
}

/// How long an idle step takes; something, in any case.
fn step_time(turn: Time) -> Time {
    turn.max(Time::nanoseconds(1))
}
