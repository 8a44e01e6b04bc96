//! The guarantees of every kind of port: one suite for all of them, with rings of the usual size
//! and with the smallest possible.

mod kinds;
mod waiting;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use warpline_base::{EventKind, LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::Tag;
use warpline_kernel::{
    BoundPort, Content, Event, Message, MessageKind, MessagePort, Port, ValueMessage, ValuePort,
};
use warpline_memory::Handle;

use self::kinds::{
    Cas, CasAmongMany, Chosen, Counted, Kind, Making, PerSender, Shared, SharedAmongMany, Virtual,
    Wired,
};
#[cfg(not(miri))]
use self::kinds::{FarByCas, FarByPes, FarByRings};
use self::waiting::{
    no_bound_of_a_round_is_lost_while_it_waits, values_wait_for_the_flush,
    what_found_no_room_leaves_by_flushing_alone, what_found_no_room_leaves_by_receiving_alone,
};
use crate::Room;

/// More than any mailbox with this room holds.
fn many(room: Room) -> u32 {
    match room {
        _ if cfg!(miri) => 200,
        Room::Ample => 20_000,
        Room::Least => 300,
    }
}

/// How many of them go in buffers.
fn buffers<K: Kind>(room: Room) -> u32 {
    if K::SHARES { many(room) } else { 0 }
}

fn ports<K: Kind, E: Wired>(pes: usize, room: Room) -> Vec<K::Port<E>> {
    K::ports(pes, Making { room, one_sided: false })
}

fn two_ports<K: Kind, E: Wired>(room: Room) -> [K::Port<E>; 2] {
    <[_; 2]>::try_from(ports::<K, E>(2, room)).ok().expect("two PEs")
}

fn message(number: u32) -> Message {
    Message { event: Handle::from_bits(number), tag: Tag::default(), kind: MessageKind::Event }
}

fn value<E>(payload: E) -> ValueMessage<E> {
    let event = Event {
        time: VirtualTime::ZERO,
        sequence: Sequence::first_of(1),
        sender: LpId(0),
        receiver: LpId(1),
        step: 0,
        priority: Priority::NORMAL,
        kind: EventKind::Plain,
        payload,
    };
    ValueMessage {
        tag: Tag::default(),
        incarnation: NonZeroU32::new(1),
        content: Content::Event(event),
    }
}

fn payload<E>(message: ValueMessage<E>) -> E {
    match message.content {
        Content::Event(event) => event.payload,
        Content::Anti { .. } | Content::Return { .. } => panic!("nothing was cancelled"),
    }
}

/// The messages that have arrived in a mailbox, in buffers and by value.
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

/// Checks that each number below `many` has arrived once from each sender, and that those of one
/// sender are in order.
fn check_all(numbers: impl Iterator<Item = u32> + Clone, senders: u32, many: u32) {
    for sender in 0..senders {
        assert!(
            numbers.clone().filter(|number| number % senders == sender).is_sorted(),
            "those of one sender keep their order"
        );
    }
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..senders * many), "nothing is lost, and nothing comes twice");
}

