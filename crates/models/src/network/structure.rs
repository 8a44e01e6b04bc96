//! The network: its links and sources, and which LP is which.

use super::directions::Reading;
use super::parameters::NetworkParameters;
use super::routing::{Route, Routing};
use super::topology::{Flow, Link, Topology};
use super::traffic::Traffic;
use super::{demand, reach, regions};
use warpline_topology::PROPAGATION_SPEED;

/// The mean time between packets of a source that practically never sends, in s.
const LONGEST_GAP: f64 = 1e300;

/// A packet network; see the [module documentation](super).
#[derive(Debug)]
pub struct Network {
    pub(super) topology: Topology,
    /// The role of each LP.
    pub(super) roles: Vec<Role>,
    /// By demand, the nodes where it begins and ends.
    pub(super) ends: Vec<(u32, u32)>,
    /// How demands were read, if they come from a file.
    pub(super) reading: Option<Reading>,
    /// Its next hops are LPs.
    pub(super) routing: Routing,
    /// The expected utilisation of each link, given the routing.
    pub(super) expected: Vec<f64>,
    /// By link.
    pub(super) ports: Vec<OutputPort>,
    /// By demand.
    pub(super) sources: Vec<Source>,
    pub(super) traffic: Traffic,
    pub(super) processing: f64,
    pub(super) buffer_bits: u64,
}

/// The role of an LP.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Link(u32),
    Source(u32),
}

/// What the events of a link use.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputPort {
    /// The first route of the node at its end.
    pub(super) row: u32,
    /// Delay on the line, s.
    pub(super) propagation: f64,
    /// Propagation and processing, s.
    pub(super) onward: f64,
    pub(super) bits_per_second: f64,
    pub(super) seconds_per_bit: f64,
}

/// What the events of a source use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) route: Route,
    /// Mean time between packets, s; for on-off and UDP sources within on times.
    pub(super) gap: f64,
}

impl Network {
    /// A network of this topology; the parameter `topology` is ignored.
    ///
    /// # Errors
    /// If no demand has a path, or `unreachable` refuses one without; if the file's demands are
    /// invalid, if parameters contradict each other, or if the network is too large.
    pub fn new(topology: Topology, parameters: &NetworkParameters) -> Result<Self, String> {
        let (topology, mut flows, reading) = prepared(topology, parameters)?;
        let traffic = Traffic::new(parameters, topology.is_star_clique())?;
        if traffic.ignores_weights() {
            flows.iter_mut().for_each(|flow| flow.weight = 1.0);
        }
        let roles = roles(&topology, &flows)?;
        let mut routing = Routing::new(&topology, &flows)?;
        routing.rename(&lps_of_links(&roles, topology.links.len()));
        let bits_per_second = parameters.rate * 1e6;
        // Relative to the rates of links: a merged link has the utilisation of each of its lines.
        let loads: Vec<f64> = routing
            .loads()
            .iter()
            .zip(&topology.links)
            .map(|(load, link)| load / link.relative_rate(bits_per_second))
            .collect();
        let most = loads.iter().copied().fold(0.0, f64::max);
        let source = |(demand, flow): (u32, &Flow)| {
            let packet_rate = traffic.share(parameters, flow.weight, most) * bits_per_second
                / f64::from(traffic.mean_bits.get());
            Source {
                route: routing.route(routing.row(flow.source), demand),
                gap: (traffic.duty / packet_rate).min(LONGEST_GAP),
            }
        };
        let port = |link: &Link| {
            let propagation = link.length / PROPAGATION_SPEED;
            let bits_per_second = link.bits_per_second(bits_per_second);
            OutputPort {
                row: routing.row(link.target),
                propagation,
                onward: propagation + parameters.processing,
                bits_per_second,
                seconds_per_bit: 1.0 / bits_per_second,
            }
        };
        Ok(Network {
            sources: (0..).zip(&flows).map(source).collect(),
            ports: topology.links.iter().map(port).collect(),
            expected: loads.iter().map(|&load| traffic.share(parameters, load, most)).collect(),
            topology,
            roles,
            ends: flows.iter().map(|flow| (flow.source, flow.target)).collect(),
            reading,
            routing,
            traffic,
            processing: parameters.processing,
            buffer_bits: parameters.buffer.saturating_mul(8),
        })
    }

    /// The network's nodes and links.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The utilisation (0 to 1) of each link of [`Topology::links`] that follows from traffic
    /// matrix and routing if nothing is dropped.
    pub fn expected_utilisation(&self) -> &[f64] {
        &self.expected
    }
}

/// The topology without duplicate links, its demands that have a path, and how they were read.
pub(super) fn prepared(
    topology: Topology,
    parameters: &NetworkParameters,
) -> Result<(Topology, Vec<Flow>, Option<Reading>), String> {
    let mut topology = topology.without_duplicates(parameters.duplicates, parameters.rate * 1e6)?;
    let (flows, reading) =
        demand::flows(&topology, parameters.demand, parameters.demand_directions)?;
    let (flows, lost) = reach::keep_reachable(&topology, flows, parameters.unreachable)?;
    topology.assumptions.extend(lost);
    Ok((topology, flows, reading))
}

/// The roles of all LPs, node by node: first its links, then its sources. Nodes are ordered so that
/// a block of LPs is a region of the network; a star-clique has this order already.
fn roles(topology: &Topology, matrix: &[Flow]) -> Result<Vec<Role>, String> {
    let links = topology.links.len();
    let sources = matrix.len();
    if u32::try_from(links + sources).is_err() {
        return Err(format!(
            "{links} links and {sources} demands need {} LPs, more than the most possible ({})",
            links + sources,
            u32::MAX
        ));
    }
    let links = (0..).zip(&topology.links).map(|(i, link)| (link.source, Role::Link(i)));
    let sources = (0..).zip(matrix).map(|(i, flow)| (flow.source, Role::Source(i)));
    let mut roles: Vec<(u32, Role)> = links.chain(sources).collect();
    if topology.is_star_clique() {
        roles.sort_by_key(|(node, _)| *node);
    } else {
        let order = regions::places_of_nodes(topology);
        roles.sort_by_key(|(node, _)| order[*node as usize]);
    }
    Ok(roles.into_iter().map(|(_, role)| role).collect())
}

/// For every link, its LP.
fn lps_of_links(roles: &[Role], links: usize) -> Vec<u32> {
    let mut lps = vec![0; links];
    for (lp, role) in (0..).zip(roles) {
        if let Role::Link(link) = role {
            lps[*link as usize] = lp;
        }
    }
    lps
}
