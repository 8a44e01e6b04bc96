//! Ctrl-C, SIGTERM, and replications.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{begun, warpline, warpline_in};

fn signal(child: &Child, name: &str) {
    let sent =
        Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for a process, which must end soon.
fn ended(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("it goes on");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_signal_ends_a_run_with_the_results_so_far() {
    let engines = ["", "--threads 2", "--sync conservative --threads 2 --lookahead 0.5"];
    for (engine, (name, code)) in
        engines.into_iter().zip([("INT", 130), ("TERM", 143), ("INT", 130)])
    {
        let directory = tempdir().unwrap();
        let child =
            begun(directory.path(), &format!("run phold --end 1e9 --json --report out {engine}"));
        signal(&child, name);
        let Output { status, stdout, stderr } = ended(child);
        let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(status.code(), Some(code), "{engine}: {stderr}");
        let json: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(
            (&json["partial"]["wanted_end"], &json["exit_code"]),
            (&Value::from(1e9), &Value::from(code))
        );
        assert!(
            json["error"].as_str().unwrap().contains(&format!("ended early by SIG{name}")),
            "{json}"
        );
        assert!(stderr.contains("ending early, with the results so far"), "{stderr}");
        let end = json["end_time"].as_f64().unwrap();
        assert!(end > 0.0 && end < 1e9 && json["committed_events"].as_u64() > Some(0), "{json}");
        let page = std::fs::read_to_string(directory.path().join("out/report.html")).unwrap();
        assert!(page.contains("partial: "), "the report does not say so");
        if end < 2e4 {
            let lookahead = if engine.contains("--lookahead") { "--lookahead 0.5" } else { "" };
            let again = warpline(&format!("run phold --end {end:?} --json {lookahead}"));
            assert_eq!(again.digest(), json["digest"].as_str().unwrap());
        }
    }
}

/// What a run on a modelled machine has so far includes how it went there.
#[test]
fn a_signal_ends_a_run_on_a_machine_with_its_time_so_far() {
    let directory = tempdir().unwrap();
    let line = "run phold --lps 640 --end 1e9 --sync conservative --machine cray-xt5 --pes 16 \
                --json --report out";
    let child = begun(directory.path(), line);
    signal(&child, "INT");
    let Output { status, stdout, stderr } = ended(child);
    assert_eq!(status.code(), Some(130), "{}", String::from_utf8_lossy(&stderr));
    let json: Value = serde_json::from_slice(&stdout).unwrap();
    let machine = &json["machine"];
    assert!(json["end_time"].as_f64() < Some(1e9) && machine["seconds"].as_f64() > Some(0.0));
    assert!(machine["time_lines"].is_null(), "only reports need them");
    let record = std::fs::read_to_string(directory.path().join("out/run.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let lines = record["machine"]["time_lines"]["pes"].as_array().unwrap();
    assert_eq!(lines.len(), 16);
    let page = std::fs::read_to_string(directory.path().join("out/report.html")).unwrap();
    assert!(page.contains("partial: ") && page.contains("What PEs do when"));
}

/// A scaling curve that is interrupted has the numbers of PEs so far, the last of them in part.
#[test]
fn a_signal_ends_a_scaling_curve_with_the_numbers_so_far() {
    let directory = tempdir().unwrap();
    let line = "run phold --lps 640 --end 1e9 --sync conservative --machine cray-xt5 \
                --scaling 8,16 --json --report out";
    let child = begun(directory.path(), line);
    signal(&child, "TERM");
    let Output { status, stdout, stderr } = ended(child);
    assert_eq!(status.code(), Some(143), "{}", String::from_utf8_lossy(&stderr));
    let json: Value = serde_json::from_slice(&stdout).unwrap();
    let points = json["scaling"].as_array().unwrap();
    assert_eq!(points.len(), 1, "{json}");
    assert_eq!((&points[0]["pes"], &points[0]["partial"]), (&Value::from(8), &Value::from(true)));
    assert!(points[0]["event_rate"].as_f64() > Some(0.0), "{json}");
    assert!(json["error"].as_str().unwrap().contains("ended early by SIGTERM"), "{json}");
    let page = std::fs::read_to_string(directory.path().join("out/report.html")).unwrap();
    assert!(page.contains("What went wrong") && page.contains("What limits it"));
}

#[test]
fn the_terminal_says_that_results_are_partial() {
    let directory = tempdir().unwrap();
    let child = begun(directory.path(), "run phold --end 1e9");
    signal(&child, "INT");
    let Output { status, stdout, stderr } = ended(child);
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(status.code(), Some(130));
    assert!(
        stdout
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("PARTIAL RESULTS: the run was ended early")),
        "{stdout}"
    );
    assert!(stderr.contains("error: ended early by SIGINT: the results are partial"), "{stderr}");
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let directory = tempdir().unwrap();
    // A run does not end while it makes its LPs, here so many that it takes seconds.
    let mut child = begun(directory.path(), "run phold --lps 60000000 --end 1e9");
    signal(&child, "TERM");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(
        lines.any(|line| line.unwrap().contains("once more ends the program")),
        "the first signal was not heard"
    );
    // A signal that comes sooner is part of the same request.
    sleep(Duration::from_millis(150));
    signal(&child, "TERM");
    assert_eq!(ended(child).status.code(), Some(143));
}

/// `timeout` does this: it signals the process and its group.
#[test]
fn two_signals_at_once_leave_the_results_so_far() {
    let directory = tempdir().unwrap();
    let child = begun(directory.path(), "run phold --end 1e9 --json");
    let script = format!("kill -TERM {0}; kill -INT {0}; kill -TERM {0}", child.id());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    let Output { status, stdout, stderr } = ended(child);
    assert!(
        matches!(status.code(), Some(130 | 143)),
        "{status}: {}",
        String::from_utf8_lossy(&stderr)
    );
    let json: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(json["partial"]["wanted_end"], Value::from(1e9));
}

#[test]
fn replications_have_one_report() {
    let directory = tempdir().unwrap();
    let run =
        |line: &str| warpline_in(directory.path(), &line.split_whitespace().collect::<Vec<_>>());
    let several = run("run mm1 --end 200 --seed 7 --replications 5 --json --report out");
    assert_eq!(several.code, 0, "{}", several.stderr);
    let json = several.json();
    let runs = json["replications"]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 5);
    for one in runs {
        assert_eq!(
            one["digest"],
            run(&format!("run mm1 --end 200 --seed {} --json", one["seed"])).digest().as_str()
        );
    }
    assert!(
        json["results"]
            .as_object()
            .unwrap()
            .values()
            .any(|result| result["count"] == 5 && result["ci95"].is_number()),
        "{json:?}"
    );
    assert!(
        std::fs::read_to_string(directory.path().join("out/report.html"))
            .unwrap()
            .contains("the first of 5 runs")
    );
    let text = run("run mm1 --end 200 --seed 7 --replications 5").stdout;
    assert!(
        text.contains("with seeds 7 to 11")
            && text.contains("5, from seed 7 on")
            && text.contains("across the runs"),
        "{text}"
    );
    run("run mm1 --replications 0").is_wrong_use(&["`replications` cannot be `0`"]);
    run("compare mm1 --replications 5")
        .is_wrong_use(&["a comparison has no --replications: give it to `warpline run mm1`"]);
}
