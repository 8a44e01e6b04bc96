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
    /// Node-link JSON file of the network, as networkx writes it; empty for the built-in European
    /// backbone. Or `star-clique:N`: N stars, of which each sends to every other one, from leaves
    /// around hubs that form a clique.
    pub topology: String,
    /// Links that the topology names more than once: refused (unless the file says `multigraph`),
    /// or merged into one that adds up their capacities.
    #[parameter(default = Duplicates::Refuse)]
    pub duplicates: Duplicates,
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
    /// Rate of every link, in each direction.
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
