//! What an LP of processes consists of, apart from what its model defines.

use std::collections::VecDeque;
use std::panic::Location;

use crate::keys::{ProcessKey, WaitKey};
use crate::processes::interrupt::Interrupted;
use crate::processes::process::Ended;
use crate::processes::{PinnedFrame, Processes};
use crate::running::things::Things;
use crate::running::waits::{Wait, Waits, What};

/// No process.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The processes of an LP, what they wait for, and which of them go on in the current event.
///
/// Invariant: a process is in `ready` if and only if its place says so.
pub(crate) struct Tables {
    pub(crate) processes: Processes,
    pub(crate) waits: Waits,
    /// The places of the processes that are to be polled in this event, the first to be polled
    /// first.
    pub(crate) ready: VecDeque<u32>,
    /// The waits for conditions, in the order in which they began.
    pub(crate) conditions: Vec<WaitKey>,
    /// The place of the process that is polled, or was polled last.
    pub(crate) current: u32,
    /// Whether the process that is polled waits for something of the simulation.
    pub(crate) is_waiting: bool,
    /// How much the processes have done in this event.
    pub(crate) steps: u64,
    /// Whether a process has gone on since conditions were last looked at.
    pub(crate) has_progressed: bool,
    /// Whether a process has ever withdrawn a sleep.
    pub(crate) withdraws_sleeps: bool,
    /// Whether the LP tells what its processes do in this event.
    pub(crate) tells: bool,
    /// How much it has told.
    pub(crate) told: u32,
}

impl Default for Tables {
    fn default() -> Self {
        Tables {
            processes: Processes::default(),
            waits: Waits::default(),
            ready: VecDeque::new(),
            conditions: Vec::new(),
            current: NOBODY,
            is_waiting: false,
            steps: 0,
            has_progressed: false,
            withdraws_sleeps: false,
            tells: false,
            told: 0,
        }
    }
}

impl Tables {
    /// An event begins, of an LP that may tell so much.
    #[inline]
    pub(crate) fn begin_event(&mut self, may_tell: u32) {
        self.steps = 0;
        self.tells = may_tell > self.told;
    }

    /// Adds a wait of the process that is polled.
    #[inline]
    pub(crate) fn begin_wait(
        &mut self,
        what: What,
        now: f64,
        at: &'static Location<'static>,
    ) -> WaitKey {
        self.is_waiting = true;
        self.waits.add(self.current, what, now, at)
    }

    /// Removes a wait, and returns it unless it was removed before.
    #[inline]
    pub(crate) fn end_wait(&mut self, key: WaitKey) -> Option<Wait> {
        self.waits.remove(key)
    }

    /// Asks on behalf of the process that is polled whether a wait is over. If so, it is removed,
    /// and its outcome is returned.
    #[inline]
    pub(crate) fn poll_wait(&mut self, key: WaitKey) -> Option<u64> {
        let wait = self.waits.get_mut(key)?;
        if wait.is_over {
            let outcome = wait.outcome;
            self.waits.free(key);
            return Some(outcome);
        }
        // The future that waits may have been moved to another process.
        wait.process = self.current;
        self.is_waiting = true;
        None
    }

    /// What is waited for has come: the process is polled in this event. Returns `false` if nobody
    /// waits any more.
    #[inline]
    pub(crate) fn finish_wait(&mut self, key: WaitKey, outcome: u64) -> bool {
        let process = self.settle_wait(key, outcome);
        if let Some(process) = process {
            self.queue(process);
        }
        process.is_some()
    }

    /// What is waited for has come. Returns the place of the process that is to be polled for it;
    /// `None` if nobody waits any more.
    #[inline]
    pub(crate) fn settle_wait(&mut self, key: WaitKey, outcome: u64) -> Option<u32> {
        let wait = self.waits.get_mut(key).filter(|wait| !wait.is_over)?;
        wait.is_over = true;
        wait.outcome = outcome;
        Some(wait.process)
    }

    /// Whether somebody waits, for what has not come.
    #[inline]
    pub(crate) fn is_waiting(&self, key: WaitKey) -> bool {
        self.waits.get(key).is_some_and(|wait| !wait.is_over)
    }

    /// Has a process polled in this event.
    #[inline]
    pub(crate) fn queue(&mut self, process: u32) {
        self.has_progressed = true;
        self.push_ready(process);
    }

    #[inline]
    fn push_ready(&mut self, process: u32) {
        let place = self.processes.place(process);
        if !place.is_queued {
            place.is_queued = true;
            self.ready.push_back(process);
        }
    }

    /// Interrupts a process: what it does interruptibly ends, now or as soon as it begins such a
    /// thing. Returns `false` if the process has ended.
    pub(crate) fn interrupt(&mut self, process: ProcessKey, why: Interrupted) -> bool {
        let Some(place) = self.processes.get_mut(process) else { return false };
        place.interrupts.get_or_insert_default().add(why);
        self.queue(process.place);
        true
    }

    /// Ends the process in this place, whose coroutine was in `frame`, and wakes who waits for that.
    #[inline]
    pub(crate) fn end_process(&mut self, process: u32, frame: PinnedFrame, ended: Ended) {
        if self.processes.place(process).is_queued {
            self.ready.retain(|&ready| ready != process);
        }
        let joiners = self.processes.end(process, frame, ended);
        if !joiners.is_empty() {
            self.wake_joiners(joiners, ended);
        }
    }

    #[cold]
    fn wake_joiners(&mut self, joiners: Vec<WaitKey>, ended: Ended) {
        for joiner in joiners {
            self.finish_wait(joiner, ended as u64);
        }
    }

    /// What somebody waits for, in words.
    pub(crate) fn describe(&self, what: What, things: &Things) -> String {
        match what {
            What::Time(until) | What::Alarm(until, _) => format!("the time {until}"),
            What::Message => "a message".to_owned(),
            What::Process(process) => {
                format!("the end of {}", self.processes.describe(process.place))
            }
            What::Thing(place) => things.describe(place),
            What::Signal(name) => format!("the signal `{name}`"),
            What::Condition => "a condition".to_owned(),
        }
    }

    /// The place of the process that is to be polled next. When no other is ready, those are that
    /// wait for conditions, if any process has gone on since they last were.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> Option<u32> {
        if self.ready.is_empty() {
            self.queue_conditions();
        }
        let process = self.ready.pop_front()?;
        self.processes.place(process).is_queued = false;
        Some(process)
    }

    /// Has those processes polled that wait for conditions, if any process has gone on since they
    /// last were.
    #[inline]
    fn queue_conditions(&mut self) {
        if std::mem::take(&mut self.has_progressed) && !self.conditions.is_empty() {
            self.queue_all_conditions();
        }
    }

    fn queue_all_conditions(&mut self) {
        let mut conditions = std::mem::take(&mut self.conditions);
        conditions.retain(|&key| self.waits.get(key).is_some());
        for &key in &conditions {
            if let Some(process) = self.waits.get(key).map(|wait| wait.process) {
                self.push_ready(process);
            }
        }
        self.conditions = conditions;
    }
}
