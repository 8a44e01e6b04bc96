//! The network that a program of ranks is simulated on.

use warpline_machine::{Machine, MachineError};

/// The network between ranks, in the LogGP model on two levels: within a node and between nodes
/// (A. Alexandrov et al., "LogGP: incorporating long messages into the LogP model", SPAA 1995).
///
/// A message of n bytes costs the sender o; its bytes leave the sender's card when the card is free,
/// which they occupy for g + nG; the message has arrived after L + nG; and it costs the receiver o,
/// once it waits for it. Each rank has a card of its own for each level.
///
/// ```
/// use warpline_ranks::{Target, Wire};
/// // 10 µs and 1 Gb/s.
/// let target = Target::flat(Wire::new(10e-6, 1e9 / 8.0));
/// assert!((target.wire(0, 1).bytes(125) - 1e-6).abs() < 1e-18);
/// assert_eq!(target.lookahead(), 10e-6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    near: Wire,
    far: Wire,
    ranks_per_node: u32,
    /// Where latency depends on more than the level.
    machine: Option<Machine>,
    eager_most: u64,
    poll: f64,
}

/// What messages take on a level: L, o, g and G of LogGP. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// L: from card to card, the first byte.
    pub latency: f64,
    /// o: what a message costs the rank that sends it, and the rank that receives it, each.
    pub overhead: f64,
    /// g: how long a message occupies the sender's card beside its bytes.
    pub gap: f64,
    /// G: seconds a byte.
    pub per_byte: f64,
}

impl Wire {
    /// A level without overhead and gap: its latency in seconds, and its bandwidth in bytes per
    /// second.
    pub const fn new(latency: f64, bandwidth: f64) -> Self {
        Wire { latency, overhead: 0.0, gap: 0.0, per_byte: 1.0 / bandwidth }
    }

    /// How long so many bytes take, in seconds.
    #[inline]
    pub fn bytes(&self, bytes: u64) -> f64 {
        self.per_byte * bytes as f64
    }
}

impl Target {
    /// The size up to which messages are sent eagerly by default, in bytes: that of Open MPI over
    /// TCP.
    pub const EAGER_MOST: u64 = 65_536;
    /// How long a call takes by default that asks whether something has happened and finds nothing,
    /// in seconds.
    pub const POLL: f64 = 100e-9;

    /// A network in which all ranks are equally far from each other.
    pub fn flat(wire: Wire) -> Self {
        Target::two_levels(wire, wire, 1)
    }

    /// A network of nodes with so many ranks each.
    pub fn two_levels(near: Wire, far: Wire, ranks_per_node: u32) -> Self {
        Target {
            near,
            far,
            ranks_per_node: ranks_per_node.max(1),
            machine: None,
            eager_most: Self::EAGER_MOST,
            poll: Self::POLL,
        }
    }

    /// The network of a machine, with a rank on each of its cores. What the machine says of PEs and
    /// their work does not matter.
    pub fn of_machine(machine: Machine) -> Self {
        let wire = |level: &warpline_machine::Level| Wire {
            latency: level.latency.seconds(),
            overhead: level.overhead.seconds(),
            gap: level.gap.seconds(),
            per_byte: level.per_byte * 1e-12,
        };
        let levels = (wire(&machine.near), wire(&machine.far), machine.cores);
        Target { machine: Some(machine), ..Target::two_levels(levels.0, levels.1, levels.2) }
    }

    /// The network of the machine of this name: a profile, or a file such as `warpline calibrate`
    /// writes.
    ///
    /// # Errors
    /// If there is none, or the file does not describe one.
    pub fn open(name: &str) -> Result<Self, MachineError> {
        warpline_machine::open(name).map(Target::of_machine)
    }

    /// Sets the size up to which messages are sent eagerly, in bytes. Longer ones wait until the
    /// receiver is ready for them.
    pub fn eager_up_to(self, bytes: u64) -> Self {
        Target { eager_most: bytes, ..self }
    }

    /// The size up to which messages are sent eagerly, in bytes.
    #[inline]
    pub fn eager_most(&self) -> u64 {
        self.eager_most
    }

    /// How long a call takes that asks whether something has happened and finds nothing, in seconds.
    pub fn poll(&self) -> f64 {
        self.poll
    }

    /// The node of a rank.
    #[inline]
    pub fn node(&self, rank: u32) -> u32 {
        rank / self.ranks_per_node
    }

    /// Whether several ranks share a node.
    pub fn has_nodes(&self) -> bool {
        self.ranks_per_node > 1
    }

    /// Whether two ranks are on different nodes.
    #[inline]
    pub fn is_far(&self, from: u32, to: u32) -> bool {
        self.ranks_per_node == 1 || self.node(from) != self.node(to)
    }

    /// The level of messages between two ranks, without hops.
    #[inline]
    pub fn wire(&self, from: u32, to: u32) -> &Wire {
        if self.is_far(from, to) { &self.far } else { &self.near }
    }

    /// How long the first byte takes from one rank's card to another's, in seconds.
    #[inline]
    pub fn latency(&self, from: u32, to: u32) -> f64 {
        match &self.machine {
            None => self.wire(from, to).latency,
            Some(machine) => machine.latency(from, to).seconds(),
        }
    }

    /// The least latency between any ranks, in seconds: the lookahead of a model of ranks.
    pub fn lookahead(&self) -> f64 {
        if self.ranks_per_node == 1 {
            self.far.latency
        } else {
            self.far.latency.min(self.near.latency)
        }
    }

    /// The most ranks that there is room for; without limit if `None`.
    pub fn ranks_most(&self) -> Option<u64> {
        let machine = self.machine.as_ref()?;
        Some(machine.topology.nodes_most()? * u64::from(machine.cores))
    }
}
