//! `warpline explain`: the critical path of a model, and what more cores could make of it.

mod advice;
mod costs;
mod report;

use std::time::Instant;

use serde_json::{Map, Value, json};

use self::advice::{advice, amount, ratio};
use self::costs::Costs;
use super::arguments::Request;
use super::catalogue::{Catalogue, Visitor};
use super::failure::Failure;
use super::program::Program;
use super::progress::ProgressDisplay;
use super::run::{prepare, tell_notes, with_model};
use super::settings::Settings;
use super::{format, output};
use warpline_run::{
    Configure, CoreFindings, DividedGroups, EventCost, Explanation, LpDelay, LpWork, Parameters, Simulation, Slice, provenance,
};

/// LPs are named up to this many.
const NAMED: usize = 5;
/// The same in JSON.
const LISTED: usize = 20;

/// Explains a model and prints what was found.
pub(crate) fn explain<C: Catalogue>(program: &Program<C>, request: &Request) -> Result<(), Failure> {
    let settings = Settings::read(&request.settings)?;
    let notes = tell_notes(program, request, &settings.simulation)?;
    let directory = settings.command.report.as_deref();
    directory.map_or(Ok(()), prepare)?;
    let started = Instant::now();
    let found = with_model(program, request, ExplainModel { settings: &settings, quiet: request.quiet || request.json })??;
    let mut figures = found.json(&notes);
    let mut text = found.text();
    let written = directory.map(|directory| {
        let study = found.study(figures.clone(), found.parameters.clone(), provenance::of(started, 0));
        warpline_report::write_study(directory, &study).map_err(Failure::from)
    });
    // The findings are printed even if the report fails.
    let failed = match written.transpose() {
        Ok(page) => {
            if let Some(page) = page {
                text += &format!("\nreport: {}\n", page.display());
                figures["report"] = json!(page.display().to_string());
            }
            None
        }
        Err(failure) => {
            figures["error"] = json!(failure.message);
            figures["exit_code"] = json!(failure.code);
            Some(Failure { printed: true, ..failure })
        }
    };
    if request.json {
        output::print_json(&figures)?
    } else {
        output::print(&text)?
    }
    failed.map_or(Ok(()), Err)
}

/// What was found about a model.
struct Explained {
    unit: &'static str,
    parameters: Map<String, Value>,
    explanation: Explanation,
    /// If they could be measured.
    costs: Option<Costs>,
}

/// An explanation whose model is not known yet.
struct ExplainModel<'a> {
    settings: &'a Settings,
    quiet: bool,
}

impl Visitor for ExplainModel<'_> {
    type Output = Result<Explained, Failure>;

    fn visit<M: Configure + 'static>(self, parameters: M::Parameters) -> Self::Output {
        let mut display = ProgressDisplay::new(M::TIME_UNIT, self.quiet);
        let mut show = |progress: &_| display.show(progress);
        let simulation = Simulation::<M>::configured(&parameters)?.settings(self.settings.simulation.clone());
        let began = Instant::now();
        let outcome = simulation.on_progress(&mut show).explain(self.settings.command.event_cost());
        display.finish();
        let explanation = outcome?;
        let took = began.elapsed();
        if explanation.findings.events == 0 {
            let end = explanation.end;
            return Err(Failure::wrong_use(format!(
                "no event happens before time {end:?}, so there is nothing to explain; give a later --end"
            )));
        }
        let costs = Costs::measure::<M>(&parameters, &self.settings.simulation, &explanation, took);
        Ok(Explained { unit: M::TIME_UNIT, parameters: parameters.values(), explanation, costs })
    }
}

/// The share of the work that the busiest tenth of the LPs has.
fn busiest_tenth(load: &[LpWork], work: u64) -> f64 {
    load.iter().take(load.len().div_ceil(10)).map(|one| one.work).sum::<u64>() as f64 / work as f64
}

/// How many events go on at a time in a slice, on average; `None` if it adds nothing to the
/// critical path.
fn parallelism(slice: &Slice) -> Option<f64> {
    (slice.path > 0).then(|| slice.work as f64 / slice.path as f64)
}

