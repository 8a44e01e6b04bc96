//! `make layers`: checks that crates depend only on crates below them, that the modules of a crate
//! form no cycle, that unsafe code is where it may be, that ARCHITECTURE, GLOSSARY and READMEs
//! beside code name only what exists, and that published crates are whole. Exit code 1 and a line
//! for each breach otherwise.

mod crates;
mod modules;
mod names;
mod packages;
mod unsafety;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checks = [crates::check(&root), modules::check(&root), unsafety::check(&root), names::check(&root), packages::check(&root)];
    let mut breaches = 0;
    for check in checks {
        match check {
            Ok(found) => {
                found.iter().for_each(|breach| eprintln!("layers: {breach}"));
                breaches += found.len();
            }
            Err(problem) => {
                eprintln!("layers: cannot check: {problem}");
                breaches += 1;
            }
        }
    }
    if breaches == 0 {
        println!("layers: all dependencies point one way, all names exist, and packages are whole");
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}

/// All Rust files below a folder, in a stable order.
fn rust_files(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
