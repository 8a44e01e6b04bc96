//! Couriers among processes of a test, whose wires are late and refuse some of what they should
//! bring.

mod carrier;
mod exchange;
mod receiver;
mod trouble;
mod waiting;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpline_base::random::mix64;
use warpline_memory::Region;
use warpline_model::WireFormat;

use self::carrier::{TestCarrier, Wires};
use super::carrier::{Address, Carrier};
use super::{
    CarrierKind, CommunicationRing, CourierLimits, CourierPlan, Couriers, NodePort, Places,
    Service, node_ports,
};
use crate::{Codec, ControlPlan, Room};

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
