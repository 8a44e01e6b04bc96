//! `warpline compare`, and the reports of comparisons and explanations.

use std::fs;

#[cfg(target_os = "linux")]
use crate::support::limited;
use crate::support::{RUNS, warpline, warpline_in};
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
            "--with <ENGINES> Engines that are compared with the sequential one, separated by \
             commas; and ways in which each of them runs: threads, processes, or ranks that mpirun \
             starts, with messages in shared memory or copied [default: all that suit the model]",
            "The engine that is compared with the sequential one, if --with names none",
            "Parallel runs: --sync",
            "--threads <N>",
            "Output: --report <DIR> Directory for a report, made if needed: report.html and \
             run.json",
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
    let takes = "it takes engines separated by commas, of auto, sequential, conservative, \
                 optimistic, mixed, and ways to run them, of threads, processes, mpi, mpi-copies; \
                 did you mean `optimistic`?";
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
    // It does not overwrite the report of a scenario's run either.
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
    assert_reported(
        "compare phold --lps 64 --end 5 --threads 2 --with optimistic --runs 2 --seed 7",
        "comparison",
        &["Same answer", "Best speed-up"],
        &["Event rate", "Peak memory", "Engines", "Every run", "Settings of each engine"],
    );
    assert_reported(
        "explain phold --lps 64 --end 5 --seed 7",
        "explanation",
        &["Parallelism", "Critical path"],
        &[
            "Parallelism over virtual time",
            "Best speed-up by cores",
            "Evenness of the load",
            "LPs on the critical path",
        ],
    );
}

