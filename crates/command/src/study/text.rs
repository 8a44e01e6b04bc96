//! Findings as a table for people, and as one object for programs.

use serde_json::{Value, json};
use warpline_record::RunRecord;

use super::experiment::{Study, StudyFigure};
use super::figures::{
    epochs, gvt_share, memory, messages_share, rate, rollbacks_mean, rollbacks_most, seconds,
};
use super::findings::Findings;
use crate::output::format;

/// The remark on runs of `--quick`.
pub(super) const TOO_SHORT: &str = "These runs are too short to say how fast anything is.";
/// The most characters in a line of text beside its heading.
const WIDTH: usize = 100;

impl Findings<'_> {
    pub(super) fn json(&self, quick: bool, cores: usize) -> Value {
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| self.median(condition, variant, figure);
            let runs = &self.runs[condition][variant];
            let placement = self.placement(condition, variant);
            json!({
                "condition": self.conditions[condition].name,
                "variant": self.variants[variant].name,
                "way": placement.way.name(),
                "processes": placement.processes,
                "pes": placement.pes(),
                "event_rates": runs.iter().map(rate).collect::<Vec<_>>(),
                "event_rate": of(rate),
                "loop_seconds": of(seconds),
                "gain": self.gain(condition, variant),
                "speedup": self.speedup(condition, variant),
                "peak_rss_bytes": of(memory),
                "gvt_epochs": of(epochs),
                "messages_share": of(messages_share),
                "gvt_share": of(gvt_share),
                "rollbacks_most_per_pe": of(rollbacks_most),
                "rollbacks_mean_per_pe": of(rollbacks_mean),
                "committed_events": runs.first().map(|run| run.committed_events),
                "digest": runs.first().map(|run| run.digest.clone()),
            })
        };
        json!({
            "study": self.study.name,
            "source": self.study.source,
            "claim": self.study.claim,
            "differs": self.study.differs,
            "measured": self.sentences(),
            "figures": self.figures().iter().map(|StudyFigure { what, source, here }| json!({ "what": what, "source": source, "here": here })).collect::<Vec<_>>(),
            "notes": self.notes(cores),
            "pes": self.pes()[1],
            "quick": quick,
            "cases": self.cases().map(row).collect::<Vec<_>>(),
        })
    }

    /// A table for the terminal, with claim and measurement below.
    pub(super) fn text(&self, quick: bool, cores: usize) -> String {
        let Study { name, source, claim, differs, .. } = self.study;
        let pes = match self.pes() {
            [least, most] if least < most => format!("{least} to {most}"),
            [_, most] => most.to_string(),
        };
        let mut text = format!("{name}, {pes} PEs\n\n{}\n", format::columns(&self.rows(), 0));
        text += &paragraph("Claim", claim);
        text += &paragraph("", &format!("({source})"));
        let reference = format!("relative to {} on one PE", self.variants[0].name);
        text += &paragraph("Speed-up", &reference);
        text += &paragraphs("Measured", &self.sentences());
        if quick {
            text += &paragraph("", TOO_SHORT);
        }
        let figure = |StudyFigure { what, source, here }: StudyFigure| {
            format!("{what}: {source}; here {}.", here.as_deref().unwrap_or("left out"))
        };
        let figures: Vec<String> = self.figures().into_iter().map(figure).collect();
        text += &paragraphs("Figures", &figures);
        text += &paragraph("What differs", differs);
        text + &paragraphs("Note", &self.notes(cores))
    }

    /// The rows of the table, the heads of its columns first.
    fn rows(&self) -> Vec<[String; 11]> {
        let head = [
            "condition",
            "variant",
            "PEs",
            "events/s",
            "time",
            "gain",
            "speed-up",
            "memory",
            "GVT epochs",
            "most rollbacks",
            "mean rollbacks",
        ]
        .map(str::to_owned);
        let rows = self.cases().map(|(condition, variant)| self.row(condition, variant));
        std::iter::once(head).chain(rows).collect()
    }

    fn row(&self, condition: usize, variant: usize) -> [String; 11] {
        let median = |of: fn(&RunRecord) -> f64| self.median(condition, variant, of);
        let figure = |value: Option<f64>, digits: i32| {
            value.map_or_else(String::new, |value| format::significant(value, digits))
        };
        // The name of a condition stands beside its first variant.
        let condition_name =
            if variant == 0 { self.conditions[condition].name.clone() } else { String::new() };
        [
            condition_name,
            self.variants[variant].name.clone(),
            self.placement(condition, variant).name(),
            median(rate).map_or_else(String::new, format::event_rate),
            median(seconds).map_or_else(|| "left out".to_owned(), format::duration),
            figure(self.gain(condition, variant), 3),
            figure(self.speedup(condition, variant), 3),
            median(memory).map_or_else(String::new, |bytes| format::bytes(bytes as u64)),
            figure(median(epochs), 4),
            figure(median(rollbacks_most), 4),
            figure(median(rollbacks_mean), 4),
        ]
    }
}

/// Text in lines, with a heading beside the first one.
fn paragraph(head: &str, what: &str) -> String {
    let lines = format::wrapped(what, WIDTH).into_iter().enumerate();
    lines
        .map(|(number, line)| format!("{:14}{line}\n", if number == 0 { head } else { "" }))
        .collect()
}

/// Texts, with a heading beside the first one.
fn paragraphs(head: &str, all: &[String]) -> String {
    let numbered = all.iter().enumerate();
    numbered.map(|(number, what)| paragraph(if number == 0 { head } else { "" }, what)).collect()
}