/// Sends numbers that are this one modulo the number of senders, in buffers and by value.
fn send_all<K: Kind>(port: &mut K::Port<u32>, to: u32, number: u32, senders: u32, room: Room) {
    let numbers = |many| (0..many).map(move |n| senders * n + number);
    let messages: Vec<Message> = numbers(buffers::<K>(room)).map(message).collect();
    let mut values = numbers(many(room)).peekable();
    let mut sent = 0;
    let mut unread = Vec::new();
    while sent < messages.len() || values.peek().is_some() {
        let some = &messages[sent..messages.len().min(sent + 10)];
        let taken = if some.is_empty() { 0 } else { port.send(to, some) };
        sent += taken;
        let mut refused = false;
        for _ in 0..10 {
            let Some(next) = values.peek() else { break };
            refused = port.send_value(to, || value(*next)).is_err();
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

fn nothing_is_lost_or_doubled<K: Kind>(room: Room) {
    let mut senders = ports::<K, u32>(4, room);
    let mut receiver = senders.remove(1);
    let mut received = Received::default();
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for (mut sender, number) in senders.into_iter().zip(0..) {
            let done = &done;
            scope.spawn(move || {
                send_all::<K>(&mut sender, 1, number, 3, room);
                // Messages that were kept back leave in its next steps.
                while done.load(Ordering::Relaxed) == 0 {
                    sender.receive(&mut Vec::new());
                    thread::yield_now();
                }
            });
        }
        let mut looks = 0u64;
        while received.len() < 3 * (buffers::<K>(room) + many(room)) as usize {
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
    check_all(received.messages.iter().map(|message| message.event.bits()), 3, buffers::<K>(room));
    check_all(received.values.iter().copied(), 3, many(room));
}

/// A bound says how many messages were handed over before it. Whoever has seen it, and looks then,
/// finds them.
fn no_bound_overtakes_a_message<K: Kind>(room: Room) {
    let [mut sender, mut receiver] = two_ports::<K, u32>(room);
    let messages_most = buffers::<K>(room);
    let values_most = many(room);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut messages = 0;
            let mut values = 0;
            let mut steps = 0u32;
            while messages < messages_most || values < values_most {
                messages += if messages < messages_most {
                    sender.send(1, &[message(messages)]) as u32
                } else {
                    0
                };
                for _ in 0..3 {
                    values += u32::from(
                        values < values_most && sender.send_value(1, || value(values)).is_ok(),
                    );
                }
                sender.flush();
                sender.publish(u64::from(messages) << 32 | u64::from(values));
                sender.receive(&mut Vec::new());
                steps += 1;
                if steps.is_multiple_of(16) {
                    thread::yield_now();
                }
            }
            while sender.bound(1) == 0 {
                sender.receive(&mut Vec::new());
                thread::yield_now();
            }
        });
        let mut received = Received::default();
        while received.len() < (messages_most + values_most) as usize {
            let bound = receiver.bound(0);
            let messages = (bound >> 32) as usize;
            let values = bound as u32 as usize;
            received.receive(&mut receiver);
            assert!(
                received.messages.len() >= messages,
                "{} messages of {messages}",
                received.messages.len()
            );
            assert!(
                received.values.len() >= values,
                "{} values of {values}",
                received.values.len()
            );
        }
        receiver.publish(1);
        (0..100).for_each(|_| receiver.receive(&mut Vec::new()));
    });
}

/// The same with bounds of rounds. A PE publishes for the next round only after it has found the
/// other PE's bound for the last.
fn no_bound_of_a_round_overtakes_a_message<K: Kind>(room: Room) {
    let (rounds, each) = match room {
        _ if cfg!(miri) => (20u64, 3u32),
        Room::Ample if K::SHARES => (2000, 700),
        _ => (200, 20),
    };
    let ports = ports::<K, u32>(2, room);
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for (mut port, me) in ports.into_iter().zip(0..) {
            let done = &done;
            scope.spawn(move || {
                let mut received = Received::default();
                for round in 1..=rounds {
                    let mut sent = 0;
                    // More than a PE may keep back, now and then.
                    let many = if round % 16 == 0 { each } else { 2 };
                    while sent < many {
                        match port.send_value(1 - me, || value(sent)) {
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
                        let bound = port.bound_of_round(1 - me, round);
                        received.receive(&mut port);
                        if let Some(bound) = bound {
                            break bound;
                        }
                        thread::yield_now();
                    };
                    assert!(
                        received.values.len() as u64 >= arrived,
                        "{} of {arrived} in round {round}",
                        received.values.len()
                    );
                    received.values.drain(..arrived as usize);
                }
                // The last bound may wait for messages.
                done.fetch_add(1, Ordering::Relaxed);
                while done.load(Ordering::Relaxed) < 2 {
                    port.flush();
                    K::serve(&mut port);
                    thread::yield_now();
                }
            });
        }
    });
}

/// A mailbox that nobody empties takes as much as it has room for, and the rest when there is room
/// again.
fn a_full_mailbox_refuses_or_takes_all<K: Kind>(room: Room) {
    let [mut sender, mut receiver] = two_ports::<K, u32>(room);
    let many = many(room);
    let mut messages = 0;
    let mut values = 0;
    for _ in 0..many {
        messages += if K::SHARES { sender.send(1, &[message(messages)]) as u32 } else { 0 };
        values += u32::from(sender.send_value(1, || value(values)).is_ok());
        sender.flush();
    }
    assert_eq!(
        messages < many && values < many,
        K::FILLS_UP && !cfg!(miri) || !K::SHARES && values < many,
        "{messages}, {values} of {many}"
    );
    sender.publish(1);
    let mut received = Received::default();
    while received.len() < (messages + values) as usize {
        received.receive(&mut receiver);
        sender.receive(&mut Vec::new());
    }
    assert_eq!(
        (received.messages.len(), received.values.len()),
        (messages as usize, values as usize)
    );
    until(|| {
        sender.receive(&mut Vec::new());
        received.receive(&mut receiver);
        receiver.bound(0) == 1
    });
    if K::SHARES {
        assert_eq!(sender.send(1, &[message(messages)]), 1);
        messages += 1;
    }
    assert!(sender.send_value(1, || value(values)).is_ok());
    sender.flush();
    until(|| {
        sender.receive(&mut Vec::new());
        received.receive(&mut receiver);
        received.values.len() == values as usize + 1
    });
    assert!(received.messages.iter().map(|message| message.event.bits()).eq(0..messages));
    assert!(received.values.into_iter().eq(0..=values));
}