/// Checks the report of a command: its record, its page, and what is printed of it.
fn assert_reported(line: &str, study: &str, facts: &[&str], views: &[&str]) {
    let place = tempdir().unwrap();
    let run = |line: &str| warpline_in(place.path(), &line.split(' ').collect::<Vec<_>>());
    let done = run(&format!("{line} --report {study} --json --quiet"));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let page = place.path().join(study).join("report.html");
    let html = fs::read_to_string(&page).unwrap();
    let record = fs::read_to_string(place.path().join(study).join("run.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
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
    for (list, name, wanted) in [("facts", "name", facts), ("views", "title", views)] {
        let named: Vec<&Value> =
            record[list].as_array().unwrap().iter().map(|one| &one[name]).collect();
        assert!(wanted.iter().all(|one| named.contains(&&Value::from(*one))), "{named:?}");
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
    // Rendered again, the page is the same.
    fs::remove_file(&page).unwrap();
    let again = run(&format!("report {study}"));
    assert_eq!(again.stdout, format!("report: {study}/report.html\n"));
    assert_eq!(fs::read_to_string(&page).unwrap(), html);
    let text = run(&format!("{line} --report {study} --quiet")).stdout;
    assert!(text.ends_with(&format!("report: {study}/report.html\n")), "{text}");
    run(&format!("{line} --report {study}/run.json/x")).is_wrong_use(&["cannot write a report to"]);
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

/// Two runs with rates, their median, and a plausible amount of memory.
fn assert_figures(engine: &Value) {
    let rates = engine["rates"].as_array().unwrap().iter().map(|rate| rate.as_f64().unwrap());
    let rates: Vec<f64> = rates.collect();
    let median = engine["median_rate"].as_f64().unwrap();
    assert!(
        rates.len() == 2 && (median - (rates[0] + rates[1]) / 2.0).abs() <= 1e-9 * median,
        "{engine}"
    );
    assert!(
        !cfg!(target_os = "linux") || engine["peak_rss_bytes"].as_u64().unwrap() > 500_000,
        "{engine}"
    );
}

#[test]
fn engines_are_compared() {
    for run in RUNS {
        let line = format!("compare {run} --runs 2 --threads 2 --json");
        let comparison = warpline(&line);
        assert_eq!((comparison.code, comparison.stderr.as_str()), (0, ""), "{line}");
        let json = comparison.json();
        let keys = [
            "end_time",
            "model",
            "order_of_text_varies",
            "parallel",
            "parameters",
            "runs",
            "same_answer",
            "seed",
            "sequential",
        ];
        // There are notes if others used the cores.
        assert_eq!(json.keys().filter(|key| *key != "notes").collect::<Vec<_>>(), keys);
        assert_eq!((&json["runs"], &json["same_answer"]), (&2.into(), &true.into()));
        assert_eq!(json["model"], run.split(' ').next().unwrap());
        let expected = warpline(&format!("run {run} --json")).json();
        let sequential = &json["sequential"];
        let engines = json["parallel"].as_array().unwrap();
        let of = |word: &str| engines.iter().find(|engine| engine["engine"]["sync"] == word);
        let parallel = of("optimistic").unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            of("conservative").is_some(),
            expected["engine"]["lookahead"].as_f64().unwrap() > 0.0,
            "{line}"
        );
        for engine in engines.iter().chain([sequential]) {
            assert_eq!(
                (&engine["digest"], &engine["committed_events"]),
                (&expected["digest"], &expected["committed_events"])
            );
            assert_figures(engine);
        }
        assert_eq!(
            (&sequential["engine"]["sync"], &sequential.get("efficiency")),
            (&"sequential".into(), &None)
        );
        assert_eq!(
            (&parallel["engine"]["sync"], &parallel["engine"]["threads"]),
            (&"optimistic".into(), &2.into())
        );
        assert!((0.0..=1.0).contains(&parallel["efficiency"].as_f64().unwrap()));
        let speed_up =
            parallel["median_rate"].as_f64().unwrap() / sequential["median_rate"].as_f64().unwrap();
        assert!((parallel["speed_up"].as_f64().unwrap() - speed_up).abs() <= 1e-9 * speed_up);
        assert!(
            !cfg!(target_os = "linux") || parallel["memory_ratio"].as_f64().unwrap() > 0.1,
            "{parallel}"
        );
    }
}

#[test]
fn people_get_a_table() {
    let comparison = warpline("compare phold --lps 64 --end 20 --runs 1 --threads 2 --seed 3");
    assert_eq!((comparison.code, comparison.stderr.as_str()), (0, ""));
    let digest = warpline("run phold --lps 64 --end 20 --seed 3 --json").digest();
    assert_eq!(comparison.stdout.matches(&digest).count(), 3, "{}", comparison.stdout);
    for words in [
        "conservative, 2 threads",
        "optimistic, 2 threads",
        "  median rate  ",
        "  speed-up  ",
        "  efficiency  ",
        "  peak memory  ",
        "same answer: yes\n",
    ] {
        assert!(comparison.stdout.contains(words), "no `{words}` in: {}", comparison.stdout);
    }
}

#[test]
fn a_comparison_has_defaults() {
    let json = warpline("compare mm1 --end 50 --json").json();
    assert_eq!(
        (&json["runs"], &json["parallel"][0]["engine"]["sync"]),
        (&3.into(), &"optimistic".into())
    );
}

#[test]
fn engines_are_named_in_a_list() {
    let compared = |with: &str| {
        let json = warpline(&format!("compare mm1 --end 50 --runs 1 --json {with}")).json();
        let engines: Vec<String> = json["parallel"]
            .as_array()
            .unwrap()
            .iter()
            .map(|engine| engine["engine"]["sync"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            (&json["sequential"]["engine"]["sync"], &json["same_answer"]),
            (&"sequential".into(), &true.into())
        );
        engines
    };
    assert_eq!(compared("--with optimistic"), ["optimistic"]);
    assert_eq!(compared("--with optimistic,sequential,optimistic --threads 3"), ["optimistic"]);
    assert_eq!(compared("--with=optimistic --sync sequential"), ["optimistic"]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_engine_that_fails_is_shown_with_its_error() {
    // The sequential engine needs one such stack, and others need two.
    let compare = |more: &[&str]| {
        let line = "compare mm1 --end 50 --runs 2 --threads 1 --stack 1024";
        let mut command = limited(1_900_000, &format!("{line} {}", more.join(" ")));
        let output = command.output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.starts_with("error: optimistic failed: the system refuses thread 1 of 1"),
            "{stderr}"
        );
        stdout
    };
    let table = compare(&[]);
    for words in ["optimistic failed: the system refuses thread 1 of 1", "\nsame answer: unknown\n"]
    {
        assert!(table.contains(words), "no `{words}` in: {table}");
    }
    assert!(
        table.lines().any(|line| line.contains("median rate") && line.ends_with(" failed")),
        "{table}"
    );
    let json: Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    assert_eq!(
        (&json["exit_code"], &json["same_answer"], &json["runs"]),
        (&1.into(), &Value::Null, &2.into())
    );
    assert_eq!(json["sequential"]["rates"].as_array().unwrap().len(), 2);
    assert!(json["parallel"][0]["error"].as_str().unwrap().contains("refuses thread"), "{json}");
}

#[test]
fn a_scenario_is_compared_without_its_report() {
    let place = tempdir().unwrap();
    fs::write(
        place.path().join("a.toml"),
        "model = 'phold'\nend = 5\nseed = 4\nreport = 'out'\n[parameters]\nlps = 64",
    )
    .unwrap();
    let comparison =
        warpline_in(place.path(), &["compare", "--runs", "1", "a.toml", "--end", "6", "--json"]);
    let json = comparison.json();
    assert_eq!(
        (comparison.code, &json["end_time"], &json["seed"], &json["runs"]),
        (0, &6.0.into(), &4.into(), &1.into())
    );
    assert_eq!(json["parameters"]["lps"], 64);
    assert!(!place.path().join("out").exists());
}
