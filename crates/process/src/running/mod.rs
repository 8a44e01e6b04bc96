//! The LP that executes an event, as its processes reach it.
//!
//! A future cannot hold a reference to its LP between polls. So the executor lends it for each
//! poll, and all that a process calls borrows it for a moment.

pub(crate) mod executor;
pub(crate) mod services;
pub(crate) mod tables;
pub(crate) mod telling;
pub(crate) mod things;
pub(crate) mod waits;
pub(crate) mod wakeups;

use std::any::Any;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_memory::{Lend, Loan};
use warpline_model::engine::Limits;
use warpline_model::record::Deed;
use warpline_model::{Observe, Text, Timer};

use crate::keys::WaitKey;
use crate::running::tables::Tables;
use crate::running::things::{Thing, ThingKey, Things};

/// What the engine does for an LP, whatever its model.
pub(crate) trait Services: Observe {
    /// The LP's main stream of random numbers.
    fn random(&mut self) -> &mut Random;
    /// One of the LP's streams of random numbers; 0 is the main one.
    fn stream(&mut self, number: u8) -> &mut Random;
    /// Sends a message, which is in an `Option` of its type.
    fn send(&mut self, to: LpId, delay: f64, priority: i8, message: &mut dyn Any);
    /// Sends the LP itself a wake-up.
    fn send_wake_up(&mut self, delay: f64, wait: WaitKey);
    /// The same by a timer, which can be cancelled.
    fn set_alarm(&mut self, delay: f64, wait: WaitKey) -> Timer;
    fn cancel_alarm(&mut self, alarm: Timer);
    /// Acts on the outside world once the event is settled.
    fn act_when_settled(&mut self, act: Box<dyn Fn() + Send + Sync>);
    /// How much the LP may tell; 0 unless somebody follows it.
    fn may_tell(&self) -> u32;
    /// Tells those who follow the LP what `who` does.
    fn tell(&mut self, who: Text, deed: Deed, what: Text);
    /// Ends the run with an error.
    fn fail(&mut self, why: String);
    fn limits(&self) -> &Limits;
}

/// The LP that executes an event.
pub(crate) struct Running<'a> {
    pub(crate) now: f64,
    pub(crate) id: LpId,
    /// How much the processes may do in an event, unless there are many of them.
    pub(crate) most_steps: u32,
    pub(crate) tables: &'a mut Tables,
    pub(crate) things: &'a mut Things,
    /// A `Shelf` of the model's messages.
    pub(crate) mailbox: &'a mut dyn Any,
    pub(crate) lp: &'a mut dyn Services,
}

struct RunningLp;

impl Lend for RunningLp {
    type At<'a> = Running<'a>;
}

thread_local! {
    static RUNNING: Loan<RunningLp> = const { Loan::new() };
}

/// Lends the LP that executes an event to all that `body` calls.
#[inline]
pub(crate) fn lend<R>(running: &mut Running<'_>, body: impl FnOnce() -> R) -> R {
    RUNNING.with(|loan| loan.lend(running, body))
}

/// Borrows the LP that executes an event.
///
/// # Panics
/// If there is none, or if it is borrowed already.
#[inline]
#[track_caller]
pub(crate) fn with<R>(body: impl FnOnce(&mut Running<'_>) -> R) -> R {
    match if_running(body) {
        Some(value) => value,
        None => outside(),
    }
}

/// Like [`with`], for what may be dropped outside of a run: then nothing is done.
#[inline]
pub(crate) fn if_running<R>(body: impl FnOnce(&mut Running<'_>) -> R) -> Option<R> {
    RUNNING.with(|loan| loan.borrow(body))
}

#[cold]
#[track_caller]
fn outside() -> ! {
    panic!(
        "this works only in a process, while its LP executes an event: not outside of a run, in another thread, \
         or within a filter of messages or items"
    )
}

impl Running<'_> {
    /// A thing of this LP, and what else is needed to change it.
    ///
    /// # Panics
    /// If it is a thing of another LP.
    #[inline]
    pub(crate) fn thing<T: Thing>(&mut self, key: ThingKey) -> (&mut T, Surroundings<'_>) {
        let thing = self.things.get(self.id, key);
        (thing, Surroundings { now: self.now, tables: self.tables, lp: self.lp })
    }

    /// Counts something that a process does without waiting.
    ///
    /// # Panics
    /// If the processes have done so much at one instant that they seem to be in a loop.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.tables.steps += 1;
        if self.tables.steps > u64::from(self.most_steps) {
            self.stop_loop();
        }
    }

    /// A loop is not one if there are many processes, each of which goes on a few times.
    #[cold]
    fn stop_loop(&mut self) {
        if self.tables.steps
            <= u64::from(self.most_steps) + 100 * self.tables.processes.len() as u64
        {
            return;
        }
        let who = self.tables.processes.describe(self.tables.current);
        self.lp.fail(format!(
            "{who} is in a loop that never lets time advance: at this instant the processes of the LP have gone on \
             {} times; let the loop wait for something that takes time, such as Sim::sleep",
            self.tables.steps
        ));
        std::panic::resume_unwind(Box::new("a loop of processes"))
    }
}

/// An LP without its things.
pub(crate) struct Surroundings<'a> {
    pub(crate) now: f64,
    pub(crate) tables: &'a mut Tables,
    pub(crate) lp: &'a mut dyn Services,
}
