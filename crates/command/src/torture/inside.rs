//! A process of a search, which runs one case after the other.

use std::io;
use std::process::{Command, ExitCode};

use warpline_cases::{Answer, Case};
use warpline_run::{Configured, Model, Records, Settings, Simulation};

use crate::models::catalogue::{Catalogue, Visitor};

/// What such a process is started with, in place of a command.
pub(crate) const WORKER: &str = "torture-worker";

/// The command that starts one.
pub(super) fn start() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORKER).env("RUST_BACKTRACE", "0");
    // Ctrl-C is for the search, which ends its processes itself.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// Runs the cases on standard input.
pub(crate) fn serve<C: Catalogue>(models: &C) -> ExitCode {
    let served = warpline_cases::serve(|case| Some(run(models, case)));
    served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn run<C: Catalogue>(models: &C, case: &Case) -> Answer {
    let entry = match models.find(&case.model) {
        Ok(entry) => entry,
        Err(why) => return Answer::Refused(why.to_string()),
    };
    let mut settings = Settings::default();
    let mut parameters = Vec::new();
    for (name, value) in &case.options {
        if entry.parameters.iter().any(|parameter| parameter.name == *name) {
            parameters.push((name.clone(), value.clone()));
        } else if let Err(why) = settings.set(name, value) {
            return Answer::Refused(why.to_string());
        }
    }
    models
        .with_model(&case.model, &parameters, Execute(settings))
        .unwrap_or_else(|why| Answer::Refused(why.to_string()))
}

/// Runs a case, once its model's type is known.
struct Execute(Settings);

impl Visitor for Execute {
    type Output = Answer;

    fn visit<M: Model>(self, model: Configured<M>) -> Answer {
        match Simulation::of(&model) {
            Ok(simulation) => {
                let simulation = simulation.settings(self.0).records(Records::Keep);
                Answer::of(simulation.state_digest(true).run())
            }
            Err(why) => Answer::Refused(why.to_string()),
        }
    }
}
