//! `network`: packets through a backbone, store and forward.
//!
//! Nodes are routers; directed links join them. There is one LP for every directed link (the output
//! port of a router, with its buffer) and one for every demand (a source of packets from one node
//! to another).
//!
//! - **Traffic.** A matrix says how much each ordered pair of nodes has relative to the others. It
//!   is scaled so that the most loaded link has the expected utilisation `load`. A source sends
//!   packets as a Poisson process, or as an on-off process: exponential on and off times, within an
//!   on time a Poisson process of the rate that makes the mean right, and a start in the steady
//!   state. UDP sources depend neither on the matrix nor on `load`: every one sends datagrams in
//!   its on times, at a fixed share of the rate of a link, so that successive datagrams are as much
//!   on time apart; it starts with an on time at a random moment. The matrix of a file lists pairs
//!   of nodes. If the file publishes loads of its links, its demands go one way or both as in these
//!   loads. Otherwise they go both ways if its links do and it lists each pair once; in a directed
//!   file, or where pairs are listed in both orders, each goes from the node listed first to the
//!   other. `demand-directions` decides otherwise, and results say what was decided, and why.
//! - **Star-clique.** `topology=star-clique:N` is the network of an experiment by G. F. Riley
//!   ("Hardware Supported Multi-Core Communications for Efficient Parallel Discrete Event
//!   Simulations", final technical report, Georgia Institute of Technology): N stars with N - 1
//!   leaves each, whose hubs are all linked. Leaf `i-j` sends to leaf `j-i`, so every star sends to
//!   every other one and every link carries one demand, by default from UDP sources. The report
//!   says nothing about links: here one to a leaf takes 1 ms, one between hubs 10 ms, and all have
//!   the rate `rate`. Datagrams have `udp-size` bytes on every link; headers are not added.
//! - **Routing.** Shortest paths by hop count. At every node, a packet takes one of the next hops,
//!   each equally likely: the equal-cost multipath of real routers, packet by packet. Parallel
//!   links of a multigraph are next hops of their own; with `duplicates=merge` they are one link of
//!   their joint rate, with one buffer.
//! - **Files.** [`warpline_topology`] reads them. A link has the capacity that its file says, or
//!   else `rate`. Its length is that of the file; or that of its delay, at the speed of light in
//!   fibre; or the great circle between its ends; or else `default-length`. Links from a node to
//!   itself and demands without a path are left out. A note says what was assumed.
//! - **Links.** First come, first served. A packet that reaches a link finds some work in front of
//!   it, in bytes; if that and the packet itself exceed `buffer`, it is dropped. So with packets of
//!   one size, a buffer of K packets is that of M/D/1/K. One event per packet and link: the link
//!   works out at once when it will have sent the packet.
//! - **Delay.** From a packet's creation to its arrival at the last node: `processing` at every
//!   router that sends it on (the first included), then waiting, transmission at `rate`, and
//!   propagation at 200 000 km/s.
//!
//! Conventions at the end of a run: a packet counts as delivered, with its delay, if it arrives
//! before the end. Every other packet that was not dropped is under way, so without a warm-up
//! packets offered are those delivered, dropped and under way. Utilisation counts transmission up
//! to the end only. With a warm-up, each thing counts that happens after it: packets delivered may
//! have been offered before, and a packet is delivered or under way from when the last link that it
//! reached accepts it.

mod demand;
mod directions;
mod events;
mod limits;
mod outputs;
mod parameters;
mod reach;
mod reader;
mod regions;
mod routing;
mod star_clique;
mod statistics;
mod structure;
mod topology;
mod traffic;

use warpline::prelude::*;
use warpline::record::View;

pub use events::{Event, Packet, State};
pub use parameters::{
    Demand, DemandDirections, Duplicates, NetworkParameters, SelfLoops, Sizes, Sources, Unreachable,
};
use statistics::{DELAY, DROPS, LOST, OFFERED, PACKETS, UNDER_WAY, UTILISATION};
pub use structure::Network;
use structure::Role;
pub use topology::{Link, Node, Topology};
pub use warpline_topology::Coordinates;

#[model(compare, journal)]
impl Model for Network {
    type State = State;
    type Event = Event;

    fn lps(&self) -> u32 {
        self.roles.len() as u32
    }

    /// The lookahead of sources; links have more, see [`links`](Self::links).
    fn lookahead(&self) -> f64 {
        self.processing
    }

    /// To the next hops. The delay of what a link sends is never below `onward`, even by rounding:
    /// only waiting and transmission are added, and a floating-point sum does not decrease when a
    /// term increases.
    fn links(&self, lp: LpId) -> Option<Vec<warpline::Link>> {
        let (next, lookahead) = match self.roles[lp.index()] {
            Role::Source(demand) => (
                self.routing.hops_of(&self.sources[demand as usize].route).to_vec(),
                self.processing,
            ),
            Role::Link(link) => {
                let Link { source, target, .. } = self.topology.links[link as usize];
                (self.routing.hops_after(lp.0, source, target), self.ports[link as usize].onward)
            }
        };
        Some(next.into_iter().map(|next| warpline::Link { to: LpId(next), lookahead }).collect())
    }

