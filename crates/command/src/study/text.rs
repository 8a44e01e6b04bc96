//! Findings as a table for people, and as one object for programs.

use serde_json::{Value, json};
use warpline_record::RunRecord;

use super::experiment::{Study, StudyFigure};
use super::figures::{
    epochs, gvt_share, memory, messages_share, rollbacks_mean, rollbacks_most, seconds,
};
use super::findings::Findings;
use crate::output::format;

/// The remark on runs of `--quick`.
pub(super) const TOO_SHORT: &str = "These runs are too short to say how fast anything is.";
/// How many characters a line of text has, beside its heading.
const WIDTH: usize = 100;

impl Findings<'_> {
    pub(super) fn json(&self, quick: bool, cores: usize) -> Value {
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| self.median(condition, variant, figure);
            json!({
                "condition": self.conditions[condition].name,
                "variant": self.variants[variant].name,
                "way": self.placement(condition, variant).way.name(),
                "processes": self.placement(condition, variant).processes,
                "pes": self.placement(condition, variant).pes(),
                "event_rates": self.runs[condition][variant].iter().map(|run| run.event_rate).collect::<Vec<_>>(),
                "event_rate": of(|run| run.event_rate),
                "loop_seconds": of(seconds),
                "gain": self.gain(condition, variant),
                "speedup": self.speedup(condition, variant),
                "peak_rss_bytes": of(memory),
                "gvt_epochs": of(epochs),
                "messages_share": of(messages_share),
                "gvt_share": of(gvt_share),
                "rollbacks_most_per_pe": of(rollbacks_most),
                "rollbacks_mean_per_pe": of(rollbacks_mean),
                "committed_events": self.runs[condition][variant].first().map(|run| run.committed_events),
                "digest": self.runs[condition][variant].first().map(|run| run.digest.clone()),
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
        let row = |(condition, variant): (usize, usize)| {
            let of = |figure: fn(&RunRecord) -> f64| {
                self.median(condition, variant, figure)
                    .map_or_else(String::new, |value| format::significant(value, 4))
            };
            let times = |times: Option<f64>| {
                times.map_or_else(String::new, |times| format::significant(times, 3))
            };
            let (gain, speedup) =
                (times(self.gain(condition, variant)), times(self.speedup(condition, variant)));
            let name =
                if variant == 0 { self.conditions[condition].name.clone() } else { String::new() };
            let rate = self
                .median(condition, variant, |run| run.event_rate)
                .map_or_else(String::new, format::event_rate);
            let time = self
                .median(condition, variant, seconds)
                .map_or_else(|| "left out".to_owned(), format::duration);
            let pes = self.placement(condition, variant).name();
            let memory = self
                .median(condition, variant, memory)
                .map_or_else(String::new, |bytes| format::bytes(bytes as u64));
            let variant = self.variants[variant].name.clone();
            [
                name,
                variant,
                pes,
                rate,
                time,
                gain,
                speedup,
                memory,
                of(epochs),
                of(rollbacks_most),
                of(rollbacks_mean),
            ]
        };
        let rows: Vec<[String; 11]> = std::iter::once(head).chain(self.cases().map(row)).collect();
        let Study { name, source, claim, differs, .. } = self.study;
        let pes = match self.pes() {
            [least, most] if least < most => format!("{least} to {most}"),
            [_, most] => most.to_string(),
        };
        let mut text = format!("{name}, {pes} PEs\n\n{}\n", format::columns(&rows, 0));
        let mut say = |head: &str, what: &str| {
            for (number, line) in format::wrapped(what, WIDTH).iter().enumerate() {
                text += &format!("{:14}{line}\n", if number == 0 { head } else { "" });
            }
        };
        say("Claim", claim);
        say("", &format!("({source})"));
        say("Speed-up", &format!("relative to {} on one PE", self.variants[0].name));
        self.sentences().iter().enumerate().for_each(|(number, sentence)| {
            say(if number == 0 { "Measured" } else { "" }, sentence)
        });
        if quick {
            say("", TOO_SHORT);
        }
        for (number, StudyFigure { what, source, here }) in self.figures().iter().enumerate() {
            let here = here.as_deref().unwrap_or("left out");
            say(
                if number == 0 { "Figures" } else { "" },
                &format!("{what}: {source}; here {here}."),
            );
        }
        say("What differs", differs);
        self.notes(cores)
            .iter()
            .enumerate()
            .for_each(|(number, note)| say(if number == 0 { "Note" } else { "" }, note));
        text
    }
}
