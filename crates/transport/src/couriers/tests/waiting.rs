//! What waits: for a slow receiver, for a flush, and for more messages.

use std::time::Duration;

use warpline_kernel::{BoundPort, MessagePort, Port, ValuePort};
use warpline_model::WireFormat;

use super::receiver::{Receiver, message};
use super::{BY_PES, BY_THREADS, Process, Way, processes};
use crate::couriers::{CommunicationRing, Service};

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
            refused = ports[0].send_value(1, || message(0, 1, sent)).is_err();
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
            processes[0].ports[0].send_value(1, || message(0, 1, sent)).is_ok(),
            "there is room again"
        );
    }
}

#[test]
fn values_are_kept_back_until_they_are_flushed() {
    // GVT from registers announces them before they are flushed.
    for way in [BY_PES, BY_THREADS, Way { feed: CommunicationRing::PerSender, ..BY_THREADS }] {
        let mut processes = processes(WireFormat::portable(), &[1, 1], 1, way, 1024);
        let Process { ports, couriers, .. } = &mut processes[0];
        assert!(ports[0].send_value(1, || message(0, 1, 0)).is_ok());
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
            .take_while(|number| port.send_value(1, || message(0, 1, *number)).is_ok())
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
    assert!(processes[0].ports[0].send_value(1, || message(0, 1, 0)).is_ok());
    processes[0].ports[0].flush();
    for (hurries, received) in [(false, 0), (true, 1)] {
        (0..10).for_each(|_| {
            processes.iter().for_each(|process| _ = process.couriers.work(0, hurries))
        });
        receiver.receive(&mut processes[1].ports[0]);
        assert_eq!(receiver.received[0], received);
    }
}
