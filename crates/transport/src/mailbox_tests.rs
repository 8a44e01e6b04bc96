//! What every kind of mailbox guarantees: one suite for all of them.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use warpline_base::{LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{Content, Event, Message, MessageKind, Port, ValueMessage};
use warpline_memory::{Handle, Region};

use crate::{CasPort, ControlPlan, InboxPort, RingPort, cas_ports, inbox_ports, ring_ports};

/// A kind of mailbox.
trait Mailbox {
    type Port<E: Send>: Port<E> + Send;

    /// Whether a mailbox fills up, if nobody receives.
    const FILLS_UP: bool;

    fn ports<E: Send>(pes: usize) -> Vec<Self::Port<E>>;
}

struct PerSender;
struct Shared;
struct Cas;

fn plan(pes: usize) -> ControlPlan {
    ControlPlan { neighbours: vec![Vec::new(); pes], one_sided: false }
}

impl Mailbox for PerSender {
    type Port<E: Send> = RingPort<E>;
    const FILLS_UP: bool = true;

    fn ports<E: Send>(pes: usize) -> Vec<RingPort<E>> {
        ring_ports(&Region::own(), None, &(0..pes as u32), &plan(pes))
    }
}

impl Mailbox for Shared {
    type Port<E: Send> = InboxPort<E>;
    const FILLS_UP: bool = false;

    fn ports<E: Send>(pes: usize) -> Vec<InboxPort<E>> {
        inbox_ports(&plan(pes))
    }
}

impl Mailbox for Cas {
    type Port<E: Send> = CasPort<E>;
    const FILLS_UP: bool = true;

    fn ports<E: Send>(pes: usize) -> Vec<CasPort<E>> {
        cas_ports(&plan(pes))
    }
}

/// More than any mailbox holds.
const MANY: u32 = if cfg!(miri) { 200 } else { 20_000 };

fn message(number: u32) -> Message {
    Message { event: Handle::from_bits(number), tag: Tag::default(), kind: MessageKind::Event }
}

fn value<E>(payload: E) -> ValueMessage<E> {
    let (time, sequence) = (VirtualTime::ZERO, Sequence::first_of(1));
    let (sender, receiver, priority) = (LpId(0), LpId(1), Priority::NORMAL);
    let event = Event { time, sequence, sender, receiver, step: 0, priority, payload };
    ValueMessage { tag: Tag::default(), incarnation: NonZeroU32::new(1), content: Content::Event(event) }
}

fn payload<E>(message: ValueMessage<E>) -> E {
    match message.content {
        Content::Event(event) => event.payload,
        Content::Anti { .. } | Content::Return { .. } => panic!("nothing was cancelled"),
    }
}

/// What has arrived in a mailbox: numbers of messages in buffers, and of those by value.
#[derive(Default)]
struct Received {
    messages: Vec<Message>,
    values: Vec<u32>,
}

impl Received {
    fn receive(&mut self, port: &mut impl Port<u32>) {
        port.receive(&mut self.messages);
        port.look_for_values();
        port.receive_values(&mut |message| self.values.push(payload(message)));
    }

    fn len(&self) -> usize {
        self.messages.len() + self.values.len()
    }
}

/// Each number is there once, and those of one sender are in their order.
fn check_all(numbers: impl Iterator<Item = u32> + Clone, senders: u32) {
    for sender in 0..senders {
        assert!(numbers.clone().filter(|number| number % senders == sender).is_sorted(), "those of one sender keep their order");
    }
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..senders * MANY), "nothing is lost, and nothing comes twice");
}

/// Sends numbers that are this one modulo the number of senders, in buffers and by value.
fn send_all<P: Port<u32>>(port: &mut P, to: u32, number: u32, senders: u32) {
    let numbers = || (0..MANY).map(move |n| senders * n + number);
    let messages: Vec<Message> = numbers().map(message).collect();
    let (mut sent, mut values) = (0, numbers().peekable());
    let mut unread = Vec::new();
    while sent < messages.len() || values.peek().is_some() {
        let some = &messages[sent..messages.len().min(sent + 10)];
        let taken = if some.is_empty() { 0 } else { port.send(to, some) };
        sent += taken;
        let mut refused = false;
        for _ in 0..10 {
            let Some(next) = values.peek() else { break };
            refused = port.send_value(to, value(*next)).is_err();
            if refused {
                break;
            }
            values.next();
        }
        port.flush();
        // As in every step of a PE.
        port.receive(&mut unread);
        if taken < some.len() || refused {
            thread::yield_now();
        }
    }
    assert!(unread.is_empty());
}

