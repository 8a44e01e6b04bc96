//! What a comparison of two engines came to: a table for people, or one object for programs.

use std::fmt::Write;

use serde_json::{Value, json};
use warpline::record::RunRecord;

use crate::failure::Failure;
use crate::{format, summary};

/// Runs of the same simulation on two engines; at least one on each.
pub(crate) struct Comparison {
    sequential: Engine,
    parallel: Engine,
}

/// The runs of one engine.
struct Engine(Vec<RunRecord>);

impl Engine {
    fn first(&self) -> &RunRecord {
        &self.0[0]
    }

    fn rates(&self) -> Vec<f64> {
        self.0.iter().map(|run| run.event_rate).collect()
    }

    fn rate(&self) -> f64 {
        median(self.rates()).unwrap_or(f64::NAN)
    }

    fn rate_range(&self) -> String {
        let rates = self.rates();
        format::event_rates(rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max))
    }

    fn efficiency(&self) -> Option<f64> {
        median(self.0.iter().filter_map(|run| run.parallel.as_ref()).map(|parallel| parallel.efficiency).collect())
    }

    /// The peak memory, in bytes; `None` where the system does not tell.
    fn memory(&self) -> Option<f64> {
        median(self.0.iter().filter_map(|run| run.peak_rss_bytes).map(|bytes| bytes as f64).collect())
    }

    /// The answers, each once, with the number of its runs.
    fn answers(&self) -> Vec<(&str, u64, usize)> {
        let mut answers: Vec<(&str, u64, usize)> = Vec::new();
        for run in &self.0 {
            match answers.iter_mut().find(|(digest, events, _)| (*digest, *events) == (&run.digest, run.committed_events)) {
                Some((_, _, runs)) => *runs += 1,
                None => answers.push((&run.digest, run.committed_events, 1)),
            }
        }
        answers
    }

    /// What all its runs say, or that they do not say the same.
    fn common(&self, said: impl Fn(&RunRecord) -> String) -> String {
        let first = said(self.first());
        if self.0.iter().all(|run| said(run) == first) { first } else { "DIFFERS FROM RUN TO RUN".to_owned() }
    }

    fn json(&self) -> Value {
        let first = self.first();
        json!({
            "engine": first.engine,
            "digest": first.digest,
            "committed_events": first.committed_events,
            "rates": self.rates(),
            "median_rate": self.rate(),
            "peak_rss_bytes": self.memory().map(|bytes| bytes.round() as u64),
        })
    }
}

/// The value in the middle, or between the two in the middle; `None` if there is none.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().saturating_sub(1) / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

impl Comparison {
    /// A comparison of runs on the sequential engine and on another.
    pub(crate) fn of([sequential, parallel]: [Vec<RunRecord>; 2]) -> Self {
        Comparison { sequential: Engine(sequential), parallel: Engine(parallel) }
    }

    fn speed_up(&self) -> Option<f64> {
        ratio(self.parallel.rate(), self.sequential.rate())
    }

    fn memory_ratio(&self) -> Option<f64> {
        ratio(self.parallel.memory()?, self.sequential.memory()?)
    }

