//! What a future becomes part of when it is started as a process.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::time::Sleep;
use crate::running::with;

pin_project! {
    /// A process that leaves a value. It is as large as the future.
    pub(super) struct Valued<F> {
        #[pin]
        future: F,
    }
}

impl<F> Valued<F> {
    pub(super) fn new(future: F) -> Self {
        Valued { future }
    }
}

impl<F: Future<Output: Send + 'static>> Future for Valued<F> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.project().future.poll(context).map(|value| {
            with(|running| {
                let process = running.tables.processes.key(running.tables.current);
                running.tables.processes.outcomes.keep(process, value);
            });
        })
    }
}

pin_project! {
    /// A process that sleeps before it begins.
    pub(super) struct Delayed<F> {
        delay: f64,
        at: &'static Location<'static>,
        sleep: Option<Sleep>,
        has_begun: bool,
        #[pin]
        future: F,
    }
}

impl<F> Delayed<F> {
    pub(super) fn new(delay: f64, at: &'static Location<'static>, future: F) -> Self {
        Delayed { delay, at, sleep: None, has_begun: false, future }
    }
}

impl<F: Future> Future for Delayed<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if !*this.has_begun {
            let sleep = this.sleep.get_or_insert_with(|| Sleep::new(*this.delay, this.at));
            if Pin::new(sleep).poll(context).is_pending() {
                return Poll::Pending;
            }
            *this.sleep = None;
            *this.has_begun = true;
        }
        this.future.poll(context)
    }
}
