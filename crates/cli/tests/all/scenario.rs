//! Scenario files.

use std::fs;

use crate::support::{Outcome, warpline, warpline_in};
use tempfile::{TempDir, tempdir};

const SCENARIO: &str = "model = \"phold\"\nend = 20\nseed = 5\npending = \
                        \"heap\"\n\n[parameters]\nlps = 64\nremote = 0.5\nclusters = 4\n";

/// A directory with this scenario in `a.toml`.
fn place(text: &str) -> TempDir {
    let place = tempdir().unwrap();
    fs::write(place.path().join("a.toml"), text).unwrap();
    place
}

fn run(text: &str, arguments: &[&str]) -> Outcome {
    warpline_in(place(text).path(), &[&["run", "a.toml"], arguments].concat())
}

#[test]
fn a_scenario_is_a_command_line() {
    let expected =
        warpline("run phold --end 20 --seed 5 --lps 64 --remote 0.5 --clusters 4 --json").digest();
    assert_eq!(run(SCENARIO, &["--json"]).digest(), expected);
    let with_underscores =
        SCENARIO.replace("lps = 64", "lps = 0x40\npayload = 8").replace("end = 20", "end = 2e1");
    assert_eq!(run(&with_underscores, &["--json"]).digest(), expected);
}

#[test]
fn what_is_typed_overrides_the_scenario() {
    let place = place(SCENARIO);
    for arguments in [
        vec!["run", "a.toml", "--json", "--end", "10", "--remote=0.9", "--seed", "6"],
        vec!["run", "--json", "--end", "10", "--seed=6", "a.toml", "--remote", "0.9"],
    ] {
        let json = warpline_in(place.path(), &arguments).json();
        assert_eq!(
            (&json["end_time"], &json["seed"], &json["engine"]["pending"]),
            (&10.0.into(), &6.into(), &"heap".into())
        );
        let parameters = &json["parameters"];
        assert_eq!(
            (&parameters["lps"], &parameters["remote"], &parameters["clusters"]),
            (&64.into(), &0.9.into(), &4.into())
        );
    }
}

#[test]
fn a_wrong_value_may_be_overridden() {
    let wrong = SCENARIO.replace("remote = 0.5", "remote = 5").replace("seed = 5", "seed = 'none'");
    assert_eq!(run(&wrong, &["--remote", "0.5", "--seed", "5"]).code, 0);
}

#[test]
fn mistakes_are_wrong_use_with_file_and_line() {
    let wrong = |text: &str, words: &[&str]| run(text, &[]).is_wrong_use(words);
    wrong("model = 'mm1'\n\nend = = 3", &["a.toml:3: "]);
    wrong("model = 'mm1'\nsead = 3", &["a.toml:2: ", "did you mean `seed`?"]);
    wrong("model = 'nm1'", &["a.toml:1: ", "did you mean `mm1`?"]);
    wrong("seed = 3", &["a.toml: there is no `model`"]);
    wrong(
        "model = 'mm1'\n[parameters]\narival-rate = 3",
        &["a.toml:3: ", "did you mean `arrival-rate`?"],
    );
    wrong(
        "model = 'mm1'\n[parameters]\narrival-rate = -3",
        &["a.toml:3: ", "`arrival-rate` cannot be -3"],
    );
    wrong(
        "model = 'mm1'\n[parameters]\n\ndiscipline = 'fifi'",
        &["a.toml:4: ", "did you mean `fifo`?"],
    );
    wrong("model = 'mm1'\nend = 'soon'", &["a.toml:2: ", "`end` cannot be `soon`"]);
    wrong("model = 'mm1'\nundo = 'revers'", &["a.toml:2: ", "did you mean `reverse`?"]);
    wrong("model = 'mm1'\nend = nan", &["NaN"]);
    wrong("model = 'mm1'\nend = -1.5", &["-1.5"]);
    run(SCENARIO, &["--arrival-rate", "1"]).is_wrong_use(&["--arrival-rate"]);
    warpline("run no/such.toml").is_wrong_use(&["no/such.toml"]);
    let json = run("model = 3", &["--json"]);
    assert_eq!((json.code, &json.json()["exit_code"]), (2, &2.into()));
}

#[test]
fn a_scenario_has_the_settings_of_parallel_runs() {
    let counts = "threads = 1\nbatch = 0x10\nkps = 2\ngvt_interval = 1_000\ncopy-interval = 2\n";
    let settings = format!("{counts}gvt = 'synchronous'\nwindow = 0.5\n");
    let expected = run(SCENARIO, &["--json"]).digest();
    let parallel = SCENARIO.replace("seed = 5\n", &format!("seed = 5\n{settings}"));
    let found = run(&parallel, &["--json"]);
    assert_eq!(
        (found.digest(), &found.json()["engine"]["sync"]),
        (expected.clone(), &"optimistic".into())
    );
    // Settings that an engine chosen on the command line does not use are dropped.
    let found = run(&parallel, &["--json", "--sync", "sequential"]);
    assert_eq!((found.digest(), &found.json()["engine"]["sync"]), (expected, &"sequential".into()));
    let both =
        SCENARIO.replace("seed = 5\n", &format!("seed = 5\nsync = 'sequential'\n{settings}"));
    run(&both, &[]).is_wrong_use(&["`batch` is `16`, but `sync` is `sequential`: "]);
    run("model = 'mm1'\nend = 5\nthreads = 0", &[])
        .is_wrong_use(&["a.toml:3: `threads` cannot be `0`: it takes a whole number from 1"]);
    run("model = 'mm1'\nwindow = -0.5", &[]).is_wrong_use(&["a.toml:2: `window` cannot be `-0.5`"]);
    run("model = 'mm1'\ngvt = 'synchronos'", &[])
        .is_wrong_use(&["a.toml:2: ", "did you mean `synchronous`?"]);
}

#[test]
fn a_scenario_names_its_report() {
    let place = place("model = 'mm1'\nend = 100\nreport = 'out'");
    assert_eq!(warpline_in(place.path(), &["run", "a.toml"]).code, 0);
    assert!(place.path().join("out/report.html").is_file());
}

#[test]
fn verification_takes_model_seed_and_parameters() {
    let place = place(&SCENARIO.replace("end = 20", "end = 1e12\nundo = 'copy'"));
    let verified = warpline_in(place.path(), &["verify", "a.toml", "--end", "2", "--json"]).json();
    assert_eq!((&verified["model"], &verified["seed"]), (&"phold".into(), &5.into()));
    assert_eq!(verified["methods"].as_array().unwrap().len(), 3);
    let expected =
        warpline("run phold --end 2 --seed 5 --lps 64 --remote 0.5 --clusters 4 --json").digest();
    assert_eq!(verified["methods"][0]["digest"], expected.as_str());
}
