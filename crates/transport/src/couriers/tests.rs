use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use warpline_base::random::mix64;
use warpline_base::{LpId, Priority, Sequence, VirtualTime};
use warpline_kernel::gvt::{Control, Put, Tag};
use warpline_kernel::{
    BoundPort, Content, ControlPort, Event, MessagePort, Port, ValueMessage, ValuePort,
};
use warpline_memory::Region;
use warpline_model::{Payload, WireFormat};

use super::carrier::{Address, Carrier};
use super::{
    CarrierKind, CommunicationRing, CourierCounts, CourierLimits, CourierPlan, Couriers, NodePort,
    Places, Service, node_ports,
};
use crate::{Codec, ControlPlan, Room};

/// Pieces on their way, by receiver.
type Wires = Arc<Mutex<Vec<(Address, VecDeque<Vec<u8>>)>>>;

/// Brings pieces to other processes of a test, late, and refuses some.
struct TestCarrier {
    me: Address,
    wires: Wires,
    chance: u64,
    /// It refuses one of this many pieces.
    refuses: u64,
    /// Whether it takes nothing and brings nothing.
    stuck: Arc<Mutex<bool>>,
}

impl TestCarrier {
    fn below(&mut self, bound: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.chance) % bound
    }
}

impl Carrier for TestCarrier {
    fn has_room(&mut self, _: Address) -> Result<bool, String> {
        Ok(!*self.stuck.lock().unwrap() && self.below(self.refuses) > 0)
    }

    fn send(&mut self, to: Address, piece: &[u8]) -> Result<bool, String> {
        // Even after `has_room` has said so, there may be none.
        if self.below(self.refuses) == 0 {
            return Ok(false);
        }
        let mut wires = self.wires.lock().unwrap();
        let (_, wire) = wires.iter_mut().find(|(address, _)| *address == to).expect("a receiver");
        wire.push_back(piece.to_vec());
        Ok(true)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        let some = self.below(4) as usize;
        if *self.stuck.lock().unwrap() {
            return Ok(false);
        }
        let mut wires = self.wires.lock().unwrap();
        let (_, wire) =
            wires.iter_mut().find(|(address, _)| *address == self.me).expect("this one");
        let some = some.min(wire.len());
        wire.drain(..some).for_each(|piece| take(&piece));
        Ok(some > 0)
    }

    fn progress(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}

/// A process of a test.
pub(crate) struct Process<E> {
    pub(crate) ports: Vec<NodePort<E>>,
    pub(crate) couriers: Couriers<E>,
    stuck: Arc<Mutex<bool>>,
    wires: Wires,
}

/// How messages are handed over, who works for couriers, and whether GVT writes or sends.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) feed: CommunicationRing,
    pub(crate) service: Service,
    pub(crate) one_sided: bool,
    /// How long the first message of a batch waits for others.
    pub(crate) age: Duration,
    /// How much rings hold.
    pub(crate) room: Room,
}

/// Every PE works for itself.
pub(crate) const BY_PES: Way = Way {
    feed: CommunicationRing::PerSender,
    service: Service::FirstPes,
    one_sided: true,
    age: Duration::ZERO,
    room: Room::Ample,
};
pub(crate) const BY_THREADS: Way = Way {
    feed: CommunicationRing::Cas,
    service: Service::Threads,
    one_sided: false,
    age: Duration::ZERO,
    room: Room::Ample,
};

