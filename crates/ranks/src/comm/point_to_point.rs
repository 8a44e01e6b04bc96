//! Messages between two ranks.

use std::sync::Arc;

use super::group::Group;
use super::{Comm, Peer, Tag};
use crate::call::{Call, Name};
use crate::data::{Data, Datatype};
use crate::packet::Content;
use crate::progress::requests::{Pattern, Received};
use crate::progress::{Mode, Outcome, Outgoing};
use crate::running::with;
use crate::status::Status;
use crate::waiting::{Completion, sent};

impl Comm {
    /// Sends a message, and waits until its bytes may change: at once if it is
    /// [short](crate::Target::eager_most), and once the receiver has it otherwise.
    #[track_caller]
    pub fn send(
        &self,
        to: impl Into<Peer>,
        tag: u32,
        data: impl Into<Data>,
    ) -> impl Future<Output = ()> + Send {
        self.sending(Call::here(Name::Send), Mode::Standard, to.into(), tag, data.into())
    }

    /// Sends a message, and waits until the receiver is there.
    #[track_caller]
    pub fn ssend(
        &self,
        to: impl Into<Peer>,
        tag: u32,
        data: impl Into<Data>,
    ) -> impl Future<Output = ()> + Send {
        self.sending(Call::here(Name::Ssend), Mode::Synchronous, to.into(), tag, data.into())
    }

    #[track_caller]
    fn sending(
        &self,
        call: Call,
        mode: Mode,
        to: Peer,
        tag: u32,
        data: Data,
    ) -> impl Future<Output = ()> + Send + use<> {
        let message = self.outgoing(call, mode, to, tag, data);
        async move {
            with(|progress, net| progress.enter(call, net));
            if let Some(message) = message {
                sent(message).await;
            }
        }
    }

    /// A message to a rank; `None` if it goes to nobody.
    ///
    /// # Panics
    /// If there is no such rank.
    #[track_caller]
    pub(crate) fn outgoing(
        &self,
        call: Call,
        mode: Mode,
        to: Peer,
        tag: u32,
        data: Data,
    ) -> Option<Outgoing> {
        let to = match to {
            Peer::Rank(rank) => self.in_world(rank),
            Peer::Nobody => return None,
            Peer::Anybody => panic!("a message goes to one rank: ANY_SOURCE is for receives"),
        };
        let Data { content, datatype } = data;
        let datatype = datatype as u8;
        Some(Outgoing { to, context: self.context(), tag, datatype, content, mode, call })
    }

    /// Receives a message of at most `most` bytes.
    ///
    /// # Faults
    /// A message with more bytes ends the run.
    #[track_caller]
    pub fn recv(
        &self,
        from: impl Into<Peer>,
        tag: impl Into<Tag>,
        most: u64,
    ) -> impl Future<Output = (Data, Status)> + Send {
        let call = Call::here(Name::Recv);
        let pattern = self.pattern(from.into(), tag.into());
        let group = self.group();
        async move {
            let request = with(|progress, net| {
                progress.enter(call, net);
                pattern.map(|pattern| progress.post(pattern, most, call, net))
            });
            match request {
                Some(request) => delivered(group.as_deref(), Completion(request).await),
                None => from_nobody(),
            }
        }
    }

    /// Sends a message and receives one of at most `most` bytes, both at the same time:
    /// `MPI_Sendrecv`.
    #[track_caller]
    pub fn sendrecv(
        &self,
        to: impl Into<Peer>,
        send_tag: u32,
        data: impl Into<Data>,
        from: impl Into<Peer>,
        tag: impl Into<Tag>,
        most: u64,
    ) -> impl Future<Output = (Data, Status)> + Send {
        let call = Call::here(Name::Sendrecv);
        let message = self.outgoing(call, Mode::Standard, to.into(), send_tag, data.into());
        let pattern = self.pattern(from.into(), tag.into());
        let group = self.group();
        async move {
            let (receives, sends) = with(|progress, net| {
                progress.enter(call, net);
                let receives = pattern.map(|pattern| progress.post(pattern, most, call, net));
                (receives, message.and_then(|message| progress.send(message, net)))
            });
            let received = match receives {
                Some(request) => delivered(group.as_deref(), Completion(request).await),
                None => from_nobody(),
            };
            if let Some(request) = sends {
                Completion(request).await;
            }
            received
        }
    }

    /// Which messages a receive takes; `None` if they come from nobody.
    ///
    /// # Panics
    /// If there is no such rank.
    #[track_caller]
    pub(crate) fn pattern(&self, from: Peer, tag: Tag) -> Option<Pattern> {
        let from = match from {
            Peer::Rank(rank) => Some(self.in_world(rank)),
            Peer::Nobody => return None,
            Peer::Anybody => None,
        };
        Some(Pattern { context: self.context(), from, tag: tag.0 })
    }

    /// The ranks, to be kept with a request.
    pub(crate) fn group(&self) -> Option<Arc<Group>> {
        self.group.clone()
    }
}

/// What a request has received, as the program gets it.
pub(crate) fn delivered(group: Option<&Group>, outcome: Outcome) -> (Data, Status) {
    let Outcome { received, content, is_cancelled } = outcome;
    if is_cancelled {
        return (Data::size(0), Status { is_cancelled, ..NO_MESSAGE });
    }
    let is_message = content.is_some();
    let data = Data {
        content: content.unwrap_or(Content::Size(0)),
        datatype: Datatype::of(received.datatype),
    };
    (data, if is_message { status_of(group, &received) } else { NO_MESSAGE })
}

/// What is known of a message.
pub(crate) fn status_of(group: Option<&Group>, received: &Received) -> Status {
    let Received { from, tag, bytes, .. } = *received;
    let source = group.map_or(Some(from), |group| group.place_of(from));
    Status { source, tag, bytes, is_cancelled: false }
}

const NO_MESSAGE: Status = Status { source: None, tag: 0, bytes: 0, is_cancelled: false };

/// What is received from nobody.
pub(crate) fn from_nobody() -> (Data, Status) {
    (Data::size(0), NO_MESSAGE)
}
