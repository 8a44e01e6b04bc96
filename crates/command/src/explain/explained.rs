//! What was found about a model.

use serde_json::{Map, Value};

use super::advice::{advice, amount};
use super::costs::Costs;
use warpline_run::{CoreFindings, DividedGroups, EventCost, Explanation, LpWork, Slice};

/// What was found about a model.
pub(super) struct Explained {
    pub(super) unit: &'static str,
    pub(super) parameters: Map<String, Value>,
    pub(super) explanation: Explanation,
    /// What events and messages cost, if that could be measured.
    pub(super) costs: Option<Costs>,
}

/// The share of the work that the busiest tenth of the LPs has.
pub(super) fn busiest_tenth(load: &[LpWork], work: u64) -> f64 {
    load.iter().take(load.len().div_ceil(10)).map(|one| one.work).sum::<u64>() as f64 / work as f64
}

/// How many events of a slice go on at a time, on average; `None` if it adds nothing to the critical
/// path.
pub(super) fn parallelism(slice: &Slice) -> Option<f64> {
    (slice.path > 0).then(|| slice.work as f64 / slice.path as f64)
}

impl Explained {
    /// What events count for.
    pub(super) fn counted(&self) -> String {
        let cost = self.explanation.cost;
        if cost == EventCost::Measured {
            format!("their handlers took {}", amount(self.explanation.findings.work, cost))
        } else {
            "each counts 1".to_owned()
        }
    }

    /// What is left of an ideal speed-up at the costs of this machine, if they are known.
    pub(super) fn with_costs(&self, cores: &CoreFindings) -> Option<f64> {
        self.costs.map(|costs| costs.speed_up(cores, self.explanation.findings.events))
    }

    /// What stands in the way.
    pub(super) fn advice(&self) -> Vec<String> {
        advice(&self.explanation, self.unit, self.costs.as_ref())
    }

    /// The numbers of cores that divide groups of LPs, each with what it divides.
    pub(super) fn divided_groups(&self) -> impl Iterator<Item = (u32, String)> {
        let cores = self.explanation.findings.cores.iter().zip(&self.explanation.divided);
        cores.filter_map(|(one, divided)| {
            let DividedGroups { boundaries, pe, at, group, first, last } = (*divided)?;
            let all = one.pes - 1;
            let left = pe - 1;
            let text = format!(
                "{boundaries} of {all} boundaries between PEs divide a group of LPs that the model \
                 wants on one PE; the first, between PE {left} and PE {pe} at {at}, divides group \
                 {group} ({first} to {last})"
            );
            Some((one.cores, text))
        })
    }
}
