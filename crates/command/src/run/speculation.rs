//! What parallel execution cost, in words.

use warpline_record::{
    CommunicationRecord, GvtIntervalRecord, MemoryRecord, ParallelRecord, RunRecord, ThrottleRecord,
};

use super::engine::engine;
use crate::output::format;

/// The most phases that are named.
const PHASES_MOST: usize = 4;

/// What parallel execution cost, a line each.
pub(super) fn speculation(record: &RunRecord, parallel: &ParallelRecord) -> Vec<[String; 2]> {
    let processed = parallel.processed_events;
    let undone = parallel.rolled_back_events;
    let committed = processed - undone;
    let of_committed = parallel.remote_events as f64 / committed.max(1) as f64;
    let rollbacks = &parallel.rollbacks;
    let lanes = format!(
        "{} certain when executed, {} executed ahead",
        parallel.certain_events, parallel.ahead_events
    );
    let facts = [
        ("engine", engine(record)),
        ("events", lanes),
        (
            "efficiency",
            format!(
                "{}: {processed} events processed, {undone} rolled back",
                format::percent(parallel.efficiency)
            ),
        ),
        ("rollbacks", format!("{} primary, {} secondary", rollbacks.primary, rollbacks.secondary)),
        ("GVT computations", gvt_computations(parallel)),
        ("remote events", format!("{} of those committed", format::percent(of_committed))),
    ];
    // An engine that the run chose itself is named already.
    let facts = facts.into_iter().skip(usize::from(!record.engines.is_empty()));
    let mut facts: Vec<_> = facts.map(|(name, fact)| [name.to_owned(), fact]).collect();
    let window =
        record.progress.last().and_then(|sample| sample.speculation).map(|sample| sample.window);
    // A wider window limits nothing.
    if let Some(window) = window.filter(|window| *window < record.end_time) {
        facts.push([
            "window".to_owned(),
            format!("{} beyond GVT, at the end", format::time(window, &record.time_unit)),
        ]);
    }
    facts.extend(
        parallel.memory.as_ref().map(|memory| ["memory was short".to_owned(), shortage(memory)]),
    );
    facts.extend(parallel.throttle.as_ref().map(|done| ["throttled".to_owned(), throttle(done)]));
    facts.extend(
        parallel
            .communication
            .as_ref()
            .map(|copied| ["copied messages".to_owned(), communication(copied)]),
    );
    // The time of a modelled machine is told beside this.
    let whose = if parallel.machine.is_some() { "host time went to" } else { "time went to" };
    facts.extend(phases(record, parallel).map(|phases| [whose.to_owned(), phases]));
    facts
}

/// How often GVT was computed, and how its interval was adapted, if it was.
fn gvt_computations(parallel: &ParallelRecord) -> String {
    let interval = parallel.gvt_interval.as_ref().map(|interval| {
        let GvtIntervalRecord { unit, first, least, last, greatest, changes } = interval;
        format!(
            "; interval {first} {unit} at first, {last} in the end, from {least} to {greatest}, \
             changed {changes} times"
        )
    });
    format!("{}{}", parallel.gvt_epochs, interval.unwrap_or_default())
}

/// What PEs did to keep within the memory budget.
fn shortage(memory: &MemoryRecord) -> String {
    let MemoryRecord {
        taken_most_bytes,
        stops,
        artificial_rollbacks,
        sent_back,
        taken_back,
        artificial_events,
        ..
    } = *memory;
    let most = format::bytes(taken_most_bytes);
    format!(
        "PEs had {most} at most; {stops} batches waited for GVT; {artificial_events} events were \
         undone, by {artificial_rollbacks} artificial rollbacks and for {taken_back} of \
         {sent_back} events sent back"
    )
}

/// What was done against thrashing.
fn throttle(throttle: &ThrottleRecord) -> String {
    let ThrottleRecord { narrowed_epochs, gathered, .. } = *throttle;
    format!(
        "at {narrowed_epochs} GVT computations PEs were undoing far more than they commit, and \
         windows were kept narrow; {gathered} times the PEs of a process were given one thread, as \
         they waited for GVT every few events"
    )
}

/// How messages were copied between processes.
fn communication(copied: &CommunicationRecord) -> String {
    let (bytes, messages) = copied.means();
    let who = match copied.by.as_str() {
        "worker" => "the first PE of each process",
        "dedicated" => "threads of their own",
        _ => "every PE",
    };
    let why = if copied.why.is_empty() { String::new() } else { format!(", as {}", copied.why) };
    let size = format::bytes(bytes as u64);
    format!(
        "{} in {} batches, of {messages:.0} messages and {size} on average; by {who}{why}",
        copied.messages, copied.batches
    )
}

/// The phases that took most of the time, the largest first; `None` if none took any.
pub(super) fn phases(record: &RunRecord, parallel: &ParallelRecord) -> Option<String> {
    let mut phases = parallel.phase_seconds.list().to_vec();
    let total: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    if !warpline_report::is_sampled(record, parallel) {
        // There are too few samples to tell phases of work apart.
        let work = total - parallel.phase_seconds.idle - parallel.phase_seconds.off_core;
        phases.retain(|(name, _)| ["idle", "without a core"].contains(name));
        phases.push(("work", work));
    }
    phases.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let shares = phases
        .iter()
        .map(|(name, seconds)| (name, (100.0 * seconds / total).round()))
        .filter(|(_, share)| *share >= 1.0);
    let texts: Vec<_> =
        shares.take(PHASES_MOST).map(|(name, share)| format!("{name} {share} %")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
