//! A comparison as a table for people, and as one object for programs.

use serde_json::{Value, json};
use warpline_record::RunRecord;

use super::comparison::Comparison;
use super::engine_runs::EngineRuns;
use crate::failure::Failure;
use crate::output::{ORDER_VARIES, format};

/// The most characters in a line of a note.
const LINE: usize = 100;

impl Comparison {
    /// The comparison as one object, with `notes` on parameters and the failure, if there is one.
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
        let end = format::time(run.end_time, &run.time_unit);
        let turns = match self.sequential().runs.len() {
            1 => "one run on each engine".to_owned(),
            runs => format!("{runs} runs on each engine in turn"),
        };
        let contested = self.contested().map_or_else(String::new, |contested| {
            format::wrapped(&format!("note: {contested}"), LINE)
                .iter()
                .map(|line| format!("{line}\n"))
                .collect()
        });
        let failures = self.failures().map_or_else(String::new, |failures| format!("{failures}\n"));
        let same_answer = self.same_answer();
        let varies =
            if self.order_varies() && same_answer != Some(false) { ORDER_VARIES } else { "" };
        let same = match same_answer {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "unknown",
        };
        format!(
            "{}: {}, to time {end} with seed {}\n{turns}, every run in a process of its \
             own\n{}{contested}{failures}{varies}same answer: {same}\n",
            run.model,
            run.about,
            run.seed,
            format::columns(&self.rows(), 2)
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let sequential = self.sequential();
        let rate = |engine: &EngineRuns| {
            engine.rate().map_or_else(|| "failed".to_owned(), format::event_rate)
        };
        let mut rows = vec![self.row("", &EngineRuns::name), self.row("median rate", &rate)];
        if sequential.runs.len() > 1 {
            rows.push(self.row_of_runs("min – max", &EngineRuns::rate_range));
        }
        rows.push(self.row_beside("speed-up", &|engine| ratio(engine.speed_up(sequential))));
        if self.engines.iter().any(|engine| engine.efficiency().is_some()) {
            rows.push(self.row_beside("efficiency", &|engine| percent(engine.efficiency())));
        }
        if self.engines.iter().any(|engine| engine.certain().is_some()) {
            rows.push(self.row_beside("certain events", &|engine| percent(engine.certain())));
        }
        rows.push(self.row_of_runs("peak memory", &|engine| {
            known(engine.memory().map(|bytes| format::bytes(bytes as u64)))
        }));
        rows.push(
            self.row_beside("memory ratio", &|engine| ratio(engine.memory_ratio(sequential))),
        );
        rows.push(self.row_of_runs("committed events", &|engine| {
            engine.common(|run| run.committed_events.to_string())
        }));
        rows.push(self.row_of_runs("digest", &|engine| engine.common(|run| run.digest.clone())));
        if self.expected().state_digest.is_some() {
            let states = |run: &RunRecord| {
                run.state_digest.as_ref().map(|digest| digest.content.clone()).unwrap_or_default()
            };
            rows.push(self.row_of_runs("final states", &|engine| engine.common(states)));
        }
        rows
    }

    /// A row with a cell for every engine.
    fn row(&self, name: &str, cell: &dyn Fn(&EngineRuns) -> String) -> Vec<String> {
        std::iter::once(name.to_owned()).chain(self.engines.iter().map(cell)).collect()
    }

    /// A row with a cell for every engine that has run.
    fn row_of_runs(&self, name: &str, cell: &dyn Fn(&EngineRuns) -> String) -> Vec<String> {
        self.row(name, &|engine| if engine.runs.is_empty() { String::new() } else { cell(engine) })
    }

    /// A row with a cell for every engine that has run, but for the sequential one.
    fn row_beside(&self, name: &str, cell: &dyn Fn(&EngineRuns) -> String) -> Vec<String> {
        self.row_of_runs(name, &|engine| {
            if engine.is_sequential() { String::new() } else { cell(engine) }
        })
    }
}

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "unknown".to_owned())
}

fn ratio(ratio: Option<f64>) -> String {
    known(ratio.map(|ratio| format::significant(ratio, 3)))
}

/// A share; empty if there is none.
fn percent(share: Option<f64>) -> String {
    share.map(format::percent).unwrap_or_default()
}
