use std::any::type_name;
use std::fmt;
use std::num::NonZero;

use warpline_base::{EventKey, EventKind, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{
    Content, Event, PanicSilencer, UnreadableEvent, ValueMessage, panic_message,
};
use warpline_memory::catch_panic;
use warpline_model::{Portable, WireFormat};

/// Bits of the first byte of a message: what kind of message it is, and which unusual fields
/// follow. The lowest bit is the tag's.
mod flags {
    pub(super) const ANTI: u8 = 1 << 1;
    pub(super) const INCARNATION: u8 = 1 << 2;
    pub(super) const STEP: u8 = 1 << 3;
    pub(super) const PRIORITY: u8 = 1 << 4;
    /// The sender's sequence number takes eight bytes instead of five.
    pub(super) const LONG_SEQUENCE: u8 = 1 << 5;
    pub(super) const RETURN: u8 = 1 << 6;
    /// The payload could not be written; the reason stands in its place.
    pub(super) const UNREADABLE: u8 = 1 << 7;
}

/// Writes messages as bytes, and reads them.
///
/// Writing never fails, as the event may turn out never to happen. If its payload cannot be
/// written, or code of the model panics while it is, the message says why.
///
/// A message takes 22 bytes and its payload: flags, time, sender, receiver, and the sender's
/// sequence number. Incarnation, step and priority follow where they are not the usual ones. All
/// numbers have the same size and byte order on every machine. A payload that serde writes has its
/// length in four bytes before it, so that whatever serde does not read back can be skipped.
pub struct Codec<E> {
    format: WireFormat<E>,
}

impl<E> Clone for Codec<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Codec<E> {}

impl<E> fmt::Debug for Codec<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = if self.format.proof().is_some() { "portable" } else { "serde" };
        write!(f, "Codec({format})")
    }
}

/// A message read from bytes.
#[derive(Debug)]
pub enum Decoded<E> {
    /// A message.
    Message(ValueMessage<E>),
    /// An event without its payload, and why that is missing.
    Unreadable(UnreadableEvent),
}

/// The bytes of a length.
const LENGTH: usize = size_of::<u32>();
/// The most bytes of the reason why a payload cannot be written.
const WHY_MOST: usize = 1000;

/// The fields of every message, except for its tag and its payload.
struct Header {
    receiver: LpId,
    key: EventKey,
    incarnation: Option<NonZero<u32>>,
}

impl<E> Codec<E> {
    /// For events with this format.
    pub const fn new(format: WireFormat<E>) -> Self {
        Codec { format }
    }

    /// Appends a message.
    #[inline]
    pub fn write(&self, message: &ValueMessage<E>, into: &mut Vec<u8>) {
        let tag = message.tag.bits();
        let incarnation = message.incarnation;
        match &message.content {
            Content::Anti { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }
                    .write(tag | flags::ANTI, into);
            }
            Content::Return { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }
                    .write(tag | flags::RETURN, into);
            }
            Content::Event(event) => {
                let before = into.len();
                let header = Header { receiver: event.receiver, key: event.key(), incarnation };
                header.write(tag, into);
                if let Err(why) = self.write_payload(&event.payload, into) {
                    into.truncate(before);
                    header.write_unreadable(tag, &why, into);
                }
            }
        }
    }

    #[inline]
    fn write_payload(&self, payload: &E, into: &mut Vec<u8>) -> Result<(), String> {
        if self.format.proof().is_some() {
            return self.format.write(payload, into);
        }
        let length = into.len();
        0u32.write(into);
        guarded(|| self.format.write(payload, into))?;
        let bytes = into.len() - length - LENGTH;
        let bytes = u32::try_from(bytes)
            .map_err(|_| format!("it has {bytes} bytes, and {} are the most", u32::MAX))?;
        into[length..length + LENGTH].copy_from_slice(&bytes.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn read_payload(&self, from: &mut &[u8]) -> Option<Result<E, String>> {
        if self.format.proof().is_some() {
            // Whatever was written can be read. If this cannot, nothing after it can be, either.
            return self.format.read(from).ok().map(Ok);
        }
        let mut bytes = read_bytes(from)?;
        let payload = guarded(|| self.format.read(&mut bytes));
        Some(match bytes.len() {
            left if left > 0 && payload.is_ok() => Err(format!("serde leaves {left} of its bytes")),
            _ => payload,
        })
    }

    /// Reads a message, and takes its bytes off the beginning of `from`.
    ///
    /// # Errors
    /// If there are too few bytes, or [`write`](Self::write) has not written them.
    #[inline]
    pub fn read(&self, from: &mut &[u8]) -> Result<Decoded<E>, String> {
        let len = from.len();
        let (flags, header) = Header::read(from).ok_or_else(|| no_message::<E>(len))?;
        let Header { receiver, key, incarnation } = header;
        if flags & flags::UNREADABLE != 0 {
            let why = read_bytes(from).ok_or_else(|| no_message::<E>(len))?;
            return Ok(header.unreadable(flags, "written", &String::from_utf8_lossy(why)));
        }
        let content = if flags & flags::ANTI != 0 {
            Content::Anti { receiver, key }
        } else if flags & flags::RETURN != 0 {
            Content::Return { receiver, key }
        } else {
            let payload = match self.read_payload(from).ok_or_else(|| no_message::<E>(len))? {
                Ok(payload) => payload,
                Err(why) => return Ok(header.unreadable(flags, "read", &why)),
            };
            let EventKey { time, step, priority, sender, sequence } = key;
            // Timers never leave their LP.
            let kind = EventKind::Plain;
            Content::Event(Event {
                time,
                sequence,
                sender,
                receiver,
                step,
                priority,
                kind,
                payload,
            })
        };
        Ok(Decoded::Message(ValueMessage { tag: Tag::from_bits(flags), incarnation, content }))
    }
}

/// Takes off a length and as many bytes.
#[inline]
fn read_bytes<'b>(from: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = u32::read(from)? as usize;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

/// Lets serde call code of the model. Its panics are not printed, as the event may never happen.
#[inline]
fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let _quiet = PanicSilencer::new();
    catch_panic(run).unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_message(panic))))
}

