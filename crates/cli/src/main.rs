//! The `warpline` command: runs models, verifies them, compares engines and renders reports.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the simulation or its outputs failed (or answers differ that must
//! be equal), 2 usage error.

mod arguments;
mod child;
mod compare;
mod comparison;
mod failure;
mod format;
mod models;
mod output;
mod panics;
mod progress;
mod run;
#[cfg(test)]
mod sample;
mod scenario;
mod settings;
mod summary;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use arguments::Action;
use failure::Failure;

fn main() -> ExitCode {
    panics::remember();
    match failure::guard(|| execute(arguments::parse(std::env::args_os())?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::notify(format_args!("error: {}", failure.message));
            // Read from the raw arguments, as they may be what is wrong.
            if !failure.printed && std::env::args_os().any(|argument| argument == "--json") {
                let _ = output::print_json(&output::failure_json(&failure));
            }
            ExitCode::from(failure.code)
        }
    }
}

fn execute(action: Action) -> Result<(), Failure> {
    match action {
        Action::Models { json } => models::list(json),
        Action::Model { name, json } => models::show(&name, json),
        Action::Run(request) => run::run(&request),
        Action::Verify(request) => verify::verify(&request),
        Action::Compare(request) => compare::compare(&request),
        Action::Report { directory, json } => report(&directory, json),
        Action::Say(text) => output::print(&text),
    }
}

fn report(directory: &Path, json: bool) -> Result<(), Failure> {
    let report = warpline_report::rerender(directory)?.display().to_string();
    if json { output::print_json(&serde_json::json!({ "report": report })) } else { output::print(&format!("report: {report}\n")) }
}
