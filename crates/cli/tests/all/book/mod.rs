//! Tests the book in `docs/book` and the README: commands run and print what is said, scenarios are
//! read, links lead somewhere, and every setting is named. `warpline-testkit` compiles the Rust.

mod blocks;
mod commands;
mod layout;
mod settings;
mod shell;
mod tutorial;

use std::fs;
use std::path::{Path, PathBuf};

/// The project's root.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Where the chapters are.
fn chapters() -> PathBuf {
    root().join("docs/book/src")
}

/// The names of all files in the book's folder of chapters, but for the summary.
fn chapter_names() -> Vec<String> {
    let entries = fs::read_dir(chapters())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        entries.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect();
    names.sort();
    names
}

/// The text of a document, named from the root.
fn document(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}