fn nothing_is_lost_or_doubled<M: Mailbox>() {
    let mut senders = M::ports::<u32>(4);
    let mut receiver = senders.remove(1);
    let (mut received, done) = (Received::default(), AtomicU64::new(0));
    thread::scope(|scope| {
        for (mut sender, number) in senders.into_iter().zip(0..) {
            let done = &done;
            scope.spawn(move || {
                send_all(&mut sender, 1, number, 3);
                // What was kept back goes out with its next steps.
                while done.load(Ordering::Relaxed) == 0 {
                    sender.receive(&mut Vec::new());
                    thread::yield_now();
                }
            });
        }
        let mut looks = 0u64;
        while received.len() < 6 * MANY as usize {
            received.receive(&mut receiver);
            looks += 1;
            // Now and then it is slow.
            if looks % 64 < 8 {
                thread::yield_now();
            }
        }
        done.store(1, Ordering::Relaxed);
    });
    received.receive(&mut receiver);
    check_all(received.messages.iter().map(|message| message.event.bits()), 3);
    check_all(received.values.iter().copied(), 3);
}

/// A word says how many messages were handed over before it. Whoever has seen it, and looks then, finds them.
fn no_word_overtakes_a_message<M: Mailbox>() {
    let [mut sender, mut receiver] = <[_; 2]>::try_from(M::ports::<u32>(2)).ok().expect("two PEs");
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut messages, mut values) = (0, 0);
            let mut full = 0u32;
            while messages < MANY || values < MANY {
                messages += if messages < MANY { sender.send(1, &[message(messages)]) as u32 } else { 0 };
                for _ in 0..3 {
                    values += u32::from(values < MANY && sender.send_value(1, value(values)).is_ok());
                }
                sender.flush();
                sender.publish(u64::from(messages) << 32 | u64::from(values));
                full += 1;
                if full.is_multiple_of(16) {
                    thread::yield_now();
                }
            }
            while sender.bound(1) == 0 {
                sender.receive(&mut Vec::new());
                thread::yield_now();
            }
        });
        let mut received = Received::default();
        while received.len() < 2 * MANY as usize {
            let word = receiver.bound(0);
            let (messages, values) = ((word >> 32) as usize, (word & u64::from(u32::MAX)) as usize);
            received.receive(&mut receiver);
            assert!(received.messages.len() >= messages, "{} messages of {messages}", received.messages.len());
            assert!(received.values.len() >= values, "{} values of {values}", received.values.len());
        }
        receiver.publish(1);
    });
}

/// The same with words of rounds, of which the next is published only after the other PE's word for the last.
fn no_word_of_a_round_overtakes_a_message<M: Mailbox>() {
    let rounds = if cfg!(miri) { 20 } else { 2000u64 };
    let each = if cfg!(miri) { 3 } else { 700u32 };
    let ports = M::ports::<u32>(2);
    thread::scope(|scope| {
        for (mut port, me) in ports.into_iter().zip(0..) {
            scope.spawn(move || {
                let mut received = Received::default();
                for round in 1..=rounds {
                    let mut sent = 0;
                    // More than a PE may keep back, now and then.
                    let many = if round % 16 == 0 { each } else { 2 };
                    while sent < many {
                        match port.send_value(1 - me, value(sent)) {
                            Ok(()) => sent += 1,
                            Err(_) => {
                                port.flush();
                                received.receive(&mut port);
                            }
                        }
                    }
                    port.flush();
                    port.publish_round(round, u64::from(many));
                    let arrived = loop {
                        let word = port.word_of_round(1 - me, round);
                        received.receive(&mut port);
                        if let Some(word) = word {
                            break word;
                        }
                        thread::yield_now();
                    };
                    assert!(received.values.len() as u64 >= arrived, "{} of {arrived} in round {round}", received.values.len());
                    received.values.drain(..arrived as usize);
                }
                // The last word may wait for messages.
                port.flush();
            });
        }
    });
}

