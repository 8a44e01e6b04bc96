//! Messages that can be told apart, and who checks that all of them arrive.

use warpline_base::random::mix64;
use warpline_base::{EventKind, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::{Control, Put, Tag};
use warpline_kernel::{
    BoundPort, Content, ControlPort, Event, MessagePort, ValueMessage, ValuePort,
};
use warpline_model::Payload;

use crate::couriers::NodePort;

/// The `number`-th message from one PE to another.
pub(super) fn message(from: u32, to: u32, number: u64) -> ValueMessage<Payload> {
    let len = (mix64(u64::from(from) << 40 | u64::from(to) << 20 | number) % 700) as usize;
    let payload = Payload::filled(8 + len, |bytes| {
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].fill(number as u8);
    });
    let time = VirtualTime::new(number as f64).unwrap();
    let event = Event {
        time,
        sequence: Sequence::first_of(number),
        sender: LpId(from),
        receiver: LpId(to),
        step: 0,
        priority: Priority::NORMAL,
        kind: EventKind::Plain,
        payload,
    };
    ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) }
}

/// Receives for a PE, and counts what has arrived.
pub(super) struct Receiver {
    pub(super) me: u32,
    /// By sender: how many messages.
    pub(super) received: Vec<u64>,
    /// Likewise: how many control messages.
    pub(super) controls: Vec<u64>,
    /// Likewise: the largest number written.
    pub(super) puts: Vec<u64>,
    pub(super) rounds: u64,
}

impl Receiver {
    pub(super) fn new(me: u32, pes: u32) -> Self {
        let none = vec![0; pes as usize];
        Receiver { me, received: none.clone(), controls: none.clone(), puts: none, rounds: 0 }
    }

    /// Receives, and checks that messages come in order, each as it was sent, and none after a
    /// bound that was published after it.
    pub(super) fn receive(&mut self, port: &mut NodePort<Payload>) {
        let pes = self.received.len() as u32;
        let others = (0..pes).filter(|pe| *pe != self.me);
        while let Some(control) = port.receive_control() {
            let Control::Begin { from, epoch } = control else {
                panic!("no other control message was sent")
            };
            assert_eq!(epoch, self.controls[from as usize]);
            self.controls[from as usize] += 1;
        }
        while let Some((from, put)) = port.written() {
            let Put::JumpStart(word) = put else { panic!("nothing else was written") };
            self.puts[from as usize] = self.puts[from as usize].max(word);
        }
        let bounds: Vec<(u32, u64)> = others.clone().map(|pe| (pe, port.bound(pe))).collect();
        let next_round = self.rounds + 1;
        let has_all =
            { others }.all(|pe| port.bound_of_round(pe, next_round) == Some(100 + next_round));
        self.rounds += u64::from(has_all);
        port.receive(&mut Vec::new());
        port.look_for_values();
        port.receive_values(&mut |found: ValueMessage<Payload>| {
            let Content::Event(event) = found.content else { panic!("no anti-message was sent") };
            let from = event.sender.0;
            let next = &mut self.received[event.sender.index()];
            let Content::Event(expected) = message(from, self.me, *next).content else {
                unreachable!()
            };
            assert_eq!(
                (event.receiver.0, event.key(), &*event.payload),
                (self.me, expected.key(), &*expected.payload),
                "from PE {from}"
            );
            *next += 1;
        });
        for (pe, bound) in bounds {
            assert!(
                self.received[pe as usize] >= bound,
                "bound {bound} of PE {pe} came before its messages at PE {}",
                self.me
            );
        }
    }
}
