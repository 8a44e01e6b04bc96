//! What cannot be read or written.

use serde::{Deserialize, Serialize};
use warpline_base::{EventKind, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{Content, Event, Port, ValueMessage, ValuePort};
use warpline_model::WireFormat;

use super::{BY_PES, BY_THREADS, Process, processes};

#[test]
fn pieces_that_make_no_sense_are_trouble() {
    for (piece, words) in [
        (&[0u8; 3][..], "too short"),
        (&[0, 0, 0, 0, 0, 0, 0, 99], "makes no sense"),
        (&[0, 0, 0, 0, 0, 0, 0, 1, 5], "makes no sense"),
        (&[0, 0, 0, 0, 0, 0, 0, 1, 77, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], "there is no such PE"),
        (&[2, 0, 0, 0, 0, 0, 0, 0, 1], "ends before its time"),
    ] {
        let processes = processes::<u8>(WireFormat::portable(), &[1, 1], 1, BY_PES, 256);
        let receiver = &processes[1];
        receiver.wires.lock().unwrap()[1].1.push_back(piece.to_vec());
        (0..50).for_each(|_| _ = receiver.couriers.work(0, false));
        let trouble = receiver.couriers.trouble().unwrap_or_else(|| panic!("{piece:?} was taken"));
        assert!(trouble.contains(words), "{trouble}");
    }
}

/// Refuses to be written.
#[derive(Clone, Debug, Deserialize)]
struct Secret;

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it is secret"))
    }
}

#[test]
fn an_event_that_cannot_be_written_arrives_without_what_it_carries() {
    for way in [BY_PES, BY_THREADS] {
        let mut processes = processes::<Secret>(WireFormat::serde(), &[1, 1], 1, way, 256);
        let event = Event {
            time: VirtualTime::new(2.5).unwrap(),
            sequence: Sequence::first_of(3),
            sender: LpId(0),
            receiver: LpId(1),
            step: 0,
            priority: Priority::NORMAL,
            kind: EventKind::Plain,
            payload: Secret,
        };
        let sent =
            ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) };
        let Process { ports, couriers, .. } = &mut processes[0];
        assert!(ports[0].send_value(1, || sent).is_ok());
        ports[0].flush();
        couriers.work(0, false);
        assert_eq!(couriers.trouble(), None);
        let [sender, receiver] = &mut processes[..] else { unreachable!() };
        let found = (0..100).find_map(|_| {
            [&*sender, &*receiver]
                .into_iter()
                .for_each(|process| _ = process.couriers.work(0, true));
            receiver.ports[0].look_for_values();
            receiver.ports[0].receive_values(&mut |_| panic!("it cannot be written"));
            receiver.ports[0].receive_unreadable()
        });
        let found = found.expect("the event arrives without what it carries");
        assert_eq!(
            (found.receiver, found.key.sender, found.key.time.get()),
            (LpId(1), LpId(0), 2.5)
        );
        assert!(
            found.why.starts_with("what LP 0 sent cannot be written")
                && found.why.ends_with("it is secret"),
            "{}",
            found.why
        );
    }
}