    /// What is wrong, if not all runs gave the same answer.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let expected = self.sequential.first();
        let all = || self.sequential.0.iter().chain(&self.parallel.0);
        let same_history = all().all(|run| run.digest == expected.digest && run.committed_events == expected.committed_events);
        let mut different: Vec<String> = all().flat_map(|run| differences(&expected.results, &run.results)).collect();
        different.sort();
        different.dedup();
        if same_history && different.is_empty() {
            return None;
        }
        let mut message = format!("WRONG ANSWER: runs of `{}` that must be equal are not\n", expected.model);
        for engine in [&self.sequential, &self.parallel] {
            for (digest, events, runs) in engine.answers() {
                let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
                let _ = writeln!(message, "  {}: digest {digest} with {events} events, in {runs}", summary::engine(engine.first()));
            }
        }
        if !different.is_empty() {
            let _ = writeln!(message, "  results that differ: {}", different.join(", "));
        }
        let (model, place) = (&expected.model, env!("CARGO_PKG_REPOSITORY"));
        let _ = write!(
            message,
            "  believe none of them; if `warpline verify {model}` passes with the same parameters, \
             please report this, with the command that you typed, at {place}"
        );
        Some(message)
    }

    /// The comparison as one object; if the runs disagree, that is told in it.
    pub(crate) fn json(&self, failed: Option<&Failure>) -> Value {
        let run = self.sequential.first();
        let mut parallel = self.parallel.json();
        parallel["efficiency"] = json!(self.parallel.efficiency());
        let mut all = json!({
            "model": run.model,
            "parameters": run.parameters,
            "seed": run.seed,
            "end_time": run.end_time,
            "runs": self.sequential.0.len(),
            "sequential": self.sequential.json(),
            "parallel": parallel,
            "speed_up": self.speed_up(),
            "memory_ratio": self.memory_ratio(),
            "same_answer": failed.is_none(),
        });
        if let Some(failed) = failed {
            all["error"] = json!(failed.message);
            all["exit_code"] = json!(failed.code);
        }
        all
    }

    /// The comparison as a table.
    pub(crate) fn text(&self) -> String {
        let (run, engines) = (self.sequential.first(), [&self.sequential, &self.parallel]);
        let row = |name: &str, [left, right]: [String; 2]| [name.to_owned(), left, right];
        let beside = |name: &str, text: String| row(name, [String::new(), text]);
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "unknown".to_owned(), |ratio| format::significant(ratio, 3));
        let mut rows = vec![
            row("", engines.map(|engine| summary::engine(engine.first()))),
            row("median rate", engines.map(|engine| format::event_rate(engine.rate()))),
        ];
        if self.sequential.0.len() > 1 {
            rows.push(row("min – max", engines.map(Engine::rate_range)));
        }
        rows.push(beside("speed-up", ratio(self.speed_up())));
        rows.extend(self.parallel.efficiency().map(|efficiency| beside("efficiency", format::percent(efficiency))));
        let memory = |engine: &Engine| engine.memory().map_or_else(|| "unknown".to_owned(), |bytes| format::bytes(bytes as u64));
        rows.push(row("peak memory", engines.map(memory)));
        rows.push(beside("memory ratio", ratio(self.memory_ratio())));
        rows.push(row("committed events", engines.map(|engine| engine.common(|run| run.committed_events.to_string()))));
        rows.push(row("digest", engines.map(|engine| engine.common(|run| run.digest.clone()))));
        let same = if self.disagreement().is_none() { "yes" } else { "NO" };
        let (end, seed, runs) = (format::time(run.end_time, &run.time_unit), run.seed, self.sequential.0.len());
        let turns = if runs == 1 { "one run on each engine".to_owned() } else { format!("{runs} runs on each engine in turn") };
        let head = format!("{}: {}, to time {end} with seed {seed}\n", run.model, run.about);
        format!("{head}{turns}, every run in a process of its own\n{}same answer: {same}\n", format::columns(&rows, 2))
    }
}

fn ratio(of: f64, to: f64) -> Option<f64> {
    Some(of / to).filter(|ratio| ratio.is_finite())
}

