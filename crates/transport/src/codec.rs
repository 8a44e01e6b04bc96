use std::any::{Any, type_name};
use std::fmt;
use std::num::NonZero;

use warpline_base::{EventKey, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{Content, Event, UnreadableEvent, ValueMessage, panic_message};
use warpline_memory::catch_panic;
use warpline_model::{Portable, WireFormat};

/// Bits of the first byte of a message: what it is, and which fields follow because they are not as usual. The lowest bit is the tag's.
mod flags {
    pub(super) const ANTI: u8 = 1 << 1;
    pub(super) const INCARNATION: u8 = 1 << 2;
    pub(super) const STEP: u8 = 1 << 3;
    pub(super) const PRIORITY: u8 = 1 << 4;
    /// The sender's sequence number takes eight bytes, and not five.
    pub(super) const LONG_SEQUENCE: u8 = 1 << 5;
    pub(super) const RETURN: u8 = 1 << 6;
    /// In place of what the event carries it says why that cannot be written.
    pub(super) const UNREADABLE: u8 = 1 << 7;
}

/// Writes messages as bytes, and reads them.
///
/// An event may turn out never to happen, and so what it carries can always be written: if that fails, the message says why. Code of the model
/// that panics has failed, too.
///
/// A message takes 22 bytes and what its event carries: flags, time, sender, receiver, and the sender's sequence number. Incarnation, step and
/// priority follow where there are any, or they are not as usual. All numbers have the same size and order of bytes on every machine. Where
/// serde writes what events carry, four bytes before it say how long it is, so that what it does not read back can be skipped.
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

/// What bytes say.
#[derive(Debug)]
pub enum Decoded<E> {
    /// A message.
    Message(ValueMessage<E>),
    /// An event, and why it comes without what it carries.
    Unreadable(UnreadableEvent),
}

/// How many bytes say how long something is.
const LENGTH: usize = size_of::<u32>();
/// The most bytes that say why something cannot be written or read.
const WHY_MOST: usize = 1000;

/// What every message has, but for its tag and what its event carries.
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
        let (tag, incarnation) = (message.tag.bits(), message.incarnation);
        match &message.content {
            Content::Anti { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }.write(tag | flags::ANTI, into);
            }
            Content::Return { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }.write(tag | flags::RETURN, into);
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
        // What serde calls is the model's code.
        catch_panic(|| self.format.write(payload, into)).unwrap_or_else(|panic| Err(panicked(panic)))?;
        let bytes = into.len() - length - LENGTH;
        let bytes = u32::try_from(bytes).map_err(|_| format!("it has {bytes} bytes, and {} are the most", u32::MAX))?;
        into[length..length + LENGTH].copy_from_slice(&bytes.to_le_bytes());
        Ok(())
    }

    #[inline]
    fn read_payload(&self, from: &mut &[u8]) -> Option<Result<E, String>> {
        if self.format.proof().is_some() {
            // Whatever was written can be read: if this cannot, nothing after it can.
            return self.format.read(from).ok().map(Ok);
        }
        let mut bytes = read_bytes(from)?;
        let payload = catch_panic(|| self.format.read(&mut bytes)).unwrap_or_else(|panic| Err(panicked(panic)));
        Some(match bytes.len() {
            left if left > 0 && payload.is_ok() => Err(format!("serde leaves {left} of its bytes")),
            _ => payload,
        })
    }

    /// Reads a message, and takes its bytes off the beginning of `from`.
    ///
    /// # Errors
    /// If there are too few bytes, or they are those of no message, which no [`write`](Self::write) has written.
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
            Content::Event(Event { time, sequence, sender, receiver, step, priority, payload })
        };
        Ok(Decoded::Message(ValueMessage { tag: Tag::from_bits(flags), incarnation, content }))
    }
}

/// Takes bytes off that were written after their length.
#[inline]
fn read_bytes<'b>(from: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = u32::read(from)? as usize;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(bytes)
}

