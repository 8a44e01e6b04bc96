//! Looking at messages before they are received.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::point_to_point::status_of;
use super::{Comm, Peer, Tag};
use crate::call::{Call, Name};
use crate::progress::requests::{Pattern, Received};
use crate::running::with;
use crate::status::Status;
use crate::waiting::catch_up;

impl Comm {
    /// Waits for a message, and leaves it to a receive: `MPI_Probe`.
    ///
    /// # Panics
    /// If it is to come from nobody.
    #[track_caller]
    pub fn probe(
        &self,
        from: impl Into<Peer>,
        tag: impl Into<Tag>,
    ) -> impl Future<Output = Status> + Send {
        let call = Call::here(Name::Probe);
        let pattern = self.pattern(from.into(), tag.into());
        let Some(pattern) = pattern else { panic!("nobody sends no message to be probed") };
        let group = self.group();
        async move {
            with(|progress, net| progress.enter(call, net));
            status_of(group.as_deref(), &Probing(pattern).await)
        }
    }

    /// The first message that has arrived and fits, if there is one: `MPI_Iprobe`.
    #[track_caller]
    pub fn iprobe(
        &self,
        from: impl Into<Peer>,
        tag: impl Into<Tag>,
    ) -> impl Future<Output = Option<Status>> + Send {
        let call = Call::here(Name::Iprobe);
        let pattern = self.pattern(from.into(), tag.into());
        let group = self.group();
        async move {
            with(|progress, net| progress.enter(call, net));
            catch_up().await;
            let found = with(|progress, net| {
                let found = progress.peek(&pattern?);
                if found.is_none() {
                    progress.clock += net.target.poll();
                }
                found
            });
            found.map(|(received, _)| status_of(group.as_deref(), &received))
        }
    }
}

/// A wait for a message that fits.
struct Probing(Pattern);

impl Future for Probing {
    type Output = Received;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Received> {
        with(|progress, _| {
            let found = progress.peek(&self.0);
            progress.probes = found.is_none();
            match found {
                Some((received, at)) => {
                    progress.clock = progress.clock.max(at);
                    Poll::Ready(received)
                }
                None => Poll::Pending,
            }
        })
    }
}
