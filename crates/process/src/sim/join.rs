use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::keys::{ProcessKey, WaitKey};
use crate::processes::outcomes::Outcomes;
use crate::processes::process::{Cancelled, Process};
use crate::running::waits::What;
use crate::running::{if_running, with};

/// A wait for the end of a process: see [`Sim::join`](crate::Sim::join).
#[must_use = "a wait that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Join<R> {
    wait: WaitKey,
    process: Process<R>,
    /// How the value is found. It knows that `R` can be cloned and borrows nothing, so that the future
    /// may be part of any other without saying so.
    value: fn(&Outcomes, ProcessKey) -> Option<R>,
}

impl<R: Clone + 'static> Join<R> {
    #[track_caller]
    pub(super) fn new(process: Process<R>, at: &'static Location<'static>) -> Self {
        let value = Outcomes::value::<R>;
        with(|running| {
            running.step();
            let processes = &mut running.tables.processes;
            let this = processes.key(running.tables.current);
            assert!(
                process.key != this,
                "{} waits for its own end, which would never come",
                processes.name(this)
            );
            if processes.ended(process.key).is_some() {
                return Join { wait: WaitKey::NONE, process, value };
            }
            let what = What::Process(process.key);
            let wait = running.tables.begin_wait(what, running.now, at);
            running.tables.processes.place(process.key.place).joiners.push(wait);
            Join { wait, process, value }
        })
    }
}

impl<R> Future for Join<R> {
    type Output = Result<R, Cancelled>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let Join { wait, process, value } = *self;
        let value = with(|running| {
            if !wait.is_none() {
                running.tables.poll_wait(wait)?;
            }
            Some(value(&running.tables.processes.outcomes, process.key))
        });
        let Some(value) = value else { return Poll::Pending };
        self.wait = WaitKey::NONE;
        Poll::Ready(value.ok_or(Cancelled))
    }
}

impl<R> Drop for Join<R> {
    fn drop(&mut self) {
        if self.wait.is_none() {
            return;
        }
        if_running(|running| {
            running.tables.end_wait(self.wait);
            if let Some(place) = running.tables.processes.get_mut(self.process.key) {
                place.joiners.retain(|&joiner| joiner != self.wait);
            }
        });
    }
}
