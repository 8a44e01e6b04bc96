//! Figures of a run that studies compare.

use super::experiment::share_of;
use warpline_record::{MachineRecord, Phases, RunRecord};

/// How the run went on its modelled machine, if it had one.
fn machine(run: &RunRecord) -> Option<&MachineRecord> {
    run.parallel.as_ref()?.machine.as_ref()
}

/// Committed events per second, of the time of its machine.
pub(super) fn rate(run: &RunRecord) -> f64 {
    machine(run).map_or(run.event_rate, |machine| machine.event_rate)
}

/// How long the event loop of a run took, in seconds of its machine.
pub(super) fn seconds(run: &RunRecord) -> f64 {
    machine(run).map_or(run.loop_seconds, |machine| machine.seconds)
}

/// The peak memory of a run, in bytes; 0 if the system does not report it. With several processes,
/// it is that of the first.
pub(super) fn memory(run: &RunRecord) -> f64 {
    run.peak_rss_bytes.map_or(0.0, |bytes| bytes as f64)
}

/// λ: the number of GVT epochs.
pub(super) fn epochs(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.gvt_epochs as f64)
}

/// ρ: the most rollbacks of a PE.
pub(super) fn rollbacks_most(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.rollbacks.max_per_pe as f64)
}

/// α: the mean number of rollbacks of a PE.
pub(super) fn rollbacks_mean(run: &RunRecord) -> f64 {
    run.parallel.as_ref().map_or(0.0, |parallel| parallel.rollbacks.mean_per_pe)
}

/// What the PEs of all runs spent their time on, if there were any.
pub(super) fn phases(runs: &[RunRecord]) -> Option<Phases> {
    runs.iter()
        .filter_map(|run| run.parallel.as_ref())
        .map(|parallel| parallel.phase_seconds)
        .reduce(|mut all, more| {
            all.add(&more);
            all
        })
}

/// The share of time that PEs spent on the phases with these names; 0 for a sequential run.
fn share(run: &RunRecord, names: &[&str]) -> f64 {
    let parallel = run.parallel.as_ref();
    parallel.and_then(|parallel| share_of(&parallel.phase_seconds, names)).unwrap_or_default()
}

/// The share of time that went to sending and receiving.
pub(super) fn messages_share(run: &RunRecord) -> f64 {
    machine(run).map_or_else(|| share(run, &["send", "receive"]), |machine| machine.shares.messages)
}

/// The share of time that went to finding GVT.
pub(super) fn gvt_share(run: &RunRecord) -> f64 {
    machine(run).map_or_else(|| share(run, &["GVT"]), |machine| machine.shares.gvt)
}
