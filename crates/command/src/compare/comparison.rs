//! Whether engines that were compared gave the same answer, and what is wrong if they did not.

use std::fmt::Write;

use serde_json::Value;
use warpline_record::{RunRecord, StateDigestRecord};
use warpline_run::verify::UNEQUAL_WHY;

use super::engine_runs::EngineRuns;
use crate::failure::Failure;
use crate::output::format;

/// Runs of the same simulation on several engines, the sequential one first; that one has at least
/// one run.
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
        different.extend(all().flat_map(|run| different_ends(expected, run)).map(str::to_owned));
        different.sort();
        different.dedup();
        if same_history && different.is_empty() {
            return None;
        }
        let mut message =
            format!("WRONG ANSWER: runs of `{}` that must be equal differ\n", expected.model);
        for engine in &self.engines {
            for (digest, events, runs) in engine.answers() {
                let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
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

    /// The failure at the end of the comparison, if not all engines gave the same answer in all
    /// runs.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let all: Vec<String> = self.disagreement().into_iter().chain(self.failures()).collect();
        (!all.is_empty()).then(|| Failure::failed(all.join("\n")))
    }

    /// Whether everything compared is equal; `None` if only the sequential engine reached the end
    /// of a run.
    pub(super) fn same_answer(&self) -> Option<bool> {
        let compared = self.others().iter().any(|engine| !engine.runs.is_empty());
        match self.disagreement() {
            Some(_) => Some(false),
            None => compared.then_some(true),
        }
    }

    /// A note that other programs used the cores as well, if so much that rates say little.
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
                "other programs used the cores as well, and engines lacked one for part of the time: {all}; rates \
                 and speed-ups say little, so compare again when the machine is idle"
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

/// Whether two runs have the same answer, as far as their records tell.
fn is_equal(one: &RunRecord, other: &RunRecord) -> bool {
    (&one.digest, one.committed_events, &one.results, &one.series)
        == (&other.digest, other.committed_events, &other.results, &other.series)
        && different_ends(one, other).next().is_none()
}

/// Which parts of the ends of two runs differ, beside their results.
fn different_ends(one: &RunRecord, other: &RunRecord) -> impl Iterator<Item = &'static str> {
    let none = StateDigestRecord::default();
    let [(one_text, one_statistics), (other_text, other_statistics)] = [one, other].map(|run| {
        let StateDigestRecord { content, statistics, .. } =
            run.state_digest.as_ref().unwrap_or(&none);
        (content.clone(), statistics.clone())
    });
    let all = [
        ("final states", one_text != other_text),
        ("statistics", one_statistics != other_statistics),
    ];
    all.into_iter().filter(|(_, differ)| *differ).map(|(name, _)| name)
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
