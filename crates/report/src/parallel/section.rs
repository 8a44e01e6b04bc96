//! The section as HTML.

use super::bars::{Bar, Data, lengths};
use super::limits::{Limit, limits};
use super::pes::pes;
use super::prose::prose;
use super::shares::{
    all_seconds, committed, counted, efficiency, is_measured, lanes, mean, parallel_seconds,
    percent, share,
};
use crate::format::{self, NOTHING};
use crate::html::escape;
use crate::summary::{Tile, tile};
use crate::table::Table;
use crate::views::{chart, empty};
use warpline_record::{
    CommunicationRecord, GvtIntervalRecord, MemoryRecord, ParallelRecord, PeRecord, RunRecord,
    ThrottleRecord,
};

/// The section, and what its charts and its table read.
pub(crate) struct Section {
    pub(crate) html: String,
    pub(crate) data: Data,
    pub(crate) table: Option<Table>,
}

/// The section of a parallel run, whose table the script finds under `key`; `None` for a sequential
/// one.
pub(crate) fn section(record: &RunRecord, key: usize) -> Option<Section> {
    let speculated = record.progress.iter().any(|sample| sample.speculation.is_some());
    let parallel = record.parallel.as_ref();
    if parallel.is_none() && !speculated {
        return None;
    }
    let data = Data::new(record);
    let mut html = String::from("<h2 class=\"over\">Parallel execution</h2>\n");
    let mut table = None;
    let curves = curves(record);
    match parallel {
        Some(parallel) => {
            let pes = Some(pes(parallel)).filter(|_| !parallel.pes.is_empty());
            html += &format!(
                "<dl class=\"tiles plain\">{}</dl><div class=\"grid parallel\">{}{}{}{curves}{}{}</div>",
                tiles(record, parallel),
                in_words(record, parallel),
                limiting(record, parallel),
                phases(parallel, &data),
                counts(parallel, &data),
                pes.as_ref().map_or(String::new(), |table| card(
                    "whole pes",
                    "Every PE",
                    PES,
                    &table.html(key)
                )),
            );
            table = pes;
        }
        None => html += &format!("<div class=\"grid parallel\">{curves}</div>"),
    }
    Some(Section { html, data, table })
}

fn rounds_of(rounds: f64) -> String {
    match mean(rounds) {
        one if one == "1" => "1 round".to_owned(),
        many => format!("{many} rounds"),
    }
}

fn tiles(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let [executed, undone, remote] =
        [parallel.processed_events, parallel.rolled_back_events, parallel.remote_events]
            .map(format::integer);
    let rollbacks = &parallel.rollbacks;
    let rounds = parallel.gvt_trials as f64 / parallel.gvt_epochs as f64;
    let per_second = parallel.gvt_epochs as f64 / parallel_seconds(record);
    let remote_share = share(parallel.remote_events as f64, committed(record, parallel));
    let lanes = lanes(parallel);
    let certain_share =
        lanes.and_then(|(certain, _)| share(certain as f64, committed(record, parallel)));
    let tiles = [
        Tile {
            label: "Efficiency",
            value: efficiency(parallel).map_or(NOTHING.into(), percent),
            note: format!("of {executed} executed events committed, {undone} were undone"),
        },
        Tile {
            label: "Certain events",
            value: certain_share.map_or(NOTHING.into(), percent),
            note: match lanes {
                Some((certain, ahead)) => {
                    let [certain, ahead] = [certain, ahead].map(format::integer);
                    format!(
                        "of the committed events, {certain}, were certain when they were executed; {ahead} were executed ahead"
                    )
                }
                None if parallel.processed_events == 0 => String::new(),
                None => "the record does not tell".into(),
            },
        },
        Tile {
            label: "Rollbacks",
            value: format::integer(rollbacks.primary.saturating_add(rollbacks.secondary)),
            note: format!(
                "{} primary, {} secondary",
                format::integer(rollbacks.primary),
                format::integer(rollbacks.secondary)
            ) + &match parallel.pes.len() {
                0 | 1 => String::new(),
                _ => {
                    format!(
                        "; a PE had {} on average, {} at most",
                        mean(rollbacks.mean_per_pe),
                        format::integer(rollbacks.max_per_pe)
                    )
                }
            },
        },
        Tile {
            label: "GVT computations",
            value: format::integer(parallel.gvt_epochs),
            note: match parallel.gvt_epochs {
                0 => String::new(),
                _ if record.loop_seconds > 0.0 => {
                    format!(
                        "{} per second, {} each{}",
                        mean(per_second),
                        rounds_of(rounds),
                        interval(parallel)
                    )
                }
                _ => format!("{} each{}", rounds_of(rounds), interval(parallel)),
            },
        },
        Tile {
            label: "Remote events",
            value: remote_share.map_or(NOTHING.into(), percent),
            note: format!("of the committed events, {remote}, came from another PE"),
        },
        Tile {
            label: "Anti-messages",
            value: format::integer(parallel.anti_messages),
            note: format!(
                "{} cancelled before they were processed{}",
                counted(parallel.cancelled_in_place, "further message"),
                kept(parallel)
            ),
        },
        Tile {
            label: "PEs",
            value: format::integer(parallel.pes.len() as u64),
            note: sizes(&parallel.pes),
        },
    ];
    tiles
        .iter()
        .chain(&parked(parallel))
        .chain(&parallel.memory.as_ref().map(shortage))
        .chain(&parallel.throttle.as_ref().map(throttled))
        .chain(&parallel.communication.as_ref().map(copied))
        .map(tile)
        .collect()
}

