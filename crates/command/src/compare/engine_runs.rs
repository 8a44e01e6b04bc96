//! An engine that is compared, and its runs.

use serde_json::{Value, json};
use warpline_record::RunRecord;
use warpline_run::Synchronisation;

use crate::median::median;
use crate::output::format;
use crate::process::ways::{Placement, Way};
use crate::run::engine::engine;

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

    /// Its name before it has run.
    pub(crate) fn name(&self) -> String {
        let sync = self.sync.name();
        self.placement
            .map_or_else(|| sync.to_owned(), |placement| format!("{sync}, {}", placement.name()))
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
    pub(super) fn name(&self) -> String {
        match self.runs.first() {
            Some(run) if self.contender.placement.is_none() => engine(run),
            _ => self.contender.name(),
        }
    }

    pub(super) fn rates(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.event_rate).collect()
    }

    pub(super) fn rate(&self) -> Option<f64> {
        median(self.rates())
    }

    pub(super) fn rate_range(&self) -> String {
        let rates = self.rates();
        format::event_rates(
            rates.iter().copied().fold(f64::INFINITY, f64::min),
            rates.iter().copied().fold(0.0, f64::max),
        )
    }

    pub(super) fn efficiency(&self) -> Option<f64> {
        median(
            self.runs
                .iter()
                .filter_map(|run| run.parallel.as_ref())
                .map(|parallel| parallel.efficiency)
                .collect(),
        )
    }

    /// The share of committed events that were certain when they were executed; `None` if nothing
    /// was committed.
    pub(super) fn certain(&self) -> Option<f64> {
        let of = |run: &RunRecord| {
            ratio(run.parallel.as_ref()?.certain_events as f64, run.committed_events as f64)
        };
        median(self.runs.iter().filter_map(of).collect())
    }

    /// The peak memory, in bytes; `None` where the system does not report it.
    pub(super) fn memory(&self) -> Option<f64> {
        median(
            self.runs
                .iter()
                .filter_map(|run| run.peak_rss_bytes)
                .map(|bytes| bytes as f64)
                .collect(),
        )
    }

    pub(super) fn speed_up(&self, reference: &EngineRuns) -> Option<f64> {
        ratio(self.rate()?, reference.rate()?)
    }

    pub(super) fn memory_ratio(&self, reference: &EngineRuns) -> Option<f64> {
        ratio(self.memory()?, reference.memory()?)
    }

    /// The greatest share of its cores that one of its runs lost to other programs, if that was so
    /// much that rates say little.
    pub(super) fn taken(&self) -> Option<f64> {
        self.runs.iter().filter_map(warpline_report::taken_by_others).reduce(f64::max)
    }

    /// The answers, each once, with the number of its runs.
    pub(super) fn answers(&self) -> Vec<(&str, u64, usize)> {
        let mut answers: Vec<(&str, u64, usize)> = Vec::new();
        for run in &self.runs {
            match answers.iter_mut().find(|(digest, events, _)| {
                (*digest, *events) == (&run.digest, run.committed_events)
            }) {
                Some((_, _, runs)) => *runs += 1,
                None => answers.push((&run.digest, run.committed_events, 1)),
            }
        }
        answers
    }

    /// What all its runs agree on, or a note that they differ.
    pub(super) fn common(&self, said: impl Fn(&RunRecord) -> String) -> String {
        let mut all = self.runs.iter().map(said);
        let first = all.next().unwrap_or_default();
        if all.all(|other| other == first) { first } else { "DIFFERS FROM RUN TO RUN".to_owned() }
    }

    pub(super) fn json(&self) -> Value {
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
    pub(super) fn json_beside(&self, reference: &EngineRuns) -> Value {
        let mut all = self.json();
        all["way"] =
            json!(self.contender.placement.map_or(Way::Threads, |placement| placement.way).name());
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

/// A ratio; `None` if it is not finite.
pub(super) fn ratio(of: f64, to: f64) -> Option<f64> {
    Some(of / to).filter(|ratio| ratio.is_finite())
}
