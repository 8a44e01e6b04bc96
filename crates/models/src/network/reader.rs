//! From the graph of a file to the network's topology.

use std::path::Path;

use serde_json::Value;
use warpline_topology::{Graph, Id, Reader};

use super::parameters::{NetworkParameters, SelfLoops};
use super::topology::{Demands, Edges, Flow, Link, Node, Topology};

impl Topology {
    /// The built-in backbone of twelve European cities.
    ///
    /// # Errors
    /// Never; see [`parse`](Self::parse).
    pub fn built_in() -> Result<Self, String> {
        Topology::parse(include_str!("default.json")).map_err(|why| format!("built in: {why}"))
    }

    /// Reads a topology in any of the formats of [`warpline_topology`], with the default parameters.
    ///
    /// # Errors
    /// If the text is no valid topology: the message says where (`edges[3].target`, `line 7`), and
    /// what is expected there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parameters = NetworkParameters::default();
        let graph = Reader::new().read_text(text).map_err(|why| why.to_string())?;
        Topology::from_graph(graph, &parameters)
    }

    /// Reads a file as [`parse`](Self::parse) reads text.
    ///
    /// # Errors
    /// Like [`parse`](Self::parse), and if the file cannot be read; the message names the file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, String> {
        Topology::read(path, &NetworkParameters::default())
    }

    /// Reads a file as these parameters say; their `topology` is ignored.
    ///
    /// # Errors
    /// Like [`from_file`](Self::from_file) and [`from_graph`](Self::from_graph).
    pub fn read(path: impl AsRef<Path>, parameters: &NetworkParameters) -> Result<Self, String> {
        let reader = Reader::new()
            .length_from(&parameters.length_from)
            .and_then(|reader| reader.capacity_from(&parameters.capacity_from))?;
        let graph = reader.read_file(path).map_err(|why| why.to_string())?;
        Topology::from_graph(graph, parameters)
    }

    /// The topology of a graph: each of its links is one that goes one way, or two.
    ///
    /// # Errors
    /// If it has links from a node to itself, and `self-loops` refuses them; if a link has a number
    /// that may be its length, and nobody says whether it is.
    pub fn from_graph(mut graph: Graph, parameters: &NetworkParameters) -> Result<Self, String> {
        match parameters.self_loops {
            SelfLoops::Drop => graph.drop_self_loops(),
            SelfLoops::Refuse => graph.refuse_self_loops().map_err(|why| why.to_string())?,
        }
        graph.fill_lengths(parameters.default_length).map_err(|why| why.to_string())?;
        let (links, places) = links(&graph);
        let edges = Edges {
            list: graph.list(),
            directed: graph.links().iter().any(|link| link.directed),
            multigraph: graph.is_multigraph(),
            places,
        };
        let topology = Topology {
            nodes: graph.nodes().iter().map(node).collect(),
            links,
            demands: demands(&graph),
            published: published(&graph),
            read_as: Some(format!(
                "is {} with {} nodes and {} links",
                graph.format(),
                graph.nodes().len(),
                graph.links().len()
            )),
            assumptions: graph.assumptions().to_vec(),
            edges,
        };
        Ok(topology.with_degrees())
    }
}

/// Every link in the directions in which it goes, and its place in the file.
fn links(graph: &Graph) -> (Vec<Link>, Vec<u32>) {
    let mut links = Vec::with_capacity(graph.links().len() * 2);
    let mut places = Vec::with_capacity(graph.links().len() * 2);
    for (number, link) in graph.links().iter().enumerate() {
        let there = Link {
            source: link.source,
            target: link.target,
            length: link.length.unwrap_or_default(),
            lines: 1,
            capacity: link.capacity,
        };
        let place = graph.place_number(number);
        links.push(there);
        places.push(place);
        if !link.directed {
            links.push(Link { source: there.target, target: there.source, ..there });
            places.push(place);
        }
    }
    (links, places)
}

fn node(node: &warpline_topology::Node) -> Node {
    let id = match &node.id {
        Id::Number(number) => Value::from(*number),
        Id::Text(text) => Value::from(text.as_str()),
    };
    Node { id, name: node.name.clone(), position: node.position, degree: 0 }
}

fn demands(graph: &Graph) -> Option<Demands> {
    let listed = match graph.demands() {
        Ok(listed) => listed?,
        Err(why) => return Some(Demands::Mistaken(why.to_string())),
    };
    let flow = |demand: &warpline_topology::Demand| Flow {
        source: demand.source,
        target: demand.target,
        weight: demand.value,
    };
    Some(Demands::File(listed.iter().map(flow).collect()))
}

/// The loads of all links, if the file publishes them as TopoHub does: `ecmp_fwd` and `ecmp_bwd`,
/// under the demands of the file.
fn published(graph: &Graph) -> Option<Vec<f64>> {
    let loads = graph.links().iter().enumerate().flat_map(|(number, link)| {
        let ways: &[&str] =
            if link.directed { &["ecmp_fwd.org"] } else { &["ecmp_fwd.org", "ecmp_bwd.org"] };
        ways.iter().map(move |way| graph.number(number, way))
    });
    loads.collect()
}
