use warpline::{choices, parameters};

choices! {
    /// How much traffic every ordered pair of nodes has, relative to the others.
    pub enum Demand {
        /// The same between all pairs.
        Uniform = "uni",
        /// Product of the two nodes' degrees.
        Degree = "deg",
        /// As given in the topology file's `graph.demands`.
        File = "file",
    }
}

choices! {
    /// How packet sizes are distributed.
    pub enum Sizes {
        /// All packets have the mean size.
        Fixed = "fixed",
        /// Exponentially distributed, rounded to whole bits, at least one.
        Exponential = "exponential",
    }
}

choices! {
    /// How a source spaces its packets.
    pub enum Sources {
        /// A Poisson process.
        Poisson = "poisson",
        /// A Poisson process of higher rate during exponential on times, nothing during exponential off times.
        OnOff = "onoff",
    }
}

parameters! {
    /// The parameters of a packet network.
    pub struct NetworkParameters {
        /// Node-link JSON file of the network, as networkx writes it; empty for the built-in European backbone.
        topology: String = String::new(), "", ..;
        /// Which traffic matrix loads the network; only its proportions matter, `load` sets the size.
        demand: Demand = Demand::Uniform, "", ..;
        /// Expected utilisation of the most loaded link; above 1 the network is overloaded and drops packets.
        load: f64 = 0.7, "", 0.001..=2.0;
        /// Rate of every link, in each direction.
        rate: f64 = 100.0, "Mbit/s", 0.000_001..=100_000_000.0;
        /// Mean size of a packet.
        packet_size: u32 = 1000, "byte", 1..=10_000_000;
        /// Distribution of packet sizes.
        sizes: Sizes = Sizes::Exponential, "", ..;
        /// Room at every link for waiting packets and the unsent part of the one being transmitted; a packet that does not fit
        /// is dropped.
        buffer: u64 = 100_000, "byte", 1..;
        /// How packets of a source follow each other.
        sources: Sources = Sources::Poisson, "", ..;
        /// Mean on time of on-off sources.
        on: f64 = 0.1, "s", 0.000_001..=1_000_000.0;
        /// Mean off time of on-off sources.
        off: f64 = 0.3, "s", 0.000_001..=1_000_000.0;
        /// Delay in every router that sends a packet on; with the propagation of links it makes the model's lookahead.
        processing: f64 = 0.000_01, "s", 0.0..=1.0;
    }
}
