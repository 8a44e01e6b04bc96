//! Comparisons of made-up runs.

use serde_json::json;
use warpline_record::Series;
use warpline_run::Synchronisation;

use super::*;
use crate::compare::engine_runs::Contender;
use crate::process::ways::{Placement, Way};
use crate::sample;

fn engine(sync: Synchronisation, rates: &[f64]) -> EngineRuns {
    let run =
        if sync == Synchronisation::Sequential { sample::sequential } else { sample::optimistic };
    EngineRuns {
        runs: rates.iter().copied().map(run).collect(),
        ..EngineRuns::new(Contender::of(sync))
    }
}

fn sequential() -> EngineRuns {
    engine(Synchronisation::Sequential, &[1.0e6, 0.9e6, 1.1e6])
}

fn optimistic() -> EngineRuns {
    engine(Synchronisation::Optimistic, &[1.9e6, 2.5e6, 2.0e6])
}

fn compared(engines: Vec<EngineRuns>) -> Comparison {
    Comparison::of(engines, "warpline verify clock".into())
}

fn comparison() -> Comparison {
    compared(vec![sequential(), optimistic()])
}

/// A third engine, under another name.
fn third(rates: &[f64]) -> EngineRuns {
    let mut third = engine(Synchronisation::Optimistic, rates);
    for run in &mut third.runs {
        run.engine.insert("sync".into(), json!("third"));
        run.peak_rss_bytes = Some(25_000_000);
    }
    third
}

fn squeezed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
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
  certain events                                60.0 %
  peak memory       20.0 MB                     50.0 MB
  memory ratio                                  2.5
  committed events  1000                        1000
  digest            00000000000000aa            00000000000000aa
same answer: yes
";
    let text = comparison().text();
    assert_eq!(squeezed(&text), squeezed(expected));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn every_engine_has_a_column() {
    let text = compared(vec![sequential(), optimistic(), third(&[3.0e6, 4.0e6, 5.0e6])]).text();
    let lines = squeezed(&text);
    for line in [
        "sequential optimistic, 2 threads third, 2 threads",
        "median rate 1.00 M events/s 2.00 M events/s 4.00 M events/s",
        "speed-up 2 4",
        "peak memory 20.0 MB 50.0 MB 25.0 MB",
        "memory ratio 2.5 1.25",
        "same answer: yes",
    ] {
        assert!(lines.iter().any(|one| one == line), "no `{line}` in: {text}");
    }
    let column = |name: &str| text.lines().nth(2).unwrap().find(name).unwrap();
    assert_eq!(
        text.lines().find(|line| line.contains("speed-up")).unwrap().find('4'),
        Some(column("third"))
    );
}

#[test]
fn one_run_each_has_no_range() {
    let engines =
        [Synchronisation::Sequential, Synchronisation::Optimistic].map(|sync| engine(sync, &[1e6]));
    let text = compared(engines.into()).text();
    assert!(text.contains("one run on each engine") && !text.contains("min"), "{text}");
}

#[test]
fn programs_get_one_object() {
    let comparison = compared(vec![sequential(), optimistic(), third(&[3.0e6, 4.0e6, 5.0e6])]);
    assert_eq!((comparison.disagreement(), comparison.failure()), (None, None));
    let json = comparison.json(&[], None);
    let of_engine = |rates: [f64; 3], median: f64, bytes: u64, engine: &EngineRuns| {
        json!({
            "engine": engine.runs[0].engine, "digest": "00000000000000aa", "state_digest": null, "committed_events": 1000, "rates": rates,
            "median_rate": median, "peak_rss_bytes": bytes, "core_share": 1.0,
        })
    };
    let beside = |mut of_engine: Value, speed_up: f64, memory_ratio: f64| {
        of_engine["way"] = json!("threads");
        of_engine["efficiency"] = json!(0.8);
        of_engine["certain"] = json!(0.6);
        of_engine["speed_up"] = json!(speed_up);
        of_engine["memory_ratio"] = json!(memory_ratio);
        of_engine
    };
    let [_, second, third] = &comparison.engines[..] else { panic!("three engines") };
    let expected = json!({
        "model": "clock", "parameters": { "period": 0.01 }, "seed": 1, "end_time": 10.0, "runs": 3,
        "sequential": of_engine([1e6, 0.9e6, 1.1e6], 1e6, 20_000_000, comparison.sequential()),
        "parallel": [
            beside(of_engine([1.9e6, 2.5e6, 2.0e6], 2e6, 50_000_000, second), 2.0, 2.5),
            beside(of_engine([3e6, 4e6, 5e6], 4e6, 25_000_000, third), 4.0, 1.25),
        ],
        "same_answer": true,
        "order_of_text_varies": false,
    });
    assert_eq!(json, expected);
}

