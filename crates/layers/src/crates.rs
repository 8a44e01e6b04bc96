//! The order of crates: each may depend only on those before it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// From the bottom up. Crates of the same row must not depend on each other.
const LAYERS: [&[&str]; 14] = [
    &["warpline-base", "warpline-derive", "warpline-mpi", "warpline-rivals", "warpline-topology"],
    &["warpline-memory", "warpline-record", "warpline-series"],
    &["warpline-model", "warpline-report"],
    &["warpline-kernel", "warpline-machine", "warpline-process"],
    &["warpline-explain", "warpline-ranks", "warpline-transport"],
    &["warpline-boost"],
    &["warpline-run"],
    &["warpline-calibration", "warpline-cases"],
    &["warpline-command"],
    &["warpline"],
    &["warpline-testkit"],
    &["warpline-models"],
    &["warpline-cli"],
    &["warpline-bench", "warpline-fuzz", "warpline-layers", "warpline-tests"],
];

/// Pairs (user, used) that the order would allow, but the design does not.
const NEVER: [(&str, &str); 6] = [
    ("warpline-transport", "warpline-rivals"),
    ("warpline-report", "warpline-memory"),
    ("warpline-cases", "warpline-kernel"),
    ("warpline-command", "warpline-kernel"),
    ("warpline-command", "warpline-transport"),
    ("warpline-models", "warpline-kernel"),
];

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    Ok(breaches(&uses(&metadata(root)?)))
}

/// Cargo's description of the workspace.
pub(crate) fn metadata(root: &Path) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The packages in a description of the workspace.
pub(crate) fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

/// Every crate with the workspace's crates that it uses, except in tests.
fn uses(metadata: &Value) -> Vec<(String, Vec<String>)> {
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let used = |package: &Value| {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        dependencies
            .filter(|used| used["kind"].is_null() && !used["path"].is_null())
            .map(name)
            .collect()
    };
    packages(metadata).map(|package| (name(package), used(package))).collect()
}

fn breaches(uses: &[(String, Vec<String>)]) -> Vec<String> {
    let layer = |name: &str| LAYERS.iter().position(|row| row.contains(&name));
    let mut breaches = Vec::new();
    for (user, used) in uses {
        let Some(high) = layer(user) else {
            breaches.push(format!("crate {user} has no place in the order of layers"));
            continue;
        };
        for name in used {
            if layer(name).is_none_or(|low| low >= high) || NEVER.contains(&(user, name)) {
                breaches.push(format!("crate {user} may not use {name}"));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(user: &str, used: &str) -> usize {
        breaches(&[(user.into(), vec![used.into()])]).len()
    }

    #[test]
    fn only_downward_uses_pass() {
        assert_eq!(found("warpline", "warpline-kernel"), 0);
        assert_eq!(found("warpline-kernel", "warpline"), 1);
        assert_eq!(found("warpline-base", "warpline-memory"), 1);
        assert_eq!(found("warpline-model", "warpline-derive"), 0);
        assert_eq!(found("warpline-derive", "warpline-base"), 1);
        assert_eq!(found("warpline-transport", "warpline-mpi"), 0);
        assert_eq!(found("warpline-mpi", "warpline-transport"), 1);
        assert_eq!(found("warpline-transport", "warpline-rivals"), 1);
        assert_eq!(found("warpline-report", "warpline-model"), 1);
        assert_eq!(found("warpline-report", "warpline-record"), 0);
        assert_eq!(found("warpline-run", "warpline-command"), 1);
        assert_eq!(found("warpline-command", "warpline-kernel"), 1);
        assert_eq!(found("newcomer", "warpline"), 1);
    }
}
