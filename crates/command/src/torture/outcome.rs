//! What a search found, as one object for programs and as text for people.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use warpline_cases::{Case, Wrong};

use super::tally::Tally;
use crate::output::format;

/// What no search of this kind finds, whatever it draws.
const BEYOND: &str = "data races between threads (loom, Miri and ThreadSanitizer are for those), \
                      processes, ranks, mailboxes, and budgets of memory, which no seed repeats";

/// A failure, made as small as it could be.
#[derive(Debug)]
pub(super) struct Failing {
    /// The number of the case that failed first; none if it was given.
    pub(super) number: Option<u64>,
    pub(super) case: Case,
    pub(super) wrong: Wrong,
    /// How often it failed, of how many runs.
    pub(super) failed: u32,
    pub(super) runs: u32,
    /// The command that runs it again.
    pub(super) command: String,
}

/// What a search found.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) model: String,
    /// The seed of the search; none if nothing was drawn.
    pub(super) seed: Option<u64>,
    pub(super) took: Duration,
    pub(super) fixed: Case,
    pub(super) tally: Tally,
    pub(super) failing: Option<Failing>,
    /// Whether it was ended before its time.
    pub(super) is_partial: bool,
}

impl Outcome {
    pub(super) fn json(&self) -> Value {
        let Tally { effort, .. } = &self.tally;
        let failure = self.failing.as_ref().map(|failing| {
            json!({
                "kind": failing.wrong.kind,
                "why": failing.wrong.why,
                "command": failing.command,
                "options": options(&failing.case),
                "failed": failing.failed,
                "runs": failing.runs,
                "case": failing.number,
            })
        });
        json!({
            "model": self.model,
            "seed": self.seed,
            "seconds": self.took.as_secs_f64(),
            "partial": self.is_partial,
            "fixed": options(&self.fixed),
            "schedules": self.tally.schedules,
            "schedules_per_second": self.rate(),
            "sequential_runs": self.tally.references,
            "mistakes": self.tally.mistakes,
            "committed_events": self.tally.committed,
            "executed_events": effort.executed,
            "undone_events": effort.undone,
            "rollbacks": effort.rollbacks,
            "gvt_computations": effort.gvts,
            "pes_most": self.tally.pes_most,
            "schedules_by_pes": self.tally.pes.iter().map(|(pes, count)| (pes.to_string(), json!(count))).collect::<serde_json::Map<_, _>>(),
            "coverage": self.tally.settings,
            "not_covered": self.tally.not_covered(&self.fixed),
            "refused": self.tally.refused,
            "failure": failure,
        })
    }

    fn rate(&self) -> f64 {
        self.tally.schedules as f64 / self.took.as_secs_f64().max(1e-3)
    }

    pub(super) fn text(&self) -> String {
        let mut text = match &self.failing {
            Some(failing) => failing.text(&self.model),
            None if self.tally.schedules == 0 => format!("{}: no schedule was run\n", self.model),
            None => {
                format!("{}: every schedule gave the answer of the sequential run\n", self.model)
            }
        };
        let Some(seed) = self.seed else { return text };
        let Tally { effort, .. } = &self.tally;
        let rows = [
            [
                "schedules".to_owned(),
                format!("{}, {:.1} a second, from seed {seed}", self.tally.schedules, self.rate()),
            ],
            ["PEs".to_owned(), self.pes()],
            [
                "events".to_owned(),
                format!(
                    "{} executed, {} undone in {} rollbacks",
                    effort.executed, effort.undone, effort.rollbacks
                ),
            ],
            ["GVT".to_owned(), format!("{} computations", effort.gvts)],
            ["sequential runs".to_owned(), self.tally.references.to_string()],
        ];
        text += &format::columns(&rows, 2);
        if self.tally.mistakes > 0 {
            let _ = writeln!(
                text,
                "  {} schedules ended with a mistake of the model, as the sequential run did",
                self.tally.mistakes
            );
        }
        text += "drawn, with the number of schedules; where a setting is missing, its default was \
                 taken\n";
        text += &format::columns(&self.drawn(), 2);
        text += &self.shortcomings();
        text
    }

    /// Schedules by numbers of PEs.
    fn pes(&self) -> String {
        let count = |(from, count): (&u32, &u64)| {
            let to = (2 * from - 1).min(self.tally.pes_most);
            if to == *from { format!("{from}: {count}") } else { format!("{from}–{to}: {count}") }
        };
        self.tally.pes.iter().map(count).collect::<Vec<_>>().join(", ")
    }

    fn drawn(&self) -> Vec<[String; 2]> {
        let row = |(name, values): (&String, &std::collections::BTreeMap<String, u64>)| {
            let values: Vec<String> =
                values.iter().map(|(value, count)| format!("{value}: {count}")).collect();
            [format!("--{name}"), values.join(", ")]
        };
        self.tally.settings.iter().map(row).collect()
    }

    fn shortcomings(&self) -> String {
        let mut text = String::new();
        let missing = self.tally.not_covered(&self.fixed);
        if !missing.is_empty() {
            let _ = writeln!(text, "not drawn: {}", missing.join(", "));
        }
        let _ = writeln!(text, "beyond this: {BEYOND}");
        for (why, count) in &self.tally.refused {
            let _ = writeln!(text, "refused, {count} times: {why}");
        }
        text
    }
}

impl Failing {
    fn text(&self, model: &str) -> String {
        let Failing { wrong, failed, runs, command, .. } = self;
        let often = match (failed, runs) {
            (failed, runs) if failed == runs => "every time".to_owned(),
            (failed, runs) => format!("{failed} of {runs} times"),
        };
        format!(
            "{model}: NOT THE ANSWER OF THE SEQUENTIAL RUN\n  {}: {}\n  this repeats it, \
             {often}:\n    {command}\n",
            wrong.kind, wrong.why
        )
    }
}

/// Options by name.
fn options(case: &Case) -> Value {
    case.options
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
