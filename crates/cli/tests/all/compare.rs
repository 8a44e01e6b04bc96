//! `warpline compare`, as far as it goes without a parallel run.

use std::fs;

use crate::support::{warpline, warpline_in};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn the_help_tells_what_is_compared_and_how() {
    for line in ["compare --help", "compare phold --help", "compare network --help", "help compare"]
    {
        let help = warpline(line);
        assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{line}");
        let flat = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "Comparison: --runs <N> Runs of each engine, in turn [default: 3]",
            "--with <ENGINES> Engines that are compared with the sequential one, separated by commas; and ways in which each of them runs: \
             threads, processes, or ranks that mpirun starts, with messages in shared memory or copied [default: all that suit the model]",
            "The engine that is compared with the sequential one, if --with names none",
            "Parallel runs: --sync",
            "--threads <N>",
            "Output: --report <DIR> Directory for a report, made if needed: report.html and run.json",
            "--json",
            "--quiet",
            "Examples: warpline",
        ] {
            assert!(flat.contains(words), "{line}: no `{words}` in: {}", help.stdout);
        }
        assert!(
            flat.contains("--report <DIR>") && !flat.contains("--trace <FILE>"),
            "{line}: {}",
            help.stdout
        );
    }
    assert!(
        warpline("compare --help")
            .stdout
            .contains("  warpline compare pcs --with optimistic --runs 9")
    );
    assert!(warpline("--help").stdout.contains("\n  compare "));
}

#[test]
fn a_comparison_can_be_used_wrongly() {
    warpline("compare").is_wrong_use(&[
        "warpline compare MODEL",
        "warpline compare SCENARIO.toml",
        "phold",
    ]);
    warpline("compare fold").is_wrong_use(&["did you mean `phold`?"]);
    warpline("compare phold --runs 0")
        .is_wrong_use(&["`runs` cannot be `0`: it takes a whole number from 1 to"]);
    let takes = "it takes engines separated by commas, of auto, sequential, conservative, optimistic, mixed, and ways to run them, of \
                 threads, processes, mpi, mpi-copies; did you mean `optimistic`?";
    warpline("compare phold --with sequential,optimist")
        .is_wrong_use(&["`with` cannot be `sequential,optimist`", takes]);
    warpline("run phold --with optimistic").is_wrong_use(&["--with"]);
    warpline("compare phold --threads none").is_wrong_use(&["`threads` cannot be `none`"]);
    warpline("compare phold --lps -1").is_wrong_use(&["`lps` cannot be"]);
    warpline("compare phold --remote 2").is_wrong_use(&["`remote` cannot be 2"]);
    warpline("compare phold --rem 2").is_wrong_use(&["--rem"]);
    warpline("run phold --runs 3").is_wrong_use(&["--runs"]);
    let json = warpline("compare phold --runs 0 --json");
    assert_eq!((json.code, &json.json()["exit_code"]), (2, &2.into()));
}

#[test]
fn the_sequential_engine_alone_is_nothing_to_compare() {
    warpline("compare phold --sync sequential")
        .is_wrong_use(&["there is nothing to compare: `sync` is", "--with optimistic"]);
    warpline("compare phold --with sequential")
        .is_wrong_use(&["there is nothing to compare: `with` is", "--with optimistic"]);
    let place = tempdir().unwrap();
    fs::write(place.path().join("a.toml"), "model = 'phold'\nsync = 'sequential'").unwrap();
    warpline_in(place.path(), &["compare", "a.toml"])
        .is_wrong_use(&["a.toml:2: there is nothing to compare"]);
}

#[test]
fn a_comparison_keeps_the_output_of_no_run() {
    let place = tempdir().unwrap();
    for arguments in [["compare", "mm1", "--trace", "out"], ["compare", "--trace", "out", "mm1"]] {
        let remedy = "a comparison has no --trace: give it to `warpline run mm1`";
        warpline_in(place.path(), &arguments).is_wrong_use(&[remedy]);
    }
    // Nor does it overwrite the report of a run.
    fs::write(place.path().join("a.toml"), "model = 'mm1'\nend = 20\nreport = 'out'").unwrap();
    let compared = warpline_in(
        place.path(),
        &["compare", "a.toml", "--runs", "1", "--with", "optimistic", "--quiet"],
    );
    assert_eq!((compared.code, compared.stderr.as_str()), (0, ""));
    assert!(!place.path().join("out").exists());
}

