//! Sending without waiting.

use std::ffi::c_int;

use super::buffer::Buffer;
use super::comm::Comm;
use super::error::{Error, Result};
use super::requests::{Outgoing, Requests};
use super::tag::Tag;

/// How much a [`SendPool`] may have in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendLimits {
    /// The capacity of buffers, in bytes: the same as that of the receivers.
    pub capacity: usize,
    /// How many batches may be in flight at a time, at least 1. More of them keep the network
    /// busier, and take more memory.
    pub batches: usize,
    /// How many large messages may be in flight at a time, at least 1. Each counts as a batch as
    /// well.
    pub large: usize,
}

/// The outcome of a send.
#[must_use = "what was refused is still to be sent"]
#[derive(Debug)]
pub enum Sent<B> {
    /// It is on its way.
    Started,
    /// Too much is in flight, so it is given back. Try again later, and receive messages meanwhile,
    /// as others may be waiting for that.
    Full(B),
}

impl<B> Sent<B> {
    /// What was refused.
    pub fn refused(self) -> Option<B> {
        match self {
            Sent::Started => None,
            Sent::Full(refused) => Some(refused),
        }
    }
}

/// Sends batches, and keeps their buffers until MPI no longer needs them.
///
/// Messages to one rank with one tag arrive in the order in which they were sent, large ones
/// included. The order of messages to different ranks, or with different tags, is not defined.
/// Large messages with one tag of one communicator must all go through one pool, or through pools
/// of one thread, so that each follows its announcement.
///
/// Dropping it waits until all messages have left, which for long ones means that the others must
/// be receiving. During a panic it does not wait, and messages may be lost.
pub struct SendPool<'m> {
    limits: SendLimits,
    batches: Sends<'m>,
    large: Sends<'m>,
    /// Memory of buffers that are not in use; the one used last is at the end.
    free: Vec<Vec<u8>>,
}

impl<'m> SendPool<'m> {
    /// A pool with nothing in flight. It makes buffers as they are needed.
    ///
    /// # Errors
    /// [`Error::Memory`], or [`Error::TooLong`] if no message can be as long as the capacity.
    ///
    /// # Panics
    /// If the limits allow no batches or no large messages.
    pub fn new(comm: &Comm<'m>, limits: SendLimits) -> Result<Self> {
        if limits.capacity >= crate::LONGEST_MESSAGE {
            return Err(Error::TooLong { bytes: limits.capacity });
        }
        let sends =
            |most| Ok(Sends { requests: Requests::new(comm.shared(), most)?, active: 0, most });
        Ok(SendPool {
            limits,
            batches: sends(limits.batches)?,
            large: sends(limits.large)?,
            free: Vec::new(),
        })
    }

    /// An empty buffer: one whose batch has been sent, or else a new one.
    ///
    /// # Errors
    /// [`Error::Memory`], or [`Error::Mpi`].
    pub fn take(&mut self) -> Result<Buffer> {
        if self.free.is_empty() {
            self.progress()?;
        }
        match self.free.pop() {
            Some(bytes) => Ok(Buffer::reuse(bytes, self.limits.capacity)),
            None => Buffer::new(self.limits.capacity),
        }
    }

    /// Starts to send a batch, which may be empty, or gives it back if too many are in flight.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If there is no rank `to`, or if the buffer's capacity is not that of this pool.
    pub fn send(&mut self, to: u32, tag: Tag, buffer: Buffer) -> Result<Sent<Buffer>> {
        assert_eq!(buffer.capacity(), self.limits.capacity, "the buffer is of another pool");
        if self.batches.is_full() {
            self.progress()?;
            if self.batches.is_full() {
                return Ok(Sent::Full(buffer));
            }
        }
        self.batches.start(to, tag.batches(), buffer.into_batch())?;
        Ok(Sent::Started)
    }

    /// Starts to send a message of any length up to [`LONGEST_MESSAGE`](crate::LONGEST_MESSAGE), or
    /// gives it back if too many are in flight. The receiver makes room for it when it is
    /// announced. For what fits into a buffer, [`SendPool::send`] is faster.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Memory`], or [`Error::Mpi`].
    ///
    /// # Panics
    /// If there is no rank `to`.
    pub fn send_large(&mut self, to: u32, tag: Tag, message: Vec<u8>) -> Result<Sent<Vec<u8>>> {
        if message.len() > crate::LONGEST_MESSAGE {
            return Err(Error::TooLong { bytes: message.len() });
        }
        if self.batches.is_full() || self.large.is_full() {
            self.progress()?;
            if self.batches.is_full() || self.large.is_full() {
                return Ok(Sent::Full(message));
            }
        }
        let announcement = self.take()?.into_announcement(message.len());
        self.batches.start(to, tag.batches(), announcement)?;
        self.large.start(to, tag.large(), message)?;
        Ok(Sent::Started)
    }

    /// Finds out what has left, and takes its buffers back. Returns how many messages are still in
    /// flight, large ones counted twice.
    ///
    /// [`SendPool::take`] and [`SendPool::send`] do so themselves when they need to. Some MPI
    /// libraries transfer long messages only while they are called, so a rank that calls MPI for
    /// nothing else should call this.
    ///
    /// # Errors
    /// [`Error::Mpi`].
    pub fn progress(&mut self) -> Result<usize> {
        let free = &mut self.free;
        self.batches.reclaim(|bytes| free.push(bytes))?;
        self.large.reclaim(drop)?;
        Ok(self.in_flight())
    }

    /// How many messages were in flight at the last look, large ones counted twice.
    pub fn in_flight(&self) -> usize {
        self.batches.active + self.large.active
    }
}

/// Sends in flight: the first `active` of the requests.
struct Sends<'m> {
    requests: Requests<'m, Outgoing>,
    active: usize,
    most: usize,
}

impl Sends<'_> {
    fn is_full(&self) -> bool {
        self.active == self.most
    }

    fn start(&mut self, to: u32, tag: c_int, bytes: Vec<u8>) -> Result<()> {
        self.requests.start_send(self.active, to, tag, bytes)?;
        self.active += 1;
        Ok(())
    }

    fn reclaim(&mut self, done: impl FnMut(Vec<u8>)) -> Result<()> {
        self.active = self.requests.reclaim(self.active, done)?;
        Ok(())
    }
}
