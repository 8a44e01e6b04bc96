//! The network of a modelled machine: all PEs in one thread, and messages that take as long as the
//! machine says.
//!
//! Invariant: what a step sends leaves when the step ends, in the order of the ends of steps, and
//! nothing arrives before it has left. So whoever steps the PEs in the order of machine time finds
//! in a mailbox all that has arrived by then. What is kept is proportional to the PEs and to what
//! is in transit; nothing is kept for pairs of PEs.

mod arrivals;
mod bounds;
mod distances;
mod mailbox;
mod network;
mod port;
mod slots;
mod wires;

use std::sync::Arc;

use warpline_machine::Machine;

pub use mailbox::Opened;
pub use network::ModelledNetwork;
pub use port::ModelledPort;
pub use wires::{Arrival, Departed, MailboxUse, ModelledWires, Sent};

/// A network of so many PEs, one on each core of the machine from the first on, and their ports.
/// `payload` gives the bytes of the payload of an event that do not lie in the message itself.
pub fn modelled_ports<E>(
    machine: &Arc<Machine>,
    pes: u32,
    payload: fn(&E) -> u64,
) -> (ModelledNetwork<E>, Vec<ModelledPort<E>>) {
    let network = ModelledNetwork::new(machine, pes, payload);
    let ports = (0..pes).map(|me| ModelledPort::new(me, network.clone())).collect();
    (network, ports)
}