#[test]
fn comparisons_and_explanations_have_reports() {
    let place = tempdir().unwrap();
    let run = |line: &str| warpline_in(place.path(), &line.split(' ').collect::<Vec<_>>());
    for (line, study, facts, views) in [
        (
            "compare phold --lps 64 --end 5 --threads 2 --with optimistic --runs 2 --seed 7",
            "comparison",
            &["Same answer", "Best speed-up"][..],
            &["Event rate", "Peak memory", "Engines", "Every run", "Settings of each engine"][..],
        ),
        (
            "explain phold --lps 64 --end 5 --seed 7",
            "explanation",
            &["Parallelism", "Critical path"],
            &[
                "Parallelism over virtual time",
                "Best speed-up by cores",
                "Evenness of the load",
                "LPs on the critical path",
            ],
        ),
    ] {
        let done = run(&format!("{line} --report {study} --json --quiet"));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        let (page, record) = (
            place.path().join(study).join("report.html"),
            place.path().join(study).join("run.json"),
        );
        let html = fs::read_to_string(&page).unwrap();
        let record: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
        let mut json = done.json();
        assert_eq!(json.remove("report"), Some(format!("{study}/report.html").into()));
        assert_eq!(
            (&record["study"], &record["model"], &record["figures"]),
            (&study.into(), &"phold".into(), &Value::Object(json))
        );
        assert_eq!(
            (&record["parameters"]["lps"], &record["settings"]["seed"]),
            (&64.into(), &7.into())
        );
        assert!(
            record["provenance"]["command_line"].to_string().contains("--seed"),
            "{}",
            record["provenance"]
        );
        let named = |list: &str, name: &str| {
            record[list].as_array().unwrap().iter().map(|one| one[name].clone()).collect::<Vec<_>>()
        };
        for (list, name, wanted) in [("facts", "name", facts), ("views", "title", views)] {
            assert!(
                wanted.iter().all(|one| named(list, name).contains(&Value::from(*one))),
                "{:?}",
                named(list, name)
            );
        }
        for words in facts.iter().chain(views).chain(&[&*format!("Warpline {study}")]) {
            assert!(html.contains(words), "{study} without {words}");
        }
        // The digest is that of a run.
        let digest = run("run phold --lps 64 --end 5 --seed 7 --json").json()["digest"].clone();
        assert!(
            record["digest"] == digest && html.contains(digest.as_str().unwrap()),
            "{}",
            record["digest"]
        );
        // Rendered again, it is the same.
        fs::remove_file(&page).unwrap();
        assert_eq!(
            run(&format!("report {study}")).stdout,
            format!("report: {study}/report.html\n")
        );
        assert_eq!(fs::read_to_string(&page).unwrap(), html);
        let text = run(&format!("{line} --report {study} --quiet")).stdout;
        assert!(text.ends_with(&format!("report: {study}/report.html\n")), "{text}");
        run(&format!("{line} --report {study}/run.json/x"))
            .is_wrong_use(&["cannot write a report to"]);
    }
}

#[test]
fn what_a_run_says_of_its_failure_is_passed_on_once() {
    // The first run is sequential.
    for (line, words) in [
        ("network --topology no/such/file.json", "no/such/file.json"),
        ("phold --lps 10 --clusters 3", "divide"),
        ("mm1 --end 0", "`end` cannot be `0`"),
        ("mm1 --end 10 --warmup 11", "warm-up"),
    ] {
        let failed = warpline(&format!("compare {line}"));
        failed.is_wrong_use(&[words]);
        assert_eq!(failed.stderr, warpline(&format!("run {line}")).stderr);
        let failed = warpline(&format!("compare {line} --json"));
        let json = failed.json();
        assert_eq!((failed.code, &json["exit_code"]), (2, &2.into()));
        assert!(
            json["error"].as_str().unwrap().contains(words)
                && failed.stderr.matches(words).count() == 1,
            "{}",
            failed.stderr
        );
    }
}

#[test]
fn mistakes_in_a_scenario_have_their_line() {
    let place = tempdir().unwrap();
    for (text, words) in [
        ("model = 'mm1'\nkps = 0", "a.toml:2: `kps` cannot be `0`"),
        ("model = 'mm1'\nruns = 2", "a.toml:2: there is no setting `runs`"),
        ("model = 'mm1'\nwith = 'optimistic'", "a.toml:2: there is no setting `with`"),
        (
            "model = 'mm1'\n[parameters]\narrival-rate = -3",
            "a.toml:3: model `mm1`: `arrival-rate` cannot be -3",
        ),
    ] {
        fs::write(place.path().join("a.toml"), text).unwrap();
        warpline_in(place.path(), &["compare", "a.toml"]).is_wrong_use(&[words]);
    }
}
