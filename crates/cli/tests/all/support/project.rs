//! Projects that `warpline new` has written.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workspace of these tests.
fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The directory with what cargo has built of the dependencies already: the one of this test's
/// program, which lies in `debug/deps` there.
fn target() -> PathBuf {
    env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// Gives a project the versions of the workspace, so that nothing has to be fetched.
pub(crate) fn lock(project: &Path) {
    fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
}

/// The settings with which the workspace builds tests, as variables that cargo reads, apart from
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

/// Runs cargo in the project `name`; it needs no network, as the workspace has the same
/// dependencies.
pub(crate) fn cargo(project: &Path, name: &str, line: &str) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    // What the engine depends on is built as in the workspace, so that it need not be built again.
    cargo.envs(settings_of_profile());
    // What is built for this project alone need not be fast.
    cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    cargo
        .args(line.split(' '))
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true");
    // Without a limit: it builds the engine if that has changed, which takes minutes on a busy
    // machine.
    cargo.output().unwrap()
}
