//! How processing elements (PEs) reach each other. Between threads: by a ring for each pair, by
//! one inbox for each PE, or by one ring for each PE that all others share. Between processes: by
//! couriers. In a virtual cluster, which lives in one thread: by a network that delays, reorders
//! and refuses messages at random, from a seed. On a modelled machine, likewise in one thread: by a
//! network that takes as long as the machine says.

mod any_port;
mod cas_port;
mod codec;
mod controls;
mod couriers;
mod group;
mod inbox;
mod modelled;
mod pin;
#[cfg(test)]
mod port_tests;
mod printed;
mod rings;
mod room;
mod tally;
mod virtual_cluster;

pub use any_port::AnyPort;
pub use cas_port::{CasPort, cas_port_bytes, cas_ports, cas_ports_in};
pub use codec::{Codec, Decoded};
pub use controls::ControlPlan;
pub use couriers::{
    Address, Carrier, CarrierKind, CarrierMedium, CommunicationRing, CourierCounts, CourierLimits,
    CourierPlan, Couriers, NodePort, Places, PluggedCarriers, Service, node_ports,
};
pub use group::{CpuShare, FailureReporter, Group, Invitation, Lost, Ranks, RunId};
pub use inbox::{InboxPort, inbox_ports};
pub use modelled::{
    Arrival, Departed, MailboxUse, ModelledNetwork, ModelledPort, ModelledWires, Opened, Sent,
    modelled_ports, parts_of_machine,
};
pub use pin::{pin, thread_time};
pub use printed::PrintCatcher;
pub use rings::{RingPort, ring_port_bytes, ring_ports};
pub use room::Room;
pub use tally::{Fold, Tally};
pub use virtual_cluster::{VirtualCluster, VirtualPort};