/// Processes with these numbers of PEs.
pub(crate) fn processes<E: Send>(
    format: WireFormat<E>,
    pes: &[u32],
    couriers: u32,
    way: Way,
    batch: usize,
) -> Vec<Process<E>> {
    let Way { feed, service, one_sided, age, room } = way;
    let first_pes: Vec<u32> = std::iter::once(0)
        .chain(pes.iter().scan(0, |sum, pes| {
            *sum += pes;
            Some(*sum)
        }))
        .collect();
    let all = *first_pes.last().unwrap();
    let neighbours = (0..all).map(|me| (0..all).filter(|pe| *pe != me).collect()).collect();
    let controls = ControlPlan { neighbours, one_sided, room };
    let places = |process: u32| Places {
        process,
        near: first_pes[process as usize]..first_pes[process as usize + 1],
        first_pes: first_pes.clone(),
        couriers,
    };
    let addresses = (0..pes.len() as u32).flat_map(|process| {
        let couriers = places(process).couriers_of(process);
        (0..couriers).map(move |courier| Address { process, courier })
    });
    let wires: Wires =
        Arc::new(Mutex::new(addresses.clone().map(|address| (address, VecDeque::new())).collect()));
    let make = |process: u32| {
        let limits = CourierLimits { piece: batch.max(256), batch, age, in_flight: 8 };
        let plan = CourierPlan {
            places: places(process),
            feed,
            carrier: CarrierKind::Rings,
            limits,
            bounds: true,
        };
        let stuck = Arc::new(Mutex::new(false));
        let carrier = |me: Address| {
            let chance = mix64(u64::from(me.process) << 32 | u64::from(me.courier));
            Box::new(TestCarrier {
                me,
                wires: wires.clone(),
                chance,
                refuses: 3,
                stuck: stuck.clone(),
            }) as Box<dyn Carrier>
        };
        let carriers =
            addresses.clone().filter(|address| address.process == process).map(carrier).collect();
        let codec = Codec::new(format);
        let (ports, couriers) =
            node_ports(&Region::own(), None, &controls, codec, (&plan, service), carriers);
        Process { ports, couriers, stuck, wires: wires.clone() }
    };
    (0..pes.len() as u32).map(make).collect()
}

/// The `number`-th message from one PE to another.
fn message(from: u32, to: u32, number: u64) -> ValueMessage<Payload> {
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
        payload,
    };
    ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) }
}

/// Receives for a PE, and counts what has arrived.
struct Receiver {
    me: u32,
    /// By sender: how many messages.
    received: Vec<u64>,
    /// Likewise: how many control messages.
    controls: Vec<u64>,
    /// Likewise: the largest number written.
    puts: Vec<u64>,
    rounds: u64,
}

impl Receiver {
    fn new(me: u32, pes: u32) -> Self {
        let none = vec![0; pes as usize];
        Receiver { me, received: none.clone(), controls: none.clone(), puts: none, rounds: 0 }
    }

