//! Unsafe code may stand in three crates alone, one for memory and two for calls of C: every other
//! crate inherits the lint that forbids it.

use std::path::Path;

/// The crates that may hold unsafe code.
const FENCED: [&str; 3] = ["memory", "mpi", "rivals"];

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let crates = root.join("crates");
    let mut breaches = Vec::new();
    for entry in
        std::fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?
    {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest = path.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)
            .map_err(|error| format!("{}: {error}", manifest.display()))?;
        if !FENCED.contains(&name.as_str()) && !text.contains("[lints]\nworkspace = true") {
            breaches.push(format!(
                "crate {name} does not inherit the workspace's lints, which forbid unsafe code"
            ));
        }
    }
    let workspace =
        std::fs::read_to_string(root.join("Cargo.toml")).map_err(|error| error.to_string())?;
    if !workspace.contains("unsafe_code = \"forbid\"") {
        breaches.push("the workspace no longer forbids unsafe code".to_owned());
    }
    Ok(breaches)
}
