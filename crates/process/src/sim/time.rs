use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use warpline_base::LpId;

use super::Sim;
use crate::keys::WaitKey;
use crate::running::wakeups;
use crate::running::{if_running, with};

impl<T> Sim<T> {
    /// The time, in model units.
    #[inline]
    pub fn now(self) -> f64 {
        with(|running| running.now)
    }

    /// The LP.
    #[inline]
    pub fn id(self) -> LpId {
        with(|running| running.id)
    }

    /// The number of LPs of the model.
    pub fn lps(self) -> u32 {
        with(|running| running.lp.limits().lps)
    }

    /// The end of the run, in model units; see `Context::end`.
    pub fn end(self) -> f64 {
        with(|running| running.lp.limits().end)
    }

    /// Sleeps for `delay` units of model time, from now on.
    ///
    /// # Faults
    /// A delay that is negative or not finite.
    #[inline]
    #[track_caller]
    pub fn sleep(self, delay: f64) -> Sleep {
        Sleep::new(delay, Location::caller())
    }

    /// Awaits `future`, but no longer than `delay` units of model time: `None` if the time is up
    /// first. Then the future is dropped, which withdraws what it waits for.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn customer(sim: Sim<()>, till: Resource) {
    ///     match sim.timeout(3.0, till.request()).await {
    ///         Some(_till) => sim.sleep(sim.uniform(0.5, 1.5)).await,
    ///         None => sim.tell("gives up"),
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn timeout<F: Future>(self, delay: f64, future: F) -> Timeout<F> {
        let at = Location::caller();
        let wait = with(|running| wakeups::time_out(running, delay, at));
        Timeout { future, sleep: Sleep { wait } }
    }

    /// Ends the run with an error that names this LP. The process goes on after the call, so
    /// return.
    #[cold]
    pub fn fail(self, why: impl Into<String>) {
        with(|running| running.lp.fail(why.into()));
    }
}

/// A sleep, which has begun: see [`Sim::sleep`].
#[must_use = "a sleep that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct Sleep {
    wait: WaitKey,
}

impl Sleep {
    #[inline]
    pub(super) fn new(delay: f64, at: &'static Location<'static>) -> Self {
        with(|running| Sleep { wait: wakeups::sleep(running, delay, at) })
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if with(|running| running.tables.poll_wait(self.wait)).is_none() {
            return Poll::Pending;
        }
        self.wait = WaitKey::NONE;
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    #[inline]
    fn drop(&mut self) {
        if !self.wait.is_none() {
            if_running(|running| wakeups::withdraw(running, self.wait));
        }
    }
}

pin_project! {
    /// A future that is awaited for a limited time: see [`Sim::timeout`].
    #[must_use = "futures do nothing unless they are awaited"]
    #[derive(Debug)]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        sleep: Sleep,
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(value) = this.future.poll(context) {
            return Poll::Ready(Some(value));
        }
        Pin::new(this.sleep).poll(context).map(|()| None)
    }
}