impl Explained {
    /// What is left of an ideal speed-up at the costs of this machine, if they are known.
    fn with_costs(&self, cores: &CoreFindings) -> Option<f64> {
        self.costs.map(|costs| costs.speed_up(cores, self.explanation.findings.events))
    }

    /// What stands in the way.
    fn advice(&self) -> Vec<String> {
        advice(&self.explanation, self.unit, self.costs.as_ref())
    }

    fn json(&self, notes: &[String]) -> Value {
        let Explained { unit, explanation, .. } = self;
        let findings = &explanation.findings;
        let cost = explanation.cost;
        let lps = |lps: &[LpWork], all: u64| -> Vec<Value> {
            let lp = |one: &LpWork| json!({ "lp": one.lp.0, "work": one.work, "share": one.work as f64 / all as f64 });
            lps.iter().take(LISTED).map(lp).collect()
        };
        let delay = |seen: &LpDelay| json!({ "from": seen.from.0, "to": seen.to.0, "declared": seen.declared, "seen": seen.seen });
        let slice = |slice: &Slice| json!({ "from": slice.from, "to": slice.to, "work": slice.work, "path": slice.path, "parallelism": parallelism(slice) });
        let divided = |divided: DividedGroups| {
            json!({
                "boundaries": divided.boundaries, "pe": divided.pe, "lp": divided.at.0, "group": divided.group,
                "first_lp": divided.first.0, "last_lp": divided.last.0,
            })
        };
        let cores = |(one, groups): (&CoreFindings, &Option<DividedGroups>)| {
            let busiest =
                json!({ "pe": one.busiest.pe, "first_lp": one.busiest.first.0, "last_lp": one.busiest.last.0, "work": one.busiest.work });
            json!({
                "cores": one.cores, "pes": one.pes, "any_engine": one.any_engine, "these_blocks": one.these_blocks, "in_order": one.in_order,
                "declared": one.declared, "declared_delay": one.declared_delay.is_finite().then_some(one.declared_delay),
                "seen": one.seen, "seen_delay": one.seen_delay.as_ref().map(delay), "messages": one.messages,
                "with_costs": self.with_costs(one), "busiest_pe": busiest,
                "divided_groups": groups.map(divided),
            })
        };
        let path = &findings.path;
        let mut all = json!({
            "model": explanation.model, "seed": explanation.seed, "end_time": explanation.end, "time_unit": unit,
            "event_cost": cost.name(), "cost_unit": if cost == EventCost::Counted { "events" } else { "ns" },
            "digest": explanation.digest, "events": findings.events, "work": findings.work, "parallelism": explanation.parallelism(),
            "path": { "length": path.length, "events": path.events, "messages": path.messages, "lps": lps(&path.lps, path.length) },
            "slices": findings.slices.iter().map(slice).collect::<Vec<_>>(),
            "cores": findings.cores.iter().zip(&explanation.divided).map(cores).collect::<Vec<_>>(),
            "load": {
                "lps": findings.load.len(), "busiest": lps(&findings.load, findings.work),
                "busiest_tenth": busiest_tenth(&findings.load, findings.work),
            },
            "delays": findings.delays.iter().take(LISTED).map(delay).collect::<Vec<_>>(),
            "costs": self.costs.as_ref().map(Costs::json),
            "advice": self.advice(),
        });
        if !notes.is_empty() {
            all["notes"] = json!(notes);
        }
        all
    }

