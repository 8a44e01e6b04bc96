//! Requests: messages that a program sends or receives while it does something else.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::group::Group;
use super::point_to_point::{delivered, from_nobody};
use super::{Comm, Peer, Tag};
use crate::call::{Call, Name};
use crate::data::Data;
use crate::progress::Mode;
use crate::progress::requests::Key;
use crate::running::with;
use crate::status::Status;
use crate::waiting::{Completion, catch_up};

/// A message that is being sent or received. Wait for it: a request that is left over when the
/// program ends is an error.
#[must_use = "a request must be waited for"]
#[derive(Debug)]
pub struct Request {
    /// None if it was complete at once, and has received nothing.
    key: Option<Key>,
    group: Option<Arc<Group>>,
}

impl Comm {
    /// Begins to send a message: `MPI_Isend`.
    #[track_caller]
    pub fn isend(&self, to: impl Into<Peer>, tag: u32, data: impl Into<Data>) -> Request {
        let call = Call::here(Name::Isend);
        self.begin_send(call, Mode::Standard, to.into(), tag, data.into())
    }

    /// Begins to send a message that is complete once the receiver is there: `MPI_Issend`.
    #[track_caller]
    pub fn issend(&self, to: impl Into<Peer>, tag: u32, data: impl Into<Data>) -> Request {
        let call = Call::here(Name::Issend);
        self.begin_send(call, Mode::Synchronous, to.into(), tag, data.into())
    }

    #[track_caller]
    pub(super) fn begin_send(
        &self,
        call: Call,
        mode: Mode,
        to: Peer,
        tag: u32,
        data: Data,
    ) -> Request {
        let message = self.outgoing(call, mode, to, tag, data);
        let key = with(|progress, net| {
            progress.enter(call, net);
            message.and_then(|message| progress.send(message, net))
        });
        Request { key, group: self.group() }
    }

    /// Begins to receive a message of at most `most` bytes: `MPI_Irecv`.
    #[track_caller]
    pub fn irecv(&self, from: impl Into<Peer>, tag: impl Into<Tag>, most: u64) -> Request {
        self.begin_recv(Call::here(Name::Irecv), from.into(), tag.into(), most)
    }

    #[track_caller]
    pub(super) fn begin_recv(&self, call: Call, from: Peer, tag: Tag, most: u64) -> Request {
        let pattern = self.pattern(from, tag);
        let key = with(|progress, net| {
            progress.enter(call, net);
            pattern.map(|pattern| progress.post(pattern, most, call, net))
        });
        Request { key, group: self.group() }
    }
}

impl Request {
    /// Waits until it is complete, and returns what it has received: `MPI_Wait`.
    #[track_caller]
    pub fn wait(self) -> impl Future<Output = (Data, Status)> + Send + use<> {
        let call = Call::here(Name::Wait);
        async move {
            with(|progress, net| progress.enter(call, net));
            self.completed().await
        }
    }

    /// What it has received if it is complete, and itself if it is not: `MPI_Test`.
    #[track_caller]
    pub fn test(self) -> impl Future<Output = Result<(Data, Status), Request>> + Send + use<> {
        let call = Call::here(Name::Test);
        async move {
            look(call).await;
            if self.is_complete() {
                return Ok(self.completed().await);
            }
            found_nothing();
            Err(self)
        }
    }

    /// Withdraws a receive that has found no message: `MPI_Cancel`. It must be waited for all the
    /// same; [`Status::is_cancelled`] says whether it was withdrawn.
    #[track_caller]
    pub fn cancel(&self) {
        let call = Call::here(Name::Cancel);
        with(|progress, net| {
            progress.enter(call, net);
            self.key.is_some_and(|key| progress.cancel(key))
        });
    }

    async fn completed(self) -> (Data, Status) {
        match self.key {
            Some(key) => delivered(self.group.as_deref(), Completion(key).await),
            None => from_nobody(),
        }
    }

    /// Whether it is complete by the rank's clock.
    fn is_complete(&self) -> bool {
        self.key.is_none_or(|key| with(|progress, _| progress.is_complete(key)))
    }
}

/// A call that asks what has happened up to now.
async fn look(call: Call) {
    with(|progress, net| progress.enter(call, net));
    catch_up().await;
}

/// A call has asked in vain.
fn found_nothing() {
    with(|progress, net| progress.clock += net.target.poll());
}

