//! The files of a folder.

use std::path::{Path, PathBuf};

/// All Rust files below a folder, in a stable order.
pub(crate) fn rust_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    files_with(folder, "rs")
}

/// All files below a folder whose names end so, in a stable order.
pub(crate) fn files_with(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_with(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