    fn text(&self) -> String {
        let Explained { unit, explanation, .. } = self;
        let findings = &explanation.findings;
        let cost = explanation.cost;
        let Explanation { model, seed, end, .. } = explanation;
        let counted = if cost == EventCost::Measured {
            format!("their handlers took {}", amount(findings.work, cost))
        } else {
            "each counts 1".to_owned()
        };
        let head = format!("{model}: {} events to time {}, with seed {seed}; {counted}\n", findings.events, format::time(*end, unit));
        let advice = self.advice();
        let advice = match &advice[..] {
            [] => "nothing of note".to_owned(),
            all => all.iter().zip(1..).map(|(text, number)| format!("\n  {number}. {text}")).collect(),
        };
        let sections =
            [head, self.path(), self.load(), self.over_time(), self.cores(), format!("What stands in the way of 8 cores: {advice}\n")];
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
            "Critical path: {length} that wait for each other, so {parallelism} can go on at a time on average\n  \
             {} of its events waited for a message{waits}\n  on it are {lps}: {}\n",
            path.messages,
            shares(&path.lps, path.length)
        )
    }

    fn load(&self) -> String {
        let findings = &self.explanation.findings;
        let busiest = shares(&findings.load, findings.work);
        let tenth = format::percent(busiest_tenth(&findings.load, findings.work));
        format!("Load: the busiest tenth of the LPs has {tenth} of the work; first come {busiest}\n")
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
            let pes = if one.pes == one.cores { String::new() } else { format!(" ({} LPs)", one.pes) };
            let seen = one.seen.map_or_else(|| "unknown".to_owned(), ratio);
            let delay = |delay: f64| if delay.is_finite() { format::time(delay, self.unit) } else { "no links".to_owned() };
            let seen_delay = one.seen_delay.map_or_else(|| "no messages".to_owned(), |least| delay(least.seen));
            let speed_ups = [one.any_engine, one.these_blocks, one.in_order].map(ratio);
            let [any, blocks, order] = speed_ups;
            let declared = format!("{} ({})", ratio(one.declared), delay(one.declared_delay));
            let ideal = [format!("{}{pes}", one.cores), any, blocks, order, declared, format!("{seen} ({seen_delay})")];
            ideal.into_iter().chain(self.with_costs(one).map(ratio)).collect()
        };
        let head = ["cores", "any engine", "these blocks", "in order", "declared lookahead", "seen lookahead"].map(str::to_owned);
        let head = head.into_iter().chain(self.costs.map(|_| "with costs".to_owned())).collect();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.explanation.findings.cores.iter().map(row)).collect();
        format!(
            "Best speed-up, if nothing costs anything but the events\n{}  \
             any engine, these blocks of LPs: bounds; in order: PEs that execute their events in the order of time;\n  \
             lookahead: conservative PEs in windows of the delay declared between PEs, and of the least delay seen\n{}{}",
            format::columns(&rows, 2),
            self.divided_groups().map(|(cores, text)| format!("  {cores} cores: {text}\n")).collect::<String>(),
            self.costs.as_ref().map_or_else(String::new, |costs| format!(
                "  with costs: what is left of `{}` at the costs below; `compare` measures whole runs\n\n{}",
                costs.ideal_name(),
                costs.text()
            ))
        )
    }

    /// The numbers of cores that divide groups of LPs, each with what it divides.
    fn divided_groups(&self) -> impl Iterator<Item = (u32, String)> {
        let cores = self.explanation.findings.cores.iter().zip(&self.explanation.divided);
        cores.filter_map(|(one, divided)| {
            let DividedGroups { boundaries, pe, at, group, first, last } = (*divided)?;
            let (all, left) = (one.pes - 1, pe - 1);
            let text = format!(
                "{boundaries} of {all} boundaries between PEs divide a group of LPs that the model wants on one PE; \
                 the first, between PE {left} and PE {pe} at {at}, divides group {group} ({first} to {last})"
            );
            Some((one.cores, text))
        })
    }
}

