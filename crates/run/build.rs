//! Finds out which commit is being built, for the records of runs: what `WARPLINE_COMMIT` says,
//! what is noted in a package, or what is checked out. A build that cannot tell says nothing.

use std::env;
use std::path::Path;
use std::process::Command;

/// As many digits as git shows where it is asked to be brief, and some to spare.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WARPLINE_COMMIT");
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&root);
    let commit =
        env::var("WARPLINE_COMMIT").ok().or_else(|| packaged(root)).or_else(|| checked_out(root));
    if let Some(commit) = commit.filter(|commit| {
        commit.len() >= DIGITS && commit.bytes().all(|digit| digit.is_ascii_hexdigit())
    }) {
        println!("cargo::rustc-env=WARPLINE_COMMIT={}", &commit[..DIGITS]);
    }
}

/// What `cargo package` notes.
fn packaged(root: &Path) -> Option<String> {
    let note = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = note.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// The commit of the repository, if this is where it keeps this crate. Only in release builds:
/// others would be built again after every commit.
fn checked_out(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(root)
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let ours = git(&["rev-parse", "--show-prefix"])? == "crates/run/"
        && git(&["ls-files", "build.rs"])? == "build.rs";
    if env::var("PROFILE").is_ok_and(|profile| profile != "release") || !ours {
        return None;
    }
    // What HEAD names changes with a checkout; its log, with every commit.
    for file in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(&["rev-parse", "--git-path", file])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "HEAD"])
}
