//! The network of a modelled machine: PEs take turns in a thread, or in one for each part of the
//! machine, and messages take as long as the machine says.
//!
//! Invariant: what a step sends leaves when the step ends, in the order of the ends of steps, and
//! nothing arrives before it has left. So whoever steps the PEs in the order of machine time finds
//! in a mailbox all that has arrived by then. What is kept is proportional to the PEs and to what
//! is in transit; nothing is kept for pairs of PEs.

mod arrivals;
mod bounds;
mod crossings;
mod distances;
mod mailbox;
mod network;
mod port;
mod slots;
mod wires;

use std::ops::Range;
use std::sync::Arc;

use warpline_machine::Machine;

use self::crossings::{Border, Crossings};

pub use crossings::parts_of_machine;
pub use mailbox::Opened;
pub use network::ModelledNetwork;
pub use port::ModelledPort;
pub use wires::{Arrival, Departed, MailboxUse, ModelledWires, Sent};

/// The network of PEs, one on each core of the machine from the first on, in
/// [parts](parts_of_machine), and their ports. With several parts, nothing else may tell PEs about
/// each other, and none may publish bounds. `payload` gives the bytes of the payload of an event that
/// do not lie in the message itself.
pub fn modelled_ports<E>(
    machine: &Arc<Machine>,
    parts: &[Range<u32>],
    payload: fn(&E) -> u64,
) -> (Vec<ModelledNetwork<E>>, Vec<ModelledPort<E>>) {
    let crossings = Crossings::new(parts);
    let pes = parts.last().map_or(0, |last| last.end);
    let networks: Vec<ModelledNetwork<E>> = (0..crossings.parts())
        .map(|part| ModelledNetwork::new(machine, Border::new(&crossings, part), payload))
        .collect();
    let port = |me| ModelledPort::new(me, networks[crossings.part_of(me)].clone());
    let ports = (0..pes).map(port).collect();
    (networks, ports)
}
