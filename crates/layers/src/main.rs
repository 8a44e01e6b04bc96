//! `make layers`: checks statements about the code that would otherwise go out of date unnoticed.
//!
//! - Crates depend only on crates below them. Files and folders of a crate do not use each other in
//!   a circle.
//! - Unsafe code stands only where it may.
//! - ARCHITECTURE, GLOSSARY and READMEs beside code name only what exists. Numbers in documents are
//!   those of the code.
//! - Targets of the Makefile say what they do.
//! - Published crates are complete.
//!
//! Prints a line for each breach, and ends with exit code 1 if there is one. With `circles`, prints
//! every use in each circle instead.

mod crates;
mod files;
mod items;
mod modules;
mod names;
mod packages;
mod promises;
mod targets;
mod unsafety;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = root();
    if std::env::args().nth(1).as_deref() == Some("circles") {
        return match modules::tell_circles(&root) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("layers: cannot check: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    let breaches = breaches(&root);
    breaches.iter().for_each(|breach| eprintln!("layers: {breach}"));
    if !breaches.is_empty() {
        return ExitCode::FAILURE;
    }
    modules::known_circles().for_each(|circle| println!("layers: known circle in {circle}"));
    println!(
        "layers: dependencies point one way, documents name and promise what the code has, and \
         packages are whole"
    );
    ExitCode::SUCCESS
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything that is not as it should be, and what could not be checked.
fn breaches(root: &Path) -> Vec<String> {
    let checks = [
        crates::check(root),
        modules::check(root),
        unsafety::check(root),
        names::check(root),
        packages::check(root),
        promises::check(root),
        targets::check(root),
    ];
    let found = |check: Result<Vec<String>, String>| {
        check.unwrap_or_else(|problem| vec![format!("cannot check: {problem}")])
    };
    checks.into_iter().flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_as_its_documents_say() {
        assert_eq!(breaches(&root()), Vec::<String>::new());
    }
}
