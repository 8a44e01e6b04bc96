//! `warpline run`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::support::{Outcome, command, warpline, warpline_in};
use serde_json::Value;
use tempfile::tempdir;
use warpline::GvtAlgorithm;

const KEYS: [&str; 19] = [
    "about",
    "committed_events",
    "digest",
    "end_time",
    "engine",
    "engines",
    "event_rate",
    "loop_seconds",
    "model",
    "parameters",
    "peak_rss_bytes",
    "provenance",
    "result_notes",
    "results",
    "seed",
    "series",
    "tables",
    "time_unit",
    "wall_seconds",
];

#[test]
fn json_is_one_object_with_all_keys() {
    let run = warpline("run mm1 --end 100 --seed 7 --arrival-rate 0.5 --json");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let json = run.json();
    // Its share of the cores is known only if the run takes a while.
    assert_eq!(json.keys().filter(|key| *key != "core_share").collect::<Vec<_>>(), KEYS);
    assert_eq!(
        (&json["model"], &json["seed"], &json["end_time"]),
        (&"mm1".into(), &7.into(), &100.0.into())
    );
    assert_eq!(json["parameters"]["arrival-rate"], 0.5);
    assert!(json["committed_events"].as_u64().unwrap() > 50);
    assert_eq!(json["digest"].as_str().unwrap().len(), 16);
}

