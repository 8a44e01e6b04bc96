//! What a search has done: how much, and with which settings.

use std::collections::BTreeMap;

use warpline_cases::{Case, Done, Effort};
use warpline_run::settings::{OUTPUT, RUN, Setting};

use super::drawing::{CLUSTER, pes_of};
use crate::settings::{PES, THREADS, of};
use crate::verbs::TORTURE;

/// Options whose values say nothing about coverage.
const UNCOUNTED: [&str; 5] = ["seed", "end", CLUSTER, THREADS, PES];

/// What a search has done so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Runs that were compared with a sequential one.
    pub(super) schedules: u64,
    /// Sequential runs.
    pub(super) references: u64,
    /// Events of the answers of all schedules.
    pub(super) committed: u64,
    /// What all schedules took.
    pub(super) effort: Effort,
    /// The most PEs.
    pub(super) pes_most: u32,
    /// Schedules with each number of PEs, by the power of two below it.
    pub(super) pes: BTreeMap<u32, u64>,
    /// Schedules with each value of each setting that was drawn.
    pub(super) settings: BTreeMap<String, BTreeMap<String, u64>>,
    /// Why cases were refused, and how many for each reason.
    pub(super) refused: BTreeMap<String, u64>,
    /// Schedules whose answer, as of the sequential run, is a mistake of the model.
    pub(super) mistakes: u64,
}

impl Tally {
    /// Counts a schedule; `done` is its answer, if it is not a mistake.
    pub(super) fn add(&mut self, case: &Case, fixed: &Case, done: Option<&Done>) {
        self.schedules += 1;
        match done {
            Some(done) => {
                self.committed += done.committed;
                self.effort = self.effort.plus(done.effort);
            }
            None => self.mistakes += 1,
        }
        let pes = pes_of(case);
        self.pes_most = self.pes_most.max(pes);
        *self.pes.entry(1 << pes.ilog2()).or_default() += 1;
        let drawn = case.options.iter().skip(fixed.options.len());
        for (name, value) in drawn.filter(|(name, _)| !UNCOUNTED.contains(&&**name)) {
            let value = if name == "warmup" { "before the end" } else { value };
            *self.settings.entry(name.clone()).or_default().entry(value.to_owned()).or_default() +=
                1;
        }
    }

    pub(super) fn refuse(&mut self, why: String) {
        *self.refused.entry(why).or_default() += 1;
    }

    /// Settings of this command, and their words, that no schedule had, as they are typed.
    pub(super) fn not_covered(&self, fixed: &Case) -> Vec<String> {
        let is_drawn =
            |setting: &Setting| ![OUTPUT, RUN].contains(&setting.heading) && is_of_engines(setting);
        let mut all = Vec::new();
        for setting in of(TORTURE).iter().filter(|setting| is_drawn(setting)) {
            let name = &setting.name;
            if fixed.get(name).is_some() || [THREADS, PES, CLUSTER].contains(&&**name) {
                continue;
            }
            let Some(values) = self.settings.get(name) else {
                all.push(format!("--{name}"));
                continue;
            };
            let missing: Vec<&str> = setting
                .words
                .iter()
                .copied()
                .filter(|word| !values.contains_key(*word) && *word != setting.default)
                .collect();
            if !missing.is_empty() && name != "sync" {
                all.push(format!("--{name} {}", missing.join("|")));
            }
        }
        all
    }
}

/// Whether a setting says how an engine works.
fn is_of_engines(setting: &Setting) -> bool {
    warpline_run::Settings::table().iter().any(|known| known.name == setting.name)
}
