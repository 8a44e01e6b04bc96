//! Explanations of clocks.

use serde_json::Value;

use super::advice::ratio;
use super::*;
use crate::options::help::EXPLANATION;
use warpline_run::Configured;
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
    /// Ticks of clock 0 per tick of the others. With 0 it stands still.
    #[parameter(default = 1, range = 0..)]
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
        if self.haste > 0 || lp.id() != LpId(0) {
            lp.send(lp.id(), 0.0, true);
        }
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
    ExplainModel { settings: &Settings::typed(words), quiet: true }
        .visit(Configured::<Clocks>::new(&clocks))
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
        ["With the lookahead that is declared between 8 PEs, 0 s, conservative PEs reach 1 times \
          the speed of one core. In this run the shortest delay from PE to PE was 0.5 s, from LP 0 \
          to LP 1. If the model can promise that, Model::lookahead, lookahead_of or links says so, \
          and every run checks it; conservative PEs could then reach 7.99 times."]
    );
    let promised = found(Clocks { lookahead: 0.5, ..Clocks::default() });
    assert!(promised.advice().is_empty(), "nothing stands in its way");
    assert!(
        promised.text().ends_with("What stands in the way of 8 cores: nothing of note\n"),
        "{}",
        promised.text()
    );
}

#[test]
fn an_lp_with_most_of_the_work_comes_first() {
    let hasty = found(Clocks { haste: 21, delay: 0.0, ..Clocks::default() });
    let advice = hasty.advice();
    let begin = "LP 0 alone has 75.0 % of all work, and an LP executes one event after the other: \
                 no engine can be more than 1.33 times";
    assert!(advice[0].starts_with(begin), "{advice:?}");
    let single = found(Clocks { clocks: 1, delay: 0.0, ..Clocks::default() });
    assert!(single.advice()[0].starts_with("One LP has all events"));
    // 16 clocks on 8 PEs: the first PE has 22 events in every unit of time, all others 2.
    let uneven = found(Clocks { clocks: 16, haste: 4, delay: 0.0, ..Clocks::default() });
    let advice = uneven.advice();
    assert!(
        advice.iter().any(|text| text.contains("PE 0 (LPs 0 to 1) has 26.3 % of all work")),
        "{advice:?}"
    );
}

#[test]
fn text_and_json_say_the_same() {
    let clocks = found(Clocks { lookahead: 0.5, ..Clocks::default() });
    let text = clocks.text();
    let json = clocks.json(&[]);
    for words in [
        "clocks: 960 events to time 60 s, with seed 1; each counts 1\n",
        "Critical path: 120 events that wait for each other, so 8 can go on at a time on average",
        "Load: the busiest tenth of the LPs has 12.5 % of the work; first come LP 0 12.5 %",
        "\n  2             2           2             2         2 (0.5 s)           1.99 (0.5 s)\n",
        "\n  1000 (8 LPs)  8           8             8         8 (0.5 s)           7.99 (0.5 s)\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert_eq!(
        (&json["events"], &json["path"]["length"], &json["parallelism"]),
        (&960.into(), &120.into(), &8.0.into())
    );
    assert_eq!(
        (&json["cores"][1]["cores"], &json["cores"][1]["seen"]),
        (&8.into(), &(959.0 / 120.0).into())
    );
    assert_eq!(json["slices"].as_array().map(Vec::len), Some(60));
    assert_eq!(
        (json.get("notes"), &clocks.json(&["odd".to_owned()])["notes"][0]),
        (None, &"odd".into())
    );
    for field in ["path", "parallelism", "slices", "cores", "load", "delays", "costs", "advice"] {
        assert!(
            json.get(field).is_some() && EXPLANATION.contains(&format!("\n  {field} ")),
            "{field}"
        );
    }
}

/// Where the ideal engine takes half the time, and events on PEs cost half as much again, more
/// cores bring little.
#[test]
fn costs_stand_beside_the_ideal() {
    let short = found(Clocks { lookahead: 0.5, ..Clocks::default() });
    assert_eq!(
        (short.costs, short.json(&[])["costs"].is_null()),
        (None, true),
        "960 events tell no costs"
    );
    let costs = Costs {
        sync: warpline_run::Synchronisation::Conservative,
        sequential: 100e-9,
        event: 150e-9,
        message: Some(200e-9),
    };
    let clocks = Explained { costs: Some(costs), ..short };
    let text = clocks.text();
    let json = clocks.json(&[]);
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
        "Costs on this machine: an event takes 100 ns on the sequential engine and 150 ns on one \
         of 2 conservative PEs",
        "1. Engines do more than execute events: at the costs of this machine, 8 PEs reach",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert_eq!(
        (&json["costs"]["sync"], &json["costs"]["message_seconds"]),
        (&"conservative".into(), &200e-9.into())
    );
}

#[test]
fn divided_groups_are_named() {
    let whole = found(Clocks { clocks: 2000, group: 2, ..Clocks::default() });
    assert_eq!(
        (whole.explanation.divided, whole.text().contains("divide a group")),
        ([None; 4], false)
    );
    let divided = found(Clocks { clocks: 20, group: 5, ..Clocks::default() });
    let text = divided.text();
    let json = divided.json(&[]);
    let line = "\n  8 cores: 4 of 7 boundaries between PEs divide a group of LPs that the model \
                wants on one PE; the first, between PE 0 and PE 1 at LP 2, divides group 0 (LP 0 \
                to LP 4)\n";
    assert!(text.contains(line) && !text.contains("\n  2 cores:"), "{text}");
    assert_eq!(
        (&json["cores"][0]["divided_groups"], &json["cores"][1]["divided_groups"]["boundaries"]),
        (&Value::Null, &4.into())
    );
}

#[test]
fn a_run_without_events_cannot_be_explained() {
    let nothing = explained(Clocks { clocks: 1, haste: 0, ..Clocks::default() }, &[]);
    let Err(failure) = nothing else { panic!("a success") };
    assert!(
        failure.code == Failure::USAGE_ERROR && failure.message.contains("nothing to explain"),
        "{}",
        failure.message
    );
}
