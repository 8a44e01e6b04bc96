//! Summaries of made-up runs.

use warpline_record::{EngineStretch, ParallelRecord, ProgressSample, SpeculationSample};

use super::*;
use crate::run::speculation::phases;
use crate::sample;

fn text(record: &RunRecord) -> String {
    Summary {
        record,
        notes: &[],
        follows: false,
        tables: &[],
        directory: None,
        report: None,
        trace: None,
    }
    .text()
}

#[test]
fn a_sequential_run_has_nothing_of_a_parallel_one() {
    let text = text(&sample::sequential(1e6));
    let lines: Vec<_> = text
        .lines()
        .map(|line| line.split("  ").find(|part| !part.is_empty()).unwrap_or_default())
        .collect();
    let head = "clock: a clock, to time 10 s with seed 1";
    assert_eq!(
        lines,
        [
            head,
            "committed events",
            "event rate",
            "wall time",
            "peak memory",
            "digest",
            "results",
            "ticks"
        ]
    );
}

#[test]
fn a_parallel_run_shows_what_it_cost() {
    let mut record = sample::optimistic(1e6);
    let expected = [
        "  engine            optimistic, 2 threads",
        "  events            600 certain when executed, 650 executed ahead",
        "  efficiency        80.0 %: 1250 events processed, 250 rolled back",
        "  rollbacks         40 primary, 2 secondary",
        "  GVT computations  17",
        "  remote events     25.0 % of those committed",
        "  time went to      event processing 50 %, idle 25 %, rollback 13 %, pending set 10 %",
        "  digest            00000000000000aa",
    ];
    let of_parallel = |record: &RunRecord| {
        text(record)
            .lines()
            .skip(5)
            .take_while(|line| *line != "results")
            .map(str::to_owned)
            .collect()
    };
    let lines: Vec<String> = of_parallel(&record);
    assert_eq!(lines, expected);
    assert!(lines.iter().all(|line| line.chars().count() <= 90));
    for (window, line) in [
        (2.5, Some("  window            2.5 s beyond GVT, at the end")),
        (1e40, None),
        (f64::NAN, None),
    ] {
        let speculation = Some(SpeculationSample { window, ..SpeculationSample::default() });
        record.progress.push(ProgressSample {
            wall_seconds: 1.0,
            virtual_time: 10.0,
            committed_events: 1000,
            rss_bytes: None,
            speculation,
        });
        let lines: Vec<String> = of_parallel(&record);
        assert_eq!(lines.iter().find(|line| line.contains("window")).map(String::as_str), line);
    }
    let nothing = ParallelRecord::default();
    assert_eq!(phases(&record, &nothing), None);
}

#[test]
fn a_run_that_chose_its_engines_says_which_and_why() {
    let mut record = sample::sequential(1e6);
    let stretch = |sync: &str, pes, (began_seconds, seconds): (f64, f64), rate| EngineStretch {
        sync: sync.into(),
        pes,
        began_seconds,
        seconds,
        event_rate: rate,
        why: if began_seconds > 0.0 { String::new() } else { "every run begins so".into() },
        ..EngineStretch::default()
    };
    let line = |record: &RunRecord| {
        text(record).lines().find(|line| line.contains("engine")).map(|line| line.trim().to_owned())
    };
    assert_eq!(line(&record), None);
    record.engines = vec![stretch("sequential", 1, (0.0, 2.0), None)];
    assert_eq!(
        line(&record).as_deref(),
        Some("engine            auto: sequential, as every run begins so")
    );
    record.engines.push(stretch("optimistic", 2, (2.0, 6.0), Some(3e6)));
    let expected =
        "engine            auto: optimistic with 2 PEs, 75.0 % of the time, longest from 2.0 s on";
    assert_eq!(line(&record).as_deref(), Some(expected));
    record.engines[0].event_rate = Some(2e6);
    assert_eq!(line(&record), Some(format!("{expected}; 1.50 times the rate of sequential")));
    record.engines[1].why = "tried; kept, as it is 1.50 times as fast".into();
    assert_eq!(
        line(&record),
        Some(format!("{expected}: tried; kept, as it is 1.50 times as fast"))
    );
    let why = "the optimistic engine had only 0.91 times its rate per core, as others use the \
               cores as well"
        .to_owned();
    record.engines.push(EngineStretch {
        why: why.clone(),
        ..stretch("sequential", 1, (8.0, 20.0), Some(1e6))
    });
    let expected = "engine            auto: sequential, 78.6 % of the time, longest from 8.0 s on";
    assert_eq!(line(&record), Some(format!("{expected}: {why}")));
}