#[test]
fn people_get_the_main_results() {
    let run = warpline("run network --end 0.01");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for word in [
        "committed events  ",
        "event rate",
        "wall time",
        "memory",
        "digest",
        "max_utilisation",
        "entries (see --json or --report)",
    ] {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
}

/// `mm1` declares statistics, `network` makes results of its own.
#[test]
fn results_come_with_unit_and_meaning() {
    let run = warpline("run mm1 --end 1000");
    let line = run.stdout.lines().find(|line| line.trim().starts_with("customers")).unwrap();
    assert!(
        line.contains(" ± ")
            && line.contains("95 % confidence")
            && line.ends_with(" – customers waiting or in service"),
        "{line}"
    );
    let notes = &warpline("run mm1 --end 1000 --json").json()["result_notes"];
    assert_eq!(notes["stay"]["meaning"], "time from arrival to departure");
    assert!(
        notes["mean_stay.ci95"]["meaning"].as_str().unwrap().contains("95 % confidence interval"),
        "{notes}"
    );

    let run = warpline("run network --end 0.01");
    let line = run.stdout.lines().find(|line| line.starts_with("    utilisation")).unwrap();
    let words = ["smallest ", ", largest ", ", mean ", " – share of time"];
    assert!(words.iter().all(|word| line.contains(word)), "{line}");
    let json = warpline("run network --end 0.01 --json").json();
    for (name, unit) in [
        ("delay", "s"),
        ("links.length_km", "km"),
        ("packets_offered", "packets"),
        ("demands.delay", "s"),
    ] {
        assert_eq!(json["result_notes"][name]["unit"], unit, "{name}");
    }
    let of_network = json["results"].as_object().unwrap().keys();
    assert!(
        of_network.into_iter().all(|name| json["result_notes"].get(name).is_some()),
        "{}",
        json["result_notes"]
    );
}

/// At a load of 0.95, customers of one batch still wait for those of the batch before.
#[test]
fn short_runs_with_much_correlation_say_so() {
    let short = "run mm1 --arrival-rate 0.95 --end 3000";
    let run = warpline(short);
    assert_eq!(
        run.stdout.matches("95 % confidence, probably too narrow: the run is short").count(),
        2,
        "{}",
        run.stdout
    );
    let note =
        |line: &str| warpline(line).json()["results"]["mean_stay"].get("ci95_note").is_some();
    assert!(note(&format!("{short} --json")) && note(&format!("{short} --json --threads 2")));
    assert!(!note("run mm1 --arrival-rate 0.5 --end 100000 --seed 2 --json"));
}

#[test]
fn a_record_says_where_it_comes_from() {
    let of = |line: &str| warpline(line).json()["provenance"].clone();
    let alone = of("run mm1 --end 100 --json");
    assert_eq!((&alone["pes"], &alone["command_line"][2]), (&1.into(), &"mm1".into()));
    assert!(
        alone["date"].as_str().unwrap().ends_with('Z')
            && alone["version"].is_string()
            && alone["cores"].is_number(),
        "{alone}"
    );
    let together = of("run mm1 --end 100 --json --threads 2");
    assert_eq!((&together["pes"], &together["cores"]), (&2.into(), &alone["cores"]));
}

/// With four PEs and destinations drawn from all LPs, three in four messages travel, whatever the
/// timing.
#[test]
fn a_parallel_run_says_what_limits_it() {
    let line = "run phold --lps 64 --end 10000 --threads 4";
    let run = warpline(line);
    assert!(run.stdout.contains("what limits this run, and what to try"), "{}", run.stdout);
    let json = warpline(&format!("{line} --json")).json();
    let limits = json["limits"].as_array().unwrap();
    // Nothing else is said where others used the cores.
    if limits.iter().any(|limit| limit["title"] == "Others used the cores as well") {
        return;
    }
    let travel = limits
        .iter()
        .find(|limit| limit["title"] == "Most messages travel")
        .unwrap_or_else(|| panic!("{limits:?}"));
    let advice = travel["advice"].as_str().unwrap();
    assert!(
        advice.contains("of the committed events came from another PE")
            && advice.contains("numbers side by side"),
        "{travel}"
    );
    assert!(json["estimated_speedup"].as_f64().unwrap() > 0.0, "{}", json["estimated_speedup"]);
    assert!(warpline("run mm1 --end 100 --json").json().get("limits").is_none());
}

#[test]
fn all_settings_are_heard() {
    let base = warpline("run mm1 --end 100 --json").json();
    let other =
        warpline("run mm1 --end 100 --json --warmup 50 --sync sequential --pending heap").json();
    assert_eq!(base["digest"], other["digest"]);
    assert_eq!(other["engine"]["warmup"], 50.0);
    assert_ne!(base["engine"]["pending"], other["engine"]["pending"]);
    assert_ne!(base["digest"], warpline("run mm1 --end 100 --seed 2 --json").json()["digest"]);
}

#[test]
fn settings_of_parallel_runs_mean_one() {
    let expected =
        warpline("run phold --lps 64 --end 10 --json --sync sequential --threads 1").digest();
    let settings = [
        "batch 8",
        "undo reverse",
        "kps 2",
        "gvt synchronous",
        "gvt-interval 100",
        "window 0.5",
        "copy-interval 4",
        "virtual-cluster 3",
    ];
    for setting in settings {
        let run = warpline(&format!("run phold --lps 64 --end 10 --json --{setting}"));
        assert_eq!(
            (run.digest(), &run.json()["engine"]["sync"]),
            (expected.clone(), &"optimistic".into()),
            "{setting}"
        );
        let name = setting.split(' ').next().unwrap();
        let words = [
            &*format!("`{name}` is `"),
            "`sync` is `sequential`: a sequential run has no use for it; leave it out",
        ];
        warpline(&format!("run phold --lps 64 --end 10 --sync sequential --{setting}"))
            .is_wrong_use(&words);
    }
    let run = warpline("run phold --lps 64 --end 10 --lookahead 0.1 --json --conservative windows");
    assert_eq!(run.json()["engine"]["sync"], "conservative");
}

#[test]
fn wrong_settings_of_parallel_runs_are_wrong_use() {
    for setting in ["threads", "batch", "kps", "gvt-interval", "copy-interval"] {
        for value in ["0", "-1", "1.5", "all", "1e99"] {
            let most = if setting == "threads" { 262_144 } else { u32::MAX };
            let words = [
                &*format!("`{setting}` cannot be `{value}`"),
                &format!("it takes a whole number from 1 to {most}"),
            ];
            warpline(&format!("run mm1 --{setting} {value}")).is_wrong_use(&words);
        }
    }
    for value in ["0", "-1", "inf", "nan", "x"] {
        warpline(&format!("run mm1 --window {value}"))
            .is_wrong_use(&["`window` cannot be", "it takes a finite number greater than 0"]);
    }
    let ways: Vec<_> = GvtAlgorithm::ALL.iter().copied().map(GvtAlgorithm::name).collect();
    warpline("run mm1 --gvt sometimes").is_wrong_use(&[&ways.join(", ")]);
    warpline("run mm1 --sync optimist")
        .is_wrong_use(&["auto, sequential, conservative, optimistic"]);
    warpline("run mm1 --threads").is_wrong_use(&["--threads"]);
}

#[test]
fn options_stand_anywhere_and_may_have_underscores() {
    let expected = warpline("run mm1 --end 100 --arrival-rate 0.5 --json").digest();
    for line in [
        "run mm1 --json --arrival_rate=0.5 --end=100",
        "run --json --end 100 mm1 --arrival-rate=0.5",
        "run --end=100 mm1 --arrival_rate 0.5 --json",
    ] {
        assert_eq!(warpline(line).digest(), expected, "{line}");
    }
}

#[test]
fn wrong_settings_are_wrong_use() {
    for (end, word) in [
        ("nan", "NaN"),
        ("-1", "-1"),
        ("-1e3", "-1000"),
        ("0", "greater than 0"),
        ("inf", "finite"),
        ("-inf", "finite"),
        ("x", "`x`"),
    ] {
        warpline(&format!("run mm1 --end {end}")).is_wrong_use(&["end", word]);
    }
    warpline("run mm1 --end").is_wrong_use(&["--end"]);
    warpline("run mm1 --end --quiet").is_wrong_use(&["`--end` needs a value"]);
    warpline("run mm1 --seed -1").is_wrong_use(&["whole number"]);
    warpline("run mm1 --end 10 --warmup 11").is_wrong_use(&["warm-up"]);
    warpline("run mm1 --undo magic").is_wrong_use(&["copy, reverse, journal"]);
    warpline("run mm1 --sync conservative --threads 2")
        .is_wrong_use(&["`mm1` has no lookahead", "--sync optimistic"]);
    warpline("run mm1 --pending list").is_wrong_use(&["ladder, heap"]);
    warpline("run mm1 --end 1 --end 2").is_wrong_use(&["--end"]);
}

#[test]
fn unknown_names_are_wrong_use_with_a_suggestion() {
    warpline("run").is_wrong_use(&[
        "mm1 ",
        "simplesim ",
        "phold ",
        "hypercube ",
        "pcs ",
        "network ",
        "SCENARIO.toml",
    ]);
    warpline("run netwrok").is_wrong_use(&["did you mean `network`?"]);
    warpline("run network --lod 0.5").is_wrong_use(&["'--load'"]);
    warpline("run network --demand unii").is_wrong_use(&["did you mean `uni`?"]);
    warpline("run network --load 7").is_wrong_use(&["`load` cannot be 7", "[0.001, 2]"]);
    warpline("run network --load -0.5").is_wrong_use(&["`load` cannot be -0.5"]);
    warpline("run phold --lps 1.5").is_wrong_use(&["`lps` cannot be `1.5`", "whole number"]);
    warpline("run phold --lps 10 --clusters 3").is_wrong_use(&["divide"]);
    warpline("run network --topology no/such/file.json").is_wrong_use(&["no/such/file.json"]);
    warpline("run mm1 phold").is_wrong_use(&["phold"]);
}

/// Parameters without effect are pointed out, but only if they were given.
#[test]
fn parameters_without_effect_are_pointed_out() {
    let no_effect = |name: &str, why: &str| format!("note: model `{name}`: {why}\n");
    let one_cluster = |name: &str| {
        no_effect(
            "phold",
            &format!("`{name}` has no effect: there is one cluster; set `clusters` to 2 or more"),
        )
    };
    for (line, expected) in [
        ("phold --lps 64 --remote 0.5", one_cluster("remote")),
        ("phold --lps 64 --reach 1 --remote 0.1", one_cluster("remote") + &one_cluster("reach")),
        ("phold --lps 64 --clusters 4 --remote 0.5 --reach 1", String::new()),
        (
            "phold --lps 64 --clusters 4 --remote 0 --reach 1",
            no_effect(
                "phold",
                "`reach` has no effect: no message leaves its cluster; set `remote` to more than 0",
            ),
        ),
        ("phold --lps 64 --payload 65", String::new()),
        (
            "network --off 3",
            no_effect(
                "network",
                "`off` has no effect: sources are not on-off; set `sources` to `onoff`",
            ),
        ),
        ("network --on 3 --sources onoff", String::new()),
        (
            "network --udp-size 100",
            no_effect(
                "network",
                "`udp-size` has no effect: sources are not UDP; set `sources` to `udp`",
            ),
        ),
        ("network --topology star-clique:3 --udp-size 100 --on 3", String::new()),
        ("mm1 --discipline lifo", String::new()),
    ] {
        let run = warpline(&format!("run {line} --end 0.01 --json"));
        assert_eq!((run.code, &run.stderr), (0, &expected), "{line}");
        let notes: Vec<_> =
            expected.lines().map(|line| line.trim_start_matches("note: ")).collect();
        let told = run.json().get("notes").cloned();
        assert_eq!(told, (!notes.is_empty()).then(|| notes.into()), "{line}");
    }
    let note = one_cluster("remote");
    for (verb, json) in [("verify", ""), ("compare", "--runs 1 --quiet --with optimistic")] {
        let told = warpline(&format!("{verb} phold --lps 64 --end 1 --remote 0.5 {json} --json"));
        let json = told.json();
        // On a busy machine, `compare` adds that others used the cores.
        let first = json["notes"][0].as_str().unwrap();
        assert_eq!(
            (told.code, &told.stderr, first),
            (0, &note, note.trim_start_matches("note: ").trim_end()),
            "{verb}"
        );
    }
    let place = tempdir().unwrap();
    fs::write(
        place.path().join("a.toml"),
        "model = 'phold'\nend = 0.1\n[parameters]\nlps = 64\n\nremote = 0.5",
    )
    .unwrap();
    let told = warpline_in(place.path(), &["run", "a.toml"]).stderr;
    assert!(told.starts_with("note: a.toml:6: model `phold`: `remote` has no effect"), "{told}");
}

/// Settings without effect are pointed out, except for those of presets.
#[test]
fn settings_without_effect_are_pointed_out() {
    let interval =
        "note: `copy-interval` has no effect: states are copied with `undo` set to `copy` alone\n";
    for (line, expected) in [
        (
            "run phold --lps 8 --end 1 --sync optimistic --threads 2 --undo reverse --copy-interval 4",
            interval,
        ),
        ("run phold --lps 8 --end 1 --sync optimistic --threads 2 --copy-interval 4", ""),
        (
            "run phold --lps 8 --end 1 --sync optimistic --threads 1 --mailbox cas",
            "note: `mailbox` has no effect: there is one PE, which sends itself no messages\n",
        ),
        (
            "run phold --lps 2 --end 1 --sync optimistic --threads 4",
            "note: 2 of 4 threads have a PE, as a PE has at least one LP and the model has 2\n",
        ),
        ("run phold --preset ross-mt --lps 64 --end 1 --threads 1", ""),
        (
            "compare phold --lps 8 --end 1 --with optimistic --threads 2 --runs 1 --quiet --undo reverse --copy-interval 4",
            interval,
        ),
    ] {
        let run = warpline(&format!("{line} --json"));
        assert_eq!((run.code, run.stderr.as_str()), (0, expected), "{line}");
        let notes: Vec<_> =
            expected.lines().map(|line| line.trim_start_matches("note: ")).collect();
        let json = run.json();
        let mut told: Vec<&str> = json["notes"]
            .as_array()
            .map_or(Vec::new(), |notes| notes.iter().filter_map(Value::as_str).collect());
        if line.starts_with("compare") {
            // On a busy machine, it adds that others used the cores.
            told.truncate(1);
        }
        assert_eq!(told, notes, "{line}");
    }
}

#[test]
fn options_that_are_not_there_are_pointed_to() {
    warpline("run mm1 --runs 5").is_wrong_use(&[
        "`warpline run` has no --runs, but `warpline compare` has: Runs of each engine",
    ]);
    warpline("run mm1 --topology x")
        .is_wrong_use(&["model `mm1` has no parameter --topology, but `network` has"]);
    warpline("run mm1 -seed 3").is_wrong_use(&["`-seed` is not an option: did you mean `--seed`?"]);
}

#[test]
fn limits_are_told_as_they_are() {
    let whole = |line: &str, name: &str, limits: &str| {
        warpline(&format!("run {line}")).is_wrong_use(&[&format!(
            "`{name}` cannot be `5000000000`: it takes a whole number from {limits}"
        )]);
    };
    whole("mm1 --threads 5000000000", "threads", "1 to 262144, as each PE");
    whole("phold --population 5000000000", "population", "1 to 1000000;");
    whole("phold --lps 5000000000", "lps", "1 to 4294967295;");
    whole("phold --payload 5000000000", "payload", "0 to 65536;");
    warpline("run phold --lps 0")
        .is_wrong_use(&["`lps` cannot be 0: it must lie in [1, 4294967295]"]);
}

#[test]
fn failures_are_objects_too() {
    for (line, word) in [
        ("run netwrok --json", "network"),
        ("run mm1 --json --end 0", "end time"),
        ("run mm1 --json --lod 1", "--lod"),
    ] {
        let failed = warpline(line);
        let json = failed.json();
        assert_eq!((failed.code, &json["exit_code"]), (2, &2.into()), "{line}");
        assert!(
            json["error"].as_str().unwrap().contains(word) && failed.stderr.contains(word),
            "{line}"
        );
    }
}

#[test]
fn quiet_is_silent() {
    let run = warpline("run mm1 --end 100 --json --quiet");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_report_is_written_and_rendered_again() {
    let place = tempdir().unwrap();
    let inside = |arguments: &[&str]| warpline_in(place.path(), arguments);
    let run = inside(&["run", "mm1", "--end", "100", "--report", "deep/out", "--json"]);
    assert_eq!(run.json()["report"], "deep/out/report.html");
    let report = place.path().join("deep/out/report.html");
    assert!(report.is_file() && place.path().join("deep/out/run.json").is_file());
    fs::remove_file(&report).unwrap();
    let again = inside(&["report", "deep/out"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "report: deep/out/report.html\n"));
    assert!(report.is_file());
    assert_eq!(inside(&["report", "deep/out", "--json"]).json()["report"], "deep/out/report.html");
    let text = inside(&["run", "mm1", "--end", "100", "--report", "deep/out"]);
    assert!(text.stdout.ends_with("report: deep/out/report.html\n"));
    inside(&["report", "deep"]).is_wrong_use(&["deep/run.json"]);
    fs::write(place.path().join("deep/out/run.json"), "{").unwrap();
    inside(&["report", "deep/out"]).is_wrong_use(&["line 1"]);
}

#[test]
fn an_impossible_report_is_refused_before_the_run() {
    let place = tempdir().unwrap();
    fs::write(place.path().join("file"), "in the way").unwrap();
    // A run to this end would take years.
    for directory in ["file", "file/below"] {
        warpline_in(place.path(), &["run", "mm1", "--end", "1e15", "--report", directory])
            .is_wrong_use(&["cannot write a report to", directory]);
    }
}

#[test]
fn results_outlive_a_failing_report() {
    let place = tempdir().unwrap();
    fs::create_dir_all(place.path().join("out/report.html/in the way")).unwrap();
    let run = |more: &[&str]| {
        warpline_in(
            place.path(),
            &[&["run", "mm1", "--end", "100", "--report", "out"], more].concat(),
        )
    };
    let Outcome { code, stdout, stderr } = run(&[]);
    assert_eq!(code, 1);
    assert!(stdout.contains("digest") && !stdout.contains("report:"), "{stdout}");
    assert!(stderr.contains("report.html"), "{stderr}");
    let failed = run(&["--json"]);
    let json = failed.json();
    assert_eq!((failed.code, &json["exit_code"]), (1, &1.into()));
    assert!(
        KEYS.iter().all(|key| json.contains_key(*key))
            && json["error"].as_str().unwrap().contains("report.html")
    );
}

#[test]
fn nobody_needs_to_read_to_the_end() {
    for line in [
        "models",
        "run mm1 --end 100",
        "run mm1 --end 100 --json",
        "run network --help",
        "run nothing --json",
    ] {
        let mut child = command(Path::new("."));
        let child = child.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        drop(child.stdout.take());
        let left = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(left.stderr).unwrap();
        assert_eq!(
            left.status.code(),
            Some(if line.contains("nothing") { 2 } else { 0 }),
            "{line}: {stderr}"
        );
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        command(Path::new(".")).args(["run", "mm1", "--end", "100"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write to stdout"));
}
