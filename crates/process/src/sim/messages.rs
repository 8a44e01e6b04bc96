use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use warpline_base::LpId;

use super::Sim;
use crate::keys::WaitKey;
use crate::queues::shelf::{Filter, Shelf};
use crate::running::waits::What;
use crate::running::{Running, if_running, with};

impl<T: Send + 'static> Sim<T> {
    /// Sends a message that reaches LP `to` after `delay` units of model time.
    ///
    /// ```
    /// # use warpline_process::prelude::*;
    /// #[derive(Clone, Debug)]
    /// enum Message { Ask(LpId), Answer(u32) }
    ///
    /// /// Asks another LP, and goes on answering others until it gets an answer itself.
    /// async fn ask(sim: Sim<Message>, other: LpId) -> u32 {
    ///     sim.spawn(async move {
    ///         while let Message::Ask(from) = sim.receive_matching(|message| matches!(message, Message::Ask(_))).await {
    ///             sim.send(from, 1.0, Message::Answer(42));
    ///         }
    ///     });
    ///     sim.send_with_priority(other, 1.0, -1, Message::Ask(sim.id()));
    ///     loop {
    ///         match sim.receive().await {
    ///             Message::Answer(answer) if sim.unread() == 0 => return answer,
    ///             _ => sim.tell("got more answers"),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Faults
    /// Those of `Context::send`: a delay below the lookahead, an LP that does not exist, and so on.
    #[inline]
    pub fn send(self, to: impl Into<LpId>, delay: f64, message: T) {
        self.send_with_priority(to, delay, 0, message);
    }

    /// Like [`send`](Self::send), with a priority among events of the same time. Lower goes first.
    #[inline]
    pub fn send_with_priority(self, to: impl Into<LpId>, delay: f64, priority: i8, message: T) {
        let to = to.into();
        with(|running| {
            running.tell(|| format!("sends a message to {to}, which arrives after {delay}"));
            running.lp.send(to, delay, priority, &mut Some(message));
        });
    }

    /// The next message. Messages that nobody waits for are kept, in the order in which they came.
    /// Of several processes that wait, the one that began first gets a message.
    #[inline]
    #[track_caller]
    pub fn receive(self) -> Receive<T> {
        Receive::new(None, Location::caller())
    }

    /// The next message that `wants` wants. It must be a pure function of the message, and may not
    /// call the simulation.
    #[track_caller]
    pub fn receive_matching(self, wants: impl Fn(&T) -> bool + Send + 'static) -> Receive<T> {
        Receive::new(Some(Box::new(wants)), Location::caller())
    }

    /// How many messages lie there that nobody has received.
    pub fn unread(self) -> usize {
        with(|running| mailbox::<T>(running).len())
    }
}

/// # Panics
/// If the messages of the LP are of another type.
#[inline]
fn mailbox<'a, T: 'static>(running: &'a mut Running<'_>) -> &'a mut Shelf<T> {
    let Some(mailbox) = running.mailbox.downcast_mut() else { of_another_type() };
    mailbox
}

#[cold]
fn of_another_type() -> ! {
    panic!("this `Sim` belongs to another model: the messages of the LP are of another type")
}

/// A wait for a message: see [`Sim::receive`].
#[must_use = "a wait that is dropped is withdrawn: await it"]
pub struct Receive<T: 'static> {
    wait: WaitKey,
    message: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> Receive<T> {
    fn new(filter: Option<Filter<T>>, at: &'static Location<'static>) -> Self {
        with(|running| {
            running.step();
            let wait = running.tables.begin_wait(What::Message, running.now, at);
            let Some(mailbox) = running.mailbox.downcast_mut::<Shelf<T>>() else {
                of_another_type()
            };
            mailbox.take(wait, filter, running.tables);
            Receive { wait, message: PhantomData }
        })
    }
}

impl<T> fmt::Debug for Receive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive").field("wait", &self.wait).finish()
    }
}

impl<T: 'static> Future for Receive<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let wait = self.wait;
        let message = with(|running| {
            running.tables.poll_wait(wait)?;
            running.tell(|| "receives a message".to_owned());
            mailbox::<T>(running).given(wait)
        });
        let Some(message) = message else { return Poll::Pending };
        self.wait = WaitKey::NONE;
        Poll::Ready(message)
    }
}

impl<T: 'static> Drop for Receive<T> {
    fn drop(&mut self) {
        if self.wait.is_none() {
            return;
        }
        if_running(|running| {
            let Some(wait) = running.tables.end_wait(self.wait) else { return };
            if let Some(mailbox) = running.mailbox.downcast_mut::<Shelf<T>>() {
                mailbox.withdraw(self.wait, wait.is_over, running.tables);
            }
        });
    }
}
