//! A machine.
//!
//! Invariant: all figures are in range, as [files](crate::file) are checked.

use crate::{Noise, Time, Topology};

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
}

impl Level {
    /// How long the bytes of a message take.
    pub fn bytes(&self, bytes: u64) -> Time {
        Time::rounded(self.per_byte * bytes as f64)
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