/// The first LPs with their shares.
fn shares(lps: &[LpWork], all: u64) -> String {
    let share = |one: &LpWork| format!("{} {}", one.lp, format::percent(one.work as f64 / all as f64));
    lps.iter().take(NAMED).map(share).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::EXPLANATION;
    use crate::test_models::{Queue, QueueParameters};
    use warpline_run::prelude::*;

    /// Clocks that tick once per unit of time, the first one perhaps more often. Each tells the
    /// next one of its ticks, if `delay` is positive.
    #[derive(Clone, Debug, PartialEq, Parameters)]
    struct Clocks {
        /// How many there are.
        #[parameter(default = 8, range = 1..)]
        clocks: u32,
        /// Delay of a message to the next clock.
        #[parameter(default = 0.5, range = 0.0..)]
        delay: f64,
        /// Declared lookahead.
        #[parameter(default = 0.0, range = 0.0..)]
        lookahead: f64,
        /// Ticks of clock 0 per tick of the others.
        #[parameter(default = 1, range = 1..)]
        haste: u32,
        /// How many LPs a group has; 0 is no groups.
        #[parameter(range = 0..)]
        group: u32,
    }

    impl Model for Clocks {
        type State = ();
        /// Whether it is a tick.
        type Event = bool;

        fn lps(&self) -> u32 {
            self.clocks
        }

        fn lookahead(&self) -> f64 {
            self.lookahead
        }

        fn group(&self, lp: LpId) -> Option<u32> {
            lp.0.checked_div(self.group)
        }

        fn init(&self, lp: &mut Init<Self>) {
            lp.send(lp.id(), 0.0, true);
        }

        fn handle(&self, (): &mut (), tick: &bool, lp: &mut Context<Self>) {
            if *tick {
                let haste = if lp.id() == LpId(0) { self.haste } else { 1 };
                lp.send(lp.id(), 1.0 / f64::from(haste), true);
                if self.delay > 0.0 {
                    lp.send((lp.id().0 + 1) % self.clocks, self.delay, false);
                }
            }
        }
    }

    impl Configure for Clocks {
        type Parameters = Self;

        const NAME: &'static str = "clocks";
        const ABOUT: &'static str = "";
        const TIME_UNIT: &'static str = "s";
        const DEFAULT_END: f64 = 60.0;

        fn configure(clocks: &Self) -> Result<Self, String> {
            Ok(clocks.clone())
        }
    }

    fn explained(clocks: Clocks, words: &[(&str, &str)]) -> Result<Explained, Failure> {
        ExplainModel { settings: &Settings::typed(words), quiet: true }.visit::<Clocks>(clocks)
    }

    fn found(clocks: Clocks) -> Explained {
        explained(clocks, &[]).unwrap_or_else(|failure| panic!("{}", failure.message))
    }

    #[test]
    fn lookahead_that_was_seen_and_not_declared_is_advised() {
        let silent = found(Clocks::default());
        let advice = silent.advice();
        assert_eq!(
            advice,
            [
                "With the lookahead that is declared between 8 PEs, 0 s, conservative PEs reach 1 times the speed of one core. In this run the shortest delay from PE to \
              PE was 0.5 s, from LP 0 to LP 1. If the model can promise that, Model::lookahead, lookahead_of or links says so, and every run \
              checks it; conservative PEs could then reach 7.99 times."
            ]
        );
        let promised = found(Clocks { lookahead: 0.5, ..Clocks::default() });
        assert!(promised.advice().is_empty(), "nothing stands in its way");
        assert!(promised.text().ends_with("What stands in the way of 8 cores: nothing of note\n"), "{}", promised.text());
    }

    #[test]
    fn an_lp_with_most_of_the_work_comes_first() {
        let hasty = found(Clocks { haste: 21, delay: 0.0, ..Clocks::default() });
        let advice = hasty.advice();
        let begin =
            "LP 0 alone has 75.0 % of all work, and an LP executes one event after the other: no engine can be more than 1.33 times";
        assert!(advice[0].starts_with(begin), "{advice:?}");
        let single = found(Clocks { clocks: 1, delay: 0.0, ..Clocks::default() });
        assert!(single.advice()[0].starts_with("One LP has all events"));
        // 16 clocks on 8 PEs: the first PE has 22 events in every unit of time, all others 2.
        let uneven = found(Clocks { clocks: 16, haste: 4, delay: 0.0, ..Clocks::default() });
        let advice = uneven.advice();
        assert!(advice.iter().any(|text| text.contains("PE 0 (LPs 0 to 1) has 26.3 % of all work")), "{advice:?}");
    }

    #[test]
    fn text_and_json_say_the_same() {
        let clocks = found(Clocks { lookahead: 0.5, ..Clocks::default() });
        let (text, json) = (clocks.text(), clocks.json(&[]));
        for words in [
            "clocks: 960 events to time 60 s, with seed 1; each counts 1\n",
            "Critical path: 120 events that wait for each other, so 8 can go on at a time on average",
            "Load: the busiest tenth of the LPs has 12.5 % of the work; first come LP 0 12.5 %",
            "\n  2             2           2             2         2 (0.5 s)           1.99 (0.5 s)\n",
            "\n  1000 (8 LPs)  8           8             8         8 (0.5 s)           7.99 (0.5 s)\n",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert_eq!((&json["events"], &json["path"]["length"], &json["parallelism"]), (&960.into(), &120.into(), &8.0.into()));
        assert_eq!((&json["cores"][1]["cores"], &json["cores"][1]["seen"]), (&8.into(), &(959.0 / 120.0).into()));
        assert_eq!(json["slices"].as_array().map(Vec::len), Some(60));
        assert_eq!((json.get("notes"), &clocks.json(&["odd".to_owned()])["notes"][0]), (None, &"odd".into()));
        for field in ["path", "parallelism", "slices", "cores", "load", "delays", "costs", "advice"] {
            assert!(json.get(field).is_some() && EXPLANATION.contains(&format!("\n  {field} ")), "{field}");
        }
    }

    /// Where the ideal engine takes half the time, and events on PEs cost half as much again, more
    /// cores bring little.
    #[test]
    fn costs_stand_beside_the_ideal() {
        let short = found(Clocks { lookahead: 0.5, ..Clocks::default() });
        assert_eq!((short.costs, short.json(&[])["costs"].is_null()), (None, true), "960 events tell no costs");
        let costs = Costs { sync: warpline_run::Synchronisation::Conservative, sequential: 100e-9, event: 150e-9, message: Some(200e-9) };
        let clocks = Explained { costs: Some(costs), ..short };
        let (text, json) = (clocks.text(), clocks.json(&[]));
        let with_costs = json["cores"][0]["with_costs"].as_f64().unwrap();
        // 960 events, of which PEs send each other 2 in every unit of time.
        let events = 960.0;
        let ideal = json["cores"][0]["declared"].as_f64().unwrap();
        let messages = json["cores"][0]["messages"].as_f64().unwrap();
        assert_eq!(messages, 120.0);
        let expected = events * 100.0 / (events / ideal * 150.0 + messages / 2.0 * 200.0);
        assert!((with_costs / expected - 1.0).abs() < 1e-9, "{with_costs} instead of {expected}");
        for words in [
            "seen lookahead  with costs\n",
            &format!(" {}\n", ratio(with_costs)),
            "with costs: what is left of `declared lookahead` at the costs below",
            "Costs on this machine: an event takes 100 ns on the sequential engine and 150 ns on one of 2 conservative PEs",
            "1. Engines do more than execute events: at the costs of this machine, 8 PEs reach",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        assert_eq!((&json["costs"]["sync"], &json["costs"]["message_seconds"]), (&"conservative".into(), &200e-9.into()));
    }

    #[test]
    fn divided_groups_are_named() {
        let whole = found(Clocks { clocks: 2000, group: 2, ..Clocks::default() });
        assert_eq!((whole.explanation.divided, whole.text().contains("divide a group")), ([None; 4], false));
        let divided = found(Clocks { clocks: 20, group: 5, ..Clocks::default() });
        let (text, json) = (divided.text(), divided.json(&[]));
        let line = "\n  8 cores: 4 of 7 boundaries between PEs divide a group of LPs that the model wants on one PE; the first, between PE 0 and PE 1 \
                    at LP 2, divides group 0 (LP 0 to LP 4)\n";
        assert!(text.contains(line) && !text.contains("\n  2 cores:"), "{text}");
        assert_eq!((&json["cores"][0]["divided_groups"], &json["cores"][1]["divided_groups"]["boundaries"]), (&Value::Null, &4.into()));
    }

    #[test]
    fn a_run_without_events_cannot_be_explained() {
        let settings = Settings::default();
        let nothing = ExplainModel { settings: &settings, quiet: true }.visit::<Queue>(QueueParameters::default());
        let Err(failure) = nothing else { panic!("a success") };
        assert!(failure.code == Failure::USAGE_ERROR && failure.message.contains("nothing to explain"), "{}", failure.message);
    }
}
