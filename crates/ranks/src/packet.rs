//! What ranks send each other over the network.

use warpline_memory::Payload;
use warpline_model::Portable;

/// What reaches a rank: messages and their protocol, and its own wake-ups.
#[derive(Clone, Debug, PartialEq, Portable)]
pub enum RankEvent {
    /// A sleep of the rank is over.
    Wake(u32),
    /// A message with all its bytes.
    Eager(Envelope, Content),
    /// A long message wants to come.
    Offer(Envelope, Offer),
    /// The receiver of a long message is ready for it.
    Accept(Accept),
    /// The bytes of a long message.
    Bulk(u32, Content),
}

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub struct Envelope {
    /// The sender, as a rank of the world.
    pub(crate) from: u32,
    /// The communicator.
    pub(crate) context: u32,
    /// The tag; the number of the call if it is one of all ranks.
    pub(crate) tag: u32,
    /// The number of the call of MPI that sends it.
    pub(crate) call: u8,
    /// Its type of values, as a number.
    pub(crate) datatype: u8,
}

/// A message whose bytes come once the receiver is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub struct Offer {
    /// The sender's request.
    pub(crate) request: u32,
    /// The number of bytes.
    pub(crate) bytes: u64,
}

/// The answer to an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable)]
pub struct Accept {
    /// The receiver, as a rank of the world.
    pub(crate) by: u32,
    /// The sender's request.
    pub(crate) sends: u32,
    /// The receiver's request.
    pub(crate) receives: u32,
}

/// The bytes of a message, or how many they would be.
#[derive(Clone, Debug, PartialEq, Eq, Portable)]
pub enum Content {
    /// So many bytes, which are not there.
    Size(u64),
    /// Bytes.
    Bytes(Payload),
}

impl Content {
    /// The number of bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Content::Size(bytes) => *bytes,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }
}