#[cold]
fn panicked(panic: Box<dyn Any + Send>) -> String {
    format!("it panicked: {}", panic_message(panic))
}

#[cold]
fn no_message<E>(len: usize) -> String {
    format!("{len} bytes do not begin with a message about an event of type `{}`", type_name::<E>())
}

impl Header {
    /// Appends it, with flags of which those for its fields have yet to be set.
    #[inline]
    fn write(&self, mut flags: u8, into: &mut Vec<u8>) {
        let Header { receiver, key: EventKey { time, step, priority, sender, sequence }, incarnation } = *self;
        let set = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let short = u32::try_from(sequence.event()).ok().zip(u8::try_from(sequence.index()).ok());
        flags |= set(flags::INCARNATION, incarnation.is_some()) | set(flags::STEP, step != 0);
        flags |= set(flags::PRIORITY, priority != Priority::NORMAL) | set(flags::LONG_SEQUENCE, short.is_none());
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
        let incarnation = if flags & flags::INCARNATION == 0 { None } else { Some(Portable::read(from)?) };
        let step = if flags & flags::STEP == 0 { 0 } else { Portable::read(from)? };
        let priority = if flags & flags::PRIORITY == 0 { Priority::NORMAL } else { Portable::read(from)? };
        Some((flags, Header { receiver, key: EventKey { time, step, priority, sender, sequence }, incarnation }))
    }

    /// Appends it with why its event cannot be written.
    #[cold]
    fn write_unreadable(&self, flags: u8, why: &str, into: &mut Vec<u8>) {
        let cut = (0..=why.len().min(WHY_MOST)).rev().find(|&cut| why.is_char_boundary(cut)).unwrap_or_default();
        self.write(flags | flags::UNREADABLE, into);
        (cut as u32).write(into);
        into.extend_from_slice(&why.as_bytes()[..cut]);
    }

