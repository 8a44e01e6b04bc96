//! The messages of which calls of all ranks are made.

use crate::call::Call;
use crate::comm::Comm;
use crate::data::reduction::combine;
use crate::data::{Data, Datatype, Op};
use crate::packet::Content;
use crate::progress::requests::{Key, Pattern};
use crate::progress::{Mode, Outgoing};
use crate::running::with;
use crate::waiting::{Completion, sent};

/// A call of all ranks, as one of them carries it out.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    comm: &'a Comm,
    call: Call,
    /// The number of the call among those of the communicator.
    number: u32,
}

impl<'a> Steps<'a> {
    /// The rank makes the call.
    pub(super) fn begin(comm: &'a Comm, call: Call) -> Self {
        let number = with(|progress, net| {
            progress.enter(call, net);
            progress.next_collective(comm.collective_context())
        });
        Steps { comm, call, number }
    }

    pub(super) fn me(&self) -> u32 {
        self.comm.id()
    }

    pub(super) fn size(&self) -> u32 {
        self.comm.size()
    }

    fn message(&self, to: u32, data: Data) -> Outgoing {
        Outgoing {
            to: self.comm.in_world(to),
            context: self.comm.collective_context(),
            tag: self.number,
            datatype: data.datatype as u8,
            content: data.content,
            mode: Mode::Standard,
            call: self.call,
        }
    }

    fn post(&self, from: u32) -> Key {
        let from = Some(self.comm.in_world(from));
        let context = self.comm.collective_context();
        let pattern = Pattern { context, from, tag: Some(self.number) };
        with(|progress, net| progress.post(pattern, u64::MAX, self.call, net))
    }

    /// Sends to a rank, and waits until the bytes may change.
    pub(super) async fn send(&self, to: u32, data: Data) {
        sent(self.message(to, data)).await;
    }

    /// Receives from a rank.
    pub(super) async fn recv(&self, from: u32) -> Data {
        received(self.post(from)).await
    }

    /// Sends to a rank and receives from one, both at the same time.
    pub(super) async fn exchange(&self, to: u32, data: Data, from: u32) -> Data {
        let receives = self.post(from);
        let sends = with(|progress, net| progress.send(self.message(to, data), net));
        let data = received(receives).await;
        if let Some(request) = sends {
            Completion(request).await;
        }
        data
    }
}

async fn received(request: Key) -> Data {
    let outcome = Completion(request).await;
    Data {
        content: outcome.content.unwrap_or(Content::Size(0)),
        datatype: Datatype::of(outcome.received.datatype),
    }
}

impl Steps<'_> {
    /// The rank that is so many further on, round the ring of all.
    pub(super) fn after(&self, rank: u32, distance: u32) -> u32 {
        ((u64::from(rank) + u64::from(distance)) % u64::from(self.size())) as u32
    }

    /// The rank that is so many before, round the ring of all.
    pub(super) fn before(&self, rank: u32, distance: u32) -> u32 {
        self.after(rank, self.size() - distance)
    }

    /// What two ranks' data become; the run fails if they do not fit.
    pub(super) fn combine(&self, op: Op, first: &Data, second: &Data) -> Data {
        combine(op, first, second).unwrap_or_else(|why| {
            self.fail(why);
            first.clone()
        })
    }

    /// The run fails unless data that has come is as long as it must be.
    pub(super) fn check_len(&self, data: &Data, bytes: u64) {
        if data.len() != bytes {
            let found = data.len();
            self.fail(format!(
                "{found} bytes have come from another rank where this one's call has {bytes}; all ranks must give as many"
            ));
        }
    }

    /// Ends the run with an error.
    #[cold]
    pub(super) fn fail(&self, why: String) {
        with(|progress, net| progress.fail(net, why));
    }

    /// The run fails unless there is such a rank.
    pub(super) fn check_root(&self, root: u32) -> bool {
        let is_there = root < self.size();
        if !is_there {
            self.fail(format!("there is no root {root}: there are {} ranks", self.size()));
        }
        is_there
    }
}
