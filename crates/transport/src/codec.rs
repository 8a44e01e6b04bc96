use std::any::type_name;
use std::fmt;
use std::num::NonZero;

use warpline_base::{EventKey, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{Content, Event, ValueMessage};
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
    /// All of them.
    pub(super) const ALL: u8 = (1 << 7) - 1;
}

/// Writes messages as bytes, and reads them.
///
/// A message takes 22 bytes and what its event carries: flags, time, sender, receiver, and the sender's sequence number. Incarnation, step and
/// priority follow where there are any, or they are not as usual. All numbers have the same size and order of bytes on every machine.
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
    ///
    /// # Errors
    /// If what the event carries cannot be written: why, and which event it is. Nothing is appended then.
    #[inline]
    pub fn write(&self, message: &ValueMessage<E>, into: &mut Vec<u8>) -> Result<(), String> {
        let (tag, incarnation) = (message.tag.bits(), message.incarnation);
        match &message.content {
            Content::Anti { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }.write(tag | flags::ANTI, into);
                Ok(())
            }
            Content::Return { receiver, key } => {
                Header { receiver: *receiver, key: *key, incarnation }.write(tag | flags::RETURN, into);
                Ok(())
            }
            Content::Event(event) => {
                let before = into.len();
                let header = Header { receiver: event.receiver, key: event.key(), incarnation };
                header.write(tag, into);
                self.format.write(&event.payload, into).map_err(|why| {
                    into.truncate(before);
                    header.refuse("cannot be written", &why)
                })
            }
        }
    }

    /// Reads a message, and takes its bytes off the beginning of `from`.
    ///
    /// # Errors
    /// If there are too few bytes, or they are those of no message: why, and which event it is, if that can be told.
    #[inline]
    pub fn read(&self, from: &mut &[u8]) -> Result<ValueMessage<E>, String> {
        let len = from.len();
        let (flags, header) = Header::read(from).ok_or_else(|| no_message::<E>(len))?;
        let Header { receiver, key, incarnation } = header;
        let content = if flags & flags::ANTI != 0 {
            Content::Anti { receiver, key }
        } else if flags & flags::RETURN != 0 {
            Content::Return { receiver, key }
        } else {
            let payload = self.format.read(from).map_err(|why| header.refuse("cannot be read", &why))?;
            let EventKey { time, step, priority, sender, sequence } = key;
            Content::Event(Event { time, sequence, sender, receiver, step, priority, payload })
        };
        Ok(ValueMessage { tag: Tag::from_bits(flags), incarnation, content })
    }
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
        if flags & !flags::ALL != 0 || flags & (flags::ANTI | flags::RETURN) == flags::ANTI | flags::RETURN {
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

    #[cold]
    fn refuse(&self, what: &str, why: &str) -> String {
        let Header { receiver, key: EventKey { time, sender, .. }, .. } = self;
        format!("an event of {receiver} at time {time}, sent by {sender}, {what}: {why}")
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
        messages.iter().for_each(|message| codec.write(message, &mut bytes).unwrap());
        let mut rest = &bytes[..];
        for message in &messages {
            assert_eq!(format!("{:?}", codec.read(&mut rest).unwrap()), format!("{message:?}"));
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
        codec.write(&message, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 22 + 2);
        message.incarnation = NonZero::new(1);
        codec.write(&message, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 2 * 24 + 4);
    }

    fn wrong_bytes_never_panic<E: fmt::Debug>(format: WireFormat<E>, payload: impl Fn(u64) -> E) {
        let codec = Codec::new(format);
        for (number, message) in messages(payload).iter().enumerate().take(100) {
            let mut bytes = Vec::new();
            codec.write(message, &mut bytes).unwrap();
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
        assert!(codec.read(&mut &[1 << 7; 40][..]).is_err(), "there is no such flag");
        assert!(codec.read(&mut &[flags::ANTI | flags::RETURN; 40][..]).is_err(), "nothing is cancelled and sent back");
    }

    /// Refuses to be written.
    #[derive(Debug, Deserialize)]
    struct Secret;

    impl Serialize for Secret {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("it is secret"))
        }
    }

    #[test]
    fn errors_say_which_event_it_is() {
        let (codec, mut bytes) = (Codec::new(WireFormat::serde()), vec![1, 2]);
        let (time, sequence) = (VirtualTime::new(2.5).unwrap(), Sequence::first_of(3));
        let (sender, receiver, priority) = (LpId(1), LpId(2), Priority::NORMAL);
        let event = Event { time, sequence, sender, receiver, step: 0, priority, payload: Secret };
        let message = ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) };
        let refused = codec.write(&message, &mut bytes).unwrap_err();
        assert!(refused.starts_with("an event of LP 2 at time 2.5, sent by LP 1, cannot be written: "), "{refused}");
        assert!(refused.ends_with("Secret`: it is secret") && bytes == [1, 2], "{refused}");
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
