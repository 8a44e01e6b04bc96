//! Whether engines that were compared gave the same answer, and what is wrong if they did not.

use std::fmt::Write;

use serde_json::Value;
use warpline_record::{RunRecord, StateDigestRecord};
use warpline_run::verify::UNEQUAL_WHY;

use super::engine_runs::EngineRuns;
use crate::failure::Failure;
use crate::output::format;

/// Runs of the same simulation on several engines. The sequential engine comes first, and has at
/// least one run.
pub(crate) struct Comparison {
    pub(super) engines: Vec<EngineRuns>,
    /// The command line that verifies the model.
    verify: String,
}

impl Comparison {
    /// A comparison of the sequential engine, which comes first and has run, with others; `verify`
    /// is the command line that verifies the model.
    pub(crate) fn of(engines: Vec<EngineRuns>, verify: String) -> Self {
        Comparison { engines, verify }
    }

    pub(super) fn sequential(&self) -> &EngineRuns {
        &self.engines[0]
    }

    pub(super) fn others(&self) -> &[EngineRuns] {
        &self.engines[1..]
    }

    /// The very first run.
    pub(super) fn expected(&self) -> &RunRecord {
        &self.sequential().runs[0]
    }

    /// What is wrong, if not all runs gave the same answer.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let expected = self.expected();
        let all = || self.engines.iter().flat_map(|engine| &engine.runs);
        let same_history = all().all(|run| {
            run.digest == expected.digest && run.committed_events == expected.committed_events
        });
        let mut different: Vec<String> =
            all().flat_map(|run| differences(&expected.results, &run.results)).collect();
        different.extend(all().flat_map(|run| different_series(expected, run)));
        let ends = all().flat_map(|run| different_ends(expected, run));
        different.extend(ends.map(str::to_owned));
        different.sort();
        different.dedup();
        if same_history && different.is_empty() {
            return None;
        }
        let mut message =
            format!("WRONG ANSWER: runs of `{}` that must be equal differ\n", expected.model);
        for engine in &self.engines {
            for (digest, events, runs) in engine.answers() {
                let runs = format::counted(runs, "run", "runs");
                let _ = writeln!(
                    message,
                    "  {}: digest {digest} with {events} events, in {runs}",
                    engine.name()
                );
            }
        }
        if !different.is_empty() {
            let _ = writeln!(message, "  results that differ: {}", different.join(", "));
        }
        if self.sequential().runs.iter().any(|run| !is_equal(expected, run)) {
            let _ = write!(
                message,
                "  sequential runs differ from each other, so it is the model. {UNEQUAL_WHY}"
            );
            return Some(message);
        }
        let verify = &self.verify;
        let place = env!("CARGO_PKG_REPOSITORY");
        let _ = write!(
            message,
            "  believe none of them; if `{verify}` passes with the same parameters, \
             please report this, with the command that you typed, at {place}"
        );
        Some(message)
    }

    /// Whether the texts of equal states differ from run to run.
    pub(super) fn order_varies(&self) -> bool {
        let text = |run: &RunRecord| run.state_digest.as_ref().map(|digest| digest.text.clone());
        let expected = text(self.expected());
        self.engines.iter().flat_map(|engine| &engine.runs).any(|run| text(run) != expected)
    }

    /// Which engines failed, if any did.
    pub(super) fn failures(&self) -> Option<String> {
        let failed: Vec<String> = self
            .engines
            .iter()
            .filter_map(|one| {
                Some(format!("{} failed: {}", one.contender.name(), one.failure.as_ref()?))
            })
            .collect();
        (!failed.is_empty()).then(|| failed.join("\n"))
    }

    /// The failure of the comparison, if answers differ or an engine failed.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let all: Vec<String> = self.disagreement().into_iter().chain(self.failures()).collect();
        (!all.is_empty()).then(|| Failure::failed(all.join("\n")))
    }

    /// Whether all answers are equal; `None` if only the sequential engine finished a run.
    pub(super) fn same_answer(&self) -> Option<bool> {
        let compared = self.others().iter().any(|engine| !engine.runs.is_empty());
        match self.disagreement() {
            Some(_) => Some(false),
            None => compared.then_some(true),
        }
    }

    /// A note on other programs that used the cores, if they did so much that rates say little.
    pub(super) fn contested(&self) -> Option<String> {
        let taken: Vec<(String, f64)> = self
            .engines
            .iter()
            .filter_map(|engine| Some((engine.name(), engine.taken()?)))
            .collect();
        let most =
            |(name, taken): &(String, f64)| format!("{name} up to {}", format::percent(*taken));
        let all = taken.iter().map(most).collect::<Vec<_>>().join(", ");
        (!taken.is_empty()).then(|| {
            format!(
                "other programs used the cores as well, and engines lacked one for part of the \
                 time: {all}; rates and speed-ups say little, so compare again when the machine is \
                 idle"
            )
        })
    }
}

/// The names of the results that differ.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
        }
        _ if one == other => Vec::new(),
        _ => vec!["all".to_owned()],
    }
}

/// Whether two records have the same answer.
fn is_equal(one: &RunRecord, other: &RunRecord) -> bool {
    (&one.digest, one.committed_events, &one.results, &one.series)
        == (&other.digest, other.committed_events, &other.results, &other.series)
        && different_ends(one, other).is_empty()
}

/// Which of final states and statistics differ.
fn different_ends(one: &RunRecord, other: &RunRecord) -> Vec<&'static str> {
    let none = StateDigestRecord::default();
    let [one, other] = [one, other].map(|run| run.state_digest.as_ref().unwrap_or(&none));
    let all = [
        ("final states", one.content != other.content),
        ("statistics", one.statistics != other.statistics),
    ];
    all.into_iter().filter(|(_, differ)| *differ).map(|(name, _)| name).collect()
}

/// The names of the series that differ.
fn different_series<'r>(one: &'r RunRecord, other: &'r RunRecord) -> impl Iterator<Item = String> {
    let names =
        one.series.keys().chain(other.series.keys().filter(|name| !one.series.contains_key(*name)));
    names
        .filter(|name| one.series.get(*name) != other.series.get(*name))
        .map(|name| format!("{name} over time"))
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
