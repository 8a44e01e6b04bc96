//! A core of the machine, with its PE: whether it is at work, and how its time has gone.

use warpline_base::VirtualTime;
use warpline_kernel::Counts;
use warpline_machine::{Machine, Noise, Time};
use warpline_transport::{Opened, Sent};

use super::costs::{Done, Slowdown, Spent};

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
    /// When what another PE has written into the memory of all gets here.
    word: Option<Time>,
    /// The horizon of its PE after its last step.
    horizon: VirtualTime,
    done: Done,
    pub(super) spent: Spent,
    /// When the system kept it from its core, in all.
    pub(super) interrupted: Time,
    pub(super) near_messages: u64,
    pub(super) far_messages: u64,
    pub(super) gvt_messages: u64,
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
            word: None,
            horizon: VirtualTime::ZERO,
            done: Done::default(),
            spent: Spent::default(),
            interrupted: Time::ZERO,
            near_messages: 0,
            far_messages: 0,
            gvt_messages: 0,
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

    /// Notes the horizon of its PE after a step, and returns whether it has risen in that.
    pub(super) fn raises(&mut self, horizon: VirtualTime) -> bool {
        horizon > std::mem::replace(&mut self.horizon, horizon)
    }

    /// It is busy until then with what its last step has sent.
    pub(super) fn keep_busy(&mut self, until: Time) {
        self.spent.gvt += until.since(self.free);
        self.free = self.free.max(until);
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

    /// Charges a step that began when the mailbox was opened. Returns what was done in it.
    pub(super) fn account(
        &mut self,
        machine: &Machine,
        counts: &Counts,
        opened: Opened,
        sent: Sent,
    ) -> Done {
        let done = Done::of(counts);
        let did = done.since(self.done);
        self.done = done;
        let step = Spent::of(machine, did, sent);
        self.spent.add(&step, &opened, self.slowdown);
        let ends = opened.ready + self.slowdown.of(step.all());
        self.free = self.end_after_noise(&machine.noise, opened.ready, ends);
        self.near_messages += sent.messages - sent.far;
        self.far_messages += sent.far;
        self.gvt_messages += sent.others;
        self.departing = sent.messages + sent.others > 0;
        did
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
