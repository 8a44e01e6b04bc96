//! What the record of a run says of its plan.

use serde_json::{Map, Value, json};
use warpline_base::TieBreak;
use warpline_kernel::{Lanes, Undoing};
use warpline_memory::PoolKind;

use super::reason::{Choices, Reason};
use super::{ParallelPlan, RunPlan};
use crate::job::check::RunSpec;
use crate::{GvtAlgorithm, Settings};

/// Settings that are about messages between processes alone.
const BETWEEN_PROCESSES: [&str; 7] = [
    "zero_copy",
    "carrier",
    "communication",
    "communication_threads",
    "communication_ring",
    "communication_batch",
    "communication_delay",
];
/// Settings that are of no use where nothing is executed ahead.
const SPECULATIVE: [&str; 8] = [
    "undo",
    "kps",
    "copy_interval",
    "go_ahead",
    "window",
    "cancellation",
    "sub_pool",
    "fossil_collection",
];

/// Settings as given, or else their defaults, with what was chosen in their place.
pub(super) fn overlaid(
    settings: &Settings,
    choices: &Choices,
    parallel: bool,
) -> Map<String, Value> {
    let mut all = settings.recorded(parallel);
    all.extend(choices.iter().map(|choice| (choice.key.to_owned(), choice.value.clone())));
    all
}

/// The same with what engines use of the model's declarations.
fn with_declarations(mut settings: Map<String, Value>, spec: &RunSpec) -> Map<String, Value> {
    let ties = match spec.ties {
        TieBreak::Unbiased { .. } => "unbiased",
        TieBreak::BySender => "by-sender",
    };
    let others = [
        ("ties", json!(ties)),
        ("lookahead", json!(spec.limits.lookahead.least())),
        ("lps", json!(spec.limits.lps)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ];
    settings.extend(others.map(|(name, value)| (name.to_owned(), value)));
    settings
}

impl RunPlan {
    /// The settings that all processes of a run have to agree on.
    pub(crate) fn agreed_settings(&self, settings: &Settings) -> Map<String, Value> {
        overlaid(settings, &self.choices(settings), true)
    }

    /// The settings of a run that had no other engine than the sequential one.
    pub(crate) fn sequential_record(
        &self,
        settings: &Settings,
        spec: &RunSpec,
    ) -> Map<String, Value> {
        let mut choices = Choices::default();
        choices.note("sync", self.sync);
        choices.note_as("threads", json!(1), Reason::Rule("a sequential run has one thread"));
        with_declarations(overlaid(settings, &choices, false), spec)
    }
}

impl ParallelPlan {
    /// The settings of the segment, and facts beside them. Settings that the engine has no use for
    /// are null.
    pub(crate) fn record(
        &self,
        settings: &Settings,
        spec: &RunSpec,
        final_window: f64,
    ) -> Map<String, Value> {
        let mut all = with_declarations(self.settings(settings), spec);
        all.insert("transport".to_owned(), json!(self.transport()));
        let is_used = self.tuning.lanes != Lanes::Safe;
        all.insert(
            "final_window".to_owned(),
            if is_used { json!(final_window) } else { Value::Null },
        );
        all
    }

    /// The settings alone.
    pub(super) fn settings(&self, given: &Settings) -> Map<String, Value> {
        let mut all = overlaid(given, &self.choices, true);
        all.extend(self.unused().map(|name| (name.to_owned(), Value::Null)));
        all
    }

    /// What PEs communicate by.
    fn transport(&self) -> &'static str {
        match self.wires.cluster {
            _ if self.machine.is_some() => "modelled",
            Some(_) => "virtual",
            None if self.processes.machines.is_some() => "mpi",
            None if self.processes.count > 1 => "processes",
            None => "threads",
        }
    }

    /// The settings that the engine has no use for.
    fn unused(&self) -> impl Iterator<Item = &'static str> {
        let copies = matches!(self.tuning.undoing, Undoing::Copy { .. } | Undoing::CopyAdaptively);
        let by_lanes: &[&str] =
            if self.tuning.lanes == Lanes::Safe { &SPECULATIVE } else { &["conservative"] };
        let alone: &[&str] = if self.processes.count == 1 { &BETWEEN_PROCESSES } else { &[] };
        let others = [
            ("copy_interval", !copies),
            ("barrier", self.gvt != GvtAlgorithm::Synchronous),
            ("communication_batch", self.wires.far.batch.is_none()),
            ("sub_pool", !matches!(self.pools.kind, PoolKind::Partitioned(_))),
        ];
        let others = others.into_iter().filter(|(_, is_unused)| *is_unused).map(|(name, _)| name);
        by_lanes.iter().chain(alone).copied().chain(others)
    }
}
