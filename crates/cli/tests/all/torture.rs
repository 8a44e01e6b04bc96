//! `warpline torture`.

use crate::support::{Outcome, warpline};

/// A search, longer and longer until it has tried something, however busy the machine is.
fn searched(line: &str, has_tried: impl Fn(&Outcome) -> bool) -> Outcome {
    let mut searches =
        [2, 8, 32, 128].into_iter().map(|seconds| warpline(&format!("{line} --seconds {seconds}")));
    searches.find(has_tried).expect("it tries something")
}

#[test]
fn a_search_says_what_it_has_tried() {
    let found = searched("torture mm1 --seed 3 --jobs 1", |found| found.stdout.contains("--sync "));
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    for words in [
        "mm1: every schedule gave the answer of the sequential run",
        "from seed 3",
        "--sync ",
        "not drawn: ",
        "beyond this: data races between threads",
    ] {
        assert!(found.stdout.contains(words), "{words}: {}", found.stdout);
    }
}

#[test]
fn programs_are_told_what_a_search_has_tried() {
    let line = "torture phold --lps 40 --seed 3 --undo copy --batch 1 --json";
    let json = searched(line, |found| found.json()["schedules"].as_u64() > Some(0)).json();
    assert_eq!(json["fixed"], serde_json::json!({ "batch": "1", "lps": "40", "undo": "copy" }));
    assert_eq!(
        (&json["model"], &json["seed"], &json["partial"]),
        (&"phold".into(), &3.into(), &false.into())
    );
    assert!(json["failure"].is_null(), "{json:?}");
    let coverage = json["coverage"].as_object().unwrap();
    assert!(
        coverage.contains_key("sync")
            && !coverage.contains_key("batch")
            && !coverage.contains_key("undo")
    );
    for name in [
        "seconds",
        "schedules_per_second",
        "sequential_runs",
        "committed_events",
        "executed_events",
        "undone_events",
        "rollbacks",
        "gvt_computations",
        "pes_most",
    ] {
        assert!(json[name].is_number(), "{name}");
    }
}

#[test]
fn one_schedule_is_repeated() {
    let found =
        warpline("torture phold --lps 9 --end 3 --threads 4 --sync mixed --virtual-cluster 5");
    assert_eq!(
        (found.code, &*found.stdout),
        (0, "phold: every schedule gave the answer of the sequential run\n")
    );
}

#[test]
fn one_schedule_on_a_machine_is_repeated() {
    let found = warpline("torture phold --lps 40 --end 3 --sync mixed --machine cray-xt5 --pes 13");
    assert_eq!(
        (found.code, &*found.stdout),
        (0, "phold: every schedule gave the answer of the sequential run\n")
    );
}

#[test]
fn a_wrong_search_is_refused_in_a_sentence() {
    let refused =
        |line: &str, words: &str| warpline(&format!("torture {line}")).is_wrong_use(&[words]);
    refused("", "a model or a scenario file is missing");
    refused("phold --hours 0", "`hours` cannot be `0`: it takes a finite number greater than 0");
    refused("phold --lps 9 --pes 10", "--pes is 10, but the model has 9 LPs");
    refused("phold --lps 9 --threads 10", "--threads is 10, but the model has 9 LPs");
    refused("mm1 --undo reverse --sync conservative", "a conservative run undoes nothing");
    refused("phold --sync sequential", "--sync sequential has no schedules to search");
    refused(
        "phold --virtual-cluster 3 --minutes 2",
        "names one schedule, so there is nothing to search",
    );
    refused(
        "phold --machine cray-xt5 --hours 2",
        "--machine names one schedule, so there is nothing to search: leave it or --hours out",
    );
    refused("phold --processes 2", "--processes");
}

#[cfg(unix)]
#[test]
fn a_search_that_is_ended_early_says_what_it_has_tried() {
    use std::path::Path;
    use std::process::Command;

    let line = "torture phold --lps 40 --hours 1 --json";
    let child = crate::support::begun(Path::new("."), line);
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["partial"], &json["exit_code"]), (&true.into(), &130.into()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ended early by SIGINT"), "{said}");
}