/// A mailbox that nobody empties takes what it has room for, and the rest when there is room again.
fn a_full_mailbox_refuses_or_takes_all<M: Mailbox>() {
    let [mut sender, mut receiver] = <[_; 2]>::try_from(M::ports::<u32>(2)).ok().expect("two PEs");
    let (mut messages, mut values) = (0, 0);
    for _ in 0..MANY {
        messages += sender.send(1, &[message(messages)]) as u32;
        values += u32::from(sender.send_value(1, value(values)).is_ok());
        sender.flush();
    }
    assert_eq!(messages < MANY && values < MANY, M::FILLS_UP && !cfg!(miri), "{messages} and {values} of {MANY}");
    sender.publish(1);
    let mut received = Received::default();
    while received.len() < (messages + values) as usize {
        received.receive(&mut receiver);
        sender.receive(&mut Vec::new());
    }
    assert_eq!((received.messages.len(), received.values.len()), (messages as usize, values as usize));
    assert_eq!((sender.send(1, &[message(messages)]), receiver.bound(0)), (1, 1));
    assert!(sender.send_value(1, value(values)).is_ok());
    sender.flush();
    received.receive(&mut receiver);
    assert!(received.messages.iter().map(|message| message.event.bits()).eq(0..=messages));
    assert!(received.values.into_iter().eq(0..=values));
}

/// GVT has to know of what is sent before its receiver does.
fn values_wait_for_the_flush<M: Mailbox>() {
    let [mut sender, mut receiver] = <[_; 2]>::try_from(M::ports::<u32>(2)).ok().expect("two PEs");
    assert!(sender.send_value(1, value(7)).is_ok());
    let mut received = Received::default();
    // Whatever else the sender does.
    sender.receive(&mut Vec::new());
    sender.publish(1);
    sender.publish_round(1, 1);
    received.receive(&mut receiver);
    assert_eq!(received.len(), 0);
    sender.flush();
    received.receive(&mut receiver);
    assert_eq!(received.values, [7]);
    // Nor does what was flushed before take it along.
    let flushed = (0..MANY).take_while(|number| {
        let sent = sender.send_value(1, value(*number)).is_ok();
        sender.flush();
        sent
    });
    let flushed = flushed.count() as u32;
    let is_full = flushed < MANY;
    received.receive(&mut receiver);
    sender.receive(&mut Vec::new());
    received.receive(&mut receiver);
    assert!(!M::FILLS_UP || is_full || cfg!(miri));
    assert!(sender.send_value(1, value(flushed)).is_ok());
    sender.receive(&mut Vec::new());
    received.receive(&mut receiver);
    assert!(received.values[1..].iter().copied().eq(0..flushed), "{} of {flushed}", received.values.len() - 1);
}

fn values_that_nobody_takes_are_dropped<M: Mailbox>() {
    let [mut sender, mut receiver] = <[_; 2]>::try_from(M::ports::<Arc<()>>(2)).ok().expect("two PEs");
    let payload = Arc::new(());
    let send = |sender: &mut M::Port<_>| assert!(sender.send_value(1, value(payload.clone())).is_ok());
    // One that is taken out, one that is not, and one that is not even sent.
    (0..2).for_each(|_| send(&mut sender));
    sender.flush();
    receiver.receive(&mut Vec::new());
    receiver.look_for_values();
    send(&mut sender);
    sender.flush();
    send(&mut sender);
    assert_eq!(Arc::strong_count(&payload), 5);
    drop((sender, receiver));
    assert_eq!(Arc::strong_count(&payload), 1);
}

macro_rules! suite {
    ($($kind:ident: $Kind:ident;)*) => {$(
        mod $kind {
            use super::$Kind;

            #[test]
            fn nothing_is_lost_or_doubled() {
                super::nothing_is_lost_or_doubled::<$Kind>();
            }

            #[test]
            fn no_word_overtakes_a_message() {
                super::no_word_overtakes_a_message::<$Kind>();
            }

            #[test]
            fn no_word_of_a_round_overtakes_a_message() {
                super::no_word_of_a_round_overtakes_a_message::<$Kind>();
            }

            #[test]
            fn a_full_mailbox_refuses_or_takes_all() {
                super::a_full_mailbox_refuses_or_takes_all::<$Kind>();
            }

            #[test]
            fn values_wait_for_the_flush() {
                super::values_wait_for_the_flush::<$Kind>();
            }

            #[test]
            fn values_that_nobody_takes_are_dropped() {
                super::values_that_nobody_takes_are_dropped::<$Kind>();
            }
        }
    )*};
}

suite! {
    per_sender: PerSender;
    shared: Shared;
    cas: Cas;
}

/// What was refused is counted.
#[test]
fn a_ring_that_is_full_is_counted() {
    let [mut sender, _receiver] = <[_; 2]>::try_from(Cas::ports::<u32>(2)).ok().expect("two PEs");
    let all: Vec<Message> = (0..MANY).map(message).collect();
    let sent = sender.send(1, &all);
    let counts = sender.refusals();
    assert_eq!((counts.pushed, counts.in_progress, counts.collisions), (sent as u64, 0, 0));
    assert_eq!(counts.full > 0, sent < all.len());
}
