//! Traffic matrices.

use super::directions::{self, Reading};
use super::limits;
use super::parameters::{Demand, DemandDirections};
use super::topology::{Demands, Flow, Topology};

/// All flows of a matrix, ordered by source and target; and how a file's demands were read.
pub(super) fn flows(
    topology: &Topology,
    demand: Demand,
    directions: DemandDirections,
) -> Result<(Vec<Flow>, Option<Reading>), String> {
    let mut reading = None;
    let flows = match (demand, &topology.demands) {
        (Demand::Auto | Demand::File, Some(Demands::StarClique(flows))) => flows.clone(),
        (Demand::Auto | Demand::Uniform, _) => {
            limits::check_pairs(topology.nodes.len() as u64, topology.links.len() as u64)?;
            pairs(topology, |_, _| 1.0)
        }
        (Demand::Degree, _) => {
            limits::check_pairs(topology.nodes.len() as u64, topology.links.len() as u64)?;
            let degree = |node: u32| f64::from(topology.nodes[node as usize].degree);
            pairs(topology, |source, target| degree(source) * degree(target))
        }
        (Demand::File, Some(Demands::Mistaken(why))) => return Err(why.clone()),
        (Demand::File, Some(Demands::File(demands))) => {
            let listed = listed(demands);
            let how = reading.insert(Reading::of(topology, &listed, directions));
            directions::read(&listed, how.both_ways)
        }
        (Demand::File, _) => {
            return Err(
                "`demand=file` needs `graph.demands` in the topology's file, or the demands of an SNDlib file, and there are none; \
                 use `demand=uni` or `demand=deg`"
                    .into()
            );
        }
    };
    let sum = flows.iter().fold(0.0, |sum, flow| sum + flow.weight);
    if flows.is_empty() || !sum.is_finite() {
        return Err(format!(
            "the demands between different nodes sum to {sum}; their sum must be finite and more than 0"
        ));
    }
    Ok((flows, reading))
}

fn pairs(topology: &Topology, weight: impl Fn(u32, u32) -> f64) -> Vec<Flow> {
    let nodes = topology.nodes.len() as u32;
    let all = (0..nodes).flat_map(|source| (0..nodes).map(move |target| (source, target)));
    let flows = all.filter(|(s, t)| s != t).map(|(source, target)| Flow {
        source,
        target,
        weight: weight(source, target),
    });
    flows.filter(|flow| flow.weight > 0.0).collect()
}

/// The demands as a file lists them, ordered by source and target; those of the same two nodes are
/// added up. A node's demand for itself uses no link and is left out.
fn listed(flows: &[Flow]) -> Vec<Flow> {
    let mut flows = flows.to_vec();
    flows.retain(|flow| flow.weight > 0.0 && flow.source != flow.target);
    flows.sort_by_key(|flow| (flow.source, flow.target));
    flows.dedup_by(|next, flow| {
        let same = (next.source, next.target) == (flow.source, flow.target);
        flow.weight += if same { next.weight } else { 0.0 };
        same
    });
    flows
}
