//! The tiles of the section.

use super::shares::{
    committed, counted, efficiency, lanes, mean, parallel_seconds, percent, share,
};
use crate::format::{self, NOTHING};
use crate::summary::{Tile, tile};
use warpline_record::{
    CommunicationRecord, GvtIntervalRecord, MemoryRecord, ParallelRecord, PeRecord, RunRecord,
    ThrottleRecord,
};

/// The tiles as HTML.
pub(super) fn tiles(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let always = [
        kept(parallel),
        certain(record, parallel),
        rollbacks(parallel),
        gvt(record, parallel),
        remote(record, parallel),
        anti_messages(parallel),
        Tile::new("PEs", format::integer(parallel.pes.len() as u64), sizes(&parallel.pes)),
    ];
    let at_times = [
        parked(parallel),
        parallel.memory.as_ref().map(shortage),
        parallel.throttle.as_ref().map(throttled),
        parallel.communication.as_ref().map(copied),
    ];
    always.iter().chain(at_times.iter().flatten()).map(tile).collect()
}

/// How many of the executed events committed.
fn kept(parallel: &ParallelRecord) -> Tile<'static> {
    let [executed, undone] =
        [parallel.processed_events, parallel.rolled_back_events].map(format::integer);
    Tile::new(
        "Efficiency",
        efficiency(parallel).map_or(NOTHING.into(), percent),
        format!("of {executed} executed events committed, {undone} were undone"),
    )
}

/// How many events took the safe lane.
fn certain(record: &RunRecord, parallel: &ParallelRecord) -> Tile<'static> {
    let lanes = lanes(parallel);
    let certain_share =
        lanes.and_then(|(certain, _)| share(certain as f64, committed(record, parallel)));
    let note = match lanes {
        Some((certain, ahead)) => {
            let [certain, ahead] = [certain, ahead].map(format::integer);
            format!(
                "of the committed events, {certain}, were certain when they were executed; {ahead} \
                 were executed ahead"
            )
        }
        None if parallel.processed_events == 0 => String::new(),
        None => "the record does not tell".into(),
    };
    Tile::new("Certain events", certain_share.map_or(NOTHING.into(), percent), note)
}

fn rollbacks(parallel: &ParallelRecord) -> Tile<'static> {
    let rollbacks = &parallel.rollbacks;
    let primary = format::integer(rollbacks.primary);
    let secondary = format::integer(rollbacks.secondary);
    let of_a_pe = if parallel.pes.len() > 1 {
        let most = format::integer(rollbacks.max_per_pe);
        format!("; a PE had {} on average, {most} at most", mean(rollbacks.mean_per_pe))
    } else {
        String::new()
    };
    Tile::new(
        "Rollbacks",
        format::integer(rollbacks.primary.saturating_add(rollbacks.secondary)),
        format!("{primary} primary, {secondary} secondary{of_a_pe}"),
    )
}

fn gvt(record: &RunRecord, parallel: &ParallelRecord) -> Tile<'static> {
    let epochs = parallel.gvt_epochs as f64;
    let each = match mean(parallel.gvt_trials as f64 / epochs) {
        one if one == "1" => "1 round".to_owned(),
        many => format!("{many} rounds"),
    };
    let interval = interval(parallel);
    let note = if parallel.gvt_epochs == 0 {
        String::new()
    } else if record.loop_seconds > 0.0 {
        let per_second = mean(epochs / parallel_seconds(record));
        format!("{per_second} per second, {each} each{interval}")
    } else {
        format!("{each} each{interval}")
    };
    Tile::new("GVT computations", format::integer(parallel.gvt_epochs), note)
}

fn remote(record: &RunRecord, parallel: &ParallelRecord) -> Tile<'static> {
    let remote = format::integer(parallel.remote_events);
    let remote_share = share(parallel.remote_events as f64, committed(record, parallel));
    Tile::new(
        "Remote events",
        remote_share.map_or(NOTHING.into(), percent),
        format!("of the committed events, {remote}, came from another PE"),
    )
}

fn anti_messages(parallel: &ParallelRecord) -> Tile<'static> {
    let cancelled = counted(parallel.cancelled_in_place, "further message");
    let kept = kept_messages(parallel);
    Tile::new(
        "Anti-messages",
        format::integer(parallel.anti_messages),
        format!("{cancelled} cancelled before they were processed{kept}"),
    )
}

/// How often an event waited for buffers, if any did.
fn parked(parallel: &ParallelRecord) -> Option<Tile<'static>> {
    (parallel.parked_events > 0).then(|| {
        Tile::new(
            "Waits for buffers",
            format::integer(parallel.parked_events),
            "times an event was undone and tried again, as there were too few buffers for what it \
             sent to another PE",
        )
    })
}

