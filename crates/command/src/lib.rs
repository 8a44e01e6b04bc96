//! The command line of a program around models: it runs them, verifies them, explains
//! how fast they could be, compares engines and renders reports.
//!
//! [`command`] makes such a program of one model, and [`of`] of several:
//! ```no_run
//! # use warpline::prelude::*;
//! # struct Rumour;
//! # impl Model for Rumour {
//! #     type State = (); type Event = ();
//! #     fn lps(&self) -> u32 { 1 }
//! #     fn init(&self, _: &mut Init<Self>) {}
//! #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
//! # }
//! # impl warpline::Configure for Rumour {
//! #     type Parameters = ();
//! #     const NAME: &'static str = "rumour";
//! #     const ABOUT: &'static str = "";
//! #     const TIME_UNIT: &'static str = "";
//! #     const DEFAULT_END: f64 = 1.0;
//! #     fn configure((): &()) -> Result<Self, String> { Ok(Rumour) }
//! # }
//! fn main() -> std::process::ExitCode {
//!     warpline::command::<Rumour>()
//! }
//! ```
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the simulation or its
//! outputs failed (or answers differ that must be equal), 2 usage error, 130 or 143 a run was ended
//! early by SIGINT or SIGTERM, and its results are partial.

mod calibrate;
mod compare;
mod explain;
mod failure;
mod median;
mod models;
mod new;
mod options;
mod output;
mod process;
mod run;
#[cfg(test)]
mod sample;
mod settings;
mod study;
#[cfg(test)]
mod test_models;
mod torture;
mod verbs;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use failure::{Failure, panics};
use models::catalogue::Only;
pub use models::catalogue::{Catalogue, CatalogueError, ModelEntry, Visitor, configured, read};
use models::page;
use models::program::Program;
use options::arguments;
use options::request::Action;
use process::signals::Signals;
pub use process::ways::Way;
pub use study::{Measured, Study, StudyCase, StudyFigure, StudyPlace};

use warpline_run::processes::launch;
use warpline_run::{Configure, Model};

/// Does what the command line of this process says, for the one model `M`: `run`, `verify`,
/// `torture`, `explain`, `compare`, `report`, `models show`. The model need not be named. Call this in `main`:
/// it prints, and replaces the panic hook.
pub fn command<M: Model + Configure>() -> ExitCode {
    of(&Only::<M>::new())
}

/// Does what the command line of this process says, for several models. The line names one.
pub fn of(models: &impl Catalogue) -> ExitCode {
    outcome_of(models, false, &[])
}

/// Does what the command line says, as `warpline` itself, which has three more commands: `new`
/// writes a small project around a model of one's own, `study` repeats these experiments, and
/// `calibrate` measures the machine.
pub fn with_new(models: &impl Catalogue, studies: &[Study]) -> ExitCode {
    outcome_of(models, true, studies)
}

fn outcome_of(models: &impl Catalogue, new: bool, studies: &[Study]) -> ExitCode {
    panics::remember();
    Signals::notice_children();
    let line: Vec<_> = std::env::args_os().collect();
    if line.get(1).is_some_and(|word| word == torture::WORKER) {
        return torture::serve(models);
    }
    let outcome = failure::guard(|| {
        let program = Program { new, studies, ..Program::new(models, line.first())? };
        execute(&program, arguments::parse(&program, &line)?)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { share: Some(share), .. }) => share.end(),
        Err(failure) => {
            output::notify(format_args!("error: {}", failure.message));
            // Looked up in the raw arguments, as parsing them may be what failed.
            if !failure.printed && line.iter().any(|argument| argument == "--json") {
                let _ = output::print_json(&output::failure_json(&failure));
            }
            ExitCode::from(failure.code)
        }
    }
}

fn execute<C: Catalogue>(program: &Program<C>, action: Action) -> Result<(), Failure> {
    let runs = matches!(
        action,
        Action::Verify(_)
            | Action::Torture(_)
            | Action::Explain(_)
            | Action::Compare(_)
            | Action::Study(_)
            | Action::Calibrate(_)
    );
    if runs && launch().is_some() {
        let why = "a launcher of MPI programs has started this, but only `run` is for several \
                   processes that are started together; leave the launcher out (`compare --with \
                   mpi` and studies call it themselves)";
        return Err(Failure::wrong_use(why));
    }
    match action {
        Action::Models { json } => page::list(program, json),
        Action::Model { name, json } => page::show(program, &name, json),
        Action::Run(request) => run::run(program, &request),
        Action::Verify(request) => verify::verify(program, &request),
        Action::Torture(request) => torture::torture(program, &request),
        Action::Explain(request) => explain::explain(program, &request),
        Action::Compare(request) => compare::compare(program, &request),
        Action::Report { .. } | Action::New { .. } if output::is_silent() => Ok(()),
        Action::Report { directory, json } => report(&directory, json),
        Action::New { name, json } => new::new(&name, json),
        Action::Study(request) => study::study(&program.name, program.studies, &request),
        Action::Calibrate(request) => calibrate::calibrate(program, &request),
        Action::Say(text) => output::print(&text),
    }
}

fn report(directory: &Path, json: bool) -> Result<(), Failure> {
    let report = warpline_report::rerender(directory)?.display().to_string();
    if json {
        output::print_json(&serde_json::json!({ "report": report }))
    } else {
        output::print(&format!("report: {report}\n"))
    }
}
