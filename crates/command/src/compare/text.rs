//! A comparison as a table for people, and as one object for programs.

use serde_json::{Value, json};
use warpline_record::RunRecord;

use super::comparison::Comparison;
use super::engine_runs::EngineRuns;
use crate::failure::Failure;
use crate::output::format;

/// How long the lines of a note are.
const LINE: usize = 100;

impl Comparison {
    /// The comparison as one object, including `notes` on parameters, and its failure if it
    /// `failed`.
    pub(crate) fn json(&self, notes: &[String], failed: Option<&Failure>) -> Value {
        let run = self.expected();
        let mut all = json!({
            "model": run.model,
            "parameters": run.parameters,
            "seed": run.seed,
            "end_time": run.end_time,
            "runs": self.sequential().runs.len(),
            "sequential": self.sequential().json(),
            "parallel": self.others().iter().map(|engine| engine.json_beside(self.sequential())).collect::<Vec<_>>(),
            "same_answer": self.same_answer(),
            "order_of_text_varies": self.order_varies(),
        });
        let notes: Vec<String> = notes.iter().cloned().chain(self.contested()).collect();
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        if let Some(failed) = failed {
            all["error"] = json!(failed.message);
            all["exit_code"] = json!(failed.code);
        }
        all
    }

    /// The comparison as a table, an engine in each column.
    pub(crate) fn text(&self) -> String {
        let run = self.expected();
        let sequential = self.sequential();
        let known = |known: Option<String>| known.unwrap_or_else(|| "unknown".to_owned());
        let all = |name: &str, cell: &dyn Fn(&EngineRuns) -> String| -> Vec<String> {
            std::iter::once(name.to_owned()).chain(self.engines.iter().map(cell)).collect()
        };
        let row = |name: &str, cell: &dyn Fn(&EngineRuns) -> String| {
            all(name, &|engine| if engine.runs.is_empty() { String::new() } else { cell(engine) })
        };
        let beside = |name: &str, cell: &dyn Fn(&EngineRuns) -> String| {
            row(name, &|engine| if engine.is_sequential() { String::new() } else { cell(engine) })
        };
        let ratio = |ratio: Option<f64>| known(ratio.map(|ratio| format::significant(ratio, 3)));
        let rate = |engine: &EngineRuns| {
            engine.rate().map_or_else(|| "failed".to_owned(), format::event_rate)
        };
        let mut rows = vec![all("", &EngineRuns::name), all("median rate", &rate)];
        if sequential.runs.len() > 1 {
            rows.push(row("min – max", &EngineRuns::rate_range));
        }
        rows.push(beside("speed-up", &|engine| ratio(engine.speed_up(sequential))));
        if self.engines.iter().any(|engine| engine.efficiency().is_some()) {
            rows.push(beside("efficiency", &|engine| {
                engine.efficiency().map(format::percent).unwrap_or_default()
            }));
        }
        if self.engines.iter().any(|engine| engine.certain().is_some()) {
            rows.push(beside("certain events", &|engine| {
                engine.certain().map(format::percent).unwrap_or_default()
            }));
        }
        rows.push(row("peak memory", &|engine| {
            known(engine.memory().map(|bytes| format::bytes(bytes as u64)))
        }));
        rows.push(beside("memory ratio", &|engine| ratio(engine.memory_ratio(sequential))));
        rows.push(row("committed events", &|engine| {
            engine.common(|run| run.committed_events.to_string())
        }));
        rows.push(row("digest", &|engine| engine.common(|run| run.digest.clone())));
        if run.state_digest.is_some() {
            let states = |run: &RunRecord| {
                run.state_digest.as_ref().map(|digest| digest.content.clone()).unwrap_or_default()
            };
            rows.push(row("final states", &|engine| engine.common(states)));
        }
        let same = match self.same_answer() {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "unknown",
        };
        let contested = self.contested().map_or_else(String::new, |contested| {
            format::wrapped(&format!("note: {contested}"), LINE)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect()
        });
        let failures = self.failures().map_or_else(String::new, |failures| format!("{failures}\n"));
        let varies = if self.order_varies() && self.same_answer() != Some(false) {
            "the texts of equal states differ from run to run, in the order of hash maps or in addresses; let no handler depend on it\n"
        } else {
            ""
        };
        let end = format::time(run.end_time, &run.time_unit);
        let seed = run.seed;
        let runs = sequential.runs.len();
        let turns = if runs == 1 {
            "one run on each engine".to_owned()
        } else {
            format!("{runs} runs on each engine in turn")
        };
        let head = format!("{}: {}, to time {end} with seed {seed}\n", run.model, run.about);
        format!(
            "{head}{turns}, every run in a process of its own\n{}{contested}{failures}{varies}same answer: {same}\n",
            format::columns(&rows, 2)
        )
    }
}