/// What PEs did to keep within the memory budget.
fn shortage(memory: &MemoryRecord) -> Tile<'static> {
    let MemoryRecord {
        taken_most_bytes, stops, artificial_rollbacks, sent_back, taken_back, ..
    } = *memory;
    let [stops, artificial, sent, taken] =
        [stops, artificial_rollbacks, sent_back, taken_back].map(format::integer);
    let most = format::quantity(taken_most_bytes as f64, "B");
    Tile::new(
        "Undone to save memory",
        format::integer(memory.artificial_events),
        format!(
            "events, by {artificial} artificial rollbacks and for {taken} of {sent} events that \
             were sent back; {stops} batches waited for GVT; PEs had {most} at most"
        ),
    )
}

/// How thrashing was throttled.
fn throttled(throttle: &ThrottleRecord) -> Tile<'static> {
    let gathered = format::integer(throttle.gathered);
    Tile::new(
        "Throttled",
        format::integer(throttle.narrowed_epochs),
        format!(
            "computations of GVT found PEs undoing far more than they commit, and kept windows \
             narrow; {gathered} times the PEs of a process were given one thread, as they waited \
             for GVT every few events"
        ),
    )
}

/// How many messages were not cancelled at once, and what became of them.
fn kept_messages(parallel: &ParallelRecord) -> String {
    let ParallelRecord { kept_messages, sent_again, .. } = *parallel;
    if kept_messages == 0 {
        return String::new();
    }
    format!(
        "; {} of undone events kept, of which {} were sent again",
        counted(kept_messages, "message"),
        format::integer(sent_again)
    )
}

/// How the GVT interval was adapted, if it was.
fn interval(parallel: &ParallelRecord) -> String {
    let Some(GvtIntervalRecord { unit, first, least, last, greatest, changes }) =
        &parallel.gvt_interval
    else {
        return String::new();
    };
    let [first, least, last, greatest] =
        [first, least, last, greatest].map(|passed| format::integer(u64::from(*passed)));
    let of = if unit == "passes" { "passes of the thread that sends" } else { "events" };
    match changes {
        0 => format!("; the interval stayed at {first} {of}"),
        _ => format!(
            "; the interval went from {first} to {last} {of}, {least} at least and {greatest} at \
             most, in {}",
            counted(*changes, "change")
        ),
    }
}

/// How messages were copied between processes.
fn copied(communication: &CommunicationRecord) -> Tile<'static> {
    let (bytes, messages) = communication.means();
    let who = match communication.by.as_str() {
        "worker" => "the first PE of each process",
        "dedicated" => "threads that did nothing else",
        _ => "every PE",
    };
    let why = if communication.why.is_empty() {
        String::new()
    } else {
        format!(", as {}", communication.why)
    };
    let ring = &communication.shared_ring;
    let shared = if ring.pushed == 0 {
        String::new()
    } else {
        let [full, busy, lost] =
            [ring.full, ring.in_progress, ring.collisions].map(format::integer);
        format!(
            "; PEs found their common ring full {full} times, another one writing {busy} times, \
             and another one faster {lost} times"
        )
    };
    let messages = mean(messages);
    let bytes = format::quantity(bytes, "B");
    let [batches, refused] = [communication.batches, communication.refused].map(format::integer);
    Tile::new(
        "Copied messages",
        format::integer(communication.messages),
        format!(
            "in {batches} batches, of {messages} messages and {bytes} on average, by {who}{why}; \
             there was no room {refused} times{shared}"
        ),
    )
}

/// How the LPs are divided.
fn sizes(pes: &[PeRecord]) -> String {
    let lps = pes.iter().map(|pe| pe.lps);
    match (lps.clone().min(), lps.max()) {
        (Some(least), Some(most)) if least == most => {
            format!(
                "with {}{}",
                counted(most.into(), "LP"),
                if pes.len() > 1 { " each" } else { "" }
            )
        }
        (Some(least), Some(most)) => {
            format!("with {} to {} each", format::integer(least.into()), counted(most.into(), "LP"))
        }
        _ => "the record does not tell them apart".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_record::SharedRingRecord;

    #[test]
    fn copied_messages_say_who_copied_them() {
        let shared_ring = SharedRingRecord { pushed: 9000, full: 3, in_progress: 5, collisions: 7 };
        let dedicated = CommunicationRecord {
            by: "dedicated".into(),
            why: "there are cores beside those of PEs".into(),
            messages: 9000,
            batches: 30,
            bytes: 300_000,
            refused: 2,
            shared_ring,
            ..Default::default()
        };
        let shown = tile(&copied(&dedicated));
        assert!(shown.contains(&format::integer(9000)), "{shown}");
        for words in [
            "in 30 batches, of 300 messages",
            "threads that did nothing else, as there are cores",
            "no room 2 times",
            "faster 7 times",
        ] {
            assert!(shown.contains(words), "{words} in {shown}");
        }
        let distributed = CommunicationRecord { by: "distributed".into(), ..Default::default() };
        let shown = tile(&copied(&distributed));
        assert!(shown.contains("by every PE; there was no room 0 times<"), "{shown}");
    }
}