    /// The event, and that it cannot be `done`.
    #[cold]
    fn unreadable<E>(&self, flags: u8, done: &str, why: &str) -> Decoded<E> {
        let Header { receiver, key, incarnation } = *self;
        let why = format!("what {} sent cannot be {done}: {why}", key.sender);
        Decoded::Unreadable(UnreadableEvent { tag: Tag::from_bits(flags), incarnation, receiver, key, why })
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use warpline_base::Moment;
    use warpline_base::random::mix64;
    use warpline_kernel::gvt::{Control, Put, Share, Verdict, Work};
    use warpline_model::Payload;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Portable)]
    enum Frame {
        Data { bytes: Payload, hops: u8 },
        Ack(Option<LpId>),
        Reset,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Order(Vec<String>);

    fn key(luck: u64) -> EventKey {
        let pick = |number: u64, usual: u64| if number.is_multiple_of(3) { number } else { usual };
        EventKey {
            time: VirtualTime::from_bits(luck >> 2),
            step: pick(luck >> 40, 0) as u32,
            priority: Priority::new(pick(luck, 0) as i8),
            sender: LpId((luck >> 7) as u32),
            sequence: Sequence::first_of(pick(luck >> 24, 7)).nth(pick(luck >> 41, 255) as u32 >> 1),
        }
    }

    fn messages<E>(payload: impl Fn(u64) -> E) -> Vec<ValueMessage<E>> {
        let message = |round: u64| {
            let (key, luck) = (key(mix64(round)), mix64(!round));
            let EventKey { time, step, priority, sender, sequence } = key;
            let receiver = LpId(luck as u32);
            let event = || Event { time, sequence, sender, receiver, step, priority, payload: payload(luck) };
            let content = match round % 5 {
                0 => Content::Anti { receiver, key },
                1 => Content::Return { receiver, key },
                _ => Content::Event(event()),
            };
            ValueMessage { tag: Tag::from_bits(luck as u8), incarnation: NonZero::new((luck >> 9) as u32 % 4), content }
        };
        (0..500).map(message).collect()
    }

    fn frame(luck: u64) -> Frame {
        match luck % 3 {
            0 => Frame::Data { bytes: Payload::zeroed(luck as usize % 200), hops: luck as u8 },
            1 => Frame::Ack((luck.is_multiple_of(2)).then_some(LpId(3))),
            _ => Frame::Reset,
        }
    }

    /// As text, which shows everything.
    fn all_come_back<E: fmt::Debug>(format: WireFormat<E>, payload: impl Fn(u64) -> E) {
        let (codec, messages, mut bytes) = (Codec::new(format), messages(payload), Vec::new());
        messages.iter().for_each(|message| codec.write(message, &mut bytes));
        let mut rest = &bytes[..];
        for message in &messages {
            let Ok(Decoded::Message(found)) = codec.read(&mut rest) else { panic!("{message:?} does not come back") };
            assert_eq!(format!("{found:?}"), format!("{message:?}"));
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn messages_come_back() {
        all_come_back(WireFormat::portable(), frame);
        all_come_back(WireFormat::serde(), |luck| Order(vec!["nails".into(); luck as usize % 4]));
    }

    #[test]
    fn usual_messages_are_short() {
        let (codec, mut bytes) = (Codec::new(WireFormat::portable()), Vec::new());
        let (sequence, priority) = (Sequence::first_of(1 << 20).nth(3), Priority::NORMAL);
        let (sender, receiver) = (LpId(1), LpId(2));
        let event = Event { time: VirtualTime::MAX, sequence, sender, receiver, step: 0, priority, payload: 7u16 };
        let mut message = ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) };
        codec.write(&message, &mut bytes);
        assert_eq!(bytes.len(), 22 + 2);
        message.incarnation = NonZero::new(1);
        codec.write(&message, &mut bytes);
        assert_eq!(bytes.len(), 2 * 24 + 4);
    }

    fn wrong_bytes_never_panic<E: fmt::Debug>(format: WireFormat<E>, payload: impl Fn(u64) -> E) {
        let codec = Codec::new(format);
        for (number, message) in messages(payload).iter().enumerate().take(100) {
            let mut bytes = Vec::new();
            codec.write(message, &mut bytes);
            for len in 0..bytes.len() {
                let refused = codec.read(&mut &bytes[..len]).unwrap_err();
                assert!(refused.contains(type_name::<E>()), "{refused}");
                let mut changed = bytes.clone();
                changed[len] ^= 1 << (number % 8);
                let _ = codec.read(&mut &changed[..]);
            }
        }
    }

    #[test]
    fn bytes_that_are_cut_or_changed_never_panic() {
        wrong_bytes_never_panic(WireFormat::portable(), frame);
        wrong_bytes_never_panic(WireFormat::serde(), |luck| Order(vec!["nails".into(); luck as usize % 4]));
        let codec = Codec::<u8>::new(WireFormat::portable());
        assert!(codec.read(&mut &[flags::UNREADABLE; 40][..]).is_err(), "there is no reason of that length");
        assert!(codec.read(&mut &[flags::ANTI | flags::RETURN; 40][..]).is_err(), "nothing is cancelled and sent back");
    }

    /// Whatever is wrong with an event, the next one can be read.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Odd {
        Fine,
        Secret,
        PanicsWhenWritten,
        Torn,
        PanicsWhenRead,
        Longer,
    }

    const ODD: [Odd; 6] = [Odd::Fine, Odd::Secret, Odd::PanicsWhenWritten, Odd::Torn, Odd::PanicsWhenRead, Odd::Longer];

    impl Serialize for Odd {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Odd::Secret => Err(serde::ser::Error::custom("it is secret")),
                Odd::PanicsWhenWritten => panic!("out of ink"),
                odd => (*odd as u8, [7u8; 3]).serialize(serializer),
            }
        }
    }

    impl<'de> Deserialize<'de> for Odd {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;

            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Odd;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("something odd")
                }

                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut all: A) -> Result<Odd, A::Error> {
                    let odd = ODD[all.next_element::<u8>()?.unwrap_or_default() as usize];
                    match odd {
                        Odd::Torn => return Err(serde::de::Error::custom("it is torn")),
                        Odd::PanicsWhenRead => panic!("no glasses"),
                        Odd::Longer => return Ok(odd),
                        _ => _ = all.next_element::<[u8; 3]>()?,
                    }
                    Ok(odd)
                }
            }

            deserializer.deserialize_tuple(2, Visitor)
        }
    }

    #[test]
    fn events_that_cannot_be_written_or_read_say_why() {
        let (codec, mut bytes) = (Codec::new(WireFormat::serde()), vec![]);
        let message = |payload| {
            let (time, sequence) = (VirtualTime::new(2.5).unwrap(), Sequence::first_of(3));
            let (sender, receiver, priority) = (LpId(1), LpId(2), Priority::NORMAL);
            let event = Event { time, sequence, sender, receiver, step: 0, priority, payload };
            ValueMessage { tag: Tag::from_bits(1), incarnation: NonZero::new(9), content: Content::Event(event) }
        };
        ODD.iter().for_each(|odd| codec.write(&message(*odd), &mut bytes));
        codec.write(&message(Odd::Fine), &mut bytes);
        let mut rest = &bytes[..];
        let mut read = || match codec.read(&mut rest).unwrap() {
            Decoded::Message(ValueMessage { content: Content::Event(event), .. }) => Ok(event.payload),
            Decoded::Unreadable(UnreadableEvent { tag, incarnation, receiver, key, why }) => {
                assert_eq!((tag.bits(), incarnation.map(NonZero::get)), (1, Some(9)));
                assert_eq!((receiver, key.time.get(), key.sender, key.sequence), (LpId(2), 2.5, LpId(1), Sequence::first_of(3)));
                Err(why)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(read(), Ok(Odd::Fine));
        for (done, why) in [
            ("written", "Odd`: it is secret"),
            ("written", "it panicked: out of ink"),
            ("read", "Odd` from the beginning of 4 bytes"),
            ("read", "it panicked: no glasses"),
            ("read", "serde leaves 3 of its bytes"),
        ] {
            let refused = read().unwrap_err();
            assert!(refused.starts_with(&format!("what LP 1 sent cannot be {done}: ")) && refused.contains(why), "{refused}");
        }
        assert_eq!(read(), Ok(Odd::Fine));
        assert!(rest.is_empty());
    }

    #[test]
    fn control_messages_and_puts_come_back() {
        let (moment, work) =
            (Moment::Event(key(mix64(3))), Work { processed: 1, rolled_back: 2, steps: 3, idle_steps: 4, waiting_steps: 0 });
        let share = Share { sent: 5, received: 6, least: moment, failure: Moment::Never, work };
        let verdict = Verdict { epoch: 7, trials: 2, gvt: moment, in_transit: Moment::Never, failure: moment, work };
        let controls = [
            Control::Begin { from: 1, epoch: u64::MAX },
            Control::Share { from: 1, epoch: 2, trial: 3, share },
            Control::Again { epoch: 4, trial: 5 },
            Control::Verdict(verdict),
        ];
        let puts = [Put::JumpStart(9), Put::Block { place: 3, words: std::array::from_fn(|word| mix64(word as u64)) }];
        let mut bytes = Vec::new();
        controls.iter().zip(puts.iter().cycle()).for_each(|pair| (*pair.0, *pair.1).write(&mut bytes));
        let mut rest = &bytes[..];
        for (control, put) in controls.iter().zip(puts.iter().cycle()) {
            assert_eq!(<(Control, Put)>::read(&mut rest), Some((*control, *put)));
        }
        let cut = (0..bytes.len()).filter(|&len| <[(Control, Put); 4]>::read(&mut &bytes[..len]).is_some());
        assert_eq!((cut.count(), <[(Control, Put); 4]>::read(&mut &bytes[..]).is_some()), (0, true));
    }
}
