//! The graph that all formats are read into.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::ReadError;

/// Speed of light in fibre, km/s: about two thirds of that in vacuum.
pub const PROPAGATION_SPEED: f64 = 200_000.0;

/// The formats that are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `nodes` beside `edges` or `links`, as `networkx.node_link_data` and D3 write it.
    NodeLink,
    /// `nodes` beside `adjacency`, as `networkx.adjacency_data` writes it.
    Adjacency,
    /// `elements`, as Cytoscape writes it.
    Cytoscape,
    /// `nodes` and `edges` within `graph`: the JSON Graph Format.
    JsonGraph,
    /// GraphML, as the Internet Topology Zoo, networkx, yEd and osmnx write it.
    GraphMl,
    /// GML, as the Internet Topology Zoo and networkx write it.
    Gml,
    /// The XML format of SNDlib.
    SndlibXml,
    /// The native format of SNDlib.
    SndlibNative,
    /// A link per line, with columns separated by commas, semicolons, tabs or blanks.
    EdgeList,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::NodeLink => "node-link JSON",
            Format::Adjacency => "adjacency JSON",
            Format::Cytoscape => "Cytoscape JSON",
            Format::JsonGraph => "JSON Graph Format",
            Format::GraphMl => "GraphML",
            Format::Gml => "GML",
            Format::SndlibXml => "SNDlib XML",
            Format::SndlibNative => "SNDlib native",
            Format::EdgeList => "a list of edges",
        })
    }
}

/// How a file names a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// Anything else. A tuple is written as Python does: `(0, 1)`.
    Text(String),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => write!(f, "{number}"),
            Id::Text(text) => f.write_str(text),
        }
    }
}

/// A place on earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Degrees east.
    pub longitude: f64,
    /// Degrees north.
    pub latitude: f64,
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

    /// Whether these can be degrees.
    pub fn is_on_earth(self) -> bool {
        self.longitude.abs() <= 360.0 && self.latitude.abs() <= 90.0
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// How the file names it in its links.
    pub id: Id,
    /// Its name for people, or its id where there is none.
    pub name: String,
    /// Where it is, if the file says so.
    pub position: Option<Coordinates>,
}

/// A link, as the file lists it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Index of the node where it begins.
    pub source: u32,
    /// Index of the node where it ends.
    pub target: u32,
    /// Whether it goes from source to target only; otherwise it goes both ways.
    pub directed: bool,
    /// Capacity in bit/s, more than 0; of each direction, if it goes both ways.
    pub capacity: Option<f64>,
    /// Length in km, 0 or more.
    pub length: Option<f64>,
    /// Delay in s, 0 or more.
    pub delay: Option<f64>,
    /// The number that the file calls `weight`, whatever it means.
    pub weight: Option<f64>,
}

/// Traffic, or whatever else is wanted, from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Index of the node where it begins.
    pub source: u32,
    /// Index of the node where it ends.
    pub target: u32,
    /// Its size in the unit of the file, 0 or more.
    pub value: f64,
}

/// Numbers of links under one name of the file: link and number, by link.
pub(crate) type Column = Vec<(u32, f64)>;

/// A graph as read from a file. `nodes`, `links` and what is told of them are in the order of the
/// file; every end of a link or demand is an index of a node.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) subject: String,
    pub(crate) format: Format,
    pub(crate) directed: bool,
    pub(crate) multigraph: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    /// The name of the list of links in the file; `line` where links are told by line.
    pub(crate) list: &'static str,
    /// For every link, its index in that list or its line.
    pub(crate) places: Vec<u32>,
    pub(crate) columns: BTreeMap<Box<str>, Column>,
    /// For every link, the name under which it has a number that may be its length.
    pub(crate) unclear: Vec<(u32, Box<str>)>,
    pub(crate) demands: Result<Option<Vec<Demand>>, String>,
    pub(crate) assumptions: Vec<String>,
}

impl Graph {
    /// The format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the file says that its links go one way. Single links may differ:
    /// [`Link::directed`].
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Whether several links between the same nodes are links of their own: the file says so, or
    /// its format has no other way to list them.
    pub fn is_multigraph(&self) -> bool {
        self.multigraph
    }

    /// The nodes, in the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The links, in the order of the file.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The demands that the file lists, in its order; `None` if it lists none.
    ///
    /// # Errors
    /// If the file has demands, and there is a mistake in them. Only who wants demands has to care.
    pub fn demands(&self) -> Result<Option<&[Demand]>, ReadError> {
        match &self.demands {
            Ok(demands) => Ok(demands.as_deref()),
            Err(problem) => Err(ReadError::new(&self.subject, problem.clone())),
        }
    }

    /// Where the file has a link: `edges[3]` or `line 7`.
    ///
    /// # Panics
    /// If there is no link with this index.
    pub fn place(&self, link: usize) -> String {
        place(self.list, self.places[link])
    }

    /// The number in that place: `3` or `7`.
    ///
    /// # Panics
    /// If there is no link with this index.
    pub fn place_number(&self, link: usize) -> u32 {
        self.places[link]
    }

    /// What the file calls its list of links, such as `edges`; `line` if places are lines.
    pub fn list(&self) -> &'static str {
        self.list
    }

    /// The number that the file has for a link under this name, if it has one. Numbers within
    /// objects have names with a dot: `ecmp_fwd.uni`.
    pub fn number(&self, link: usize, name: &str) -> Option<f64> {
        let column = self.columns.get(name)?;
        let at = column.binary_search_by_key(&(link as u32), |(link, _)| *link).ok()?;
        Some(column[at].1)
    }

    /// What was assumed, filled in or dropped so far, each in a few words without a full stop.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// The ends of a link in words, for messages.
    pub(crate) fn ends(&self, link: &Link) -> String {
        let id = |node: u32| &self.nodes[node as usize].id;
        format!("from node {} to node {}", id(link.source), id(link.target))
    }
}

/// A place of a link or node in words.
pub(crate) fn place(list: &str, number: u32) -> String {
    if list == LINES { format!("line {number}") } else { format!("{list}[{number}]") }
}

/// The `list` of formats whose places are lines.
pub(crate) const LINES: &str = "line";
