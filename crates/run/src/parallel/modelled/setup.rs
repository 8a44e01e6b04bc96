//! What is set up for a run on a modelled machine.

use std::sync::Arc;

use warpline_machine::Machine;
use warpline_transport::ModelledWires;

/// A machine, and what the PEs of a run on it need.
pub(in crate::parallel) struct Modelled<'w> {
    pub(in crate::parallel) machine: Arc<Machine>,
    /// How many PEs there are.
    pub(in crate::parallel) pes: u32,
    /// The network, by part of the machine. A thread steps each part. With several parts, messages
    /// are all that PEs know of each other.
    pub(in crate::parallel) parts: Vec<&'w dyn ModelledWires>,
    /// The seed of noise.
    pub(in crate::parallel) seed: u64,
    /// Whether PEs publish bounds.
    pub(in crate::parallel) has_bounds: bool,
    /// Whether events that arrive can be executed at once, or make room for others.
    pub(in crate::parallel) events_wake: bool,
    /// Whether registers tell PEs how far they may go.
    pub(in crate::parallel) has_registers: bool,
    /// Whether PEs also make steps in which they would do nothing.
    pub(in crate::parallel) all_steps: bool,
    /// The least delay between PEs in model time, unless they send each other nothing.
    pub(in crate::parallel) least_delay: Option<f64>,
}
