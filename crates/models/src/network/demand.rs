//! Traffic matrices.

use std::collections::BTreeMap;

use serde_json::Value;

use super::directions::{self, Reading};
use super::limits;
use super::parameters::{Demand, DemandDirections};
use super::reader::{id_text, kind};
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
        (Demand::File, Some(Demands::File(demands))) => {
            let listed = file(topology, demands)?;
            let how = reading.insert(Reading::of(topology, &listed, directions));
            directions::read(&listed, how.both_ways)
        }
        (Demand::File, _) => {
            return Err(
                "`demand=file` needs `graph.demands` in the topology's file, and there is none; use `demand=uni` or `demand=deg`".into()
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

/// The file's `graph.demands[source][target]`, ordered by source and target. A node's demand for
/// itself uses no link and is left out.
fn file(topology: &Topology, demands: &Value) -> Result<Vec<Flow>, String> {
    let texts = (0u32..).zip(&topology.nodes).filter_map(|(i, node)| Some((id_text(&node.id)?, i)));
    let index: BTreeMap<String, u32> = texts.collect();
    let node = |at: &str, id: &str| {
        index.get(id).copied().ok_or_else(|| {
            format!(
                "the topology's file has a mistake at graph.demands{at}: there is no node `{id}`"
            )
        })
    };
    let object = |at: &str, value: &Value| match value {
        Value::Object(fields) => Ok(fields.clone()),
        other => Err(format!(
            "the topology's file has {} at graph.demands{at}, where an object of node ids is expected",
            kind(other)
        )),
    };
    let mut flows = Vec::new();
    for (from, row) in &object("", demands)? {
        let at = format!("[\"{from}\"]");
        let source = node(&at, from)?;
        for (to, value) in &object(&at, row)? {
            let at = format!("{at}[\"{to}\"]");
            let target = node(&at, to)?;
            let Some(weight) = value.as_f64().filter(|weight| weight.is_finite() && *weight >= 0.0)
            else {
                return Err(format!(
                    "the topology's file has {value} at graph.demands{at}; a demand must be a finite number, 0 or more"
                ));
            };
            flows.push(Flow { source, target, weight });
        }
    }
    flows.retain(|flow| flow.weight > 0.0 && flow.source != flow.target);
    flows.sort_by_key(|flow| (flow.source, flow.target));
    Ok(flows)
}