#[test]
fn cores_that_others_used_come_before_all_advice() {
    let mut record = RunRecord { loop_seconds: 2.0, ..sample::sequential(1e6) };
    assert!(!text(&record).contains("others had"));
    record.core_share = Some(0.6);
    assert!(
        text(&record)
            .contains("\n  cores             others had them for 40.0 % of the time for which"),
        "{}",
        text(&record)
    );
    let parallel =
        RunRecord { loop_seconds: 2.0, core_share: Some(0.6), ..sample::optimistic(1e6) };
    let text = text(&parallel);
    assert!(
        text.contains("others had them for 40.0 %")
            && text.contains("  Others used the cores as well. For 40 %"),
        "{text}"
    );
    assert_eq!(warpline_report::limits(&parallel).len(), 1, "nothing else can be told from it");
}

#[test]
fn proportions_from_few_samples_are_left_out() {
    let mut record = RunRecord { loop_seconds: 2.0, ..sample::optimistic(1e6) };
    let line = |record: &RunRecord| {
        text(record)
            .lines()
            .find(|line| line.contains("time went to"))
            .map(|line| line.trim().to_owned())
    };
    let all = line(&record);
    record.parallel.as_mut().unwrap().phase_samples = Some(9.0);
    let few = line(&record);
    assert!(
        few.as_ref().is_some_and(|few| few.contains("idle")
            && few.contains("work")
            && !few.contains("event processing")),
        "{few:?}"
    );
    record.parallel.as_mut().unwrap().phase_samples = Some(11.0);
    assert_eq!(line(&record), all);
}

#[test]
fn the_costs_of_parallel_execution_stand_at_the_top_of_the_object() {
    let record = sample::optimistic(1e6);
    let summary = Summary {
        follows: false,
        record: &record,
        notes: &[],
        tables: &[],
        directory: None,
        report: None,
        trace: None,
    };
    let json = serde_json::to_value(summary.json(None)).unwrap();
    let numbers = [
        "processed_events",
        "certain_events",
        "ahead_events",
        "rolled_back_events",
        "efficiency",
        "anti_messages",
        "gvt_epochs",
        "remote_events",
    ];
    assert!(numbers.iter().all(|key| json[key].is_number()), "{json}");
    let rollbacks = ["primary", "secondary", "max_per_pe", "mean_per_pe"];
    assert!(rollbacks.iter().all(|key| json["rollbacks"][key].is_number()), "{json}");
    assert_eq!((&json["certain_events"], &json["ahead_events"]), (&json!(600), &json!(650)));
    assert_eq!((&json["efficiency"], &json["phase_seconds"]["idle"]), (&json!(0.8), &json!(0.5)));
    assert!(json.get("parallel").is_none() && json.get("progress").is_none(), "{json}");
    let of_sequential = sample::sequential(1e6).summary();
    assert!(
        numbers
            .iter()
            .chain(&["rollbacks", "phase_seconds", "parallel"])
            .all(|key| !of_sequential.contains_key(*key))
    );
}

#[test]
fn records_are_read_back_with_and_without_a_parallel_part() {
    for record in [sample::sequential(1e6), sample::optimistic(1e6)] {
        let read: RunRecord =
            serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(read, record);
    }
}

#[test]
fn a_run_slower_than_one_core_says_so() {
    let mut record = sample::optimistic(1e6);
    let json = |record: &RunRecord| {
        let summary = Summary {
            record,
            notes: &[],
            follows: false,
            tables: &[],
            directory: None,
            report: None,
            trace: None,
        };
        serde_json::to_value(summary.json(None)).unwrap()
    };
    assert!(!text(&record).contains("what limits"), "1.1 s of work in a quarter of a second");
    assert_eq!(json(&record)["limits"], json!([]));
    record.loop_seconds = 10.0;
    let all = text(&record);
    let start = "what limits this run, and what to try\n  Probably slower than on one core. One \
                 core would probably have taken";
    assert!(all.contains(start) && all.contains("Run it with --sync sequential;"), "{all}");
    assert!(all.lines().all(|line| line.chars().count() <= LINE + 2), "{all}");
    let json = json(&record);
    assert_eq!(json["limits"][0]["title"], "Probably slower than on one core");
    assert!(json["estimated_speedup"].as_f64().unwrap() < 0.2, "{json}");
    assert!(json["limits"][0]["advice"].as_str().unwrap().is_ascii(), "{json}");
}

#[test]
fn advice_names_options_as_they_are_typed() {
    let limit = Limit {
        title: "GVT is found often",
        text: "A larger `gvt_interval`\u{a0}helps.".into(),
        cost: 0.5,
    };
    assert_eq!(advice(&limit), "GVT is found often. A larger --gvt-interval helps.");
}
