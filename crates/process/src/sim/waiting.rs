use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Sim;
use crate::keys::WaitKey;
use crate::processes::interrupt::Interrupted;
use crate::running::waits::What;
use crate::running::{if_running, with};

impl<T> Sim<T> {
    /// Waits until `condition` is true. It is looked at now, and in each later event of this LP
    /// when no process can go on. It may look at what the LP's processes share and at the time, and
    /// should change nothing.
    ///
    /// Nothing happens at the moment when a condition of time alone becomes true: use
    /// [`sleep`](Self::sleep) for that.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// async fn ferry(sim: Sim<()>, pier: Store<&'static str>) {
    ///     let leaves = sim.now() + 15.0;
    ///     let is_full = sim.wait_until(move || pier.len() == 20);
    ///     sim.timeout(leaves - sim.now(), is_full).await; // full or not
    /// }
    /// ```
    #[track_caller]
    pub fn wait_until<F: FnMut() -> bool>(self, condition: F) -> WaitUntil<F> {
        let at = Location::caller();
        with(|running| {
            running.step();
            let wait = running.tables.begin_wait(What::Condition, running.now, at);
            running.tables.conditions.push(wait);
            WaitUntil { wait, condition }
        })
    }

    /// Awaits `future` unless the process is interrupted first, by
    /// [`interrupt`](Self::interrupt) or because something that it holds is taken away. Then the
    /// future is dropped, which withdraws what it waits for.
    ///
    /// If the future is over at the moment of the interrupt, its value counts, and the next
    /// interruptible future ends at once. Of nested ones the innermost is interrupted. Each
    /// interrupt ends one of them: if there were several, the next one ends at once too.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// /// Works for `left` units of time, however often it is interrupted.
    /// async fn work(sim: Sim<()>, mut left: f64) {
    ///     while left > 0.0 {
    ///         let begun = sim.now();
    ///         match sim.interruptible(sim.sleep(left)).await {
    ///             Ok(()) => left = 0.0,
    ///             Err(_) => left -= sim.now() - begun,
    ///         }
    ///     }
    /// }
    /// ```
    pub fn interruptible<F: Future>(self, future: F) -> Interruptible<F> {
        Interruptible { future: Some(future) }
    }
}

/// A wait for a condition: see [`Sim::wait_until`].
#[must_use = "a wait that is dropped is withdrawn: await it"]
#[derive(Debug)]
pub struct WaitUntil<F> {
    wait: WaitKey,
    condition: F,
}

impl<F> Unpin for WaitUntil<F> {}

impl<F: FnMut() -> bool> Future for WaitUntil<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if !(self.condition)() {
            with(|running| running.tables.poll_wait(self.wait));
            return Poll::Pending;
        }
        with(|running| {
            running.tables.end_wait(self.wait);
            running.tables.has_progressed = true;
        });
        self.wait = WaitKey::NONE;
        Poll::Ready(())
    }
}

impl<F> Drop for WaitUntil<F> {
    fn drop(&mut self) {
        if !self.wait.is_none() {
            if_running(|running| running.tables.end_wait(self.wait));
        }
    }
}

pin_project! {
    /// A future that may be interrupted: see [`Sim::interruptible`].
    #[must_use = "futures do nothing unless they are awaited"]
    #[derive(Debug)]
    pub struct Interruptible<F> {
        #[pin]
        future: Option<F>,
    }
}

impl<F: Future> Future for Interruptible<F> {
    type Output = Result<F::Output, Interrupted>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut future = self.project().future;
        let Some(inner) = future.as_mut().as_pin_mut() else { return Poll::Pending };
        if let Poll::Ready(value) = inner.poll(context) {
            return Poll::Ready(Ok(value));
        }
        let interrupt =
            with(|running| running.tables.processes.place(running.tables.current).take_interrupt());
        match interrupt {
            Some(why) => {
                future.set(None);
                Poll::Ready(Err(why))
            }
            None => Poll::Pending,
        }
    }
}
