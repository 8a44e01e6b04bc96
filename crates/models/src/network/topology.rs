//! A network of nodes and directed links.

use serde_json::Value;

/// A network of nodes and directed links, as read from node-link JSON.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    /// The directed links: for every edge of the file source→target and, unless the file says `directed`, target→source after it.
    pub links: Vec<Link>,
    /// `graph.demands` of the file, if there are any. They are read only when asked for.
    pub(super) demands: Option<Value>,
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
