//! The records that couriers send each other, as bytes.

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{UnreadableEvent, ValueMessage};
use warpline_model::Portable;

use crate::{Codec, Decoded};

/// The kinds of records, by their first byte.
const VALUE: u8 = 0;
const BOUND: u8 = 1;
const ROUND: u8 = 2;
const CONTROL: u8 = 3;
const PUT: u8 = 4;
const END: u8 = 5;

/// A record that one courier sends another.
pub(super) enum Record<E> {
    /// An event or an anti-message for a PE.
    Value(u32, ValueMessage<E>),
    /// An event without its payload, for a PE. Only reading makes these.
    Unreadable(u32, UnreadableEvent),
    /// A bound that a PE has published.
    Bound { from: u32, bound: u64 },
    /// A bound that a PE has published for a round.
    Round { from: u32, round: u64, bound: u64 },
    /// A control message for a PE. Boxed, as it is large and rare.
    Control(u32, Box<Control>),
    /// What one PE writes into the memory of another. Boxed for the same reason.
    Put { to: u32, from: u32, put: Box<Put> },
    /// Nothing follows.
    End,
}

impl<E> Record<E> {
    /// Appends it.
    #[inline]
    pub(super) fn write(&self, codec: &Codec<E>, into: &mut Vec<u8>) {
        match self {
            Record::Value(to, message) => {
                into.push(VALUE);
                to.write(into);
                codec.write(message, into);
            }
            Record::Unreadable(..) => unreachable!("it is written as the event that it is"),
            Record::Bound { from, bound } => {
                into.push(BOUND);
                (*from, *bound).write(into);
            }
            Record::Round { from, round, bound } => {
                into.push(ROUND);
                (*from, *round, *bound).write(into);
            }
            Record::Control(to, control) => {
                into.push(CONTROL);
                (*to, **control).write(into);
            }
            Record::Put { to, from, put } => {
                into.push(PUT);
                (*to, *from, **put).write(into);
            }
            Record::End => into.push(END),
        }
    }

    /// Takes the first record off the bytes.
    #[inline]
    pub(super) fn read(codec: &Codec<E>, from: &mut &[u8]) -> Result<Self, String> {
        let cut = || "a record from another process ends before its time".to_owned();
        let kind = u8::read(from).ok_or_else(cut)?;
        if kind == VALUE {
            let to = u32::read(from).ok_or_else(cut)?;
            return Ok(match codec.read(from)? {
                Decoded::Message(message) => Record::Value(to, message),
                Decoded::Unreadable(event) => Record::Unreadable(to, event),
            });
        }
        Self::read_other(kind, from)
            .ok_or_else(|| format!("a record of kind {kind} from another process makes no sense"))
    }

    /// Takes off the rest of a record of another kind than [`VALUE`].
    #[inline]
    fn read_other(kind: u8, from: &mut &[u8]) -> Option<Self> {
        Some(match kind {
            BOUND => {
                let (from, bound) = Portable::read(from)?;
                Record::Bound { from, bound }
            }
            ROUND => {
                let (from, round, bound) = Portable::read(from)?;
                Record::Round { from, round, bound }
            }
            CONTROL => {
                let (to, control) = Portable::read(from)?;
                Record::Control(to, Box::new(control))
            }
            PUT => {
                let (to, from, put) = Portable::read(from)?;
                Record::Put { to, from, put: Box::new(put) }
            }
            END => Record::End,
            _ => return None,
        })
    }
}