    /// The star of a star-clique. Elsewhere the lengths of links say where PEs may be divided.
    fn group(&self, lp: LpId) -> Option<u32> {
        let node = match self.roles[lp.index()] {
            Role::Link(link) => self.topology.links[link as usize].source,
            Role::Source(demand) => self.ends[demand as usize].0,
        };
        self.topology.star_of(node)
    }

    /// The packets per second that pass a link or leave a source, if nothing is dropped.
    fn weight(&self, lp: LpId) -> f64 {
        match self.roles[lp.index()] {
            Role::Link(link) => {
                self.expected[link as usize] * self.ports[link as usize].bits_per_second
                    / f64::from(self.traffic.mean_bits.get())
            }
            // The mean over on and off times.
            Role::Source(demand) => self.traffic.duty / self.sources[demand as usize].gap,
        }
    }

    fn declare(&self, declare: &mut Declarations) {
        let links = self.ports.len() as u32;
        let demands = self.ends.len() as u32;
        declare
            .time_mean(UTILISATION, "utilisation", "", "share of time that a link transmits")
            .items(links);
        declare.counter(PACKETS, "packets", "packets", "packets accepted by a link").items(links);
        declare
            .counter(DROPS, "drops", "packets", "packets dropped at a link")
            .items(links)
            .series();
        declare
            .counter(OFFERED, "offered", "packets", "packets sent by a source")
            .items(demands)
            .series();
        declare
            .counter(LOST, "lost", "packets", "packets of a demand dropped anywhere")
            .items(demands);
        declare
            .histogram(DELAY, "delay", "s", "delay of packets from source to destination")
            .items(demands)
            .series();
        declare
            .counter(
                UNDER_WAY,
                "under_way",
                "packets",
                "packets of a demand that are under way at the end",
            )
            .items(demands);
        outputs::declare(declare);
        declare.headlines(&["links.utilisation.max", "delay", "delay.p99", "packets_dropped"]);
    }

    fn init(&self, lp: &mut Init<Self>) -> State {
        match self.roles[lp.id().index()] {
            Role::Link(link) => State::Link { link, free_at: 0.0 },
            Role::Source(demand) => self.start(demand, lp),
        }
    }

    #[inline]
    fn handle(&self, state: &mut State, event: &Event, lp: &mut Context<Self>) {
        match (state, event) {
            (State::Link { link, free_at }, Event::Packet(packet)) => {
                self.forward(*link, free_at, packet, lp)
            }
            (State::Source { demand, sends, on_until }, Event::Wake) => {
                self.wake(*demand, sends, on_until, lp)
            }
            (state, event) => lp.fail(format!("{state:?} cannot handle {event:?}")),
        }
    }

    #[inline]
    fn reverse(&self, state: &mut State, _: &Event, lp: &mut Reverse<Self>) {
        self.undo(state, lp);
    }

    fn results(&self, outcome: &Outcome) -> Results<Self> {
        outputs::results(self, outcome)
    }

    fn views(&self, outcome: &Outcome) -> Vec<View> {
        outputs::views(self, outcome)
    }
}

impl Configure for Network {
    type Parameters = NetworkParameters;

    const NAME: &'static str = "network";
    const ABOUT: &'static str = "packets through a backbone of store-and-forward links";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 100.0;

    fn configure(parameters: &NetworkParameters) -> Result<Self, String> {
        let topology = match parameters.topology.as_str() {
            "" => Topology::built_in()?,
            stars if star_clique::is_meant(stars) => Topology::star_clique_of(stars)?,
            path => Topology::read(path, parameters)?,
        };
        Network::new(topology, parameters)
    }

    fn notes(parameters: &NetworkParameters) -> Vec<(&'static str, String)> {
        let mut notes = traffic::notes(parameters, star_clique::is_meant(&parameters.topology));
        notes.extend(assumed(parameters).map(|words| ("topology", words)));
        if parameters.demand != Demand::File || star_clique::is_meant(&parameters.topology) {
            notes.push((
                "demand-directions",
                "has no effect: demands are not those of a file; set `demand` to `file`".to_owned(),
            ));
        }
        notes
    }
}

/// What the file of the topology is, and what was assumed, filled in or dropped to read it.
fn assumed(parameters: &NetworkParameters) -> Option<String> {
    if parameters.topology.is_empty() || star_clique::is_meant(&parameters.topology) {
        return None;
    }
    // Mistakes are told when the network is made.
    let topology = Topology::read(&parameters.topology, parameters).ok()?;
    let (topology, ..) = structure::prepared(topology, parameters).ok()?;
    let mut words = topology.read_as.clone()?;
    let without = topology.links.iter().filter(|link| link.capacity.is_none()).count();
    let rate = parameters.rate;
    let rates = match without {
        0 => None,
        all if all == topology.links.len() => Some(format!("all links have {rate} Mbit/s")),
        some => Some(format!(
            "{some} of {} directions of links have no capacity: {rate} Mbit/s",
            topology.links.len()
        )),
    };
    for more in topology.assumptions.iter().chain(&rates) {
        words.push_str("; ");
        words.push_str(more);
    }
    Some(words)
}
