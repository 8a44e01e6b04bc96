//! An explanation as one object for programs.

use serde_json::{Value, json};

use super::costs::Costs;
use super::explained::{Explained, busiest_tenth, parallelism};
use warpline_run::{CoreFindings, DividedGroups, EventCost, LpDelay, LpWork, Slice};

/// The most LPs and delays that are listed.
const LISTED: usize = 20;

impl Explained {
    pub(super) fn json(&self, notes: &[String]) -> Value {
        let Explained { unit, explanation, .. } = self;
        let findings = &explanation.findings;
        let cost = explanation.cost;
        let lps = |lps: &[LpWork], all: u64| -> Vec<Value> {
            let lp = |one: &LpWork| json!({ "lp": one.lp.0, "work": one.work, "share": one.work as f64 / all as f64 });
            lps.iter().take(LISTED).map(lp).collect()
        };
        let delay = |seen: &LpDelay| json!({ "from": seen.from.0, "to": seen.to.0, "declared": seen.declared, "seen": seen.seen });
        let slice = |slice: &Slice| json!({ "from": slice.from, "to": slice.to, "work": slice.work, "path": slice.path, "parallelism": parallelism(slice) });
        let divided = |divided: DividedGroups| {
            json!({
                "boundaries": divided.boundaries, "pe": divided.pe, "lp": divided.at.0, "group": divided.group,
                "first_lp": divided.first.0, "last_lp": divided.last.0,
            })
        };
        let cores = |(one, groups): (&CoreFindings, &Option<DividedGroups>)| {
            let busiest = json!({ "pe": one.busiest.pe, "first_lp": one.busiest.first.0, "last_lp": one.busiest.last.0, "work": one.busiest.work });
            json!({
                "cores": one.cores, "pes": one.pes, "any_engine": one.any_engine, "these_blocks": one.these_blocks, "in_order": one.in_order,
                "declared": one.declared, "declared_delay": one.declared_delay.is_finite().then_some(one.declared_delay),
                "seen": one.seen, "seen_delay": one.seen_delay.as_ref().map(delay), "messages": one.messages,
                "with_costs": self.with_costs(one), "busiest_pe": busiest,
                "divided_groups": groups.map(divided),
            })
        };
        let path = &findings.path;
        let mut all = json!({
            "model": explanation.model, "seed": explanation.seed, "end_time": explanation.end, "time_unit": unit,
            "event_cost": cost.name(), "cost_unit": if cost == EventCost::Counted { "events" } else { "ns" },
            "digest": explanation.digest, "events": findings.events, "work": findings.work, "parallelism": explanation.parallelism(),
            "path": { "length": path.length, "events": path.events, "messages": path.messages, "lps": lps(&path.lps, path.length) },
            "slices": findings.slices.iter().map(slice).collect::<Vec<_>>(),
            "cores": findings.cores.iter().zip(&explanation.divided).map(cores).collect::<Vec<_>>(),
            "load": {
                "lps": findings.load.len(), "busiest": lps(&findings.load, findings.work),
                "busiest_tenth": busiest_tenth(&findings.load, findings.work),
            },
            "delays": findings.delays.iter().take(LISTED).map(delay).collect::<Vec<_>>(),
            "costs": self.costs.as_ref().map(Costs::json),
            "advice": self.advice(),
        });
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }
}
