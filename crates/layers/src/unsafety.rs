//! Unsafe code may stand in only three crates, one for memory and two that call C. Every other
//! crate inherits the lint that forbids it.

use std::path::Path;

use crate::files::{crates, read};

/// The crates that may hold unsafe code.
const FENCED: [&str; 3] = ["memory", "mpi", "rivals"];

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    for folder in crates(root)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = read(&folder.join("Cargo.toml"))?;
        if !FENCED.contains(&name.as_str()) && !text.contains("[lints]\nworkspace = true") {
            breaches.push(format!(
                "crate {name} does not inherit the workspace's lints, which forbid unsafe code"
            ));
        }
    }
    let workspace = read(&root.join("Cargo.toml"))?;
    if !workspace.contains("unsafe_code = \"forbid\"") {
        breaches.push("the workspace no longer forbids unsafe code".to_owned());
    }
    Ok(breaches)
}