/// How often flow control held events back, if it did.
fn parked(parallel: &ParallelRecord) -> Option<Tile<'static>> {
    (parallel.parked_events > 0).then(|| Tile {
        label: "Waits for buffers",
        value: format::integer(parallel.parked_events),
        note: "times an event was undone and tried again, as there were too few buffers for what it sent to another PE".into(),
    })
}

/// What PEs did to keep within the memory budget.
fn shortage(memory: &MemoryRecord) -> Tile<'static> {
    let MemoryRecord {
        taken_most_bytes, stops, artificial_rollbacks, sent_back, taken_back, ..
    } = *memory;
    let [stops, artificial, sent, taken] =
        [stops, artificial_rollbacks, sent_back, taken_back].map(format::integer);
    Tile {
        label: "Undone to save memory",
        value: format::integer(memory.artificial_events),
        note: format!(
            "events, by {artificial} artificial rollbacks and for {taken} of {sent} events that were sent back; {stops} batches waited for GVT; \
             PEs had {} at most",
            format::quantity(taken_most_bytes as f64, "B")
        ),
    }
}

/// What was done against thrashing.
fn throttled(throttle: &ThrottleRecord) -> Tile<'static> {
    Tile {
        label: "Throttled",
        value: format::integer(throttle.narrowed_epochs),
        note: format!(
            "computations of GVT found PEs undoing far more than they commit, and kept windows narrow; {} times the PEs of a process were \
             given one thread, as they waited for GVT every few events",
            format::integer(throttle.gathered)
        ),
    }
}

/// What happened to messages that were not cancelled at once.
fn kept(parallel: &ParallelRecord) -> String {
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
            "; the interval went from {first} to {last} {of}, {least} at least and {greatest} at most, in {}",
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
            "; PEs found their common ring full {full} times, another one writing {busy} times, and another one faster {lost} times"
        )
    };
    let refused = format::integer(communication.refused);
    let (messages, bytes) = (mean(messages), format::quantity(bytes, "B"));
    Tile {
        label: "Copied messages",
        value: format::integer(communication.messages),
        note: format!(
            "in {} batches, of {messages} messages and {bytes} on average, by {who}{why}; there was no room {refused} times{shared}",
            format::integer(communication.batches)
        ),
    }
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

/// The run in words.
fn in_words(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let sentences = escape(&prose(record, parallel).join(" "));
    format!("<section class=\"card whole words\"><h3>In words</h3><p>{sentences}</p></section>")
}

/// What limits the run, the worst first.
fn limiting(record: &RunRecord, parallel: &ParallelRecord) -> String {
    let item = |limit: &Limit| {
        format!("<li><strong>{}.</strong> {}</li>", limit.title, with_settings(&limit.text))
    };
    let items: String = limits(record).iter().map(item).collect();
    let body = match parallel.processed_events {
        0 => return String::new(),
        _ if !is_measured(record) => "<p>The run was too short to tell.</p>".to_owned(),
        _ if items.is_empty() => {
            "<p>Nothing stands out: no single cost is large enough to be worth a change.</p>"
                .to_owned()
        }
        _ => format!("<ol class=\"hints\">{items}</ol>"),
    };
    format!(
        "<section class=\"card whole limits\"><h3>What limits this run, and what to try</h3>{body}</section>"
    )
}

/// Text with the names between backticks set as code.
fn with_settings(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(
            |(index, part)| {
                if index % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }
            },
        )
        .collect()
}

