//! What a future becomes part of when it is started as a process.

use std::any::Any;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::time::Sleep;
use crate::processes::frame::Frame;
use crate::processes::outcomes::is_unit;
use crate::running::with;

pin_project! {
    /// The frame of a process that leaves a value.
    pub(crate) struct Valued<F> {
        #[pin]
        future: Option<F>,
    }
}

impl<F> Valued<F> {
    pub(crate) fn new(future: F) -> Self {
        Valued { future: Some(future) }
    }
}

impl<F> Frame for Valued<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut future = self.project().future;
        let Some(running) = future.as_mut().as_pin_mut() else { return Poll::Pending };
        let Poll::Ready(value) = running.poll(context) else { return Poll::Pending };
        future.set(None);
        keep(value);
        Poll::Ready(())
    }

    fn clear(self: Pin<&mut Self>) {
        self.project().future.set(None);
    }

    fn refill(self: Pin<&mut Self>, frame: &mut dyn Any) {
        let other = frame.downcast_mut::<Self>().and_then(|frame| frame.future.take());
        self.project().future.set(other);
    }
}

/// Keeps the value of the process that is polled, unless it is `()`.
#[inline]
fn keep<R: Send + 'static>(value: R) {
    if is_unit(&value) {
        return;
    }
    with(|running| {
        let process = running.tables.processes.key(running.tables.current);
        running.tables.processes.outcomes.keep(process, value);
    });
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
