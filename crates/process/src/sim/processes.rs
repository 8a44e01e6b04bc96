use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;

use super::Sim;
use super::join::Join;
use super::starting::{Delayed, Valued};
use crate::processes::interrupt::Interrupted;
use crate::processes::process::{Ended, Process};
use crate::running::with;

impl<T> Sim<T> {
    /// Starts a process of this LP. It begins at this time, when this process and those that are
    /// ready before it wait. What it returns is its value, for those who [`join`](Self::join) it.
    ///
    /// A value other than `()` is kept until the run ends: let processes of which there are millions
    /// return nothing.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn ring(sim: Sim<()>) -> u32 {
    ///     sim.tell(format!("{} rings", sim.name_of(sim.this_process())));
    ///     7
    /// }
    ///
    /// async fn day(sim: Sim<()>) {
    ///     let now = sim.spawn(ring(sim));
    ///     let noon = sim.spawn_after(12.0, ring(sim));
    ///     let named = sim.spawn_named("bell", async move { sim.sleep(24.0).await });
    ///     assert_eq!((sim.join(now).await, sim.join(noon).await), (Ok(7), Ok(7)));
    ///     assert_eq!((sim.ended(now), sim.ended(named)), (Some(Ended::Finished), None));
    /// }
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, process: F) -> Process<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        start(None, process, Location::caller())
    }

    /// Like [`spawn`](Self::spawn), with a name for messages and reports.
    #[track_caller]
    pub fn spawn_named<F>(
        self,
        name: impl Into<Cow<'static, str>>,
        process: F,
    ) -> Process<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        start(Some(name.into()), process, Location::caller())
    }

    /// Like [`spawn`](Self::spawn), for a process that begins after `delay` units of model time. It
    /// exists from now on, and can be joined, interrupted and cancelled.
    ///
    /// # Faults
    /// Those of [`sleep`](Self::sleep), when the process would begin to wait.
    #[track_caller]
    pub fn spawn_after<F>(self, delay: f64, process: F) -> Process<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let at = Location::caller();
        start(None, Delayed::new(delay, at, process), at)
    }

    /// This process.
    pub fn this_process(self) -> Process {
        with(|running| Process::new(running.tables.processes.key(running.tables.current)))
    }

    /// What messages and reports call a process: its name, or else its number in the LP.
    pub fn name_of<R>(self, process: Process<R>) -> String {
        with(|running| running.tables.processes.name(process.key))
    }

    /// Waits until a process has ended, and returns its value: at once if it ended before. Any
    /// number of processes may ask, at any time; each gets a clone of the value.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn cook(sim: Sim<()>) -> &'static str {
    ///     sim.sleep(12.0).await;
    ///     "fish"
    /// }
    ///
    /// async fn dine(sim: Sim<()>) {
    ///     let cook = sim.spawn(cook(sim));
    ///     assert_eq!(sim.join(cook).await, Ok("fish"));
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Cancelled`](crate::Cancelled), if the process was cancelled.
    ///
    /// # Panics
    /// If a process waits for its own end.
    #[track_caller]
    pub fn join<R: Clone + Send + 'static>(self, process: Process<R>) -> Join<R> {
        Join::new(process, Location::caller())
    }

    /// How a process ended; `None` if it has not.
    pub fn ended<R>(self, process: Process<R>) -> Option<Ended> {
        with(|running| running.tables.processes.ended(process.key))
    }

    /// Cancels a process: it goes no further, what it waits for is withdrawn, and what it holds
    /// goes back. A process that cancels itself goes on until it next waits. Returns `false` if the
    /// process had ended.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn close(sim: Sim<()>, till: Resource, customer: Process) {
    ///     assert!(till.holders().contains(&customer));
    ///     assert!(sim.cancel(customer));
    ///     assert_eq!((sim.ended(customer), till.in_use()), (Some(Ended::Cancelled), 0));
    /// }
    /// ```
    pub fn cancel<R>(self, process: Process<R>) -> bool {
        let frame = with(|running| {
            let place = running.tables.processes.get_mut(process.key)?;
            let frame = place.frame.take();
            // It is being polled: the executor sees to it.
            place.is_cancelled = frame.is_none();
            Some(frame)
        });
        let Some(frame) = frame else { return false };
        if let Some(mut frame) = frame {
            frame.as_mut().clear();
            with(|running| {
                running.tell_of(process.key, || "is cancelled".to_owned());
                running.tables.end_process(process.key.place, frame, Ended::Cancelled);
            });
        }
        true
    }

    /// Interrupts a process: what it does within [`interruptible`](Self::interruptible) ends, with
    /// this reason. If it does no such thing just now, as it has not begun or waits for something
    /// else, the next one ends as soon as it begins. Of several interrupts, each ends one. Returns
    /// `false` if the process had ended.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn sleeper(sim: Sim<()>) {
    ///     if let Err(why) = sim.interruptible(sim.sleep(8.0)).await {
    ///         sim.tell(format!("{} woke me: {}", sim.name_of(why.interrupter()), why.reason()));
    ///     }
    /// }
    ///
    /// async fn alarm(sim: Sim<()>, sleeper: Process) {
    ///     sim.sleep(6.0).await;
    ///     assert!(sim.interrupt(sleeper, "fire"));
    /// }
    /// ```
    ///
    /// # Panics
    /// If a process interrupts itself.
    #[track_caller]
    pub fn interrupt<R>(self, process: Process<R>, reason: impl Into<Cow<'static, str>>) -> bool {
        let reason = reason.into();
        with(|running| {
            let by = running.tables.processes.key(running.tables.current);
            let name = |key| running.tables.processes.name(key);
            assert!(
                by != process.key,
                "{} cannot interrupt itself: it would have to wait and go on at once",
                name(by)
            );
            if running.tables.tells && running.tables.processes.ended(process.key).is_none() {
                let line = format!("is interrupted by {}: {reason}", name(by));
                running.tell_of(process.key, || line);
            }
            running.tables.interrupt(process.key, Interrupted::by(by, reason))
        })
    }
}

#[inline(always)]
fn start<F>(
    name: Option<Cow<'static, str>>,
    process: F,
    at: &'static Location<'static>,
) -> Process<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    with(|running| {
        let key = running.tables.processes.add(Valued::new(process), name, at);
        running.tables.queue(key.place);
        running.tell_of(key, || "starts".to_owned());
        Process::new(key)
    })
}