/// Waits for all of them, and returns what they have received, in their order: `MPI_Waitall`.
#[track_caller]
pub fn wait_all(
    requests: impl IntoIterator<Item = Request, IntoIter: Send>,
) -> impl Future<Output = Vec<(Data, Status)>> + Send {
    let call = Call::here(Name::Waitall);
    let requests = requests.into_iter();
    async move {
        with(|progress, net| progress.enter(call, net));
        let mut received = Vec::with_capacity(requests.size_hint().0);
        for request in requests {
            received.push(request.completed().await);
        }
        received
    }
}

/// What they have received if all are complete, and themselves if not: `MPI_Testall`.
#[track_caller]
pub fn test_all(
    requests: Vec<Request>,
) -> impl Future<Output = Result<Vec<(Data, Status)>, Vec<Request>>> + Send {
    let call = Call::here(Name::Testall);
    async move {
        look(call).await;
        if !requests.iter().all(Request::is_complete) {
            found_nothing();
            return Err(requests);
        }
        let mut received = Vec::with_capacity(requests.len());
        for request in requests {
            received.push(request.completed().await);
        }
        Ok(received)
    }
}

/// Waits until one of them is complete, removes it, and returns its place and what it has received:
/// `MPI_Waitany`. `None` if there are none. Of several the first counts.
#[track_caller]
pub fn wait_any(
    requests: &mut Vec<Request>,
) -> impl Future<Output = Option<(usize, Data, Status)>> + Send {
    let call = Call::here(Name::Waitany);
    async move {
        look(call).await;
        first_complete(requests).await;
        take_complete(requests).await
    }
}

/// One that is complete, which it removes, with its place: `MPI_Testany`. `None` if there is none.
#[track_caller]
pub fn test_any(
    requests: &mut Vec<Request>,
) -> impl Future<Output = Option<(usize, Data, Status)>> + Send {
    let call = Call::here(Name::Testany);
    async move {
        look(call).await;
        let taken = take_complete(requests).await;
        if taken.is_none() {
            found_nothing();
        }
        taken
    }
}

/// Waits until at least one of them is complete, removes all that are, and returns their places and
/// what they have received: `MPI_Waitsome`.
#[track_caller]
pub fn wait_some(
    requests: &mut Vec<Request>,
) -> impl Future<Output = Vec<(usize, Data, Status)>> + Send {
    let call = Call::here(Name::Waitsome);
    async move {
        look(call).await;
        first_complete(requests).await;
        take_all_complete(requests).await
    }
}

/// All that are complete, which it removes, with their places: `MPI_Testsome`.
#[track_caller]
pub fn test_some(
    requests: &mut Vec<Request>,
) -> impl Future<Output = Vec<(usize, Data, Status)>> + Send {
    let call = Call::here(Name::Testsome);
    async move {
        look(call).await;
        let taken = take_all_complete(requests).await;
        if taken.is_empty() {
            found_nothing();
        }
        taken
    }
}

async fn take_complete(requests: &mut Vec<Request>) -> Option<(usize, Data, Status)> {
    let place = requests.iter().position(Request::is_complete)?;
    let (data, status) = requests.remove(place).completed().await;
    Some((place, data, status))
}

async fn take_all_complete(requests: &mut Vec<Request>) -> Vec<(usize, Data, Status)> {
    // What is complete now counts, and not what becomes so while the clock advances.
    let complete: Vec<bool> = requests.iter().map(Request::is_complete).collect();
    let all = std::mem::take(requests);
    let mut taken = Vec::new();
    for (place, (request, is_complete)) in all.into_iter().zip(complete).enumerate() {
        if is_complete {
            let (data, status) = request.completed().await;
            taken.push((place, data, status));
        } else {
            requests.push(request);
        }
    }
    taken
}

/// Waits until one of these requests, if there are any, is complete.
async fn first_complete(requests: &[Request]) {
    if requests.is_empty() || requests.iter().any(Request::is_complete) {
        return;
    }
    FirstComplete(requests).await;
    let first = |request: &Request| with(|progress, _| progress.completion(request.key?));
    if let Some(at) = requests.iter().filter_map(first).reduce(f64::min) {
        with(|progress, _| progress.clock = progress.clock.max(at));
        catch_up().await;
    }
}

struct FirstComplete<'a>(&'a [Request]);

impl Future for FirstComplete<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let keys = self.0.iter().filter_map(|request| request.key);
        let is_over = with(|progress, _| progress.wait_for_any(keys));
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    }
}
