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

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if std::env::args().nth(1).as_deref() == Some("circles") {
        return modules::tell_circles(&root).map_or_else(fail, |()| ExitCode::SUCCESS);
    }
    let checks = [
        crates::check(&root),
        modules::check(&root),
        unsafety::check(&root),
        names::check(&root),
        packages::check(&root),
        promises::check(&root),
        targets::check(&root),
    ];
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
    if breaches > 0 {
        return ExitCode::FAILURE;
    }
    modules::known_circles().for_each(|circle| println!("layers: known circle in {circle}"));
    println!(
        "layers: dependencies point one way, documents name and promise what the code has, and \
         packages are whole"
    );
    ExitCode::SUCCESS
}

fn fail(problem: String) -> ExitCode {
    eprintln!("layers: cannot check: {problem}");
    ExitCode::FAILURE
}
