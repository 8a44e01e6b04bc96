//! The order of crates: each may depend on those before it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// From the bottom up. Crates of one row must not depend on each other.
const LAYERS: [&[&str]; 13] = [
    &["warpline-base", "warpline-derive", "warpline-mpi", "warpline-rivals"],
    &["warpline-memory", "warpline-record"],
    &["warpline-model", "warpline-report"],
    &["warpline-kernel"],
    &["warpline-explain", "warpline-transport"],
    &["warpline-boost"],
    &["warpline-run"],
    &["warpline-command"],
    &["warpline"],
    &["warpline-testkit"],
    &["warpline-models"],
    &["warpline-cli"],
    &["warpline-bench", "warpline-fuzz", "warpline-layers"],
];

/// Pairs (user, used) that the order would allow and the design does not.
const NEVER: [(&str, &str); 5] = [
    ("warpline-transport", "warpline-rivals"),
    ("warpline-report", "warpline-memory"),
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

/// Every crate with the workspace's crates that it uses, outside of tests.
fn uses(metadata: &Value) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]).into_iter();
    let normal = |package: &Value| {
        let dependencies = list(&package["dependencies"])
            .into_iter()
            .filter(|d| d["kind"].is_null() && !d["path"].is_null());
        dependencies.map(|dependency| text(&dependency["name"])).collect()
    };
    packages.map(|package| (text(&package["name"]), normal(&package))).collect()
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
