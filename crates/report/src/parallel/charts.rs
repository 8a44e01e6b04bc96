//! The charts of the section: their places, headings and descriptions.

use super::bars::{Bar, Data, lengths};
use super::shares::{all_seconds, percent, share};
use crate::format;
use crate::html::escape;
use crate::views::{chart, empty};
use warpline_record::{ParallelRecord, RunRecord};

/// A card with a heading, a remark, and a body in HTML.
pub(super) fn card(class: &str, heading: &str, remark: &str, body: &str) -> String {
    format!(
        "<section class=\"card {class}\"><h3>{heading}</h3><p \
         class=\"muted\">{}</p>{body}</section>",
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

/// The chart of phases by PE.
pub(super) fn phases(parallel: &ParallelRecord, data: &Data) -> String {
    let seconds = all_seconds(parallel);
    let all: f64 = seconds.iter().sum();
    let named = data.phases.iter().zip(seconds);
    let shares: Vec<String> = named
        .filter_map(|(name, seconds)| Some(format!("{name} {}", percent(share(seconds, all)?))))
        .collect();
    let body = if shares.is_empty() {
        empty("The phases of the PEs were not measured.")
    } else {
        let shares = shares.join(", ");
        let description =
            format!("Bars: seconds of every PE in each phase. All PEs together: {shares}.");
        chart("parallel-phases", "", &description)
    };
    let remark = format!(
        "Wall time of every PE by what it did, estimated from a sample of its steps.{}",
        grouping(&data.bars)
    );
    card("whole", "Where the time went", &remark, &body)
}

/// The charts over wall time.
pub(super) fn curves(record: &RunRecord) -> String {
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
            "Executed events that were not undone, between one sample and the next, and how far \
             beyond GVT events were executed.",
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
pub(super) fn counts(parallel: &ParallelRecord, data: &Data) -> String {
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
        let bars = bars.collect::<Vec<_>>().join("; ");
        let description = format!("Bars: rollbacks by how many events they undid. {bars}.");
        chart("parallel-lengths", "", &description)
    };
    card("half", "Events by PE", &remark, &by_pe)
        + &card("half", "Lengths of rollbacks", "How many events a rollback undid.", &by_length)
}

/// The lengths of the bar after `power` others.
fn range(power: usize) -> String {
    let low = 2f64.powi(power as i32);
    if power == 0 { "1".into() } else { format!("{low} to {}", 2.0 * low - 1.0) }
}
