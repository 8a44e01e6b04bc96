//! Which way the demands of a file go.
//!
//! A file lists traffic between pairs of nodes. An entry `[source][target]` has two readings:
//! traffic from source to target, or traffic between the two, as much each way. The first of these
//! that applies decides:
//!
//! 1. The loads that it publishes for its links (`ecmp_fwd.org` and `ecmp_bwd.org`, in percent of
//!    the most loaded one), if exactly one reading yields them.
//! 2. `"directed": true`: every entry goes one way.
//! 3. Pairs that are listed in both orders: the file tells directions apart, so every entry goes
//!    one way.
//! 4. Otherwise links go both ways and every pair is listed once: every entry goes both ways.

use super::parameters::DemandDirections;
use super::routing::Routing;
use super::topology::{Flow, Topology};

/// How far loads may be from published ones, which are rounded to hundredths; in percent of the
/// most loaded link.
const ROUNDING: f64 = 0.02;

/// How the demands of a file were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) both_ways: bool,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Asked,
    /// A reading yields the published loads.
    Published,
    /// Neither reading yields the published loads; the rest of the file decides.
    Unlike(Rest),
    Rest(Rest),
}

/// What a file says apart from published loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Directed,
    ListedTwice,
    ListedOnce,
}

impl Reading {
    /// Decides how to read the demands that a file lists, ordered by source and target.
    pub(super) fn of(topology: &Topology, listed: &[Flow], directions: DemandDirections) -> Self {
        match directions {
            DemandDirections::Listed => return Reading { both_ways: false, why: Why::Asked },
            DemandDirections::Both => return Reading { both_ways: true, why: Why::Asked },
            DemandDirections::Auto => {}
        }
        let rest = rest(topology, listed);
        let Some(published) = &topology.published else {
            return Reading { both_ways: rest == Rest::ListedOnce, why: Why::Rest(rest) };
        };
        match [false, true].map(|both_ways| yields(topology, &read(listed, both_ways), published)) {
            [true, _] => Reading { both_ways: false, why: Why::Published },
            [false, true] => Reading { both_ways: true, why: Why::Published },
            [false, false] => {
                Reading { both_ways: rest == Rest::ListedOnce, why: Why::Unlike(rest) }
            }
        }
    }

    /// The reading and its reason, for people.
    pub(super) fn words(self) -> String {
        let reading = if self.both_ways { "both ways" } else { "as listed" };
        let rest = |rest| match rest {
            Rest::Directed => "the file is directed",
            Rest::ListedTwice => "the file lists pairs in both orders",
            Rest::ListedOnce => "the file lists each pair once, and its links go both ways",
        };
        match self.why {
            Why::Asked => format!("{reading}, as asked for"),
            Why::Published => format!("{reading}, as in the loads that the file publishes"),
            Why::Unlike(why) => format!(
                "{reading}, as {}; neither reading makes the loads that the file publishes",
                rest(why)
            ),
            Why::Rest(why) => format!("{reading}, as {}", rest(why)),
        }
    }
}

/// The demands under this reading, ordered by source and target.
pub(super) fn read(listed: &[Flow], both_ways: bool) -> Vec<Flow> {
    let mut flows = listed.to_vec();
    if both_ways {
        flows.extend(listed.iter().map(|flow| Flow {
            source: flow.target,
            target: flow.source,
            ..*flow
        }));
        flows.sort_by_key(|flow| (flow.source, flow.target));
        flows.dedup_by(|next, flow| {
            let same = (next.source, next.target) == (flow.source, flow.target);
            flow.weight += if same { next.weight } else { 0.0 };
            same
        });
    }
    flows
}

fn rest(topology: &Topology, listed: &[Flow]) -> Rest {
    let place = |flow: &Flow| {
        listed
            .binary_search_by_key(&(flow.target, flow.source), |other| (other.source, other.target))
    };
    if topology.edges.directed {
        Rest::Directed
    } else if listed.iter().any(|flow| place(flow).is_ok()) {
        Rest::ListedTwice
    } else {
        Rest::ListedOnce
    }
}

/// Whether these demands load the links as published.
fn yields(topology: &Topology, flows: &[Flow], published: &[f64]) -> bool {
    let Ok(routing) = Routing::new(topology, flows) else { return false };
    let most = routing.loads().iter().copied().fold(0.0, f64::max);
    routing
        .loads()
        .iter()
        .zip(published)
        .all(|(load, percent)| (100.0 * load / most - percent).abs() <= ROUNDING)
}
