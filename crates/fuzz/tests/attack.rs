//! Random runs, each held against the sequential one. `WARPLINE_FUZZ_SECONDS` says how long.

use std::process::Command;

/// How long it runs by default, in seconds.
const SECONDS: f64 = 30.0;

#[test]
fn half_a_minute_of_random_runs_finds_nothing() {
    let seconds = std::env::var("WARPLINE_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SECONDS);
    let hours = (seconds / 3600.0).to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_warpline-fuzz"))
        .args(["attack", "--seed", "1", "--hours", &hours, "--shrink", "30"])
        .output()
        .unwrap();
    let [found, failures] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    println!("{found}");
    assert!(output.status.success(), "{found}\n{failures}");
    assert!(!found.starts_with("0 runs"), "{found}");
}
