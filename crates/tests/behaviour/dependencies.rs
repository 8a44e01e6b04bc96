//! The crates of a program that uses the library without the command line.

use std::process::Command;

/// The crates that only the command line needs.
const OF_THE_COMMAND: [&str; 7] =
    ["clap", "clap_complete", "console", "indicatif", "toml", "signal-hook", "warpline-command"];

/// The crates that `warpline` is built of, with these features.
fn crates(features: &[&str]) -> Vec<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args([
        "tree",
        "--offline",
        "--package",
        "warpline",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-default-features",
    ]);
    let output =
        tree.args(features).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
    let text = String::from_utf8(output.stdout).expect("a text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_library_alone_brings_no_command_line() {
    let library = crates(&[]);
    assert!(library.iter().any(|name| name == "warpline-run"), "{library:?}");
    let needless: Vec<_> = OF_THE_COMMAND
        .into_iter()
        .filter(|name| library.iter().any(|found| found == name))
        .collect();
    assert_eq!(needless, [""; 0]);
}

#[test]
fn the_feature_command_brings_the_command_line() {
    let program = crates(&["--features", "command"]);
    assert!(
        OF_THE_COMMAND.iter().all(|name| program.iter().any(|found| found == name)),
        "{program:?}"
    );
}
