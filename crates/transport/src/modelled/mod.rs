//! The network of a modelled machine: all PEs in one thread, and messages that take as long as the
//! machine says.
//!
//! Invariant: what a step sends leaves when the step ends, in the order of the ends of steps, and
//! nothing arrives before it has left. So whoever steps the PEs in the order of machine time finds
//! in a mailbox all that has arrived by then. What is kept is proportional to the PEs and to what
//! is in transit; nothing is kept for pairs of PEs.

mod bounds;
mod mailbox;
mod network;
mod port;

pub use mailbox::Opened;
pub use network::{Arrival, ModelledNetwork, ModelledWires, Sent};
pub use port::ModelledPort;
