//! All PEs send each other messages, and all of them arrive, in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use warpline_kernel::gvt::{Control, Put};
use warpline_kernel::{BoundPort, ControlPort, MessagePort, Port, ValuePort};
use warpline_model::{Payload, WireFormat};

use super::receiver::{Receiver, message};
use super::{BY_PES, BY_THREADS, Process, Way, processes};
use crate::couriers::{CommunicationRing, CourierCounts, NodePort, Service};

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
            if *next < MESSAGES && port.send_value(to, || message(me, to, *next)).is_ok() {
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
                while sending.send_value(1, || message(0, 1, number)).is_err() {
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