    /// Receives, and checks that messages come in order, each as it was sent, and none after a
    /// bound that was published after it.
    fn receive(&mut self, port: &mut NodePort<Payload>) {
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
        port.receive_values(&mut |found| {
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

/// How many messages each PE sends to each other one in [`exchange`].
const MESSAGES: u64 = 120;

/// A PE that sends to all others and receives from them.
struct Peer {
    receiver: Receiver,
    /// By receiver: how many messages it has sent.
    sent: Vec<u64>,
    /// The last round for which it has published a bound.
    round: u64,
}

impl Peer {
    fn new(me: u32, pes: u32) -> Self {
        Peer { receiver: Receiver::new(me, pes), sent: vec![0; pes as usize], round: 0 }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.receiver.me as usize;
        (0..self.sent.len()).filter(move |pe| *pe != me)
    }

    /// Receives, and sends each other PE one message more.
    fn step(&mut self, port: &mut NodePort<Payload>, one_sided: bool) {
        let me = self.receiver.me;
        self.receiver.receive(port);
        for pe in self.others() {
            let to = pe as u32;
            let next = &mut self.sent[pe];
            if *next < MESSAGES && port.send_value(to, message(me, to, *next)).is_ok() {
                *next += 1;
                if one_sided {
                    port.write(to, Put::JumpStart(*next));
                } else {
                    port.send_control(to, Control::Begin { from: me, epoch: *next - 1 });
                }
            }
        }
        port.flush();
        // As many messages as it has sent to each of the others so far.
        port.publish(self.others().map(|to| self.sent[to]).min().unwrap());
        if self.receiver.rounds == self.round && self.round < 50 {
            self.round += 1;
            port.publish_round(self.round, 100 + self.round);
        }
    }

    /// Whether it has received everything from all others.
    fn is_done(&self, one_sided: bool) -> bool {
        let Receiver { received, controls, puts, .. } = &self.receiver;
        let told = if one_sided { puts } else { controls };
        self.others().all(|pe| received[pe] == MESSAGES && told[pe] == MESSAGES)
    }
}

/// All PEs send each other messages, by turns, until all have arrived.
fn exchange(pes: &[u32], couriers: u32, way: Way, batch: usize) {
    let all: u32 = pes.iter().sum();
    let mut processes = processes(WireFormat::portable(), pes, couriers, way, batch);
    let mut peers: Vec<Peer> = (0..all).map(|me| Peer::new(me, all)).collect();
    let mut turns = 0;
    while !peers.iter().all(|peer| peer.is_done(way.one_sided)) {
        turns += 1;
        assert!(
            turns < 100_000,
            "messages get lost: {:?}",
            peers.iter().map(|peer| &peer.receiver.received).collect::<Vec<_>>()
        );
        let mut peers = peers.iter_mut();
        for process in &mut processes {
            for (port, peer) in process.ports.iter_mut().zip(peers.by_ref()) {
                peer.step(port, way.one_sided);
            }
            if process.couriers.service() == Service::Threads {
                (0..process.couriers.len())
                    .for_each(|number| _ = process.couriers.work(number, false));
            }
            assert_eq!(process.couriers.trouble(), None);
        }
    }
    close(&processes);
    let counts = processes
        .iter()
        .map(|process| process.couriers.counts())
        .fold(CourierCounts::default(), |all, one| all + one);
    let far: u64 = pes.iter().map(|own| u64::from(own * (all - own))).sum();
    assert_eq!(counts.values, far * MESSAGES);
    assert!(counts.refused > 0 && counts.batches > 0);
}

fn close(processes: &[Process<Payload>]) {
    let closed = (0..100_000).any(|_| {
        let closed = processes.iter().map(|process| process.couriers.close().unwrap());
        closed.fold(true, |all, one| all & one)
    });
    assert!(closed, "they do not come to an end");
}

#[test]
fn every_pe_sends_for_itself() {
    exchange(&[2, 1, 3], u32::MAX, BY_PES, 256);
    exchange(&[1, 1], u32::MAX, Way { one_sided: false, ..BY_PES }, 4096);
    // Each record for itself.
    exchange(&[2, 2], u32::MAX, BY_PES, 0);
}

#[test]
fn one_pe_sends_for_all() {
    exchange(&[3, 2], 1, BY_PES, 300);
    exchange(&[3, 2], 1, Way { feed: CommunicationRing::Cas, one_sided: false, ..BY_PES }, 300);
}

#[test]
fn threads_send_for_all() {
    exchange(&[3, 1, 2], 2, BY_THREADS, 256);
    exchange(
        &[2, 2],
        1,
        Way { feed: CommunicationRing::PerSender, one_sided: true, ..BY_THREADS },
        16_384,
    );
}

#[test]
fn a_slow_receiver_holds_senders_up_and_nothing_is_lost() {
    for way in [BY_PES, BY_THREADS] {
        let mut processes = processes(WireFormat::portable(), &[1, 1], 1, way, 1024);
        *processes[0].stuck.lock().unwrap() = true;
        let mut sent = 0;
        let mut refused = false;
        while !refused {
            assert!(sent < 100_000, "there is no end to what is accepted");
            let Process { ports, couriers, .. } = &mut processes[0];
            refused = ports[0].send_value(1, message(0, 1, sent)).is_err();
            sent += u64::from(!refused);
            ports[0].flush();
            ports[0].receive(&mut Vec::new());
            (0..couriers.len())
                .filter(|_| couriers.service() == Service::Threads)
                .for_each(|number| _ = couriers.work(number, false));
        }
        *processes[0].stuck.lock().unwrap() = false;
        let mut receiver = Receiver::new(1, 2);
        for _ in 0..100_000 {
            for process in &mut processes {
                process.ports[0].receive(&mut Vec::new());
                (0..process.couriers.len())
                    .for_each(|number| _ = process.couriers.work(number, false));
            }
            receiver.receive(&mut processes[1].ports[0]);
            if receiver.received[0] == sent {
                break;
            }
        }
        assert_eq!(receiver.received[0], sent);
        assert!(
            processes[0].ports[0].send_value(1, message(0, 1, sent)).is_ok(),
            "there is room again"
        );
    }
}

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
            payload: Secret,
        };
        let sent =
            ValueMessage { tag: Tag::default(), incarnation: None, content: Content::Event(event) };
        let Process { ports, couriers, .. } = &mut processes[0];
        assert!(ports[0].send_value(1, sent).is_ok());
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

#[test]
fn values_are_kept_back_until_they_are_flushed() {
    // GVT from registers announces them before they are flushed.
    for way in [BY_PES, BY_THREADS, Way { feed: CommunicationRing::PerSender, ..BY_THREADS }] {
        let mut processes = processes(WireFormat::portable(), &[1, 1], 1, way, 1024);
        let Process { ports, couriers, .. } = &mut processes[0];
        assert!(ports[0].send_value(1, message(0, 1, 0)).is_ok());
        couriers.work(0, false);
        assert_eq!(couriers.counts().values, 0, "{:?}", way.feed);
        ports[0].flush();
        couriers.work(0, false);
        assert_eq!(couriers.counts().values, 1, "{:?}", way.feed);
    }
}

#[test]
fn a_bound_waits_for_what_found_no_room() {
    for feed in [CommunicationRing::PerSender, CommunicationRing::Cas] {
        let mut processes =
            processes(WireFormat::portable(), &[1, 1], 1, Way { feed, ..BY_THREADS }, 1 << 20);
        let port = &mut processes[0].ports[0];
        // More than a ring holds.
        let sent = (0..10_000)
            .take_while(|number| port.send_value(1, message(0, 1, *number)).is_ok())
            .count() as u64;
        port.flush();
        // All that was accepted counts as sent.
        port.publish(sent);
        let mut receiver = Receiver::new(1, 2);
        for _ in 0..1000 {
            processes.iter().for_each(|process| _ = process.couriers.work(0, false));
            receiver.receive(&mut processes[1].ports[0]);
        }
        assert!(
            receiver.received[0] < sent || feed == CommunicationRing::PerSender,
            "{feed:?}: all found room"
        );
        for _ in 0..1000 {
            processes[0].ports[0].receive(&mut Vec::new());
            processes.iter().for_each(|process| _ = process.couriers.work(0, false));
            receiver.receive(&mut processes[1].ports[0]);
        }
        assert_eq!((receiver.received[0], processes[1].ports[0].bound(0)), (sent, sent));
    }
}

/// A batch waits for more messages, unless PEs are waiting for those that it has.
#[test]
fn a_courier_that_hurries_keeps_nothing_back() {
    let way = Way { age: Duration::from_secs(3600), ..BY_THREADS };
    let mut processes = processes(WireFormat::portable(), &[1, 1], 1, way, 1 << 20);
    let mut receiver = Receiver::new(1, 2);
    assert!(processes[0].ports[0].send_value(1, message(0, 1, 0)).is_ok());
    processes[0].ports[0].flush();
    for (hurries, received) in [(false, 0), (true, 1)] {
        (0..10).for_each(|_| {
            processes.iter().for_each(|process| _ = process.couriers.work(0, hurries))
        });
        receiver.receive(&mut processes[1].ports[0]);
        assert_eq!(receiver.received[0], received);
    }
}

/// Ends the other threads of a test, even if this one panics.
struct Over<'t>(&'t AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn bounds_never_overtake_messages_between_threads() {
    const MESSAGES: u64 = 3000;
    let processes = processes(WireFormat::portable(), &[1, 1], 1, BY_THREADS, 512);
    let (mut ports, couriers): (Vec<_>, Vec<_>) =
        processes.into_iter().map(|Process { ports, couriers, .. }| (ports, couriers)).unzip();
    let mut receiving = ports.pop().unwrap().remove(0);
    let mut sending = ports.pop().unwrap().remove(0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for couriers in &couriers {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    couriers.work(0, false);
                }
            });
        }
        scope.spawn(|| {
            for number in 0..MESSAGES {
                while sending.send_value(1, message(0, 1, number)).is_err() {
                    sending.receive(&mut Vec::new());
                }
                sending.flush();
                sending.publish(number + 1);
            }
            while !is_over.load(Ordering::Relaxed) {
                sending.receive(&mut Vec::new());
            }
        });
        let mut receiver = Receiver::new(1, 2);
        let _over = Over(&is_over);
        let since = Instant::now();
        while receiver.received[0] < MESSAGES || receiving.bound(0) < MESSAGES {
            assert!(since.elapsed() < Duration::from_secs(60), "messages get lost");
            receiver.receive(&mut receiving);
        }
    });
}
