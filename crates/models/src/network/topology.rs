//! A network of nodes and directed links.

use std::collections::BTreeMap;

use serde_json::Value;

use super::parameters::Duplicates;

/// Light in fibre, km/s.
pub(super) const PROPAGATION_SPEED: f64 = 200_000.0;

/// A network of nodes and directed links, as read from node-link JSON or generated.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// The directed links: for every edge of the file source→target and, unless the file says
    /// `directed`, target→source after it.
    pub links: Vec<Link>,
    /// The demands that come with it, if there are any.
    pub(super) demands: Option<Demands>,
    /// How the file lists links.
    pub(super) edges: Edges,
    /// The loads of the links under these demands, in percent of the most loaded one, if the file
    /// publishes them.
    pub(super) published: Option<Vec<f64>>,
}

/// How a file lists links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// The name of the list.
    pub(super) list: &'static str,
    /// Whether each is one link; otherwise it is two, one each way.
    pub(super) directed: bool,
    /// Whether several may join the same nodes.
    pub(super) multigraph: bool,
}

/// A node: a router, with the sources and sinks of the traffic there.
#[derive(Clone, Debug)]
pub struct Node {
    /// The id as in the file: a whole number or a string.
    pub id: Value,
    /// The name, or the id where there is none.
    pub name: String,
    /// The coordinates, if known.
    pub position: Option<Coordinates>,
    /// The number of edges at the node, for demand by degree.
    pub degree: u32,
}

/// Coordinates on earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Degrees east.
    pub longitude: f64,
    /// Degrees north.
    pub latitude: f64,
}

/// A directed link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Index of the node that it leaves.
    pub source: u32,
    /// Index of the node that it enters.
    pub target: u32,
    /// Length in km.
    pub length: f64,
    /// How many links of the file it stands for: it has their capacities together.
    pub lines: u32,
}

/// Traffic from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// Index of the node where it enters.
    pub(super) source: u32,
    /// Index of the node where it leaves.
    pub(super) target: u32,
    /// Its size relative to the others, more than 0.
    pub(super) weight: f64,
}

/// The demands that come with a topology.
#[derive(Clone, Debug)]
pub(super) enum Demands {
    /// `graph.demands` of a file, which are read only when asked for.
    File(Value),
    /// Those of a star-clique.
    StarClique(Vec<Flow>),
}

impl Topology {
    /// Whether it is a star-clique, whose nodes are ordered star by star.
    pub(super) fn is_star_clique(&self) -> bool {
        matches!(self.demands, Some(Demands::StarClique(_)))
    }

    /// The same, with links that are named more than once refused or merged.
    pub(super) fn without_duplicates(self, duplicates: Duplicates) -> Result<Self, String> {
        let mut first: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut links: Vec<Link> = Vec::with_capacity(self.links.len());
        for (i, link) in self.links.iter().enumerate() {
            let known = *first.entry((link.source, link.target)).or_insert(match duplicates {
                Duplicates::Refuse => i,
                Duplicates::Merge => links.len(),
            });
            match duplicates {
                Duplicates::Refuse if known < i && !self.edges.multigraph => {
                    return Err(self.named_twice(known, i));
                }
                Duplicates::Merge if known < links.len() => {
                    let merged = &mut links[known];
                    merged.lines = merged.lines.saturating_add(link.lines);
                    merged.length = merged.length.min(link.length);
                }
                Duplicates::Refuse | Duplicates::Merge => links.push(*link),
            }
        }
        let unchanged = links.len() == self.links.len();
        let merged = Topology { links, ..self };
        // Published loads are about the links as they are listed.
        Ok(if unchanged { merged } else { Topology { published: None, ..merged.with_degrees() } })
    }

    /// The message about a link that is named twice, at these places in [`links`](Self::links).
    fn named_twice(&self, first: usize, second: usize) -> String {
        let Edges { list, directed, .. } = self.edges;
        let edge = |link: usize| if directed { link } else { link / 2 };
        let Link { source, target, .. } = self.links[first];
        let [source, target] = [source, target].map(|node| &self.nodes[node as usize].id);
        format!(
            "the topology names the link from {source} to {target} twice, at {list}[{}] and {list}[{}]: remove one, or add up their capacities \
             with `duplicates=merge`; if they are links of their own, the file must say `\"multigraph\": true`",
            edge(first),
            edge(second)
        )
    }

    /// The same, with degrees counted from its links.
    pub(super) fn with_degrees(mut self) -> Self {
        self.nodes.iter_mut().for_each(|node| node.degree = 0);
        for link in &self.links {
            self.nodes[link.source as usize].degree += 1;
            self.nodes[link.target as usize].degree += 1;
        }
        if !self.edges.directed {
            self.nodes.iter_mut().for_each(|node| node.degree /= 2);
        }
        self
    }
}

impl Coordinates {
    /// The great-circle distance in km on a sphere of the earth's mean radius, in whole metres.
    pub fn distance(self, other: Coordinates) -> f64 {
        const EARTH_RADIUS_KM: f64 = 6371.0;
        let [from, to] = [self.latitude, other.latitude].map(f64::to_radians);
        let east = (other.longitude - self.longitude).to_radians();
        let half_chord = |angle: f64| libm::sin(angle / 2.0) * libm::sin(angle / 2.0);
        let haversine = half_chord(to - from) + libm::cos(from) * libm::cos(to) * half_chord(east);
        let km = 2.0 * EARTH_RADIUS_KM * libm::asin(haversine.sqrt().min(1.0));
        (km * 1000.0).round() / 1000.0
    }
}
