//! Files and folders of the tree, with errors that name them.

use std::fs;
use std::path::{Path, PathBuf};

/// The text of a file.
pub(crate) fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| failed(file, error))
}

/// The folders of the crates.
pub(crate) fn crates(root: &Path) -> Result<Vec<PathBuf>, String> {
    entries(&root.join("crates"))
}

/// All Rust files below a folder, in a stable order.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    files_with(folder, "rs")
}

/// All files below a folder with this extension, in a stable order.
pub(crate) fn files_with(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            files.extend(files_with(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(|error| failed(folder, error))
}

/// The message about an error with a file or folder.
pub(crate) fn failed(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
