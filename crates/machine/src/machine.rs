//! A machine.
//!
//! Invariant: all figures are in range, as [files](crate::file) are checked.

use crate::{MailboxUnit, Noise, RegisterUnit, Time, Topology};

/// A machine that PEs may run on, one on each core.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Cores of a node.
    pub cores: u32,
    /// Domains of a node, such as its processors, each with as many cores; 1 if all are alike.
    pub domains: u32,
    /// What is added to the latency between cores of different domains of a node.
    pub domain_latency: Time,
    /// Messages between cores of a node.
    pub near: Level,
    /// Messages between nodes. Those of a node share its network card, which sends one after the
    /// other.
    pub far: Level,
    /// How nodes are connected.
    pub topology: Topology,
    /// The latency of a hop between nodes.
    pub hop: Time,
    /// What a PE's work costs.
    pub costs: Costs,
    /// What keeps cores from working.
    pub noise: Noise,
    /// Registers for GVT in hardware, if nodes have them. Otherwise they are words in memory.
    pub registers: Option<RegisterUnit>,
    /// Mailboxes in hardware between the cores of a node, if it has them.
    pub mailboxes: Option<MailboxUnit>,
}

/// What messages take on a level: L, o, g and G of LogGP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// L: from the sender's core to the receiver's, the first byte, without hops.
    pub latency: Time,
    /// o: what a message costs the core that sends it, and the core that receives it, each.
    pub overhead: Time,
    /// g: between nodes, how long a message occupies the network card beside its bytes.
    pub gap: Time,
    /// G: picoseconds a byte.
    pub per_byte: f64,
    /// O of LogGOPS: what each byte of a payload costs the core that sends it, and the core that
    /// receives it, in picoseconds, as both copy it. 0 where payloads are shared.
    pub copy_per_byte: f64,
}

impl Level {
    /// How long the bytes of a message take.
    pub fn bytes(&self, bytes: u64) -> Time {
        Time::rounded(self.per_byte * bytes as f64)
    }

    /// How long a core copies so many bytes.
    pub fn copying(&self, bytes: u64) -> Time {
        // Most messages of most models have no payload to copy, and to round takes a call.
        if bytes == 0 {
            return Time::ZERO;
        }
        Time::rounded(self.copy_per_byte * bytes as f64)
    }
}

/// What a PE's work costs its core, beside what messages cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Executing an event, without what it sends.
    pub event: Time,
    /// Making a message for another PE.
    pub send: Time,
    /// Filing a message from another PE.
    pub receive: Time,
    /// Undoing an event.
    pub undo: Time,
    /// Keeping what it takes to undo an event: a copy of a state, or a record.
    pub copy: Time,
    /// Committing an event that was executed ahead, and reclaiming its memory.
    pub commit: Time,
    /// A step of finding GVT: dealing with a share, a verdict or a call of another PE.
    pub gvt_step: Time,
    /// A turn of a PE's loop, beside everything else.
    pub turn: Time,
    /// Writing a word, or a block of them, into the memory of another PE.
    pub remote_write: Time,
    /// Reading a word that another PE may have written.
    pub register_read: Time,
}

impl Machine {
    /// The node of a core.
    #[inline]
    pub fn node(&self, core: u32) -> u32 {
        core / self.cores
    }

    /// How many nodes this many cores are.
    pub fn nodes(&self, cores: u32) -> u32 {
        cores.div_ceil(self.cores)
    }

    /// Whether two cores belong to different nodes.
    #[inline]
    pub fn is_far(&self, from: u32, to: u32) -> bool {
        self.node(from) != self.node(to)
    }

    /// The level of messages between two cores.
    #[inline]
    pub fn level(&self, far: bool) -> &Level {
        if far { &self.far } else { &self.near }
    }

    /// How long the first byte takes from one core to another: L, and what it takes between domains
    /// of a node, or the hops between nodes.
    pub fn latency(&self, from: u32, to: u32) -> Time {
        let from_node = self.node(from);
        let to_node = self.node(to);
        if from_node != to_node {
            return self.far.latency + self.hop * self.topology.hops(from_node, to_node);
        }
        if self.domain(from) == self.domain(to) {
            return self.near.latency;
        }
        self.near.latency + self.domain_latency
    }

    /// The domain of a core within its node.
    fn domain(&self, core: u32) -> u32 {
        if self.domains <= 1 { 0 } else { core % self.cores / (self.cores / self.domains) }
    }

    /// What it costs a core to read LBTS from the registers of so many PEs. Without a unit, it reads
    /// those of all PEs, twice.
    pub fn lbts_read(&self, pes: u32) -> Time {
        match &self.registers {
            Some(unit) => unit.read,
            None => self.costs.register_read * (2 * u64::from(pes)),
        }
    }

    /// What it costs a core to write registers.
    pub fn register_write(&self) -> Time {
        self.registers.map_or(self.costs.remote_write, |unit| unit.write)
    }

    /// How long it takes from the instant at which a core has written registers until others, of so
    /// many PEs, can read what follows.
    pub fn lbts_takes(&self, pes: u32) -> Time {
        match &self.registers {
            Some(unit) => unit.compare(pes),
            None => self.latency_most(pes) + self.costs.register_read,
        }
    }

    /// The mailboxes through which messages go from one core to another, if they go through
    /// hardware.
    #[inline]
    pub fn mailboxes(&self, far: bool) -> Option<&MailboxUnit> {
        self.mailboxes.as_ref().filter(|_| !far)
    }

    /// How long the first byte takes at most between any of so many cores.
    pub fn latency_most(&self, cores: u32) -> Time {
        let nodes = self.nodes(cores);
        let near = self.latency(0, cores.min(self.cores).saturating_sub(1));
        if nodes <= 1 {
            return near;
        }
        let farthest = match &self.topology {
            Topology::Torus { dimensions } => {
                dimensions.iter().map(|nodes| u64::from(nodes / 2)).sum()
            }
            Topology::Flat | Topology::FatTree { .. } => self.topology.hops(0, nodes - 1),
        };
        near.max(self.far.latency + self.hop * farthest)
    }
}