fn card(class: &str, heading: &str, remark: &str, body: &str) -> String {
    format!(
        "<section class=\"card {class}\"><h3>{heading}</h3><p class=\"muted\">{}</p>{body}</section>",
        escape(remark)
    )
}

/// How many PEs a bar stands for.
fn grouping(bars: &[Bar]) -> String {
    match bars.first() {
        Some(first) if first.pes > 1 => {
            format!(" A bar stands for {} PEs and shows their mean.", first.pes)
        }
        _ => String::new(),
    }
}

fn phases(parallel: &ParallelRecord, data: &Data) -> String {
    let seconds = all_seconds(parallel);
    let all: f64 = seconds.iter().sum();
    let shares =
        data.phases.iter().zip(seconds).filter_map(|(name, seconds)| {
            Some(format!("{name} {}", percent(share(seconds, all)?)))
        });
    let shares = shares.collect::<Vec<_>>().join(", ");
    let body = if shares.is_empty() {
        empty("The phases of the PEs were not measured.")
    } else {
        chart(
            "parallel-phases",
            "",
            &format!("Bars: seconds of every PE in each phase. All PEs together: {shares}."),
        )
    };
    let remark = format!(
        "Wall time of every PE by what it did, estimated from a sample of its steps.{}",
        grouping(&data.bars)
    );
    card("whole", "Where the time went", &remark, &body)
}

/// The charts over wall time.
fn curves(record: &RunRecord) -> String {
    let samples = record
        .progress
        .iter()
        .filter(|sample| sample.wall_seconds.is_finite() && sample.speculation.is_some())
        .count();
    let figure = |(key, heading, remark): (&str, &str, &str)| {
        let body = match samples {
            0 => empty("The run kept no samples of its speculation."),
            1 => empty("The run was over after one sample; a curve needs two."),
            _ => chart(key, "", &format!("{heading} over wall time, {samples} samples. {remark}")),
        };
        card("half", heading, remark, &body)
    };
    let figures = [
        (
            "parallel-window",
            "Efficiency and window",
            "Executed events that were not undone, between one sample and the next, and how far beyond GVT events were executed.",
        ),
        (
            "parallel-gvt",
            "GVT and mailboxes",
            "GVT computations per second, and messages that PEs found waiting, on average.",
        ),
    ];
    figures.into_iter().map(figure).collect()
}

/// The charts of events and rollbacks.
fn counts(parallel: &ParallelRecord, data: &Data) -> String {
    let executed = data.bars.iter().any(|bar| bar.committed + bar.undone > 0.0);
    let remark = format!("Committed and undone events, and rollbacks.{}", grouping(&data.bars));
    let by_pe = if executed {
        let most = data.bars.iter().max_by(|one, other| one.committed.total_cmp(&other.committed));
        let most = most.map_or(String::new(), |bar| {
            format!(" Most events were committed by PE {}.", bar.name)
        });
        chart("parallel-pes", "", &format!("Bars: events of every PE. {remark}{most}"))
    } else {
        empty("No PE executed an event.")
    };
    let lengths = lengths(parallel);
    let by_length = if lengths.is_empty() {
        empty("There were no rollbacks.")
    } else {
        let bars = lengths
            .iter()
            .enumerate()
            .map(|(power, count)| format!("{}: {}", range(power), format::integer(*count)));
        chart(
            "parallel-lengths",
            "",
            &format!(
                "Bars: rollbacks by how many events they undid. {}.",
                bars.collect::<Vec<_>>().join("; ")
            ),
        )
    };
    card("half", "Events by PE", &remark, &by_pe)
        + &card("half", "Lengths of rollbacks", "How many events a rollback undid.", &by_length)
}

/// The lengths of the bar after `power` others.
fn range(power: usize) -> String {
    let low = 2f64.powi(power as i32);
    if power == 0 { "1".into() } else { format!("{low} to {}", 2.0 * low - 1.0) }
}

const PES: &str = "The phases are estimated from a sample of the PE's steps.";

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
        let Tile { value, note, .. } = copied(&dedicated);
        assert_eq!(value, format::integer(9000));
        for words in [
            "in 30 batches, of 300 messages",
            "threads that did nothing else, as there are cores",
            "no room 2 times",
            "faster 7 times",
        ] {
            assert!(note.contains(words), "{words} in {note}");
        }
        let distributed = CommunicationRecord { by: "distributed".into(), ..Default::default() };
        assert!(copied(&distributed).note.ends_with("by every PE; there was no room 0 times"));
    }
}
