//! An explanation on one page for people.

use super::advice::{amount, ratio};
use super::explained::{Explained, busiest_tenth, parallelism};
use crate::output::format;
use warpline_run::{CoreFindings, Explanation, LpWork, Slice};

/// The most LPs that are named.
const NAMED: usize = 5;

impl Explained {
    pub(super) fn text(&self) -> String {
        let Explained { unit, explanation, .. } = self;
        let findings = &explanation.findings;
        let Explanation { model, seed, end, .. } = explanation;
        let head = format!(
            "{model}: {} events to time {}, with seed {seed}; {}\n",
            findings.events,
            format::time(*end, unit),
            self.counted()
        );
        let advice = self.advice();
        let advice = match &advice[..] {
            [] => "nothing of note".to_owned(),
            all => {
                all.iter().zip(1..).map(|(text, number)| format!("\n  {number}. {text}")).collect()
            }
        };
        let sections = [
            head,
            self.path(),
            self.load(),
            self.over_time(),
            self.cores(),
            format!("What stands in the way of 8 cores: {advice}\n"),
        ];
        sections.join("\n")
    }

    fn path(&self) -> String {
        let findings = &self.explanation.findings;
        let cost = self.explanation.cost;
        let path = &findings.path;
        let parallelism = ratio(self.explanation.parallelism());
        let length = amount(path.length, cost);
        let waits = match path.events - path.messages {
            0 => String::new(),
            own => format!(", {own} for the one before them at the same LP"),
        };
        let lps = format!("{} of {} active LPs", path.lps.len(), findings.load.len());
        format!(
            "Critical path: {length} that wait for each other, so {parallelism} can go on at a \
             time on average\n  {} of its events waited for a message{waits}\n  on it are {lps}: \
             {}\n",
            path.messages,
            shares(&path.lps, path.length)
        )
    }

    fn load(&self) -> String {
        let findings = &self.explanation.findings;
        let busiest = shares(&findings.load, findings.work);
        let tenth = format::percent(busiest_tenth(&findings.load, findings.work));
        format!(
            "Load: the busiest tenth of the LPs has {tenth} of the work; first come {busiest}\n"
        )
    }

    /// Parallelism as a line of bars.
    fn over_time(&self) -> String {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let slices = &self.explanation.findings.slices;
        let most = slices.iter().filter_map(parallelism).fold(1.0, f64::max);
        let bar = |slice: &Slice| match parallelism(slice) {
            None if slice.work == 0 => ' ',
            None => '█',
            Some(value) => BARS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
        };
        let bars: String = slices.iter().map(bar).collect();
        format!("Parallelism over virtual time, up to {}:\n  {bars}\n", ratio(most))
    }

    fn cores(&self) -> String {
        let row = |one: &CoreFindings| -> Vec<String> {
            let pes =
                if one.pes == one.cores { String::new() } else { format!(" ({} LPs)", one.pes) };
            let seen = one.seen.map_or_else(|| "unknown".to_owned(), ratio);
            let delay = |delay: f64| {
                if delay.is_finite() {
                    format::time(delay, self.unit)
                } else {
                    "no links".to_owned()
                }
            };
            let seen_delay =
                one.seen_delay.map_or_else(|| "no messages".to_owned(), |least| delay(least.seen));
            let [any, blocks, order] = [one.any_engine, one.these_blocks, one.in_order].map(ratio);
            let declared = format!("{} ({})", ratio(one.declared), delay(one.declared_delay));
            let ideal = [
                format!("{}{pes}", one.cores),
                any,
                blocks,
                order,
                declared,
                format!("{seen} ({seen_delay})"),
            ];
            ideal.into_iter().chain(self.with_costs(one).map(ratio)).collect()
        };
        let head = [
            "cores",
            "any engine",
            "these blocks",
            "in order",
            "declared lookahead",
            "seen lookahead",
        ]
        .map(str::to_owned);
        let head = head.into_iter().chain(self.costs.map(|_| "with costs".to_owned())).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.explanation.findings.cores.iter().map(row)).collect();
        format!(
            "Best speed-up, if nothing costs anything but the events\n{}  any engine, these blocks \
             of LPs: bounds; in order: PEs that execute their events in the order of time;\n  \
             lookahead: conservative PEs in windows of the delay declared between PEs, and of the \
             least delay seen\n{}{}",
            format::columns(&rows, 2),
            self.divided_groups()
                .map(|(cores, text)| format!("  {cores} cores: {text}\n"))
                .collect::<String>(),
            self.costs.as_ref().map_or_else(String::new, |costs| format!(
                "  with costs: what is left of `{}` at the costs below; `compare` measures whole \
                 runs\n\n{}",
                costs.ideal_name(),
                costs.text()
            ))
        )
    }
}

/// The first LPs with their shares.
fn shares(lps: &[LpWork], all: u64) -> String {
    let share =
        |one: &LpWork| format!("{} {}", one.lp, format::percent(one.work as f64 / all as f64));
    lps.iter().take(NAMED).map(share).collect::<Vec<_>>().join(", ")
}
