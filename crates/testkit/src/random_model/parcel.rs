use std::sync::Arc;

use warpline::{LpId, Random};

use super::recipe::Payloads;

/// What LPs of a [`RandomModel`](super::RandomModel) send each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel<const WORDS: usize> {
    /// How many events it may bring about, itself included.
    pub(super) energy: u32,
    /// Consecutive hops without time going on.
    pub(super) hops: u32,
    pub(super) errand: Errand,
    pub(super) payload: Payload,
    pub(super) words: [u64; WORDS],
}

/// What a parcel asks of its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// To send more.
    Spread,
    /// To take a loan.
    Lend,
    /// To ask an LP for what it was lent.
    Recall(LpId),
    /// To give back a loan.
    Return,
    /// To send itself on without delay, for ever.
    Loop,
}

/// What a parcel carries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Payload {
    Nothing,
    Word(u64),
    Owned(Vec<u8>),
    Shared(Arc<Vec<u64>>),
}

impl Payload {
    /// Draws a payload; `shared` is what all parcels of one event share.
    pub(super) fn draw(kind: Payloads, shared: &Arc<Vec<u64>>, random: &mut Random) -> Self {
        let which = match kind {
            Payloads::Small => random.below(2),
            Payloads::Owned => 2,
            Payloads::Shared => 3,
            Payloads::Mixed => random.below(4),
        };
        match which {
            0 => Payload::Nothing,
            1 => Payload::Word(random.next_u64()),
            2 => Payload::Owned((0..random.below(40)).map(|_| random.next_u64() as u8).collect()),
            _ => Payload::Shared(Arc::clone(shared)),
        }
    }

    /// A number that stands for all of it.
    fn word(&self) -> u64 {
        match self {
            Payload::Nothing => 0,
            Payload::Word(word) => *word,
            Payload::Owned(bytes) => bytes.iter().fold(1, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte))),
            Payload::Shared(words) => words.iter().fold(2, |sum: u64, word| sum.rotate_left(7) ^ word),
        }
    }

    /// The bytes that it carries itself.
    pub(super) fn bytes(&self) -> &[u8] {
        if let Payload::Owned(bytes) = self { bytes } else { &[] }
    }
}

impl<const WORDS: usize> Parcel<WORDS> {
    /// A number that stands for all of it.
    pub(super) fn word(&self) -> u64 {
        let words = self.words.iter().fold(0, |sum: u64, word| sum.rotate_left(3) ^ word);
        self.payload.word() ^ words ^ u64::from(self.energy) << 17
    }
}