#[test]
fn an_engine_that_fails_is_shown_with_its_error_beside_the_others() {
    let failed = EngineRuns {
        failure: Some("no lookahead".into()),
        ..EngineRuns::new(Contender::of(Synchronisation::Optimistic))
    };
    let comparison = compared(vec![sequential(), failed, third(&[3.0e6, 4.0e6, 5.0e6])]);
    let failure = comparison.failure().unwrap();
    assert_eq!(
        (failure.message.as_str(), failure.code),
        ("optimistic failed: no lookahead", Failure::FAILED)
    );
    let text = comparison.text();
    let json = comparison.json(&[], Some(&failure));
    let lines = squeezed(&text);
    for line in [
        "sequential optimistic third, 2 threads",
        "median rate 1.00 M events/s failed 4.00 M events/s",
        "speed-up 4",
        "optimistic failed: no lookahead",
        "same answer: yes",
    ] {
        assert!(lines.iter().any(|one| one == line), "no `{line}` in: {text}");
    }
    let [failed, third] = &json["parallel"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(
        (&failed["engine"], &failed["error"]),
        (&json!({ "sync": "optimistic" }), &json!("no lookahead"))
    );
    assert!(
        ["digest", "median_rate", "speed_up", "memory_ratio"]
            .iter()
            .all(|key| failed[*key].is_null()),
        "{failed}"
    );
    assert_eq!((&third["speed_up"], third.get("error")), (&json!(4.0), None));
    assert_eq!(
        (&json["exit_code"], &json["error"], &json["same_answer"]),
        (&json!(1), &json!(failure.message), &json!(true))
    );
}

/// Threads, processes and ranks of one engine are told apart by name, also where the runs failed.
#[test]
fn ways_have_columns_of_their_own() {
    let placed = |way| {
        let placement = Some(Placement { way, processes: 2, threads: 1 });
        let sync = Synchronisation::Optimistic;
        EngineRuns { contender: Contender { sync, placement }, ..engine(sync, &[2e6]) }
    };
    let failed =
        EngineRuns { runs: Vec::new(), failure: Some("no launcher".into()), ..placed(Way::Mpi) };
    let comparison = compared(vec![
        sequential(),
        optimistic(),
        placed(Way::Processes),
        placed(Way::MpiCopies),
        failed,
    ]);
    let text = comparison.text();
    let json = comparison.json(&[], None);
    let lines = squeezed(&text);
    for line in [
        "sequential optimistic, 2 threads optimistic, 2 processes optimistic, 2 ranks by MPI, \
         copies optimistic, 2 ranks by MPI",
        "optimistic, 2 ranks by MPI failed: no launcher",
        "same answer: yes",
    ] {
        assert!(lines.iter().any(|one| one == line), "no `{line}` in: {text}");
    }
    let ways: Vec<_> = json["parallel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|engine| engine["way"].as_str().unwrap())
        .collect();
    assert_eq!(ways, ["threads", "processes", "mpi-copies", "mpi"]);
    assert_eq!(comparison.failure().unwrap().code, Failure::FAILED);
}

/// Rates that other programs lowered come with a note.
#[test]
fn cores_that_others_used_are_pointed_out() {
    let mut comparison = comparison();
    comparison
        .engines
        .iter_mut()
        .flat_map(|engine| &mut engine.runs)
        .for_each(|run| run.loop_seconds = 2.0);
    assert!(
        !comparison.text().contains("other programs")
            && comparison.json(&[], None).get("notes").is_none()
    );
    for (run, share) in comparison.engines[1].runs.iter_mut().zip([0.95, 0.52, 0.7]) {
        run.core_share = Some(share);
    }
    let text = comparison.text().replace('\n', " ");
    let json = comparison.json(&["odd".to_owned()], None);
    assert!(text.contains("note: other programs used the cores as well"), "{text}");
    assert!(
        text.contains(": optimistic, 2 threads up to 48.0 %; rates and speed-ups say little"),
        "{text}"
    );
    assert_eq!(
        (json["notes"].as_array().map(Vec::len), &json["notes"][0]),
        (Some(2), &json!("odd"))
    );
    assert_eq!(json["parallel"][0]["core_share"], 0.7);
    let study = comparison.study(json!({}), None, Default::default());
    assert!(
        study.facts.iter().any(|fact| fact.name == "Cores" && fact.remark.contains("48.0 %")),
        "{:?}",
        study.facts
    );
}

#[test]
fn the_same_answer_is_unknown_if_nothing_was_compared() {
    let failed = EngineRuns {
        failure: Some("oh no".into()),
        ..EngineRuns::new(Contender::of(Synchronisation::Optimistic))
    };
    let comparison = compared(vec![sequential(), failed]);
    assert!(
        comparison.text().ends_with("optimistic failed: oh no\nsame answer: unknown\n"),
        "{}",
        comparison.text()
    );
    assert!(comparison.json(&[], None)["same_answer"].is_null());
    let mut late = optimistic();
    late.runs[1].digest = "00000000000000bb".into();
    late.failure = Some("oh no".into());
    let comparison = compared(vec![sequential(), late]);
    let failure = comparison.failure().unwrap().message;
    assert!(
        failure.starts_with("WRONG ANSWER") && failure.ends_with("\noptimistic failed: oh no"),
        "{failure}"
    );
    assert!(comparison.text().ends_with("same answer: NO\n"));
}

#[test]
fn unknown_values_are_null_or_called_unknown() {
    let mut comparison = comparison();
    for run in &mut comparison.engines[0].runs {
        run.peak_rss_bytes = None;
        run.event_rate = 0.0;
    }
    let json = comparison.json(&[], None);
    let parallel = &json["parallel"][0];
    assert!(
        json["sequential"]["peak_rss_bytes"].is_null()
            && parallel["memory_ratio"].is_null()
            && parallel["speed_up"].is_null()
    );
    assert_eq!(comparison.text().matches("unknown").count(), 3, "{}", comparison.text());
}

#[test]
fn another_digest_is_a_wrong_answer() {
    let mut comparison = comparison();
    comparison.engines[1].runs[1].digest = "00000000000000bb".into();
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
    assert!(
        text.contains("DIFFERS FROM RUN TO RUN") && text.ends_with("same answer: NO\n"),
        "{text}"
    );
    let json = comparison.json(&[], comparison.failure().as_ref());
    assert_eq!(
        (&json["same_answer"], &json["exit_code"], &json["error"]),
        (&json!(false), &json!(1), &json!(wrong))
    );
}

#[test]
fn another_digest_of_the_last_engine_is_a_wrong_answer() {
    let mut comparison = compared(vec![sequential(), optimistic(), third(&[1.0])]);
    comparison.engines[2].runs[0].digest = "00000000000000bb".into();
    let wrong = comparison.disagreement().unwrap();
    assert!(
        wrong.contains("  third, 2 threads: digest 00000000000000bb with 1000 events, in 1 run\n"),
        "{wrong}"
    );
}

#[test]
fn another_number_of_events_is_a_wrong_answer() {
    let mut comparison = comparison();
    comparison.engines[1].runs[0].committed_events = 999;
    assert!(comparison.disagreement().unwrap().contains("with 999 events, in 1 run"));
}

/// A comparison whose runs have digests of their states.
fn with_states() -> Comparison {
    let mut comparison = comparison();
    let [text, content, statistics] = ["0a", "0b", "0c"].map(str::to_owned);
    for run in comparison.engines.iter_mut().flat_map(|engine| &mut engine.runs) {
        run.state_digest = Some(StateDigestRecord {
            text: text.clone(),
            content: content.clone(),
            statistics: statistics.clone(),
        });
    }
    comparison
}

fn change_states(
    comparison: &mut Comparison,
    engine: usize,
    change: impl FnOnce(&mut StateDigestRecord),
) {
    change(comparison.engines[engine].runs[1].state_digest.as_mut().unwrap());
}

#[test]
fn other_states_or_statistics_are_a_wrong_answer() {
    assert_eq!(with_states().disagreement(), None);
    assert!(squeezed(&with_states().text()).contains(&"final states 0b 0b".to_owned()));
    let mut states = with_states();
    change_states(&mut states, 1, |digest| digest.content = "0d".into());
    let wrong = states.disagreement().unwrap();
    assert!(
        wrong.contains("results that differ: final states\n")
            && wrong.contains("`warpline verify clock`"),
        "{wrong}"
    );
    let mut statistics = with_states();
    change_states(&mut statistics, 1, |digest| digest.statistics = "0d".into());
    assert!(statistics.disagreement().unwrap().contains("results that differ: statistics\n"));
}

#[test]
fn a_model_whose_sequential_runs_differ_is_to_blame() {
    let mut comparison = with_states();
    change_states(&mut comparison, 0, |digest| digest.content = "0d".into());
    let wrong = comparison.disagreement().unwrap();
    assert!(
        wrong.contains("sequential runs differ from each other, so it is the model")
            && wrong.contains("HashMap"),
        "{wrong}"
    );
    assert!(!wrong.contains("report this"), "{wrong}");
}

#[test]
fn text_that_varies_is_reported_but_is_no_wrong_answer() {
    let mut comparison = with_states();
    change_states(&mut comparison, 1, |digest| digest.text = "0d".into());
    assert_eq!((comparison.disagreement(), comparison.same_answer()), (None, Some(true)));
    assert!(
        comparison.text().contains("the texts of equal states differ from run to run"),
        "{}",
        comparison.text()
    );
    assert_eq!(comparison.json(&[], None)["order_of_text_varies"], json!(true));
}

#[test]
fn other_series_are_a_wrong_answer() {
    let mut comparison = comparison();
    let series = |value: f64| {
        [(
            "ticks".to_owned(),
            Series { edges: vec![0.0, 10.0], values: vec![Some(value)], ..Series::default() },
        )]
    };
    comparison
        .engines
        .iter_mut()
        .flat_map(|engine| &mut engine.runs)
        .for_each(|run| run.series = series(1000.0).into());
    assert_eq!(comparison.disagreement(), None);
    comparison.engines[1].runs[2].series = series(999.0).into();
    assert!(comparison.disagreement().unwrap().contains("results that differ: ticks over time\n"));
    comparison.engines[1].runs[2].series.clear();
    assert!(comparison.disagreement().unwrap().contains("results that differ: ticks over time\n"));
}

#[test]
fn other_results_are_a_wrong_answer() {
    let mut comparison = comparison();
    comparison.engines[1].runs[2].results = json!({ "ticks": 1000, "tocks": 1 }).into();
    assert!(comparison.disagreement().unwrap().contains("results that differ: tocks\n"));
    assert!(comparison.text().ends_with("same answer: NO\n"));
    assert_eq!(
        differences(&json!({ "a": 1, "b": [2] }), &json!({ "b": [3], "c": null })),
        ["a", "b", "c"]
    );
    assert_eq!(
        (differences(&json!(1), &json!(2)), differences(&Value::Null, &Value::Null)),
        (vec!["all".to_owned()], vec![])
    );
}

#[test]
fn a_report_says_loudly_that_answers_differ() {
    let study = |comparison: &Comparison| {
        let failed = comparison.failure().map(|failure| failure.message);
        comparison.study(json!({}), failed, Default::default())
    };
    let equal = study(&comparison());
    assert_eq!((equal.warning, equal.digest.as_deref()), (None, Some("00000000000000aa")));
    assert_eq!(
        (equal.facts[0].name.as_str(), equal.facts[0].value.as_str()),
        ("Same answer", "yes")
    );
    assert_eq!(
        (equal.facts[1].value.as_str(), equal.facts[1].remark.as_str()),
        ("2 ×", "optimistic, 2 threads, against sequential")
    );
    let warpline_record::View::Bars(rates) = &equal.views[0] else { panic!("bars come first") };
    assert_eq!(rates.groups, ["sequential", "optimistic, 2 threads"]);
    assert_eq!(
        rates.series[0].1,
        [[1.0e6, 0.9e6, 1.1e6].map(Some), [1.9e6, 2.5e6, 2.0e6].map(Some)]
    );
    let mut wrong = optimistic();
    wrong.runs[1].digest = "00000000000000ab".into();
    let wrong = study(&compared(vec![sequential(), wrong]));
    assert!(
        wrong.warning.unwrap().starts_with("WRONG ANSWER")
            && wrong.digest.is_none()
            && wrong.facts[0].value == "NO"
    );
    let text = serde_json::to_string(&wrong.views).unwrap();
    assert!(text.contains("DIFFERS FROM RUN TO RUN – DIFFERENT"), "{text}");
}