#[cold]
fn no_message<E>(len: usize) -> String {
    format!("{len} bytes do not begin with a message about an event of type `{}`", type_name::<E>())
}

impl Header {
    /// Appends it, with these flags and those for its own fields.
    #[inline]
    fn write(&self, mut flags: u8, into: &mut Vec<u8>) {
        let Header {
            receiver,
            key: EventKey { time, step, priority, sender, sequence },
            incarnation,
        } = *self;
        let set = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let short = u32::try_from(sequence.event()).ok().zip(u8::try_from(sequence.index()).ok());
        flags |= set(flags::INCARNATION, incarnation.is_some());
        flags |= set(flags::STEP, step != 0);
        flags |= set(flags::PRIORITY, priority != Priority::NORMAL);
        flags |= set(flags::LONG_SEQUENCE, short.is_none());
        match short {
            Some(short) => (flags, time, sender, receiver, short).write(into),
            None => (flags, time, sender, receiver, sequence).write(into),
        }
        if let Some(incarnation) = incarnation {
            incarnation.write(into);
        }
        if step != 0 {
            step.write(into);
        }
        if priority != Priority::NORMAL {
            priority.write(into);
        }
    }

    /// Reads a header and its flags.
    #[inline]
    fn read(from: &mut &[u8]) -> Option<(u8, Self)> {
        let (flags, time, sender, receiver) = <(u8, VirtualTime, LpId, LpId)>::read(from)?;
        if (flags & (flags::ANTI | flags::RETURN | flags::UNREADABLE)).count_ones() > 1 {
            return None;
        }
        let sequence = if flags & flags::LONG_SEQUENCE == 0 {
            let (event, index) = <(u32, u8)>::read(from)?;
            Sequence::first_of(event.into()).nth(index.into())
        } else {
            Sequence::read(from)?
        };
        let incarnation =
            if flags & flags::INCARNATION == 0 { None } else { Some(Portable::read(from)?) };
        let step = if flags & flags::STEP == 0 { 0 } else { Portable::read(from)? };
        let priority =
            if flags & flags::PRIORITY == 0 { Priority::NORMAL } else { Portable::read(from)? };
        Some((
            flags,
            Header {
                receiver,
                key: EventKey { time, step, priority, sender, sequence },
                incarnation,
            },
        ))
    }

    /// Appends it with the reason why the payload cannot be written.
    #[cold]
    fn write_unreadable(&self, flags: u8, why: &str, into: &mut Vec<u8>) {
        let cut = (0..=why.len().min(WHY_MOST))
            .rev()
            .find(|&cut| why.is_char_boundary(cut))
            .unwrap_or_default();
        self.write(flags | flags::UNREADABLE, into);
        (cut as u32).write(into);
        into.extend_from_slice(&why.as_bytes()[..cut]);
    }

    /// The event, with a payload that cannot be `done`: "written" or "read".
    #[cold]
    fn unreadable<E>(&self, flags: u8, done: &str, why: &str) -> Decoded<E> {
        let Header { receiver, key, incarnation } = *self;
        let why = format!("what {} sent cannot be {done}: {why}", key.sender);
        Decoded::Unreadable(UnreadableEvent {
            tag: Tag::from_bits(flags),
            incarnation,
            receiver,
            key,
            why,
        })
    }
}

#[cfg(test)]
mod tests;
