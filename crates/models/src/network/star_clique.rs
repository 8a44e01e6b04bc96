//! Stars whose hubs form a clique; the documentation of the model describes them.

use serde_json::Value;
use warpline_topology::{Coordinates, PROPAGATION_SPEED};

use super::limits;
use super::topology::{Demands, Edges, Flow, Link, Node, Topology};

/// What the parameter `topology` begins with, before a colon and the number of stars.
const NAME: &str = "star-clique";

/// The most stars: routes for more do not fit.
const MOST_STARS: u32 = 128;
const _: () = assert!(limits::routes_fit(
    (MOST_STARS as u64).pow(2),
    MOST_STARS as u64 * (MOST_STARS as u64 - 1)
));

/// Length of the links within a star, in km.
const TO_LEAF: f64 = 1e-3 * PROPAGATION_SPEED;
/// Length of the links between hubs, in km.
const BETWEEN_HUBS: f64 = 10e-3 * PROPAGATION_SPEED;

/// Where hubs and leaves are on the map: degrees from its middle.
const HUBS: f64 = 5.0;
const LEAVES: f64 = 10.0;
/// How much of its share of the circle a star's leaves take up.
const LEAVES_SPREAD: f64 = 0.8;

/// Whether the parameter `topology` asks for a star-clique, valid or not.
pub(super) fn is_meant(topology: &str) -> bool {
    topology.strip_prefix(NAME).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

impl Topology {
    /// A star-clique: this many stars, whose hubs form a clique; see the [module
    /// documentation](super).
    ///
    /// # Errors
    /// If the number of stars is not in 2 to 128.
    pub fn star_clique(stars: u32) -> Result<Self, String> {
        if !(2..=MOST_STARS).contains(&stars) {
            return Err(mistake(&format!("{NAME}:{stars}")));
        }
        let others = |star: u32| (0..stars).filter(move |&other| other != star);
        let hub = |star: u32| star * stars;
        // A star's leaves follow its hub in the order of the stars that they send to.
        let leaf = |star: u32, other: u32| hub(star) + 1 + other - u32::from(other > star);
        let both_ways = |source, target, length| {
            let link = Link { source, target, length, lines: 1, capacity: None };
            [link, Link { source: target, target: source, ..link }]
        };
        let mut nodes = Vec::new();
        let mut links = Vec::new();
        let mut flows = Vec::new();
        for star in 0..stars {
            nodes.push(node(format!("{star}"), "hub", HUBS, f64::from(star) / f64::from(stars)));
            for (place, other) in (0u32..).zip(others(star)) {
                let aside = (f64::from(place) + 0.5) / f64::from(stars - 1) - 0.5;
                nodes.push(node(
                    format!("{star}-{other}"),
                    "leaf",
                    LEAVES,
                    (f64::from(star) + LEAVES_SPREAD * aside) / f64::from(stars),
                ));
                links.extend(both_ways(leaf(star, other), hub(star), TO_LEAF));
                flows.push(Flow {
                    source: leaf(star, other),
                    target: leaf(other, star),
                    weight: 1.0,
                });
            }
            links.extend(
                (star + 1..stars).flat_map(|other| both_ways(hub(star), hub(other), BETWEEN_HUBS)),
            );
        }
        Ok(Topology {
            nodes,
            links,
            demands: Some(Demands::StarClique(flows)),
            edges: Edges::default(),
            published: None,
            read_as: None,
            assumptions: Vec::new(),
        }
        .with_degrees())
    }

    /// The star of a node, if this is a star-clique.
    pub(super) fn star_of(&self, node: u32) -> Option<u32> {
        // Each star has as many nodes as there are stars.
        self.is_star_clique().then(|| node / self.nodes.len().isqrt() as u32)
    }

    /// The star-clique that the parameter `topology` asks for.
    pub(super) fn star_clique_of(topology: &str) -> Result<Self, String> {
        let stars =
            topology.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(':')?.parse().ok());
        Topology::star_clique(stars.ok_or_else(|| mistake(topology))?)
    }
}

fn mistake(topology: &str) -> String {
    format!(
        "`topology` cannot be `{topology}`: a star-clique has from 2 to {MOST_STARS} stars, as in `{NAME}:4`"
    )
}

/// A node on a circle around the middle of the map, at this share of the way round.
fn node(id: String, kind: &str, radius: f64, way: f64) -> Node {
    let (sine, cosine) = (std::f64::consts::TAU * way).sin_cos();
    let position = Some(Coordinates { longitude: radius * sine, latitude: radius * cosine });
    Node { name: format!("{kind} {id}"), id: Value::String(id), position, degree: 0 }
}
