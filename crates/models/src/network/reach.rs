//! Which demands have a path.

use super::parameters::Unreachable;
use super::topology::{Flow, Topology};

/// Leaves out the flows without a path, and says in words what is left out. If they are to be
/// refused, they stay: routing refuses them.
pub(super) fn keep_reachable(
    topology: &Topology,
    flows: Vec<Flow>,
    unreachable: Unreachable,
) -> Result<(Vec<Flow>, Option<String>), String> {
    let neighbours = Neighbours::of(topology);
    if unreachable == Unreachable::Refuse || neighbours.all_reach_all() {
        return Ok((flows, None));
    }
    let all = flows.len();
    let total: f64 = flows.iter().map(|flow| flow.weight).sum();
    let (kept, lost) = neighbours.divide(flows);
    let Some(first) = lost.first() else { return Ok((kept, None)) };
    let name = |node: u32| {
        let node = &topology.nodes[node as usize];
        format!("{} (node {})", node.name, node.id)
    };
    let ends = format!("from {} to {}", name(first.source), name(first.target));
    if kept.is_empty() {
        return Err(format!(
            "there is no path for any of the {all} demands (the first goes {ends}); add links"
        ));
    }
    let share = 100.0 * lost.iter().map(|flow| flow.weight).sum::<f64>() / total;
    let many = lost.len();
    let verb = if many == 1 { "has no path and is" } else { "have no path and are" };
    Ok((
        kept,
        Some(format!(
            "{many} of {all} demands {verb} dropped, {share:.3} % of the traffic (first {ends})"
        )),
    ))
}

/// The nodes that links lead to and come from.
struct Neighbours {
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
}

impl Neighbours {
    fn of(topology: &Topology) -> Self {
        let mut after = vec![Vec::new(); topology.nodes.len()];
        let mut before = after.clone();
        for link in &topology.links {
            after[link.source as usize].push(link.target);
            before[link.target as usize].push(link.source);
        }
        Neighbours { after, before }
    }

    /// Whether there is a path between every two nodes.
    fn all_reach_all(&self) -> bool {
        let is_all = |next: &[Vec<u32>]| next.is_empty() || reached(next, 0).iter().all(|&is| is);
        is_all(&self.after) && is_all(&self.before)
    }

    /// Flows with a path and flows without, in their order.
    fn divide(&self, flows: Vec<Flow>) -> (Vec<Flow>, Vec<Flow>) {
        // Flows are ordered by source, so one search serves all flows of a source.
        let mut from = None;
        let mut is_reached = Vec::new();
        flows.into_iter().partition(|flow| {
            if from != Some(flow.source) {
                from = Some(flow.source);
                is_reached = reached(&self.after, flow.source);
            }
            is_reached[flow.target as usize]
        })
    }
}

/// For every node, whether there is a path to it.
fn reached(next: &[Vec<u32>], from: u32) -> Vec<bool> {
    let mut is_reached = vec![false; next.len()];
    is_reached[from as usize] = true;
    let mut waiting = vec![from];
    while let Some(node) = waiting.pop() {
        for &other in &next[node as usize] {
            if !std::mem::replace(&mut is_reached[other as usize], true) {
                waiting.push(other);
            }
        }
    }
    is_reached
}
