//! The outcome of a comparison of engines: a table for people, one object for programs, or a
//! report.

mod report;

use std::fmt::Write;

use serde_json::{Value, json};
use warpline_record::{RunRecord, StateDigestRecord};
use warpline_run::Synchronisation;
use warpline_run::verify::UNEQUAL_WHY;

use super::failure::Failure;
use super::ways::{Placement, Way};
use super::{format, summary};

/// How long the lines of a note are.
const LINE: usize = 100;

/// Runs of the same simulation on several engines, the sequential one first; that one has at least
/// one run.
pub(crate) struct Comparison {
    engines: Vec<EngineRuns>,
    /// The command line that verifies the model.
    verify: String,
}

/// An engine to be compared, and where its PEs are, if that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contender {
    pub(crate) sync: Synchronisation,
    pub(crate) placement: Option<Placement>,
}

impl Contender {
    /// An engine whose PEs are where the run puts them.
    pub(crate) const fn of(sync: Synchronisation) -> Self {
        Contender { sync, placement: None }
    }

    /// Its name, as far as it is known before it has run.
    pub(crate) fn name(&self) -> String {
        let sync = self.sync.name();
        self.placement.map_or_else(|| sync.to_owned(), |placement| format!("{sync}, {}", placement.name()))
    }
}

/// An engine and its runs.
pub(crate) struct EngineRuns {
    pub(crate) contender: Contender,
    pub(crate) runs: Vec<RunRecord>,
    /// Why there are no more runs, if one failed.
    pub(crate) failure: Option<String>,
}

impl EngineRuns {
    /// An engine that has not run yet.
    pub(crate) fn new(contender: Contender) -> Self {
        EngineRuns { contender, runs: Vec::new(), failure: None }
    }

    pub(crate) fn is_sequential(&self) -> bool {
        self.contender.sync == Synchronisation::Sequential
    }

    /// The engine for people.
    fn name(&self) -> String {
        match self.runs.first() {
            Some(run) if self.contender.placement.is_none() => summary::engine(run),
            _ => self.contender.name(),
        }
    }

    fn rates(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.event_rate).collect()
    }

    fn rate(&self) -> Option<f64> {
        median(self.rates())
    }

    fn rate_range(&self) -> String {
        let rates = self.rates();
        format::event_rates(rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max))
    }

    fn efficiency(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.parallel.as_ref()).map(|parallel| parallel.efficiency).collect())
    }

    /// How many of the committed events were certain when they were executed; `None` if nothing was
    /// committed.
    fn certain(&self) -> Option<f64> {
        let of = |run: &RunRecord| ratio(run.parallel.as_ref()?.certain_events as f64, run.committed_events as f64);
        median(self.runs.iter().filter_map(of).collect())
    }

    /// The peak memory, in bytes; `None` where the system does not report it.
    fn memory(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| run.peak_rss_bytes).map(|bytes| bytes as f64).collect())
    }

    fn speed_up(&self, reference: &EngineRuns) -> Option<f64> {
        ratio(self.rate()?, reference.rate()?)
    }

    fn memory_ratio(&self, reference: &EngineRuns) -> Option<f64> {
        ratio(self.memory()?, reference.memory()?)
    }

    /// The greatest share of its cores that others took from one of its runs, if so much that rates
    /// say little.
    fn taken(&self) -> Option<f64> {
        self.runs.iter().filter_map(warpline_report::taken_by_others).reduce(f64::max)
    }

    /// The answers, each once, with the number of its runs.
    fn answers(&self) -> Vec<(&str, u64, usize)> {
        let mut answers: Vec<(&str, u64, usize)> = Vec::new();
        for run in &self.runs {
            match answers.iter_mut().find(|(digest, events, _)| (*digest, *events) == (&run.digest, run.committed_events)) {
                Some((_, _, runs)) => *runs += 1,
                None => answers.push((&run.digest, run.committed_events, 1)),
            }
        }
        answers
    }

    /// What all its runs agree on, or a note that they differ.
    fn common(&self, said: impl Fn(&RunRecord) -> String) -> String {
        let mut all = self.runs.iter().map(said);
        let first = all.next().unwrap_or_default();
        if all.all(|other| other == first) { first } else { "DIFFERS FROM RUN TO RUN".to_owned() }
    }

    fn json(&self) -> Value {
        let first = self.runs.first();
        json!({
            "engine": first.map_or_else(|| json!({ "sync": self.contender.sync.name() }), |run| json!(run.engine)),
            "digest": first.map(|run| &run.digest),
            "state_digest": first.map(|run| &run.state_digest),
            "committed_events": first.map(|run| run.committed_events),
            "rates": self.rates(),
            "median_rate": self.rate(),
            "peak_rss_bytes": self.memory().map(|bytes| bytes.round() as u64),
            "core_share": median(self.runs.iter().filter_map(|run| run.core_share).collect()),
        })
    }

    /// As an object, compared with the sequential engine.
    fn json_beside(&self, reference: &EngineRuns) -> Value {
        let mut all = self.json();
        all["way"] = json!(self.contender.placement.map_or(Way::Threads, |placement| placement.way).name());
        all["efficiency"] = json!(self.efficiency());
        all["certain"] = json!(self.certain());
        all["speed_up"] = json!(self.speed_up(reference));
        all["memory_ratio"] = json!(self.memory_ratio(reference));
        if let Some(failure) = &self.failure {
            all["error"] = json!(failure);
        }
        all
    }
}

