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
        let key = key(mix64(round));
        let luck = mix64(!round);
        let EventKey { time, step, priority, sender, sequence } = key;
        let receiver = LpId(luck as u32);
        let event = || Event {
            time,
            sequence,
            sender,
            receiver,
            step,
            priority,
            kind: EventKind::Plain,
            payload: payload(luck),
        };
        let content = match round % 5 {
            0 => Content::Anti { receiver, key },
            1 => Content::Return { receiver, key },
            _ => Content::Event(event()),
        };
        ValueMessage {
            tag: Tag::from_bits(luck as u8),
            incarnation: NonZero::new((luck >> 9) as u32 % 4),
            content,
        }
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

/// Compares messages as text, which shows everything.
fn all_come_back<E: fmt::Debug>(format: WireFormat<E>, payload: impl Fn(u64) -> E) {
    let codec = Codec::new(format);
    let messages = messages(payload);
    let mut bytes = Vec::new();
    messages.iter().for_each(|message| codec.write(message, &mut bytes));
    let mut rest = &bytes[..];
    for message in &messages {
        let Ok(Decoded::Message(found)) = codec.read(&mut rest) else {
            panic!("{message:?} does not come back")
        };
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
    let codec = Codec::new(WireFormat::portable());
    let mut bytes = Vec::new();
    let event = Event {
        time: VirtualTime::MAX,
        sequence: Sequence::first_of(1 << 20).nth(3),
        sender: LpId(1),
        receiver: LpId(2),
        step: 0,
        priority: Priority::NORMAL,
        kind: EventKind::Plain,
        payload: 7u16,
    };
    let mut message =
        ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) };
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
    wrong_bytes_never_panic(WireFormat::serde(), |luck| {
        Order(vec!["nails".into(); luck as usize % 4])
    });
    let codec = Codec::<u8>::new(WireFormat::portable());
    assert!(
        codec.read(&mut &[flags::UNREADABLE; 40][..]).is_err(),
        "there is no reason of that length"
    );
    assert!(
        codec.read(&mut &[flags::ANTI | flags::RETURN; 40][..]).is_err(),
        "nothing is cancelled and sent back"
    );
}

/// Payloads with which something is wrong. Whatever it is, the next event can be read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    Fine,
    Secret,
    PanicsWhenWritten,
    Torn,
    PanicsWhenRead,
    Longer,
}

const ODD: [Odd; 6] =
    [Odd::Fine, Odd::Secret, Odd::PanicsWhenWritten, Odd::Torn, Odd::PanicsWhenRead, Odd::Longer];

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
    let codec = Codec::new(WireFormat::serde());
    let mut bytes = Vec::new();
    let message = |payload| {
        let event = Event {
            time: VirtualTime::new(2.5).unwrap(),
            sequence: Sequence::first_of(3),
            sender: LpId(1),
            receiver: LpId(2),
            step: 0,
            priority: Priority::NORMAL,
            kind: EventKind::Plain,
            payload,
        };
        ValueMessage {
            tag: Tag::from_bits(1),
            incarnation: NonZero::new(9),
            content: Content::Event(event),
        }
    };
    ODD.iter().for_each(|odd| codec.write(&message(*odd), &mut bytes));
    codec.write(&message(Odd::Fine), &mut bytes);
    let mut rest = &bytes[..];
    let mut read = || match codec.read(&mut rest).unwrap() {
        Decoded::Message(ValueMessage { content: Content::Event(event), .. }) => Ok(event.payload),
        Decoded::Unreadable(UnreadableEvent { tag, incarnation, receiver, key, why }) => {
            assert_eq!((tag.bits(), incarnation.map(NonZero::get)), (1, Some(9)));
            assert_eq!(
                (receiver, key.time.get(), key.sender, key.sequence),
                (LpId(2), 2.5, LpId(1), Sequence::first_of(3))
            );
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
        assert!(
            refused.starts_with(&format!("what LP 1 sent cannot be {done}: "))
                && refused.contains(why),
            "{refused}"
        );
    }
    assert_eq!(read(), Ok(Odd::Fine));
    assert!(rest.is_empty());
}

#[test]
fn control_messages_and_puts_come_back() {
    let moment = Moment::Event(key(mix64(3)));
    let work = Work { processed: 1, rolled_back: 2, steps: 3, idle_steps: 4, waiting_steps: 0 };
    let share = Share { sent: 5, received: 6, least: moment, failure: Moment::Never, work };
    let verdict = Verdict {
        epoch: 7,
        rounds: 2,
        gvt: moment,
        in_transit: Moment::Never,
        failure: moment,
        work,
    };
    let controls = [
        Control::Begin { from: 1, epoch: u64::MAX },
        Control::Share { from: 1, epoch: 2, round: 3, share },
        Control::Again { epoch: 4, round: 5 },
        Control::Verdict(verdict),
    ];
    let puts = [
        Put::JumpStart(9),
        Put::Block { place: 3, words: std::array::from_fn(|word| mix64(word as u64)) },
    ];
    let mut bytes = Vec::new();
    for (control, put) in controls.iter().zip(puts.iter().cycle()) {
        (*control, *put).write(&mut bytes);
    }
    let mut rest = &bytes[..];
    for (control, put) in controls.iter().zip(puts.iter().cycle()) {
        assert_eq!(<(Control, Put)>::read(&mut rest), Some((*control, *put)));
    }
    let all_from = |mut bytes: &[u8]| <[(Control, Put); 4]>::read(&mut bytes);
    assert!(all_from(&bytes).is_some());
    assert!((0..bytes.len()).all(|len| all_from(&bytes[..len]).is_none()));
}