/// Calls `done` until it returns true, and fails if it never does.
fn until(mut done: impl FnMut() -> bool) {
    assert!((0..100_000).any(|_| done()), "it never happens");
}

fn values_that_nobody_takes_are_dropped<K: Kind>(room: Room) {
    let [mut sender, mut receiver] = two_ports::<K, Counted>(room);
    let send =
        |sender: &mut K::Port<_>| assert!(sender.send_value(1, || value(Counted::new())).is_ok());
    // Two that the receiver has looked for, one that is only sent, and one not even flushed.
    (0..2).for_each(|_| send(&mut sender));
    sender.flush();
    receiver.receive(&mut Vec::new());
    receiver.look_for_values();
    if room == Room::Ample {
        send(&mut sender);
        sender.flush();
        send(&mut sender);
        // Values that have become bytes do not count.
        assert!(Counted::live() == 4 || !K::SHARES);
    }
    drop((sender, receiver));
    assert_eq!(Counted::live(), 0);
}

macro_rules! suite {
    ($kind:ident: $Kind:ident, $room:ident, [$($test:ident)*]) => {
        mod $kind {
            use super::{$Kind, Room};

            $(#[test]
            fn $test() {
                super::$test::<$Kind>(Room::$room);
            })*
        }
    };
    // The tests for all kinds of ports.
    ($kind:ident: $Kind:ident, $room:ident, [$($test:ident)*], and those for all) => {
        suite! {
            $kind: $Kind, $room, [
                $($test)*
                values_wait_for_the_flush
                what_found_no_room_leaves_by_flushing_alone
                what_found_no_room_leaves_by_receiving_alone
                no_bound_of_a_round_is_lost_while_it_waits
            ]
        }
    };
    // Also the tests for ports that keep the order of what one PE sends another.
    ($kind:ident: $Kind:ident, $room:ident) => {
        suite! {
            $kind: $Kind, $room, [
                nothing_is_lost_or_doubled
                no_bound_overtakes_a_message
                no_bound_of_a_round_overtakes_a_message
                a_full_mailbox_refuses_or_takes_all
                values_that_nobody_takes_are_dropped
            ], and those for all
        }
    };
}

/// Both suites of each kind: with rings as they usually are, and with the smallest.
macro_rules! suites {
    ($($(#[$when:meta])? $kind:ident, $least:ident: $Kind:ident;)*) => {$(
        $(#[$when])?
        suite! { $kind: $Kind, Ample }
        $(#[$when])?
        suite! { $least: $Kind, Least }
    )*};
}

suites! {
    per_sender, per_sender_least: PerSender;
    shared, shared_least: Shared;
    cas, cas_least: Cas;
    shared_among_many, shared_among_many_least: SharedAmongMany;
    cas_among_many, cas_among_many_least: CasAmongMany;
    chosen, chosen_least: Chosen;
    #[cfg(not(miri))]
    far_by_pes, far_by_pes_least: FarByPes;
    #[cfg(not(miri))]
    far_by_rings, far_by_rings_least: FarByRings;
    #[cfg(not(miri))]
    far_by_cas, far_by_cas_least: FarByCas;
}

suite! { virtual_cluster: Virtual, Ample, [], and those for all }

/// Refused messages are counted.
#[test]
fn a_ring_that_is_full_is_counted() {
    let [mut sender, _receiver] = two_ports::<Cas, u32>(Room::Ample);
    let all: Vec<Message> = (0..many(Room::Ample)).map(message).collect();
    let sent = sender.send(1, &all);
    let counts = sender.refusals();
    assert_eq!((counts.pushed, counts.in_progress, counts.collisions), (sent as u64, 0, 0));
    assert_eq!(counts.full > 0, sent < all.len());
}
