//! Facts about the model and the machine.

use std::mem::needs_drop;

use warpline_model::Model;

/// States of up to this size, in bytes, that own no other memory are copied before every event:
/// that takes as long as looking up whether a copy is due.
const PLAIN_MOST: usize = 256;

/// What plans follow from, beside settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) lps: u32,
    /// The size of an event's payload.
    pub(crate) payload_bytes: usize,
    /// Whether copying a state takes hardly longer than looking up whether to copy it.
    pub(crate) copies_cheaply: bool,
    /// Whether events may lie in memory that processes share.
    pub(crate) is_portable: bool,
    /// How many cores all processes have together.
    pub(crate) cores: u32,
}

impl Facts {
    /// Those of a model with so many LPs, and of the machines that a launcher has started processes
    /// on.
    pub(super) fn of<M: Model>(lps: u32, machines: Option<Machines>) -> Self {
        Facts {
            lps,
            payload_bytes: size_of::<M::Event>(),
            copies_cheaply: !needs_drop::<M::State>() && size_of::<M::State>() <= PLAIN_MOST,
            is_portable: M::ABILITIES.wire().is_some_and(|wire| wire.proof().is_some()),
            cores: machines.map_or_else(cores, |machines| machines.cores),
        }
    }
}

/// The machines of a run whose processes a launcher has started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machines {
    /// How many groups of processes there are that share no memory with each other.
    pub(crate) count: u32,
    /// How many processes each of them has.
    pub(crate) processes: u32,
    /// How many cores all processes have together.
    pub(crate) cores: u32,
    /// Whether all threads may call MPI, and not only the one that watches the others.
    pub(crate) may_thread: bool,
}

/// How many cores there are for the process.
pub(crate) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}
