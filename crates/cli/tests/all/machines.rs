//! This machine as a model, and what predictions depend on.

use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{Outcome, command, outcome, warpline, warpline_in};

/// A run whose machine `this` has its file at this place.
fn with_this(place: &Path, line: &str) -> Outcome {
    let words: Vec<&str> = line.split_whitespace().collect();
    outcome(command(Path::new(".")).args(words).env("WARPLINE_MACHINE_THIS", place))
}

const RUN: &str = "run phold --lps 64 --end 20 --lookahead 0.5 --json";

#[test]
fn this_machine_is_measured_and_then_a_machine_like_others() {
    let directory = tempdir().unwrap();
    let place = directory.path().join("deep/this.toml");
    let missing = with_this(&place, &format!("{RUN} --machine this"));
    let why = missing.json()["error"].as_str().unwrap().to_owned();
    assert!(why.starts_with("the machine `this` has not been measured: run `warpline calibrate`"));
    assert!(why.contains(&place.display().to_string()), "{why}");

    let measured = with_this(&place, "calibrate --quick --quiet --json").json();
    assert_eq!(measured["file"], place.display().to_string());
    let event = &measured["machine"]["costs"]["event"];
    assert!(event["ns"].as_f64().unwrap() > 0.0, "{event}");
    assert!(event["origin"].as_str().unwrap().contains("; median of "), "{event}");

    let modelled = with_this(&place, &format!("{RUN} --machine this --pes 1"));
    let sequential = warpline(&format!("{RUN} --sync sequential"));
    assert_eq!(modelled.digest(), sequential.digest());
    let machine = &modelled.json()["machine"];
    assert_eq!((&machine["name"], &machine["pes"]), (&"this".into(), &1.into()));
    // Where there is a file, it is read again, and mistakes in it are found.
    std::fs::write(&place, "about = 7").unwrap();
    let wrong = with_this(&place, &format!("{RUN} --machine this"));
    let why = wrong.json()["error"].as_str().unwrap().to_owned();
    assert!(why.ends_with("`about` cannot be 7: it takes a text"), "{why}");
}

#[test]
fn what_cannot_be_calibrated_or_checked_is_said() {
    let directory = tempdir().unwrap();
    let refused = |line: &str| {
        let outcome = warpline_in(directory.path(), &line.split_whitespace().collect::<Vec<_>>());
        outcome.json()["error"].as_str().expect(line).to_owned()
    };
    let unchecked = refused("calibrate --check --output none.toml --json");
    assert!(unchecked.contains("has not been measured"), "{unchecked}");
    let scale = refused("run phold --machine-scale event=2 --json");
    assert_eq!(
        scale,
        "`machine-scale` is `event=2`, but there is no `machine` to scale: name one, or leave it \
         out"
    );
    let figures = refused("run phold --machine infiniband --machine-scale latenc=2 --json");
    assert!(figures.contains("did you mean `latency`?"), "{figures}");
    let without = refused("run phold --sensitivity yes --json");
    assert!(without.contains("name one by `machine`"), "{without}");
}

#[test]
fn a_prediction_says_what_it_depends_on() {
    let line = format!("{RUN} --machine infiniband --pes 40 --sync conservative");
    let plain = warpline(&line);
    let outcome = warpline(&format!("{line} --sensitivity yes --quiet"));
    assert_eq!(outcome.digest(), plain.digest());
    let (plain, all) = (plain.json(), outcome.json());
    assert_eq!(all["machine"]["seconds"], plain["machine"]["seconds"]);
    assert_eq!(plain["machine"].get("sensitivity"), None);
    let found = all["machine"]["sensitivity"].as_array().unwrap();
    assert_eq!(found.len(), 14);
    let seconds = |figures: &str, factor: f64| {
        let one = found.iter().find(|one| one["figures"] == figures && one["factor"] == factor);
        one.and_then(|one| one["seconds"].as_f64()).expect(figures)
    };
    let whole = plain["machine"]["seconds"].as_f64().unwrap();
    for figures in ["event", "latency", "messages", "gvt"] {
        assert!(seconds(figures, 0.5) < whole && whole < seconds(figures, 2.0), "{figures}");
    }
    // Nothing is undone, and the machine has no noise.
    for figures in ["undo", "noise"] {
        assert_eq!([0.5, 2.0].map(|factor| seconds(figures, factor)), [whole; 2], "{figures}");
    }
    // The same as a run of its own.
    let scaled = warpline(&format!("{line} --machine-scale event=2")).json();
    assert_eq!(scaled["machine"]["seconds"], Value::from(seconds("event", 2.0)));
    let text = warpline(&format!("{} --sensitivity yes --quiet", line.replace(" --json", "")));
    assert!(
        text.stdout.contains("if latency") && text.stdout.contains("of the rate"),
        "{}",
        text.stdout
    );
}
