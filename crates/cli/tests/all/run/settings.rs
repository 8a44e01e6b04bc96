//! Settings and parameters as they are typed, right and wrong.

use crate::support::warpline;
use warpline::GvtAlgorithm;

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
        "bank ",
        "car-wash ",
        "tandem ",
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
