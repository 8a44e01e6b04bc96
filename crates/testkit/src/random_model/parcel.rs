use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warpline::{LpId, Payload, Portable, Random, WireFormat};

use super::recipe::Payloads;

/// An event of a [`RandomModel`](super::RandomModel).
#[derive(Clone, Debug, PartialEq, Portable, Serialize, Deserialize)]
pub struct Parcel<const WORDS: usize, O = Vec<u8>> {
    /// How many events it may lead to, itself included.
    pub(super) energy: u32,
    /// Consecutive hops that took no time.
    pub(super) hops: u32,
    pub(super) errand: Errand,
    pub(super) load: Load<O>,
    #[serde(serialize_with = "write_words", deserialize_with = "read_words")]
    pub(super) words: [u64; WORDS],
}

/// Serde has no code for arrays whose length is a parameter.
fn write_words<const WORDS: usize, S: Serializer>(
    words: &[u64; WORDS],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    words.as_slice().serialize(serializer)
}

fn read_words<'de, const WORDS: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<[u64; WORDS], D::Error> {
    let words = Vec::deserialize(deserializer)?;
    words.try_into().map_err(|words: Vec<u64>| {
        serde::de::Error::invalid_length(words.len(), &"as many words as there were")
    })
}

/// The task of a parcel at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Portable, Serialize, Deserialize)]
pub(super) enum Errand {
    /// To send more.
    Spread,
    /// To take a loan.
    Lend,
    /// To ask an LP to give back a loan.
    Recall(LpId),
    /// To give back a loan.
    Return,
    /// To send itself on without delay, for ever.
    Loop,
    /// To tell an LP that a timer has fired.
    Timeout,
}

/// The load that a parcel carries.
#[derive(Clone, Debug, PartialEq, Portable, Serialize, Deserialize)]
pub(super) enum Load<O> {
    Nothing,
    Word(u64),
    Owned(O),
    Shared(Payload),
}

impl<O: Owned> Load<O> {
    /// Draws a load; `shared` is what all parcels of one event share.
    pub(super) fn draw(kind: Payloads, shared: &Payload, random: &mut Random) -> Self {
        let which = match kind {
            Payloads::Small => random.below(2),
            Payloads::Owned => 2,
            Payloads::Shared => 3,
            Payloads::Mixed => random.below(4),
        };
        match which {
            0 => Load::Nothing,
            1 => Load::Word(random.next_u64()),
            2 => {
                Load::Owned(O::of((0..random.below(40)).map(|_| random.next_u64() as u8).collect()))
            }
            _ => Load::Shared(shared.clone()),
        }
    }

    /// A checksum of all of it.
    fn word(&self) -> u64 {
        match self {
            Load::Nothing => 0,
            Load::Word(word) => *word,
            Load::Owned(bytes) => bytes
                .bytes()
                .iter()
                .fold(1, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte))),
            Load::Shared(words) => {
                let words = words
                    .chunks_exact(8)
                    .map(|word| word.iter().rfold(0, |sum, &byte| sum << 8 | u64::from(byte)));
                words.fold(2, |sum: u64, word| sum.rotate_left(7) ^ word)
            }
        }
    }

    /// The shared payload, if it is one.
    pub(super) fn payload(&self) -> Option<&Payload> {
        if let Load::Shared(payload) = self { Some(payload) } else { None }
    }

    /// The bytes that it carries itself.
    pub(super) fn bytes(&self) -> &[u8] {
        if let Load::Owned(owned) = self { owned.bytes() } else { &[] }
    }
}

impl<const WORDS: usize, O: Owned> Parcel<WORDS, O> {
    /// A checksum of all of it.
    pub(super) fn word(&self) -> u64 {
        let words = self.words.iter().fold(0, |sum: u64, word| sum.rotate_left(3) ^ word);
        self.load.word() ^ words ^ u64::from(self.energy) << 17
    }
}

/// Bytes that a parcel shares with no other.
pub trait Owned: Clone + Debug + PartialEq + Send + Sized + 'static {
    /// These bytes, at most 40.
    fn of(bytes: Vec<u8>) -> Self;

    /// The bytes.
    fn bytes(&self) -> &[u8];

    /// How parcels leave their process.
    type Way<const WORDS: usize>: Way<Parcel<WORDS, Self>>;
}

/// How events leave their process.
pub trait Way<E> {
    /// The format.
    const WIRE: WireFormat<E>;
}

/// As they lie in memory.
#[derive(Debug)]
pub struct Plain;

/// As serde writes them.
#[derive(Debug)]
pub struct Written;

impl<E: Portable> Way<E> for Plain {
    const WIRE: WireFormat<E> = WireFormat::portable();
}

impl<E: Serialize + DeserializeOwned> Way<E> for Written {
    const WIRE: WireFormat<E> = WireFormat::serde();
}

/// Bytes on the heap: parcels are not plain data.
impl Owned for Vec<u8> {
    type Way<const WORDS: usize> = Written;

    fn of(bytes: Vec<u8>) -> Self {
        bytes
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

/// Bytes within the parcel, which leaves its process as plain data.
#[derive(Clone, Debug, PartialEq, Portable)]
pub struct Inline {
    len: u8,
    bytes: [u8; 40],
}

impl Owned for Inline {
    type Way<const WORDS: usize> = Plain;

    fn of(given: Vec<u8>) -> Self {
        let mut bytes = [0; 40];
        bytes[..given.len()].copy_from_slice(&given);
        Inline { len: given.len() as u8, bytes }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}
