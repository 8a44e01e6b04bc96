//! A network of nodes and directed links.

use std::collections::BTreeMap;

use serde_json::Value;
use warpline_topology::Coordinates;

use super::parameters::Duplicates;

/// A network of nodes and directed links, as read from a file or generated.
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
    /// What the file is, in words that follow its name.
    pub(super) read_as: Option<String>,
    /// What was assumed, filled in or dropped, each in a few words.
    pub(super) assumptions: Vec<String>,
}

/// How a file lists links.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    /// The name of the list, or `line`.
    pub(super) list: &'static str,
    /// Whether some go one way; otherwise each is two links, one each way.
    pub(super) directed: bool,
    /// Whether several may join the same nodes.
    pub(super) multigraph: bool,
    /// For every link, its place in the list.
    pub(super) places: Vec<u32>,
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
    /// Capacity in bit/s, of all its lines, where the file says one.
    pub capacity: Option<f64>,
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
    /// Those of a file, as it lists them.
    File(Vec<Flow>),
    /// Those of a file with this mistake, which matters only if they are asked for.
    Mistaken(String),
    /// Those of a star-clique.
    StarClique(Vec<Flow>),
}

impl Topology {
    /// Whether it is a star-clique, whose nodes are ordered star by star.
    pub(super) fn is_star_clique(&self) -> bool {
        matches!(self.demands, Some(Demands::StarClique(_)))
    }

    /// What was assumed, filled in or dropped when it was read, each in a few words.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// The same, with links that are named more than once refused or merged. Links without a
    /// capacity have `rate`, in bit/s.
    pub(super) fn without_duplicates(
        self,
        duplicates: Duplicates,
        rate: f64,
    ) -> Result<Self, String> {
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
                    if merged.capacity.is_some() || link.capacity.is_some() {
                        merged.capacity =
                            Some(merged.bits_per_second(rate) + link.bits_per_second(rate));
                    }
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
        let Edges { list, places, .. } = &self.edges;
        let place = |link: usize| match *list {
            "line" => format!("line {}", places[link]),
            list => format!("{list}[{}]", places[link]),
        };
        let Link { source, target, .. } = self.links[first];
        let [source, target] = [source, target].map(|node| &self.nodes[node as usize].id);
        let remedy = match *list {
            "line" => "",
            _ => "; if they are links of their own, the file must say `\"multigraph\": true`",
        };
        format!(
            "the topology names the link from {source} to {target} twice, at {} and {}: remove one, or add up their capacities \
             with `duplicates=merge`{remedy}",
            place(first),
            place(second)
        )
    }

    /// The same, with degrees counted from its links. Where only some go one way, one that goes
    /// both counts as two.
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

impl Link {
    /// The rate at which it transmits, in bit/s, if a line without a capacity has `rate`.
    pub(super) fn bits_per_second(&self, rate: f64) -> f64 {
        self.capacity.unwrap_or_else(|| rate * f64::from(self.lines))
    }

    /// The same, in units of `rate`.
    pub(super) fn relative_rate(&self, rate: f64) -> f64 {
        self.capacity.map_or_else(|| f64::from(self.lines), |capacity| capacity / rate)
    }
}
