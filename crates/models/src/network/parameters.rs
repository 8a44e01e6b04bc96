use warpline::{Choices, Parameters};

/// How much traffic every ordered pair of nodes has, relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Demand {
    /// That of a star-clique; in any other topology the same between all pairs.
    Auto,
    /// The same between all pairs.
    #[choice(word = "uni")]
    Uniform,
    /// Product of the two nodes' degrees.
    #[choice(word = "deg")]
    Degree,
    /// As given with the topology: in the file's `graph.demands`, or by the star-clique.
    File,
}

/// Which way the demands of a file go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum DemandDirections {
    /// As the file says of itself: as in the loads that it publishes for its links; otherwise both
    /// ways if its links do, and each pair is listed once.
    Auto,
    /// From the node listed first to the other.
    Listed,
    /// As much each way. What is listed for the two orders of a pair is added up.
    Both,
}

/// What becomes of links from a node to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum SelfLoops {
    /// They are left out, which is said.
    Drop,
    /// The topology is refused.
    Refuse,
}

/// What becomes of demands without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Unreachable {
    /// They are left out, and it is said how much traffic that is.
    Drop,
    /// The topology is refused.
    Refuse,
}

/// How packet sizes are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Sizes {
    /// All packets have the mean size.
    Fixed,
    /// Exponentially distributed, rounded to whole bits, at least one.
    Exponential,
}

/// How a source spaces its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Sources {
    /// UDP in a star-clique; Poisson in any other topology.
    Auto,
    /// A Poisson process.
    Poisson,
    /// A Poisson process of higher rate during exponential on times, nothing during exponential off
    /// times.
    #[choice(word = "onoff")]
    OnOff,
    /// UDP senders: in exponential on times datagrams at equal intervals, nothing in exponential
    /// off times. Every demand sends as much, whatever its share of the traffic matrix.
    Udp,
}

/// What becomes of links that the topology names more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choices)]
pub enum Duplicates {
    /// They are a mistake; but in a file that says `"multigraph": true`, each is a link of its own.
    Refuse,
    /// They are one link with the sum of their capacities and the length of the shortest.
    Merge,
}

/// The parameters of a packet network.
#[derive(Clone, Debug, PartialEq, Parameters)]
pub struct NetworkParameters {
    /// File of the network: GraphML, GML, SNDlib (XML or native), JSON (node-link, adjacency,
    /// Cytoscape, JGF), or a list of edges (CSV); empty for the built-in European backbone. Or
    /// `star-clique:N`: N stars, of which each sends to every other one, from leaves
    /// around hubs that form a clique.
    pub topology: String,
    /// Links that the topology names more than once: refused (unless the file says `multigraph`),
    /// or merged into one that adds up their capacities.
    #[parameter(default = Duplicates::Refuse)]
    pub duplicates: Duplicates,
    /// Links from a node to itself: left out, or refused.
    #[parameter(default = SelfLoops::Drop)]
    pub self_loops: SelfLoops,
    /// Demands between nodes without a path: left out, with the share of traffic said, or refused.
    #[parameter(default = Unreachable::Drop)]
    pub unreachable: Unreachable,
    /// Length of links of which the file says neither a length, nor a delay, nor where both ends
    /// are.
    #[parameter(unit = "km", default = 100.0, range = 0.0..=1_000_000.0)]
    pub default_length: f64,
    /// Which attribute of links is their length or delay, with its unit, as in `weight:km` or
    /// `cost:ms`; `none`: no attribute; empty: by the usual names.
    pub length_from: String,
    /// Which attribute of links is their capacity, with its unit, as in `bw:Gbps`; `none`: no
    /// attribute, so that all links have `rate`; empty: by the usual names.
    pub capacity_from: String,
    /// Which traffic matrix loads the network; only its proportions matter, `load` sets the size.
    #[parameter(default = Demand::Auto)]
    pub demand: Demand,
    /// With `demand=file`: whether what the file lists for two nodes goes one way or both; by
    /// default as the file says of itself.
    #[parameter(default = DemandDirections::Auto)]
    pub demand_directions: DemandDirections,
    /// Expected utilisation of the most loaded link; above 1 the network is overloaded and drops
    /// packets.
    #[parameter(default = 0.7, range = 0.001..=2.0)]
    pub load: f64,
    /// Rate of every link of which the file says no capacity, in each direction.
    #[parameter(unit = "Mbit/s", default = 100.0, range = 0.000_001..=100_000_000.0)]
    pub rate: f64,
    /// Mean size of a packet.
    #[parameter(unit = "byte", default = 1000, range = 1..=10_000_000)]
    pub packet_size: u32,
    /// Distribution of packet sizes.
    #[parameter(default = Sizes::Exponential)]
    pub sizes: Sizes,
    /// Room at every link for waiting packets and the unsent part of the one being transmitted; a
    /// packet that does not fit is dropped.
    #[parameter(unit = "byte", default = 100_000, range = 1..)]
    pub buffer: u64,
    /// How packets of a source follow each other.
    #[parameter(default = Sources::Auto)]
    pub sources: Sources,
    /// Mean on time of on-off and UDP sources.
    #[parameter(unit = "s", default = 0.1, range = 0.000_001..=1_000_000.0)]
    pub on: f64,
    /// Mean off time of on-off and UDP sources.
    #[parameter(unit = "s", default = 0.3, range = 0.000_001..=1_000_000.0)]
    pub off: f64,
    /// Rate at which a UDP source sends in its on times, as a share of the rate of a link.
    #[parameter(default = 0.2, range = 0.000_001..=1.0)]
    pub udp_share: f64,
    /// Size of a datagram, on every link.
    #[parameter(unit = "byte", default = 1024, range = 1..=10_000_000)]
    pub udp_size: u32,
    /// Every UDP source starts, with an on time, at a random time before this one.
    #[parameter(unit = "s", default = 0.5, range = 0.0..=1_000_000.0)]
    pub udp_start: f64,
    /// Delay in every router that sends a packet on; with the propagation of links it makes the
    /// model's lookahead.
    #[parameter(unit = "s", default = 0.000_01, range = 0.0..=1.0)]
    pub processing: f64,
}
