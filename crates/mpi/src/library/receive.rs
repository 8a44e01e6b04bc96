//! Receiving without waiting.

use super::buffer::{Received, received_length, room_for};
use super::comm::Comm;
use super::error::{Error, Result};
use super::requests::{Incoming, Requests};
use super::tag::Tag;

/// How much a [`Receiver`] is prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveLimits {
    /// The capacity of buffers, in bytes: the same as that of the pools that send.
    pub capacity: usize,
    /// How many messages can arrive before MPI has to keep them elsewhere, or their senders have to
    /// wait; at least 1.
    pub buffers: usize,
}

/// Receives the messages with one tag from all ranks, itself included.
///
/// Messages of one rank are handed over in the order in which they were sent. MPI matches them with
/// receives in the order in which these were posted, so receives are looked at in this order,
/// although a later one may be done first. The receives form a circle: `next` was posted first, and
/// is posted again, as the last, once its message has been handed over. After the announcement of a
/// large message, nothing is handed over before it.
///
/// There should be one receiver per communicator and tag: two would each get some of the messages.
/// Dropping it waits for messages that are just being transferred, and gives up all other receives.
/// What has arrived but was not handed over is lost.
pub struct Receiver<'m> {
    tag: Tag,
    capacity: usize,
    posted: Requests<'m, Incoming>,
    buffers: usize,
    next: usize,
    /// The sender and the length in bytes of a large message that is still to be received.
    announced: Option<(u32, usize)>,
    /// The large message that is being received.
    large: Requests<'m, Incoming>,
}

impl<'m> Receiver<'m> {
    /// A receiver that is ready for messages.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::TooLong`] if no message can be as long as the capacity, or
    /// [`Error::Mpi`].
    ///
    /// # Panics
    /// If there are no buffers.
    pub fn new(comm: &Comm<'m>, tag: Tag, limits: ReceiveLimits) -> Result<Self> {
        let ReceiveLimits { capacity, buffers } = limits;
        if capacity >= crate::LONGEST_MESSAGE {
            return Err(Error::TooLong { bytes: capacity });
        }
        let posted = Requests::new(comm.shared(), buffers)?;
        let large = Requests::new(comm.shared(), 1)?;
        let mut receiver =
            Receiver { tag, capacity, posted, buffers, next: 0, announced: None, large };
        for _ in 0..buffers {
            receiver.post(Vec::new())?;
        }
        Ok(receiver)
    }

    /// Hands over the messages that have arrived, each with the rank that sent it, and returns how
    /// many: never more than there are buffers, so that other work gets its turn. It does not wait.
    ///
    /// If `hand_over` panics, its message counts as handed over.
    ///
    /// # Errors
    /// [`Error::Mpi`], for example if a batch is longer than the capacity; [`Error::Memory`] if
    /// there is none for a large message, which the next call tries again; or [`Error::Foreign`].
    pub fn poll(&mut self, mut hand_over: impl FnMut(u32, &[u8])) -> Result<usize> {
        let mut handed = 0;
        while handed < self.buffers {
            if let Some((source, bytes)) = self.announced {
                self.large.start_receive(
                    0,
                    Some(source),
                    self.tag.large(),
                    bytes,
                    room_for(bytes)?,
                )?;
                self.announced = None;
            }
            if self.large.is_active(0) {
                let Some((source, message)) = self.large.received(0)? else { break };
                hand_over(source, &message);
                handed += 1;
                continue;
            }
            if !self.posted.is_active(self.next) {
                // `hand_over` panicked with its message.
                self.post(Vec::new())?;
            }
            let Some((source, message)) = self.posted.received(self.next)? else { break };
            match Received::from(&message) {
                Received::Batch(batch) => {
                    hand_over(source, batch);
                    handed += 1;
                }
                Received::Announcement(bytes) => self.announced = Some((source, bytes)),
                Received::Foreign => return Err(Error::Foreign { source }),
            }
            self.post(message)?;
        }
        Ok(handed)
    }

    /// Posts the receive whose turn it is, as the last of all.
    fn post(&mut self, memory: Vec<u8>) -> Result<()> {
        self.posted.start_receive(
            self.next,
            None,
            self.tag.batches(),
            received_length(self.capacity),
            memory,
        )?;
        self.next = (self.next + 1) % self.buffers;
        Ok(())
    }
}

impl Drop for Receiver<'_> {
    fn drop(&mut self) {
        self.posted.cancel();
        self.large.cancel();
    }
}
