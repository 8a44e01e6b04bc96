use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Sim;
use crate::interrupt::Interrupted;
use crate::keys::ProcessKey;
use crate::keys::WaitKey;
use crate::processes::Ended;
use crate::running::{if_running, with};
use crate::waits::What;

/// A process of an LP: what [`Sim::spawn`] started. It is a number, and means something in that LP
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    key: ProcessKey,
}

impl<T> Sim<T> {
    /// Starts a process of this LP. It begins at this time, when this process and those that are
    /// ready before it wait.
    #[track_caller]
    pub fn spawn(self, process: impl Future<Output = ()> + Send + 'static) -> Process {
        start(None, process, Location::caller())
    }

    /// Like [`spawn`](Self::spawn), with a name for messages and reports.
    #[track_caller]
    pub fn spawn_named(
        self,
        name: impl Into<Cow<'static, str>>,
        process: impl Future<Output = ()> + Send + 'static,
    ) -> Process {
        start(Some(name.into()), process, Location::caller())
    }

    /// This process.
    pub fn this_process(self) -> Process {
        with(|running| Process { key: running.tables.processes.key(running.tables.current) })
    }

    /// Waits until a process has ended, and says how.
    #[track_caller]
    pub fn join(self, process: Process) -> Join {
        let at = Location::caller();
        with(|running| {
            running.step();
            match running.tables.processes.ended(process.key) {
                Some(ended) => Join { wait: WaitKey::NONE, ended },
                None => {
                    let what = What::Process(process.key);
                    let wait = running.tables.begin_wait(what, running.now, at);
                    let place = running.tables.processes.place(process.key.place);
                    place.joiners.push(wait);
                    Join { wait, ended: Ended::Finished }
                }
            }
        })
    }

    /// How a process ended; `None` if it has not.
    pub fn ended(self, process: Process) -> Option<Ended> {
        with(|running| running.tables.processes.ended(process.key))
    }

    /// Cancels a process: it goes no further, what it waits for is withdrawn, and what it holds
    /// goes back. A process that cancels itself goes on until it next waits. Returns `false` if the
    /// process had ended.
    pub fn cancel(self, process: Process) -> bool {
        let coroutine = with(|running| {
            let place = running.tables.processes.get_mut(process.key)?;
            let coroutine = place.coroutine.take();
            // It is being polled: the executor sees to it.
            place.is_cancelled = coroutine.is_none();
            Some(coroutine)
        });
        let Some(coroutine) = coroutine else { return false };
        if let Some(coroutine) = coroutine {
            drop(coroutine);
            with(|running| {
                running.tell_of(process.key, || "is cancelled".to_owned());
                running.tables.end_process(process.key.place, Ended::Cancelled);
            });
        }
        true
    }

    /// Interrupts a process: what it does within [`interruptible`](Self::interruptible) ends, with
    /// this reason. If it does no such thing just now, the next one ends as soon as it begins. Only
    /// the first of several interrupts is seen. Returns `false` if the process had ended.
    pub fn interrupt(self, process: Process, reason: impl Into<Cow<'static, str>>) -> bool {
        let why = Interrupted::by(reason.into());
        with(|running| {
            let by = running.tables.processes.key(running.tables.current);
            let by = || running.tables.processes.name(by);
            if running.tables.tells && running.tables.processes.ended(process.key).is_none() {
                let line = format!("is interrupted by {}: {}", by(), why.reason());
                running.tell_of(process.key, || line);
            }
            running.tables.interrupt(process.key, why)
        })
    }
}

fn start(
    name: Option<Cow<'static, str>>,
    process: impl Future<Output = ()> + Send + 'static,
    at: &'static Location<'static>,
) -> Process {
    let coroutine = Box::pin(process);
    with(|running| {
        let key = running.tables.processes.add(coroutine, name, at);
        running.tables.queue(key.place);
        running.tell_of(key, || "starts".to_owned());
        Process { key }
    })
}

/// A wait for the end of a process: see [`Sim::join`].
#[must_use = "a wait that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Join {
    wait: WaitKey,
    ended: Ended,
}

impl Future for Join {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Ended> {
        if !self.wait.is_none() {
            let Some(wait) = with(|running| running.tables.poll_wait(self.wait)) else {
                return Poll::Pending;
            };
            self.wait = WaitKey::NONE;
            self.ended = Ended::from_bits(wait.outcome);
        }
        Poll::Ready(self.ended)
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        if !self.wait.is_none() {
            if_running(|running| {
                let wait = running.tables.end_wait(self.wait);
                if let Some(What::Process(key)) = wait.map(|wait| wait.what)
                    && let Some(place) = running.tables.processes.get_mut(key)
                {
                    place.joiners.retain(|&joiner| joiner != self.wait);
                }
            });
        }
    }
}