/// The median; `None` of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().saturating_sub(1) / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

impl Comparison {
    /// A comparison of the sequential engine, which comes first and has run, with others; `verify`
    /// is the command line that verifies the model.
    pub(crate) fn of(engines: Vec<EngineRuns>, verify: String) -> Self {
        Comparison { engines, verify }
    }

    fn sequential(&self) -> &EngineRuns {
        &self.engines[0]
    }

    fn others(&self) -> &[EngineRuns] {
        &self.engines[1..]
    }

    /// The very first run.
    fn expected(&self) -> &RunRecord {
        &self.sequential().runs[0]
    }

    /// What is wrong, if not all runs gave the same answer.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let expected = self.expected();
        let all = || self.engines.iter().flat_map(|engine| &engine.runs);
        let same_history = all().all(|run| run.digest == expected.digest && run.committed_events == expected.committed_events);
        let mut different: Vec<String> = all().flat_map(|run| differences(&expected.results, &run.results)).collect();
        different.extend(all().flat_map(|run| different_series(expected, run)));
        different.extend(all().flat_map(|run| different_ends(expected, run)).map(str::to_owned));
        different.sort();
        different.dedup();
        if same_history && different.is_empty() {
            return None;
        }
        let mut message = format!("WRONG ANSWER: runs of `{}` that must be equal differ\n", expected.model);
        for engine in &self.engines {
            for (digest, events, runs) in engine.answers() {
                let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
                let _ = writeln!(message, "  {}: digest {digest} with {events} events, in {runs}", engine.name());
            }
        }
        if !different.is_empty() {
            let _ = writeln!(message, "  results that differ: {}", different.join(", "));
        }
        if self.sequential().runs.iter().any(|run| !is_equal(expected, run)) {
            let _ = write!(message, "  sequential runs differ from each other, so it is the model. {UNEQUAL_WHY}");
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
    fn order_varies(&self) -> bool {
        let text = |run: &RunRecord| run.state_digest.as_ref().map(|digest| digest.text.clone());
        let expected = text(self.expected());
        self.engines.iter().flat_map(|engine| &engine.runs).any(|run| text(run) != expected)
    }

    /// Which engines failed, if any did.
    fn failures(&self) -> Option<String> {
        let failed: Vec<String> =
            self.engines.iter().filter_map(|one| Some(format!("{} failed: {}", one.contender.name(), one.failure.as_ref()?))).collect();
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
    fn same_answer(&self) -> Option<bool> {
        let compared = self.others().iter().any(|engine| !engine.runs.is_empty());
        match self.disagreement() {
            Some(_) => Some(false),
            None => compared.then_some(true),
        }
    }

    /// A note that other programs used the cores as well, if so much that rates say little.
    fn contested(&self) -> Option<String> {
        let taken: Vec<(String, f64)> = self.engines.iter().filter_map(|engine| Some((engine.name(), engine.taken()?))).collect();
        let most = |(name, taken): &(String, f64)| format!("{name} up to {}", format::percent(*taken));
        let all = taken.iter().map(most).collect::<Vec<_>>().join(", ");
        (!taken.is_empty()).then(|| {
            format!(
                "other programs used the cores as well, and engines lacked one for part of the time: {all}; rates \
                 and speed-ups say little, so compare again when the machine is idle"
            )
        })
    }

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
        let rate = |engine: &EngineRuns| engine.rate().map_or_else(|| "failed".to_owned(), format::event_rate);
        let mut rows = vec![all("", &EngineRuns::name), all("median rate", &rate)];
        if sequential.runs.len() > 1 {
            rows.push(row("min – max", &EngineRuns::rate_range));
        }
        rows.push(beside("speed-up", &|engine| ratio(engine.speed_up(sequential))));
        if self.engines.iter().any(|engine| engine.efficiency().is_some()) {
            rows.push(beside("efficiency", &|engine| engine.efficiency().map(format::percent).unwrap_or_default()));
        }
        if self.engines.iter().any(|engine| engine.certain().is_some()) {
            rows.push(beside("certain events", &|engine| engine.certain().map(format::percent).unwrap_or_default()));
        }
        rows.push(row("peak memory", &|engine| known(engine.memory().map(|bytes| format::bytes(bytes as u64)))));
        rows.push(beside("memory ratio", &|engine| ratio(engine.memory_ratio(sequential))));
        rows.push(row("committed events", &|engine| engine.common(|run| run.committed_events.to_string())));
        rows.push(row("digest", &|engine| engine.common(|run| run.digest.clone())));
        if run.state_digest.is_some() {
            let states = |run: &RunRecord| run.state_digest.as_ref().map(|digest| digest.content.clone()).unwrap_or_default();
            rows.push(row("final states", &|engine| engine.common(states)));
        }
        let same = match self.same_answer() {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "unknown",
        };
        let contested = self.contested().map_or_else(String::new, |contested| {
            format::wrapped(&format!("note: {contested}"), LINE).iter().map(|line| format!("{line}\n")).collect()
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
        let turns = if runs == 1 { "one run on each engine".to_owned() } else { format!("{runs} runs on each engine in turn") };
        let head = format!("{}: {}, to time {end} with seed {seed}\n", run.model, run.about);
        format!(
            "{head}{turns}, every run in a process of its own\n{}{contested}{failures}{varies}same answer: {same}\n",
            format::columns(&rows, 2)
        )
    }
}

fn ratio(of: f64, to: f64) -> Option<f64> {
    Some(of / to).filter(|ratio| ratio.is_finite())
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
    (&one.digest, one.committed_events, &one.results, &one.series) == (&other.digest, other.committed_events, &other.results, &other.series)
        && different_ends(one, other).next().is_none()
}

/// Which parts of the ends of two runs differ, beside their results.
fn different_ends(one: &RunRecord, other: &RunRecord) -> impl Iterator<Item = &'static str> {
    let none = StateDigestRecord::default();
    let [(one_text, one_statistics), (other_text, other_statistics)] = [one, other].map(|run| {
        let StateDigestRecord { content, statistics, .. } = run.state_digest.as_ref().unwrap_or(&none);
        (content.clone(), statistics.clone())
    });
    let all = [("final states", one_text != other_text), ("statistics", one_statistics != other_statistics)];
    all.into_iter().filter(|(_, differ)| *differ).map(|(name, _)| name)
}

/// The names of the series that differ.
fn different_series<'r>(one: &'r RunRecord, other: &'r RunRecord) -> impl Iterator<Item = String> {
    let names = one.series.keys().chain(other.series.keys().filter(|name| !one.series.contains_key(*name)));
    names.filter(|name| one.series.get(*name) != other.series.get(*name)).map(|name| format!("{name} over time"))
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
