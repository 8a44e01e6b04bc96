//! Projects that `warpline new` has written.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The workspace of these tests.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The directory in which cargo has built the dependencies already. This test's program lies in its
/// `debug/deps`.
fn target() -> PathBuf {
    env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// Gives a project the lock file of the workspace, so that nothing has to be fetched.
pub(crate) fn lock(project: &Path) {
    fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
}

/// The profile with which the workspace builds tests, as environment variables for cargo; without
/// those that are set already.
fn settings_of_profile() -> Vec<(String, String)> {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let (_, profile) = manifest.split_once("[profile.dev]\n").unwrap();
    let lines = profile.lines().take_while(|line| !line.starts_with('['));
    let settings =
        lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let variable =
        |name: &str| format!("CARGO_PROFILE_DEV_{}", name.to_uppercase().replace('-', "_"));
    let variables =
        settings.map(|(name, value)| (variable(name), value.trim_matches('"').to_owned()));
    variables.filter(|(name, _)| env::var_os(name).is_none()).collect()
}

/// The crates of the workspace that a project depends on.
static ENGINE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let line = "tree --offline --package warpline --features command --edges normal --prefix none";
    let mut cargo = Command::new(env!("CARGO"));
    let tree = cargo.args(line.split(' ')).current_dir(workspace()).output().unwrap().stdout;
    let tree = String::from_utf8(tree).unwrap();
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.filter(|name| name.starts_with("warpline")).map(str::to_owned).collect()
});

/// Runs cargo in the project `name`. It needs no network, as the workspace has the same dependencies.
pub(crate) fn cargo(project: &Path, name: &str, line: &str) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    // Built as in the workspace, dependencies with the same features need not be built again.
    cargo.envs(settings_of_profile());
    // Cargo builds the engine again for a project outside of the workspace. Neither that nor the code
    // of the project itself need be fast.
    for name in ENGINE.iter().map(String::as_str).chain([name]) {
        cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    }
    cargo
        .args(line.split(' '))
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true");
    // Without a limit of time: building a changed engine takes minutes on a busy machine.
    cargo.output().unwrap()
}