/// The names of the results that differ.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
        }
        _ if one == other => Vec::new(),
        _ => vec!["all".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn comparison() -> Comparison {
        let sequential = [1.0e6, 0.9e6, 1.1e6].map(sample::sequential).to_vec();
        Comparison::of([sequential, [1.9e6, 2.5e6, 2.0e6].map(sample::optimistic).to_vec()])
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!((median(vec![7.0]), median(Vec::new())), (Some(7.0), None));
    }

    #[test]
    fn people_get_a_table() {
        let expected = "\
clock: a clock, to time 10 s with seed 1
3 runs on each engine in turn, every run in a process of its own
                    sequential                  optimistic, 2 threads
  median rate       1.00 M events/s             2.00 M events/s
  min – max         900 k – 1.10 M events/s     1.90 M – 2.50 M events/s
  speed-up                                      2
  efficiency                                    80.0 %
  peak memory       20.0 MB                     50.0 MB
  memory ratio                                  2.5
  committed events  1000                        1000
  digest            00000000000000aa            00000000000000aa
same answer: yes
";
        let squeezed = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        let text = comparison().text();
        assert_eq!(squeezed(&text), squeezed(expected));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_run_each_has_no_range() {
        let text = Comparison::of([vec![sample::sequential(1e6)], vec![sample::optimistic(2e6)]]).text();
        assert!(text.contains("one run on each engine") && !text.contains("min"), "{text}");
    }

    #[test]
    fn programs_get_one_object() {
        let comparison = comparison();
        assert_eq!(comparison.disagreement(), None);
        let json = comparison.json(None);
        let of_engine = |rates: [f64; 3], median: f64, bytes: u64, engine: &RunRecord| {
            json!({
                "engine": engine.engine, "digest": "00000000000000aa", "committed_events": 1000, "rates": rates, "median_rate": median,
                "peak_rss_bytes": bytes,
            })
        };
        let mut parallel = of_engine([1.9e6, 2.5e6, 2.0e6], 2e6, 50_000_000, &sample::optimistic(1.0));
        parallel["efficiency"] = json!(0.8);
        let expected = json!({
            "model": "clock", "parameters": { "period": 0.01 }, "seed": 1, "end_time": 10.0, "runs": 3,
            "sequential": of_engine([1e6, 0.9e6, 1.1e6], 1e6, 20_000_000, &sample::sequential(1.0)),
            "parallel": parallel, "speed_up": 2.0, "memory_ratio": 2.5, "same_answer": true,
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn what_is_unknown_is_null_or_said_to_be_unknown() {
        let mut comparison = comparison();
        comparison.sequential.0.iter_mut().for_each(|run| (run.peak_rss_bytes, run.event_rate) = (None, 0.0));
        let json = comparison.json(None);
        assert!(json["sequential"]["peak_rss_bytes"].is_null() && json["memory_ratio"].is_null() && json["speed_up"].is_null());
        assert_eq!(comparison.text().matches("unknown").count(), 3, "{}", comparison.text());
    }

    #[test]
    fn another_digest_is_a_wrong_answer() {
        let mut comparison = comparison();
        comparison.parallel.0[1].digest = "00000000000000bb".into();
        let wrong = comparison.disagreement().unwrap();
        for words in [
            "WRONG ANSWER: runs of `clock`",
            "  sequential: digest 00000000000000aa with 1000 events, in 3 runs\n",
            "  optimistic, 2 threads: digest 00000000000000aa with 1000 events, in 2 runs\n",
            "  optimistic, 2 threads: digest 00000000000000bb with 1000 events, in 1 run\n",
            "`warpline verify clock`",
        ] {
            assert!(wrong.contains(words), "no `{words}` in: {wrong}");
        }
        assert!(!wrong.contains("results that differ"));
        let text = comparison.text();
        assert!(text.contains("DIFFERS FROM RUN TO RUN") && text.ends_with("same answer: NO\n"), "{text}");
        let json = comparison.json(Some(&Failure::failed(wrong.clone())));
        assert_eq!((&json["same_answer"], &json["exit_code"], &json["error"]), (&json!(false), &json!(1), &json!(wrong)));
    }

    #[test]
    fn another_number_of_events_is_a_wrong_answer() {
        let mut comparison = comparison();
        comparison.parallel.0[0].committed_events = 999;
        assert!(comparison.disagreement().unwrap().contains("with 999 events, in 1 run"));
    }

    #[test]
    fn other_results_are_a_wrong_answer() {
        let mut comparison = comparison();
        comparison.parallel.0[2].results = json!({ "ticks": 1000, "tocks": 1 });
        assert!(comparison.disagreement().unwrap().contains("results that differ: tocks\n"));
        assert!(comparison.text().ends_with("same answer: NO\n"));
        assert_eq!(differences(&json!({ "a": 1, "b": [2] }), &json!({ "b": [3], "c": null })), ["a", "b", "c"]);
        assert_eq!((differences(&json!(1), &json!(2)), differences(&Value::Null, &Value::Null)), (vec!["all".to_owned()], vec![]));
    }
}
