//! Messages that are prepared once and sent or received many times.

use super::request::Request;
use super::{Comm, Peer, Tag};
use crate::call::{Call, Name};
use crate::data::Data;
use crate::progress::Mode;

/// A message that is prepared to be sent or received again and again: a persistent request.
#[derive(Clone, Debug)]
pub struct Persistent {
    comm: Comm,
    call: Call,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Send { to: Peer, tag: u32, data: Data },
    Receive { from: Peer, tag: Tag, most: u64 },
}

impl Comm {
    /// Prepares a message to be sent: `MPI_Send_init`.
    #[track_caller]
    pub fn send_init(&self, to: impl Into<Peer>, tag: u32, data: impl Into<Data>) -> Persistent {
        let what = What::Send { to: to.into(), tag, data: data.into() };
        Persistent { comm: self.clone(), call: Call::here(Name::SendInit), what }
    }

    /// Prepares a message of at most `most` bytes to be received: `MPI_Recv_init`.
    #[track_caller]
    pub fn recv_init(&self, from: impl Into<Peer>, tag: impl Into<Tag>, most: u64) -> Persistent {
        let what = What::Receive { from: from.into(), tag: tag.into(), most };
        Persistent { comm: self.clone(), call: Call::here(Name::RecvInit), what }
    }
}

impl Persistent {
    /// Begins to send or receive: `MPI_Start`. Wait for the request before the next start.
    #[track_caller]
    pub fn start(&self) -> Request {
        match &self.what {
            What::Send { to, tag, data } => {
                self.comm.begin_send(self.call, Mode::Standard, *to, *tag, data.clone())
            }
            What::Receive { from, tag, most } => {
                self.comm.begin_recv(self.call, *from, *tag, *most)
            }
        }
    }

    /// Replaces the values that are sent.
    ///
    /// # Panics
    /// If it receives.
    pub fn set_data(&mut self, with: impl Into<Data>) {
        match &mut self.what {
            What::Send { data, .. } => *data = with.into(),
            What::Receive { .. } => panic!("a persistent receive has no values to send"),
        }
    }
}
