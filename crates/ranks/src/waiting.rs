//! What calls wait for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::progress::requests::Key;
use crate::progress::{Outcome, Outgoing};
use crate::running::with;

/// The end of a request.
pub(crate) struct Completion(pub(crate) Key);

impl Future for Completion {
    type Output = Outcome;

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        match with(|progress, net| progress.poll(self.0, net)) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }
}

/// The end of a sleep; there may be none.
struct Sleeping(Option<u32>);

impl Future for Sleeping {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0 {
            Some(sleep) if !with(|progress, _| progress.has_woken(sleep)) => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }
}

/// Lets the simulation catch up with the rank's clock: all messages that arrive before it have
/// arrived then.
pub(crate) async fn catch_up() {
    Sleeping(with(|progress, net| progress.sleep(net))).await;
}

/// Sends a message, and waits until its bytes may change.
pub(crate) async fn sent(message: Outgoing) {
    let (request, is_far_ahead) = with(|progress, net| {
        let request = progress.send(message, net);
        (request, progress.is_far_ahead(net))
    });
    if let Some(request) = request {
        Completion(request).await;
    } else if is_far_ahead {
        catch_up().await;
    }
}
